"""What advice shows: the ranking with its best row, what its columns mean, and one sentence that sums it up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from murmure.core.domain import Categories, Domain, Interval
from murmure.core.errors import Phrase, Plural
from murmure.show.document import Block, Curve, Curves, Document, Items, Number, Section, Table, paragraphs
from murmure.show.language import significant
from murmure.show.phrase import Written

if TYPE_CHECKING:
    from murmure.advise.advice import Advice
    from murmure.advise.record_advice import RecordAdvice

NEAR_BEST = 1.05  # a standard error within 5% of the best is as good in practice
RANK_KEYS = {"mean": "mean_variance", "worst": "worst_variance", "var-star": "var_star"}
BITS = Phrase("bits: the size of one report")
LEVERAGE = Phrase("leverage: how many honest people one forged report counts for, at most")
MAX_LEVERAGE = 10.0  # above it, the advice warns of forged reports


# -- one question ------------------------------------------------------------------------------------------------------


def advice_document(advice: Advice) -> Document:
    shares = advice.statistic == "histogram"
    domain, people = domain_in_words(advice.domain), people_in_words(advice.people)
    title = Phrase("The shares of {domain}, from {people}", domain=domain, people=people)
    if not shares:
        title = Phrase("The mean of {domain}, from {people}", domain=domain, people=people)
    columns: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
        (Phrase("error"), lambda row: figure(standard_error(row["mean_variance"], shares))),
        (Phrase("worst"), lambda row: figure(standard_error(row["worst_variance"], shares))),
        (Phrase("bits"), lambda row: Number(float(f"{row['report_bits']:.4g}"), "plain")),
        (Phrase("leverage"), lambda row: figure(row["leverage"])),
    ]
    if shares:
        columns.insert(2, (Phrase("Var*"), lambda row: row["var_star"]))
    if any(row["detail"] for row in advice.rows):
        columns.append((Phrase("settings"), lambda row: row["detail"]))
    tables = ranking(advice.rows, Phrase("mechanism"), "mechanism", columns)
    pictures = [] if len(tables) < 2 else [advice_curves(advice)]
    return Document(title, (*tables, *pictures, legend(shares), *_conclusion(advice)), kind="Advice")


def ranking(
    rows: Sequence[dict[str, Any]], label: str, key: str, columns: Sequence[tuple[str, Callable[[Any], Any]]]
) -> list[Table]:
    """A table per epsilon, the best row marked."""
    out = []
    blocks = [(epsilon, list(block)) for epsilon, block in groupby(rows, key=lambda row: row["epsilon"])]
    for epsilon, block in blocks:
        title = Phrase("epsilon {epsilon:.6g}", epsilon=epsilon) if len(blocks) > 1 else ""
        cells = tuple((row[key], *(value(row) for _, value in columns)) for row in block)
        best = next(i for i, row in enumerate(block) if row["best"])
        out.append(Table(title, (label, *(name for name, _ in columns)), cells, bars=1, best=best))
    return out


def legend(shares: bool) -> Items:
    if not shares:
        error = Phrase("error: standard error of the mean, averaged over values")
        return Items((error, Phrase("worst: the same if all held the worst value"), BITS, LEVERAGE))
    return Items(
        (
            Phrase("error: standard error of a share in percentage points, averaged over answers"),
            Phrase("worst: the same at the worst share"),
            Phrase("Var*: the variance at share 0, that of a rare answer: right for choosing, wrong as an error bar"),
            BITS,
            LEVERAGE,
        )
    )


def _conclusion(advice: Advice | RecordAdvice) -> tuple[Block, ...]:
    """What the ranking means and, where forged reports weigh much, a warning."""
    return tuple(paragraphs([advice.sentence(), advice.caution()]))


def caution(rows: Sequence[dict[str, Any]], key: str) -> Phrase | None:
    """Of the best choice at the smallest epsilon, where one forged report weighs the most."""
    best = max((row for row in rows if row["best"]), key=lambda row: row["leverage"] or 0.0)
    if (best["leverage"] or 0.0) <= MAX_LEVERAGE:
        return None
    return Phrase(
        "Caution: with {choice} at epsilon {epsilon:.6g}, one forged report counts for up to {people} people. Where "
        "reports may be forged, choose a smaller leverage or a larger epsilon, and let the intervals allow for some "
        "(murmure estimate --forged).",
        choice=best[key],
        epsilon=best["epsilon"],
        people=written(best["leverage"]),
    )


def advice_curves(advice: Advice) -> Curves:
    """Variance against epsilon, a line per mechanism."""
    shares = advice.statistic == "histogram"
    labels = {
        "mean": Phrase("variance of a share, mean over values"),
        "worst": Phrase("variance of a share, worst value"),
        "var-star": Phrase("Var* (variance at share 0)"),
    }
    if not shares:
        labels = {
            "mean": Phrase("variance of the mean, mean over values"),
            "worst": Phrase("variance of the mean, worst value"),
        }
    key = RANK_KEYS[advice.rank_by]
    lines = curves(advice.rows, "mechanism", lambda row: row[key])
    domain, people = domain_in_words(advice.domain), people_in_words(advice.people)
    title = Phrase("{domain}, {people}", domain=domain, people=people)
    return Curves(title, lines, Phrase("epsilon"), labels[advice.rank_by], log=True)


def curves(rows: Sequence[dict[str, Any]], key: str, value: Callable[[Any], float | None]) -> tuple[Curve, ...]:
    """A line per name, in the order in which they end, top to bottom."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        y = value(row)
        if y is not None:
            points.setdefault(row[key], []).append((row["epsilon"], y))
    ordered = sorted(points, key=lambda name: -max(points[name])[1])
    return tuple(Curve(name, *zip(*sorted(points[name]), strict=True)) for name in ordered)  # type: ignore[arg-type]


def sentence(advice: Advice) -> Phrase:
    """What the ranking means, in one sentence."""
    best = [row for row in advice.rows if row["best"]]
    key = RANK_KEYS[advice.rank_by]
    shares = advice.statistic == "histogram"
    first, last = best[0], best[-1]
    level = advice.rank_by != "mean" or all(row["mean_variance"] == row["worst_variance"] for row in best)
    people = people_in_words(advice.people)

    def error(row: dict[str, Any], unit: bool = True) -> Phrase:
        value = written(standard_error(row[key], shares))
        return Phrase("{error} percentage points", error=value) if unit and shares else Phrase("{error}", error=value)

    def worst(row: dict[str, Any]) -> str:
        return (
            "" if level else Phrase(" (at worst {error})", error=written(standard_error(row["worst_variance"], shares)))
        )

    over: str = Phrase(" on average over the answers") if shares else Phrase(" on average over the values")
    fields = {
        "people": people,
        "what": _what(advice),
        "how": Phrase("at most") if advice.rank_by == "worst" else Phrase("about"),
        "error": error(first),
        "over": "" if level else over,
        "worst": worst(first),
        "epsilon": first["epsilon"],
        "mechanism": first["mechanism"],
        "bits": bits_in_words(first["report_bits"]),
    }
    if len(best) == 1:
        return Phrase(
            "With {people} at epsilon {epsilon:.6g}, {mechanism} gives {what} a standard error of {how} {error}{over}"
            "{worst}, and one report costs {bits}{shorter}.",
            shorter=_shorter_report(advice, first, key),
            **fields,
        )
    return Phrase(
        "With {people}, the best standard error of {what} goes from {how} {error}{over}{worst} at epsilon "
        "{epsilon:.6g} ({mechanism}, {bits} a report) to {last_error}{last_worst} at epsilon {last_epsilon:.6g} "
        "({last_mechanism}, {last_bits}).",
        last_error=error(last, unit=False),
        last_worst=worst(last),
        last_epsilon=last["epsilon"],
        last_mechanism=last["mechanism"],
        last_bits=bits_in_words(last["report_bits"]),
        **fields,
    )


def _what(advice: Advice) -> Phrase:
    if advice.statistic == "mean":
        return Phrase("the mean")
    if advice.rank_by == "var-star":
        return Phrase("the share of a rare answer")
    return Phrase("every share") if advice.share is None else Phrase("a share of {share:g}", share=advice.share)


def _shorter_report(advice: Advice, best: dict[str, Any], key: str) -> str:
    """A much shorter report that is nearly as good, where there is one."""
    nearly_best = [
        row
        for row in advice.rows
        if row[key] <= best[key] * NEAR_BEST**2 and row["report_bits"] <= best["report_bits"] / 2
    ]
    if not nearly_best:
        return ""
    row = min(nearly_best, key=lambda r: (r["report_bits"], r[key]))
    error = written(standard_error(row[key], advice.statistic == "histogram"))
    bits = bits_in_words(row["report_bits"])
    return Phrase(" ({mechanism}: {error} for {bits})", mechanism=row["mechanism"], error=error, bits=bits)


# -- whole records -----------------------------------------------------------------------------------------------------


def record_advice_document(advice: RecordAdvice) -> Document:
    people, columns = people_in_words(advice.people), len(advice.schema.private)
    title = Plural(
        "The figures of {n} column, from {people}",
        "The figures of {n} columns, from {people}",
        n=columns,
        people=people,
    )
    tables = ranking(
        advice.rows,
        Phrase("solution"),
        "solution",
        [
            (Phrase("error"), lambda row: figure(standard_error(row["mean_variance"]))),
            (Phrase("worst"), lambda row: figure(standard_error(row["worst_variance"]))),
            (Phrase("record"), lambda row: Number(float(f"{row['epsilon_record']:.4g}"), "plain")),
            (Phrase("attribute"), lambda row: Number(float(f"{row['epsilon_attribute']:.4g}"), "plain")),
            (Phrase("pairs"), lambda row: f"{row['pairs']}/{row['pairs_in_all']}"),
            (Phrase("bits"), lambda row: Number(float(f"{row['report_bits']:.4g}"), "plain")),
            (Phrase("leverage"), lambda row: figure(row["leverage"])),
        ],
    )
    notes = {row["solution"]: row["note"] for row in advice.rows if row["note"]}
    meaning = Items(
        (
            Phrase(
                "error: standard error over all figures, in per cent of the whole: of all people, or of a number's "
                "width"
            ),
            Phrase("worst: the same for the column that comes out worst"),
            Phrase("record: epsilon when the whole record may differ"),
            Phrase("attribute: epsilon when one attribute of it may"),
            Phrase("pairs: of how many pairs of columns the joint shares can be estimated"),
            BITS,
            LEVERAGE,
            *(Phrase("{solution}: {note}", solution=name, note=note) for name, note in notes.items()),
        )
    )
    more: list[Block] = [_protocols(advice)] if len(tables) == 1 else [record_curves(advice)]
    return Document(title, (*tables, meaning, *more, *_conclusion(advice)), kind="RecordAdvice")


def _protocols(advice: RecordAdvice) -> Section:
    """What the best solution does to every column."""
    rows = [
        (name, column["protocol"], figure(standard_error(column["variance"])))
        for name, column in advice.best["columns"].items()
    ]
    table = Table("", (Phrase("column"), Phrase("protocol"), Phrase("error")), tuple(rows))
    return Section(advice.best["solution"], (table,))


def record_curves(advice: RecordAdvice) -> Curves:
    """Standard error against epsilon, a line per solution."""
    labels = {
        "mean": Phrase("standard error over all figures, %"),
        "worst": Phrase("standard error over the worst column, %"),
    }
    lines = curves(advice.rows, "solution", lambda row: standard_error(row[RANK_KEYS[advice.rank_by]]))
    title = Phrase(
        "{columns}, {people}",
        columns=Plural("{n} column", "{n} columns", n=len(advice.schema.private)),
        people=people_in_words(advice.people),
    )
    return Curves(title, lines, Phrase("epsilon of the record"), labels[advice.rank_by], log=True)


def records_sentence(advice: RecordAdvice) -> Phrase:
    """What the ranking means, in one sentence."""
    best = [row for row in advice.rows if row["best"]]
    key, first, last = RANK_KEYS[advice.rank_by], best[0], best[-1]
    over = Phrase("over all figures") if advice.rank_by == "mean" else Phrase("in its worst column")
    fields = {
        "people": people_in_words(advice.people),
        "over": over,
        "error": written(standard_error(first[key])),
        "epsilon": first["epsilon"],
        "solution": first["solution"],
    }
    if len(best) > 1:
        return Phrase(
            "With {people}, the best standard error {over} goes from about {error}% of the whole at epsilon "
            "{epsilon:.6g} ({solution}) to {last_error}% at epsilon {last_epsilon:.6g} ({last_solution}).",
            last_error=written(standard_error(last[key])),
            last_epsilon=last["epsilon"],
            last_solution=last["solution"],
            **fields,
        )
    no_pairs = Phrase("; it knows nothing of pairs of columns")
    return Phrase(
        "With {people} at epsilon {epsilon:.6g} for a whole record, {solution} gives a standard error of about "
        "{error}% of the whole {over}, and one report costs {bits}{pairs}.",
        bits=bits_in_words(first["report_bits"]),
        pairs="" if first["pairs"] or not first["pairs_in_all"] else no_pairs,
        **fields,
    )


# -- numbers and domains in words --------------------------------------------------------------------------------------


def standard_error(variance: float | None, percent: bool = True) -> float | None:
    """In percentage points, or in per cent of the whole; of a mean, in its own unit."""
    return None if variance is None else (100 if percent else 1) * math.sqrt(variance)


def figure(value: float | None) -> Number | None:
    """Three significant digits in a table."""
    return None if value is None else Number(value, "fixed", significant(value, 3))


def written(value: float | None) -> Written | str:
    """Three significant digits in a sentence."""
    if value is None:
        return "-"
    plain = 1e-4 <= abs(value) < 1e7
    return Written(value, f"{value:.{significant(value, 3)}f}" if plain else f"{value:.3e}")


def people_in_words(people: int) -> Phrase:
    return Plural("{n:,} person", "{n:,} people", n=people)


def bits_in_words(bits: float) -> Phrase:
    """ "1 bit", "2.3 bits"."""
    return Phrase("{bits:.3g} bit", bits=bits) if bits == 1 else Phrase("{bits:.3g} bits", bits=bits)


def domain_in_words(domain: Domain) -> str:
    """What one person may answer."""
    if isinstance(domain, Interval):
        return Phrase(
            "a number from {low:g} to {high:g} in {cells:,} cells",
            low=domain.low,
            high=domain.high,
            cells=domain.cells,
        )
    if not isinstance(domain, Categories) or domain.ordered:
        return domain.describe()
    if isinstance(domain.values, int):
        return Phrase("{size:,} answers", size=domain.size)
    return Phrase("{size:,} answers ({labels})", size=domain.size, labels=", ".join(map(str, domain.values)))
