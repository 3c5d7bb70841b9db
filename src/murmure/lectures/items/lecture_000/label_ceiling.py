"""Accuracy that is measured on sanitised labels has a ceiling: the probability that a label was kept."""

from __future__ import annotations

import numpy as np

from murmure.core.errors import Phrase
from murmure.lectures.course.item import Item, Measured
from murmure.lectures.course.work import Work
from murmure.lectures.experiments.listings_000 import (
    accuracy,
    judged_by_noise,
    keep_probability,
    lecture_split,
    mean_and_deviation,
    noisy_labels,
    predictions,
    prepared,
)
from murmure.show.document import Curve, Curves, Number, Paragraph, Table

EPSILON = 1.0


def measure(work: Work) -> Measured:
    columns, labels = prepared(work.table("pima"))
    train, test = lecture_split(len(labels))
    features = np.stack(list(columns.values()), axis=1)
    predicted = predictions(features[train], labels[train], features[test])
    clear, no = accuracy(labels[test], predicted), float(np.mean(labels[test] == 0))
    runs, rng = work.choose(5, 500, 5000), work.rng("labels")
    noisy = [noisy_labels(labels[test], EPSILON, rng) for _ in range(runs)]
    perfect, perfect_deviation = mean_and_deviation([accuracy(one, labels[test]) for one in noisy])
    model, model_deviation = mean_and_deviation([accuracy(one, predicted) for one in noisy])
    keep = keep_probability(EPSILON)
    epsilons = [float(e) for e in np.geomspace(0.01, 10, work.choose(4, 31, 31))]
    curves = {
        Phrase("always right"): 1.0,
        Phrase("learned in the clear"): clear,
        Phrase("always no"): no,
    }
    figure = Curves(
        Phrase("Accuracy when the test labels are sanitised too"),
        tuple(
            Curve(name, tuple(epsilons), tuple(judged_by_noise(score, keep_probability(e)) for e in epsilons))
            for name, score in curves.items()
        ),
        Phrase("epsilon of the label"),
        Phrase("accuracy on sanitised labels"),
        log_x=True,
        from_zero=False,
    )
    back = (model - (1 - keep)) / (2 * keep - 1)
    rows = (
        (Phrase("always right"), *fixed(1.0, judged_by_noise(1.0, keep), perfect, perfect_deviation)),
        (Phrase("learned in the clear"), *fixed(clear, judged_by_noise(clear, keep), model, model_deviation)),
        (Phrase("always no"), *fixed(no, judged_by_noise(no, keep)), None, None),
    )
    head = (
        Phrase("model"),
        Phrase("on the true labels"),
        Phrase("on sanitised labels, expected"),
        Phrase("measured"),
        Phrase("standard deviation"),
    )
    return Measured(
        Phrase(
            "At epsilon {epsilon:g} a label is kept with probability {keep:.3f}, so even a model that is always right "
            "scores {perfect:.3f} on average ({runs:,} runs), and the model of the clear data {model:.3f} instead of "
            "{clear:.3f}.",
            epsilon=EPSILON,
            keep=keep,
            perfect=perfect,
            runs=runs,
            model=model,
            clear=clear,
        ),
        {
            "epsilon": epsilons,
            **{
                name: [judged_by_noise(score, keep_probability(e)) for e in epsilons]
                for name, score in (("always_right", 1.0), ("clear_model", clear), ("always_no", no))
            },
        },
        (figure,),
        why=Phrase(
            "The listing sanitises the whole table and then splits it, so the test labels are noisy as well. That "
            "measures how well noise is predicted, and noise cannot be predicted."
        ),
        blocks=(
            Table(Phrase("At epsilon {epsilon:g}", epsilon=EPSILON), head, rows),
            Paragraph(
                Phrase(
                    "The bias is known, so it can be removed: accuracy = (measured - (1 - p)) / (2p - 1), with p = "
                    "{keep:.3f}. From {model:.3f} it gives back {back:.3f}.",
                    keep=keep,
                    model=model,
                    back=back,
                )
            ),
        ),
    )


def fixed(*values: float) -> tuple[Number, ...]:
    return tuple(Number(value, "fixed", 3) for value in values)


ITEM = Item(
    Phrase("Labels that cap the accuracy"),
    Phrase("Naive cleaning, part 3: the test"),
    measure,
    claimed=Phrase("the private accuracy is compared with the clear one, 0.6039 against 0.7857"),
    needs=("pima",),
    verdicts=(9,),
)
