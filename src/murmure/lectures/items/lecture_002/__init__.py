"""Lecture 002: learning with differential privacy at a curator."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Exercise, Lecture

LECTURE = Lecture(
    Phrase("learning with differential privacy"),
    Phrase(
        "A curator holds the rows and publishes a model. The lecture recalls naive Bayes, linear regression and "
        "k-means, then says where noise has to go so that the model tells little about any one person. It compares "
        "these models with learning from a table that was randomised row by row."
    ),
    order=(
        "discrete_bayes",
        "continuous_bayes",
        "mean_and_variance",
        "budget_split",
        "adult_income",
        "pima_naive_bayes",
        "regression_example",
        "omega_sensitivity",
        "coefficient_sensitivity",
        "noisy_regression",
        "pima_regression",
        "k_means_panels",
        "k_means_ties",
        "k_means_budget",
        "iris_k_means",
        "listings",
    ),
    exercises=(
        Exercise(
            Phrase(
                "A class has n people with values from L to U. Somebody joins. How far can the sum move, how far the "
                "mean, and which of the two can get Laplace noise whose scale tells nothing?"
            ),
            Phrase("Shift the values by the middle of the range first. Which of the two bounds holds n?"),
            Phrase(
                "After the shift the sum moves by (U - L)/2 at most, whatever n is. The mean moves by (U - L)/(n + "
                "1), which depends on n; n is private, and the scale would tell it. So add noise to the sum and to "
                "the count."
            ),
        ),
        Exercise(
            Phrase(
                "Naive Bayes with 3 categorical and 5 numeric attributes is to spend epsilon = 1 in all. How much is "
                "there for each histogram, sum, sum of squares and for the class counts, in equal parts?"
            ),
            Phrase(
                "A numeric attribute needs two figures in each class. Classes are disjoint: they are paid for once."
            ),
            Phrase("1 / (1 + 3 + 2 x 5) = 1/14. With epsilon / (d + 1) = 1/9 each one would spend 14/9."),
        ),
        Exercise(
            Phrase(
                "For d = 1, |x| <= 1 and |y| <= 1, which row moves the six coefficients of f_D most when it joins, "
                "and by how much?"
            ),
            Phrase("Multiply out (y - w0 - w1 x)^2 and add the absolute values of the coefficients."),
            Phrase("x = 1 and y = 1 (or any signs): 1 + 2 + 2 + 1 + 2 + 1 = 9, more than the printed 8."),
        ),
        Exercise(
            Phrase(
                "Private k-means takes t steps. Why must the number of steps, and whether a step is taken at all, not "
                "depend on the rows?"
            ),
            Phrase("The lecture repeats until convergence, at most t times. Who sees that it stopped?"),
            Phrase(
                "When it stops is an answer, too: it would be a figure without noise. Fix t beforehand and spend "
                "epsilon / t in each step, or decide by noisy figures alone."
            ),
        ),
        Exercise(
            Phrase(
                "A table of 1,000 rows is used for a histogram with Laplace noise at epsilon 1. Somebody says: 1,000 "
                "times as many rows give noise that is 1,000 times smaller in shares. Right?"
            ),
            Phrase("What is the noise in a count, and what is it divided by?"),
            Phrase(
                "Right: the noise in a count does not depend on n, so in shares it falls like 1/n. Sampling error "
                "falls like 1/sqrt(n) only: with many people, privacy at a curator costs next to nothing."
            ),
        ),
    ),
)
