"""What the names of intervals mean: half a sentence for those who do not know them."""

from __future__ import annotations

from murmure.show.phrase import Phrase, Plural

KNOWN_EXACTLY = Phrase("known exactly")
EXACT_INVERSION = Phrase("exact inversion")
MIXED = Phrase("exact inversion (cells with few reports), score (the others)")
SCORE = Phrase("score")
SCORE_WEIGHTED = Phrase("score, weighted")
GAFFKE = Phrase("Gaffke")
DELTA = Phrase("delta")
LAW_OF_REPORTS = Phrase("inversion of the law of the reports")
MAPPED = Phrase("Clopper-Pearson mapped")
CLOPPER_PEARSON = Phrase("Clopper-Pearson")
TWO_MOMENTS = Phrase("Clopper-Pearson of two moments")
MAX_SPREAD_LAW = Phrase("Clopper-Pearson at the widest law")
GARWOOD = Phrase("Garwood")
FIELLER = Phrase("Fieller")
NOISE_INVERSION = Phrase("exact inversion of the noise")
DISTRIBUTION_FUNCTION = Phrase("inversion of the distribution function")
TOO_FEW = Phrase("the whole public range (too few people to divide by)")
MOVER_GARWOOD = Phrase("MOVER with Garwood limits")
MOVER_WILSON = Phrase("MOVER with Wilson limits")
MOVER_FIELLER = Phrase("MOVER of Fieller and Clopper-Pearson")
MOVER_TWO_MOMENTS = Phrase("MOVER of Fieller and Clopper-Pearson of two moments")
MOVER_DELTA = Phrase("MOVER of delta and Clopper-Pearson")

NOT_RARE = Phrase("every share under which such a count is not rare")
COMBINED = Phrase("the errors of noise and of sampling, each with its limits, combined")
MEANINGS: dict[str, Phrase] = {
    EXACT_INVERSION: NOT_RARE,
    MIXED: Phrase("every share under which such a count is not rare, by a normal curve where reports are many"),
    SCORE: Phrase("every value under which such reports are not rare, by a normal curve"),
    SCORE_WEIGHTED: Phrase("every value under which such reports are not rare, by a normal curve"),
    GAFFKE: Phrase("limits for answers spread in any way between the public bounds; measured, not proved"),
    DELTA: Phrase("the errors of what goes into the formula, carried through by its slopes"),
    LAW_OF_REPORTS: Phrase("every mean under which such reports are not rare"),
    MAPPED: Phrase("every value under which such a count is not rare"),
    CLOPPER_PEARSON: NOT_RARE,
    TWO_MOMENTS: Phrase("limits for the worst numbers with this mean and this spread"),
    MAX_SPREAD_LAW: Phrase("limits for the numbers that spread most"),
    GARWOOD: Phrase("every mean number under which such a count is not rare"),
    FIELLER: Phrase("every ratio that the noise on both of its sums allows"),
    NOISE_INVERSION: Phrase("every figure under which such noise is not rare"),
    DISTRIBUTION_FUNCTION: Phrase("every value with a number of people below it that the errors allow"),
    MOVER_GARWOOD: COMBINED,
    MOVER_WILSON: Phrase("two shares, each with its limits, combined"),
    MOVER_FIELLER: COMBINED,
    MOVER_TWO_MOMENTS: COMBINED,
    MOVER_DELTA: COMBINED,
}


def simultaneous_name(method: str, simultaneous: bool) -> str:
    """The name of a method, which says where all of its intervals hold at once."""
    return Phrase("{method}, simultaneous (Bonferroni)", method=method) if simultaneous else method


def forged_name(method: str, forged: int) -> str:
    """The name of a method whose intervals hold although some reports are forged."""
    if method == KNOWN_EXACTLY:
        return Plural("what {n:,} forged report can change", "what {n:,} forged reports can change", n=forged)
    return Plural(
        "{method}, widened for up to {n:,} forged report",
        "{method}, widened for up to {n:,} forged reports",
        n=forged,
        method=method,
    )


def plain_name(method: str) -> str:
    """The name without what was done to its intervals: that they hold at once, or although reports are forged."""
    while isinstance(method, Phrase) and "method" in method.fields:
        method = method.fields["method"]
    return method


def explained(method: str) -> str:
    """The name of a method with what it means."""
    meaning = MEANINGS.get(plain_name(method))
    return method if meaning is None else Phrase("{method} ({meaning})", method=method, meaning=meaning)
