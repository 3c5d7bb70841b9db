"""Errors of the library name its parameters; here they name the options that people typed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from murmure.show.phrase import Phrase, Reworded

# Sentences of the library that are clearer in the words of the command line, by their templates.
SENTENCES: dict[str, Callable[[dict[str, Any]], Phrase]] = {
    "Categories needs at least two labels, got {got}.": lambda fields: Phrase(
        "--labels needs at least two answers, got {got}.", **fields
    ),
    "Categories labels must differ, got {labels}{alike}.": lambda fields: Phrase(
        "--labels must differ, got {labels}{alike}.", **fields
    ),
    "Categories labels must be text, numbers or booleans, got {got}.": lambda fields: Phrase(
        "--labels must be text, numbers or booleans, got {got}.", **fields
    ),
    "{owner}.domain must be Integers, Interval or Decimals, got {got}.": lambda fields: Phrase(
        "{owner} is for numbers: give --integers or --interval.", **fields
    ),
    "{kind}.domain must be Integers, Interval or Decimals, got {got}.": lambda fields: Phrase(
        "{kind} is for numbers: give --integers or --interval.", **fields
    ),
    "{kind}.domain must hold two answers, got {got}.": lambda fields: Phrase(
        "{kind} takes two answers, got {got}.", **fields
    ),
    "{kind}.domain must have at most {max_grid_cells} values, got {got}.": lambda fields: Phrase(
        "{kind} takes at most {max_grid_cells} values, got {got}.", **fields
    ),
    "Integers needs low < high, got {low} and {high}.": lambda fields: Phrase(
        "--integers LOW:HIGH needs LOW < HIGH, got {low} and {high}.", **fields
    ),
    "Interval needs low < high, got {low!r} and {high!r}.": lambda fields: Phrase(
        "--interval LOW:HIGH needs LOW < HIGH, got {low!r} and {high!r}.", **fields
    ),
    "or one number: the share of the value that matters": lambda fields: Phrase(
        "or --share alone: the share of the value that matters"
    ),
    "advise.shares: a mean needs the shares of all values, or none.": lambda fields: Phrase(
        "advise.shares: a mean needs the shares of all values (--shares), or none."
    ),
    "target must be a row from 0 to {last}, got {got}.": lambda fields: Phrase(
        "--row must be a row from 0 to {last}, got {got}.", **fields
    ),
    'knows=["age", "region"], wants=["income"]': lambda fields: Phrase("--knows age,region --wants income"),
    "same_order: the sanitised table has {reports:,} rows and the identified one {people:,}, so they cannot be "
    "the same people in the same order.": lambda fields: Phrase(
        "--same-order: the sanitised table has {reports:,} rows and the identified one {people:,}, so they cannot be "
        "the same people in the same order.",
        **fields,
    ),
    "leave same_order out: the figure is then what the posterior promises": lambda fields: Phrase(
        "leave --same-order out: the figure is then what the posterior promises"
    ),
    'prior={{"no": 0.7, "yes": 0.3}}, or shares in order: prior=[0.7, 0.3]': lambda fields: Phrase(
        "--prior 0.7,0.3, in the order of the values; without it all values are equally likely"
    ),
    'prior={{"smoker": [0.8, 0.2]}}; columns that are left out are even': lambda fields: Phrase(
        "--priors names a file with the shares of columns; those that are left out are even"
    ),
    "guess one column: attribute=..., or give no prior": lambda fields: Phrase(
        "guess one column (--attribute), or leave --priors out"
    ),
    "GRR(Categories(1000), epsilon=1.0), for example": lambda fields: Phrase("--categories 1000, for example"),
    "GRR takes either an epsilon or a probability of the truth, got {got}.": lambda fields: Phrase(
        "GRR needs either --epsilon or --truth, got {got}.", **fields
    ),
    "GRR(domain, epsilon=1.0); of a die that tells the truth on 4 of 6 faces: GRR(domain, truth=Fraction(4, 6))": (
        lambda fields: Phrase("--epsilon 1; of a die that tells the truth on 4 of 6 faces: --truth 4/6")
    ),
    "leave attribute out": lambda fields: Phrase("leave --attribute out"),
    "leave it out of knows, or make it Integers in the schema": lambda fields: Phrase(
        "leave it out of --knows, or make it whole numbers in the schema"
    ),
    "the level must lie strictly between 0 and 1, got {got}.": lambda fields: Phrase(
        "--test-level must lie strictly between 0 and 1, got {got}.", **fields
    ),
    "reidentification takes at most {most} surveys, got {got}.": lambda fields: Phrase(
        "--surveys must be at most {most}, got {got}.", **fields
    ),
    "pairs=[(0, 1)], as the randomiser takes them": lambda fields: Phrase("--pair 0,1, as the randomiser takes them"),
    "audit(randomiser, epsilon=1.0, pairs=[(0, 1)])": lambda fields: Phrase("--claim 1, for example"),
    "prior=[0.7, 0.3], in the order of the values; without a prior all values are equally likely": lambda fields: (
        Phrase("--prior 0.7,0.3, in the order of the values; without it all values are equally likely")
    ),
}
# Names of the code, which are the same in every language.
NAMES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\bCategories\.k\b", "--categories"),
    (r"\(Interval\(\.\.\., cells=(\d+)\)\)", r"(--cells \1)"),
    (r"\bcertify\s?:? (relation|reports)\b", r"certify.\1"),
    # The function of an attack, before what is wrong: the command that was typed says it.
    (r"^(?:attribute_inference|audit|averaging|differencing|poisoning|reconstruction|reidentification)\s?: ", ""),
)
UNQUOTED = str.maketrans("", "", ' "')  # a list as it is typed: 1,10,100
BOUNDS: tuple[tuple[str, Callable[[re.Match[str]], str]], ...] = (
    (r"\b(Integers|Interval)\.(low|high)\b", lambda m: f"{option(m[1].lower())} {m[2].upper()}"),
    (r"\b(Integers|Interval)(?= (?:holds|is)\b)", lambda m: option(m[1].lower())),
)


def in_option_sentences(text: str, given: Mapping[str, Any]) -> str:
    """A sentence of the library, reworded where the command line says it better."""
    if not isinstance(text, Phrase) or isinstance(text, Reworded) or given.get("plan") is not None:
        return text  # what is wrong in a file is said in the words of the file
    fields = {name: in_option_sentences(value, given) for name, value in text.fields.items()}
    if "labels" in fields and given.get("labels") is not None:
        fields["labels"] = given["labels"]
    make = SENTENCES.get(text.template)
    if make is not None:
        return make(fields)
    return text if fields == text.fields else Phrase(text.template, **fields)


def option(name: str) -> str:
    """epsilon_once -> --epsilon-once"""
    return "--" + name.replace("_", "-")


def in_options(text: str, given: Mapping[str, Any], arguments: Collection[str] = ()) -> str:
    """`GRR.epsilon must be ...` becomes `--epsilon must be ...`.

    given: what the command takes, and its values. arguments: which of them are typed without a name.
    """
    if given.get("plan") is not None:  # the parameters of a plan are in its file, not on the command line
        given = {name: value for name, value in given.items() if name in ("relation", "reports")}
    else:
        for pattern, replacement in BOUNDS:
            text = re.sub(pattern, replacement, text)
    for pattern, words in NAMES:
        text = re.sub(pattern, words, text)
    names = {name: option(name) for name in given} | {name: name.upper() for name in arguments}
    if given.get("share") is not None:
        names["shares"] = "--share"
    if not names:
        return text
    # Longest first: "epsilon_once" must not match as "epsilon".
    alternatives = "|".join(sorted(names, key=len, reverse=True))
    text = re.sub(
        rf"(?<![\w-])({alternatives})\s?=\s?\[([^\[\]()]*)\]",
        lambda m: f"{names[m[1]]} {m[2].translate(UNQUOTED)}",
        text,
    )
    text = re.sub(
        rf'(?<![\w-])(?:[A-Za-z_]\w*\.)?({alternatives})\s?=\s?"?([\w.+-]*\w)"?(?: (or|ou) "(\w+)")?',
        lambda m: " ".join([names[m[1]], *_typed(m[2])]) + (f" {m[3]} {m[4]}" if m[4] else ""),
        text,
    )
    text = re.sub(rf"(?<![\w-])[A-Za-z_]\w*\.({alternatives})\b", lambda m: names[m[1]], text)
    # "times must be ...", "times is empty", and the same in French.
    text = re.sub(rf"^({alternatives})(?= (?:must|is|doit|est)\b)", lambda m: names[m[1]], text)
    return re.sub(r"^--([a-z-]+)(?=\s?: )", lambda m: _with_value(m, given), text)


def _typed(value: str) -> list[str]:
    """1.0 is typed 1, and the option of a switch has no value."""
    return [] if value == "True" else [value.removesuffix(".0")]


def _with_value(match: re.Match[str], given: Mapping[str, Any]) -> str:
    """`--rank-by:` becomes `--rank-by var-star:`."""
    value = given.get(match[1].replace("-", "_"))
    return f"--{match[1]} {value}" if isinstance(value, str | int | float) else match[0]
