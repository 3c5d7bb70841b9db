"""The listings, line by line: what they would do if they were run, and what to write instead."""

from __future__ import annotations

import statistics

from murmure.core.errors import MurmureError, Phrase
from murmure.core.random import Random
from murmure.learn.kmeans import KMeans
from murmure.learn.linear import LinearRegression
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.library_models import library_version, quiet
from murmure.lectures.experiments.pima_accuracy import answers
from murmure.lectures.experiments.pima_rows import PimaRows, pima_rows, split_rows
from murmure.lectures.experiments.point_clouds import BOX, points
from murmure.plan.privacy import Central, Clear
from murmure.show.document import Block, Listing, Number, Paragraph, Table

EPSILONS = (0.1, 1.0, 10.0)
RIGHT = """schema = mu.Schema.load("pima.toml")            # public bounds
model = LinearRegression(schema, "Outcome", mu.Central(epsilon=1.0)).fit(train)
accuracy = ((model.predict(test) >= 0.5) == test["Outcome"]).mean()

clusters = KMeans(3, schema, mu.Central(epsilon=1.0)).fit(rows)
clusters.cluster_centers_, clusters.cluster_sizes_   # and no labels_"""

DP_MODELS = "import diffprivlib.models as dp\ndp.models.GaussianNB(epsilon=eps)"
REG = "private_clf.fit(...)\nreg.predict(X_test.values)"
NO_BOUNDS = "GaussianNB(epsilon=eps), LinearRegression(epsilon=eps), KMeans(n_clusters=3, epsilon=1.0)"
LABELS = "print(dp_km.labels_)"


def score(work: Work, rng: Random, epsilon: float, run: int) -> list[float]:
    """Of the private regression, and of the one in the clear that `reg` is if a notebook has it from before."""
    rows = pima_rows(work.table("pima"))
    train, test = split_rows(rows, work.seed, run)
    private = answers("regression", Central(epsilon), rng, train, test)
    reg = answers("regression", Clear(), rng, train, test)
    return [float((private == test.y).mean()), float((reg == test.y).mean())]


def measure(work: Work) -> Measured:
    runs = work.choose(1, 20, 50)
    keys = [{"epsilon": epsilon, "run": run} for epsilon in EPSILONS for run in range(runs)]
    scores = work.cells(score, keys)
    means = {
        e: [statistics.fmean(s[i] for key, s in zip(keys, scores, strict=True) if key["epsilon"] == e) for i in (0, 1)]
        for e in EPSILONS
    }
    rows = pima_rows(work.table("pima"))
    slips = (
        (DP_MODELS, imported()),
        (REG, Phrase("scores another model, or stops where there is none: see the figures below")),
        (NO_BOUNDS, refused(rows)),
        (LABELS, labels(work)),
    )
    return Measured(
        Phrase(
            "`reg.predict` scores the clear model whatever epsilon is: at epsilon {epsilon:g} it would report "
            "{reg:.3f}, where the private model has {private:.3f} (mean of {runs} splits)",
            epsilon=EPSILONS[0],
            private=means[EPSILONS[0]][0],
            reg=means[EPSILONS[0]][1],
            runs=runs,
        ),
        {"epsilon": list(EPSILONS), "private": [means[e][0] for e in EPSILONS], "reg": [means[e][1] for e in EPSILONS]},
        why=Phrase("the listings were shortened for a slide, and not run as they are printed"),
        blocks=(
            Table(Phrase("Four slips"), (Phrase("printed"), Phrase("what happens")), slips, words=True),
            Table(
                Phrase("Accuracy that would be reported"),
                (Phrase("epsilon"), Phrase("private model"), "reg"),
                tuple((Number(e, "plain"), *(Number(v, "fixed", 3) for v in means[e])) for e in EPSILONS),
            ),
            *instead(),
        ),
    )


def imported() -> Phrase:
    """dp is the module `models` already, so that dp.models does not exist: tried where the library is installed."""
    already = Phrase("fails: dp is already diffprivlib.models, so dp.GaussianNB is meant")
    if library_version() is None:
        return already
    with quiet():
        import diffprivlib.models as dp
    if hasattr(dp, "models"):
        return Phrase("works with diffprivlib {version}", version=library_version() or "")
    return Phrase("{already} (tried with diffprivlib {version})", already=already, version=library_version() or "")


def refused(rows: PimaRows) -> Phrase:
    """Murmure without bounds: an error, and not a warning."""
    try:
        LinearRegression(privacy=Central(1.0)).fit(rows.x, rows.y.astype(float))
    except MurmureError as error:
        return Phrase(
            "the library reads bounds off the data, which no epsilon covers, and warns; Murmure stops: {error}",
            error=error.message,
        )
    return Phrase("learns with bounds that it read off the data")


def labels(work: Work) -> Phrase:
    x = points(work.rng("points"), 60)
    table = {"x": x[:, 0], "y": x[:, 1]}
    with_labels = [
        hasattr(KMeans(3, BOX, privacy, rng=work.rng("labels")).fit(table), "labels_")
        for privacy in (Clear(), Central(1.0))
    ]
    if with_labels == [True, False]:
        return Phrase(
            "publishes for each row which centre is nearest: a function of that row, without noise. Murmure has "
            "labels_ in the clear only"
        )
    return Phrase("publishes for each row which centre is nearest")


def instead() -> tuple[Block, ...]:
    return (Paragraph(Phrase("What to write with Murmure:")), Listing(RIGHT))


ITEM = Item(
    Phrase("The listings"),
    Phrase("with DiffprivLib: naive Bayes, regression, k-means"),
    measure,
    claimed=Phrase("the listings learn privately and report the accuracy of the private model"),
    needs=("pima",),
    verdicts=(25,),
)
