"""Lecture 003: several attributes at once, under local differential privacy."""

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Exercise, Lecture

LECTURE = Lecture(
    Phrase("several attributes under local privacy"),
    Phrase(
        "What a curator's noise and everybody's noise protect; randomisers for one attribute and how to choose among "
        "them; then several attributes: split the budget, sample one attribute, or hide it among fakes. The last part "
        "asks what an attacker makes of the answers."
    ),
    order=(
        "context",
        "mallory",
        "epsilon_zero",
        "two_laplace_laws",
        "post_processing",
        "repeated_answers",
        "dp_against_ldp",
        "warner_ratio",
        "binary_hashing",
        "var_star",
        "var_star_bars",
        "split_or_sample",
        "sampling_and_fakes",
        "fake_data_tree",
        "fake_data_variance",
        "fake_data_epsilon",
        "adaptive_choice",
        "adaptive_surface",
        "mean_squared_error",
        "equal_record_epsilon",
        "attribute_inference",
        "attribute_inference_rsrfd",
        "reidentification",
        "utility_and_robustness",
    ),
    exercises=(
        Exercise(
            Phrase(
                "In March nobody leaves and two people join: (103, 57,000). With January's and February's exact "
                "answers, what do you learn about the two?"
            ),
            Phrase("Compare totals: people times mean."),
            Phrase("103 x 57,000 - 101 x 56,000 = 215,000: their salaries together, and nothing about each."),
        ),
        Exercise(
            Phrase("From which number of values k on does OUE have a smaller Var* than GRR at epsilon = ln 3?"),
            Phrase("N Var* is (E + k - 2)/(E - 1)^2 for GRR and 4E/(E - 1)^2 for OUE, with E = e^epsilon."),
            Phrase("E + k - 2 > 4E means k > 3E + 2 = 11: from k = 12 on; at k = 11 they are equal."),
        ),
        Exercise(
            Phrase(
                "Local hashing into g values has p = E/(E + g - 1). Why is q not 1/(E + g - 1), and which share would "
                "that q give to a value that nobody holds when g = 2?"
            ),
            Phrase("A report supports a value v when the hash of v is what was reported. Average over the hash."),
            Phrase(
                "The hash of v is uniform among g values whatever was reported: q = 1/g. With g = 2 and q = 1 - p, "
                "r = 1/2 gives (1/2 - (1 - p))/(p - (1 - p)) = 1/2: half of the people."
            ),
        ),
        Exercise(
            Phrase(
                "RS+FD with d = 2 attributes of two values each, epsilon' = ln(2e - 1). By which factor is the report "
                "(0, 0) likelier from the record (0, 0) than from (1, 1)?"
            ),
            Phrase("P[y | x] = 1/2 (P[y1 | x1] + P[y2 | x2]) times 1/2 for the fake."),
            Phrase(
                "Both terms are p for the first record and q for the second: the factor is p/q = e^epsilon' = 2e - 1 = "
                "4.4366, and not e = 2.7183."
            ),
        ),
        Exercise(
            Phrase(
                "Ten attributes, GRR, epsilon 1 for the record: with N people, how many report an attribute in SMP?"
            ),
            Phrase("Each person draws one of ten. The variance has a part for noise and a part for the draw."),
            Phrase(
                "N/10 on average. So the variance of a share is 10 V(epsilon)/N + 9 f(1 - f)/N, and not V(epsilon)/N: "
                "this is what must be compared with V(epsilon/10)/N."
            ),
        ),
    ),
)
