"""What in the lectures is wrong, or holds only under a condition that they leave out, and the right statement.

Every entry is shown at work by an item of the lectures that names its number (`Item.verdicts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from murmure.core.errors import Phrase

Judgement = Literal["right", "slip", "partly", "wrong"]
JUDGEMENTS: dict[Judgement, str] = {
    "right": Phrase("right"),
    "slip": Phrase("a slip of the pen"),
    "partly": Phrase("right under a condition"),
    "wrong": Phrase("not so"),
}


@dataclass(frozen=True)
class Verdict:
    """A statement of a lecture, and what holds."""

    lecture: str
    statement: str  # what the lecture says
    judgement: Judgement
    right: str  # what holds


def _verdict(lecture: str, judgement: Judgement, statement: str, right: str) -> Verdict:
    return Verdict(lecture, statement, judgement, right)


VERDICTS: dict[int, Verdict] = {
    1: _verdict(
        "000",
        "wrong",
        Phrase("f is a number of people, and r = 1/4 + f/2"),
        Phrase("r is a share, so f must be one: the share is 2r - 1/2, the number of people 2o - N/2"),
    ),
    2: _verdict(
        "003",
        "slip",
        Phrase("Pr[M(yes) = yes] / Pr[M(yes) = yes] is at most 3"),
        Phrase("the denominator is Pr[M(no) = yes]"),
    ),
    3: _verdict(
        "000",
        "partly",
        Phrase("bounded Laplace: the proof is like that of the central mechanism"),
        Phrase("it is exactly epsilon, but only because the noise is scaled by the whole width of the interval"),
    ),
    4: _verdict(
        "000",
        "wrong",
        Phrase("the listing of bounded Laplace draws again until the value is inside"),
        Phrase("return is inside the loop: the first draw is always taken, and at epsilon 1 most reports are outside"),
    ),
    5: _verdict(
        "000",
        "wrong",
        Phrase("the staircase density is alpha b^j on its step j"),
        Phrase("the height is alpha b^(j+1); as printed the mass at epsilon 1 is about two, not one"),
    ),
    6: _verdict(
        "000",
        "wrong",
        Phrase("the staircase is epsilon-private, and the listing draws it again until it is inside"),
        Phrase("value + noise is; drawn again it costs 1.33 at epsilon 1, and up to epsilon + ln 2"),
    ),
    7: _verdict(
        "000",
        "wrong",
        Phrase("the listing of the staircase uses the gamma of the slide"),
        Phrase("the library's gamma makes the mean absolute noise small, that of the slide the variance"),
    ),
    8: _verdict(
        "000",
        "wrong",
        Phrase("minimum, maximum, labels and median are taken from the data"),
        Phrase("they must be public, or no epsilon holds for the table"),
    ),
    9: _verdict(
        "000",
        "wrong",
        Phrase("accuracy is measured on randomised labels"),
        Phrase("at epsilon 1 a label is kept with probability 0.731, and on average no model scores more than that"),
    ),
    10: _verdict(
        "003",
        "wrong",
        Phrase("local hashing: a hash of g bits"),
        Phrase("a hash into g values; with g = 2 it is one bit"),
    ),
    11: _verdict(
        "003",
        "partly",
        Phrase("local hashing has the same estimator and variance"),
        Phrase("with p = e^epsilon / (e^epsilon + g - 1) and q = 1/g, not 1 / (e^epsilon + g - 1)"),
    ),
    12: _verdict(
        "003",
        "right",
        Phrase("the variance of the estimator"),
        Phrase("it holds for these very people; people who are themselves a sample add f (1 - f) / N"),
    ),
    13: _verdict(
        "003",
        "partly",
        Phrase("mechanisms are compared by Var*, the variance at f = 0"),
        Phrase("it ranks mechanisms, but it is no error bar: bars of 95% made from it can cover a third of the time"),
    ),
    14: _verdict(
        "003",
        "partly",
        Phrase("Var*(epsilon/d) is larger than Var*(epsilon): so sample an attribute"),
        Phrase("sampling leaves N/d people to each attribute; at a large epsilon, splitting the budget is better"),
    ),
    15: _verdict(
        "003",
        "wrong",
        Phrase("the variance of RS+FD contains (1 - f) / N"),
        Phrase("it contains 1 - f"),
    ),
    16: _verdict(
        "003",
        "wrong",
        Phrase("RS+FD with the amplified epsilon' is epsilon-private"),
        Phrase(
            "for a whole record it is exactly epsilon'; for one attribute it is epsilon with unary encoding and fakes "
            "made of zeros, or with GRR where all attributes have equally many values"
        ),
    ),
    17: _verdict(
        "003",
        "partly",
        Phrase("realistic fakes are free, as post-processing"),
        Phrase("their shares must be public, or paid for by an earlier release"),
    ),
    18: _verdict(
        "002",
        "wrong",
        Phrase("the mean of a class gets noise for (U - L) / (n + 1), with n its true size"),
        Phrase("the size of the noise then tells n: no epsilon holds; a noisy sum over a noisy count is private"),
    ),
    19: _verdict(
        "002",
        "wrong",
        Phrase("the variance has sensitivity n (U - L) / (n + 1)"),
        Phrase("n (U - L)^2 / (n + 1)^2"),
    ),
    20: _verdict(
        "002",
        "partly",
        Phrase("each of d attributes and the prior spend epsilon / (d + 1)"),
        Phrase("a numeric attribute spends twice, on its mean and on its variance; the prior gets noise for epsilon 1"),
    ),
    21: _verdict(
        "002",
        "wrong",
        Phrase("the coefficients of the loss have sensitivity 2 (1 + d)^2"),
        Phrase("with an intercept it is 9 instead of 8 at d = 1; and the constant term is published without noise"),
    ),
    22: _verdict(
        "002",
        "slip",
        Phrase(
            "the worked regression: y2 = 1280/4220, y3 with its sign, the minimum 2.36E-5, 0.3 in the second row of X"
        ),
        Phrase("y2 = 1281/4220, y3 = -4221/4220, the minimum 1/42200, 0.9 in the second row"),
    ),
    23: _verdict(
        "002",
        "wrong",
        Phrase("k-means: the sets of nearest points are defined with <="),
        Phrase("a tie puts a point into several clusters, and the sensitivity grows to k; ties need one owner"),
    ),
    24: _verdict(
        "002",
        "right",
        Phrase("k-means: half of the budget for counts, half for sums, in t rounds"),
        Phrase("for people who are added or removed, in a public box; better splits exist"),
    ),
    25: _verdict(
        "002",
        "slip",
        Phrase("the listings: dp.models, reg.predict, no bounds, labels_"),
        Phrase("diffprivlib.models, the fitted model's predict, public bounds; labels of people are not a release"),
    ),
    26: _verdict(
        "004",
        "partly",
        Phrase("the sum is recovered without error"),
        Phrase("it becomes 0 when it is m; floats round, and near 0 they wrap at random and let bits through"),
    ),
    27: _verdict(
        "004",
        "wrong",
        Phrase("with J blocks the cost is m^2 L / J for each block"),
        Phrase("that is the total; a block costs m^2 L / J^2, and its sum is revealed"),
    ),
    28: _verdict(
        "004",
        "slip",
        Phrase("y and the errors have n entries; products for k < l"),
        Phrase("they have m entries; k <= l"),
    ),
    29: _verdict(
        "004",
        "wrong",
        Phrase("the error of randomised response and of differential privacy is hard to measure"),
        Phrase("both have exact variances and exact intervals"),
    ),
    30: _verdict(
        "002",
        "slip",
        Phrase("naive Bayes, the example: Y1 is compared with Y1"),
        Phrase("the figures are right; one of the two is Y2"),
    ),
    31: _verdict(
        "003",
        "right",
        Phrase("at epsilon 0 the data are perfectly protected, and useless"),
        Phrase("a report then says nothing: it is a limit, and Murmure refuses it as a setting"),
    ),
    32: _verdict(
        "003",
        "partly",
        Phrase("the surface VAR1 - VAR2 lies between -0.02 and 0.02"),
        Phrase("that is without amplification; with epsilon' it is thirty times flatter"),
    ),
    33: _verdict(
        "002",
        "right",
        Phrase("the weights omega have no bounded sensitivity"),
        Phrase("one row can move them as far as you like, so noise goes on the coefficients of the loss"),
    ),
}
