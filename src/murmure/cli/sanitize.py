"""`murmure sanitize`: every row of a table randomised before it leaves the house, certified and charged."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.option_words import option
from murmure.cli.shared import (
    MurmureCommand,
    UsageError,
    Whole,
    console,
    did_you_mean,
    group_digits,
    json_option,
    print_json,
    require_options,
    rows_of_one_person,
)
from murmure.core.errors import shorten

if TYPE_CHECKING:
    from murmure.core.schema import Schema
    from murmure.ledger.charge_file import ChargeFile, ChargeTotals
    from murmure.run.tables.sanitiser import Receipt

NAMES = (
    "auto",
    "smp",
    "smp-round-robin",
    "spl",
    "plain",
    "rsfd-grr",
    "rsfd-sue-z",
    "rsfd-sue-r",
    "rsfd-oue-z",
    "rsfd-oue-r",
    "rsrfd-grr",
    "rsrfd-sue-r",
    "rsrfd-oue-r",
    "adp",
    "adp-spl",
    "adp-rsfd",
)
PER_COLUMN = ("plain", "spl")
SOME_PEOPLE = 10_000  # where nobody says how many: all variances fall alike, so the choice hardly depends on it
EXAMPLE = "murmure sanitize people.csv --schema schema.toml --epsilon 1 -o sanitised.parquet"


class SolutionName(click.ParamType):
    """A name of the list, or the nearest."""

    name = "solution"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value.lower() in ("rsfd", "rsrfd"):
            value += "-grr"
        if value.lower() not in NAMES:
            raise UsageError(
                f"there is no solution {shorten(value)}.", did_you_mean(value, NAMES) or f"there are {', '.join(NAMES)}"
            )
        return str(value.lower())

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in NAMES if name.startswith(incomplete.lower())]


@click.command(cls=MurmureCommand, short_help="Randomise every row of a table before it leaves the house.")
@click.argument("sources", metavar="IN...", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--epsilon", type=float, metavar="E", help="The budget of a whole row.  [required, or per column]")
@click.option("--epsilon-per-column", type=float, metavar="E", help="Instead, for plain and spl: of each column.")
@click.option(
    "--solution",
    type=SolutionName(),
    metavar="NAME",
    help=f"{', '.join(NAMES)}.  [default: auto, the least variance of smp and spl]",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="Where it goes.  [required]")
@click.option("--weights", metavar="COLUMN=W,...", help="Unequal shares (spl, plain) or chances (smp, rsfd, rsrfd).")
@click.option("--sample", type=int, metavar="M", help="smp: how many columns a person shows.  [default: 1]")
@click.option("--oracle", metavar="NAME", help="smp, spl, plain: GRR, OUE ..., or COLUMN=NAME,... for some.")
@click.option("--numeric", metavar="NAME", help="smp, spl, plain: Hybrid, Piecewise, BoundedLaplace ...")
@click.option("--by", type=click.Choice(["variance", "varstar"]), help="adp: how it chooses.  [default: variance]")
@click.option(
    "--calibrate",
    type=click.Choice(["record", "attribute", "paper"]),
    help="rsfd, rsrfd: what epsilon is about; paper states none.  [default: record]",
)
@click.option("--priors", type=click.Path(path_type=Path), metavar="FILE", help="rsrfd: public shares, JSON or TOML.")
@click.option("--people", type=Whole(), metavar="N", help="auto: how many take part, where the table does not say.")
@click.option("--unit", default="row", show_default=True, metavar="row|COLUMN", help="Who is protected.")
@click.option("--rows-per-person", type=int, metavar="N", help="With --unit COLUMN: the most rows of one person.")
@click.option(
    "--invalid",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="Rows that the schema does not hold.",
)
@click.option("--seed", type=int, metavar="N", help="Repeatable, for experiments. NOT FOR REAL PEOPLE.")
@click.option("--ledger", type=click.Path(path_type=Path), metavar="FILE", help="[default: beside OUT]")
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@json_option
def sanitize(
    sources: tuple[str, ...],
    schema_file: Path | None,
    epsilon: float | None,
    epsilon_per_column: float | None,
    solution: str | None,
    output: Path | None,
    people: int | None,
    unit: str,
    rows_per_person: int | None,
    invalid: Any,
    seed: int | None,
    ledger: Path | None,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Randomise every row of IN (CSV, Parquet or Arrow files, folders, patterns) and write it to OUT.

    OUT holds all that `murmure estimate` needs. --epsilon is the total of a row, whatever the solution. Every run is
    charged in a ledger beside OUT: sanitising the same people again makes them pay again. (A file is recognised by its
    path and its content; the same people in another file are not.)

    \b
    murmure sanitize people.csv --schema schema.toml --epsilon 1 -o sanitised.parquet
    murmure sanitize 'visits-*.parquet' --schema visits.toml --epsilon 1 --unit patient --rows-per-person 4 -o out.csv
    """
    both = epsilon is not None and epsilon_per_column is not None
    if both:
        raise UsageError("--epsilon and --epsilon-per-column exclude one another.", "--epsilon is the total of a row")
    missing = [
        name
        for name, value in (
            ("a table IN", sources),
            ("--schema", schema_file),
            ("--epsilon", epsilon if epsilon_per_column is None else epsilon_per_column),
            ("-o OUT", output),
        )
        if not value and value != 0
    ]
    require_options("murmure sanitize", missing, (), EXAMPLE)
    assert schema_file is not None and output is not None
    rows = rows_of_one_person(unit, rows_per_person, "what one person pays grows")
    from murmure.core.random import Random
    from murmure.core.schema import Schema
    from murmure.engines.sources.table_writer import leftover_files
    from murmure.ledger.charge_file import ChargeFile
    from murmure.run.tables.sanitiser import sanitise

    schema = Schema.load(schema_file)
    schema.refuse_drafted()
    book = ChargeFile(ledger) if ledger is not None else ChargeFile.beside(output)
    _refuse_as_ledger(book.path, output)
    book.check()
    source: Any = sources[0] if len(sources) == 1 else list(sources)
    given = {name: value for name, value in settings.items() if value is not None}
    made = build(schema, source, solution, epsilon, epsilon_per_column, people, given)
    rng = None if seed is None else Random.seeded(seed)
    if seed is not None:
        made.say("--seed is for experiments: whoever knows the seed undoes every report. NOT FOR REAL PEOPLE.")
    till = SanitiseCharge(book, source, schema)
    _refuse_output(output, till.paths, force)
    for part in leftover_files(output):
        made.say(
            f"{str(part)!r} is what a run that was killed left: rows that were randomised, and paid for by no charge. "
            "Remove it, unless that run still goes on."
        )
    for words in made.warnings:
        click.echo(words, err=True)
    try:
        receipt: Receipt = sanitise(
            source,
            made.mechanism,
            output,
            invalid=invalid,
            unit=unit,
            rows_per_person=rows,
            rng=rng,
            overwrite=force,
            before_release=till.pay,
        )
    except BaseException:
        if till.paid is not None:
            click.echo(f"Charge {till.paid.number} stands in {book.path}, although nothing was released.", err=True)
        raise
    assert till.paid is not None
    if as_json:
        print_json(_as_json(receipt, made, till, output))
    else:
        _show(receipt, made, till, sources, output)


def _refuse_as_ledger(ledger: Path, output: Path) -> None:
    if ledger.resolve() == output.resolve():
        raise UsageError(f"{str(output)!r} cannot be the ledger too.", "leave --ledger out, or name another file")


def _refuse_output(output: Path, sources: tuple[Path, ...], force: bool) -> None:
    """What the writer would refuse too, in the words of the command line."""
    if output.is_dir():
        raise UsageError(f"{str(output)!r} is a folder; name a file.", f"-o {output / 'sanitised.parquet'}")
    if output.exists() and not force and not any(output.samefile(source) for source in sources):
        raise UsageError(f"{str(output)!r} is there already.", "add --force to overwrite it, or name another with -o")


# -- which mechanism ---------------------------------------------------------------------------------------------------


@dataclass
class Made:
    """A mechanism, its name, how it was chosen, and what must be said aloud about it."""

    name: str
    mechanism: Any
    chosen: str = ""
    warnings: list[str] = field(default_factory=list)

    def say(self, words: str) -> None:
        self.warnings.append(f"WARNING: {words}")


def build(
    schema: Schema,
    source: Any,
    name: str | None,
    epsilon: float | None,
    per_column: float | None,
    people: int | None,
    given: Mapping[str, Any],
) -> Made:
    """The mechanism that the options ask for."""
    from murmure.advise.solutions import SOLUTIONS, auto_solution

    name = name or ("auto" if per_column is None else "plain")
    if per_column is not None and name not in PER_COLUMN:
        raise UsageError(
            f"--epsilon-per-column is for {' and '.join(PER_COLUMN)}; {name} spends --epsilon on the whole row.",
            "--solution plain, or --epsilon",
        )
    takes = SOLUTIONS[name].takes if name != "auto" else ()
    for extra in given.keys() - set(takes):
        allowed = [other for other, one in SOLUTIONS.items() if extra in one.takes]
        raise UsageError(f"--solution {name} takes no {option(extra)}.", f"it is for {', '.join(allowed)}")
    if people is not None and name != "auto":
        raise UsageError("--people is for --solution auto, which chooses by it.", "leave it out")
    if name == "auto":
        assert epsilon is not None
        told = people or _rows_of(source, schema)
        chosen, mechanism = auto_solution(schema, epsilon, told or SOME_PEOPLE)
        whom = "" if told else f" (for {group_digits(SOME_PEOPLE)} people; --people N says how many)"
        return Made(name, mechanism, f"auto chose {chosen}{whom}: ")
    ready = {key: _setting(key, value, schema) for key, value in given.items()}
    if "priors" in takes and "priors" not in ready:
        raise UsageError(f"--solution {name} needs --priors.", "public shares of every column, or an earlier release")
    ready |= ready.pop("priors", {})
    if per_column is not None:
        if "weights" in ready:
            raise UsageError("--epsilon-per-column gives every column the same.", "--epsilon with --weights")
        made = Made(name, SOLUTIONS[name].make.per_column(schema, per_column, **ready))
        d = len(schema.private)
        made.say(
            f"{d} columns at epsilon {per_column:.10g} each: a whole row costs epsilon = {made.mechanism.epsilon:.10g} "
            "IN TOTAL."
        )
        return made
    assert epsilon is not None
    made = Made(name, SOLUTIONS[name](schema, epsilon, **ready))
    if ready.get("calibrate") == "paper":
        from murmure.certify.certificate import certify

        row, one = certify(made.mechanism, "record").epsilon, certify(made.mechanism, "attribute").epsilon
        made.say(
            f"--calibrate paper states no epsilon, and {epsilon:.10g} is none: the certifier finds epsilon = {row:.6g} "
            f"for a whole row and {one:.6g} for one attribute."
        )
    return made


def _rows_of(source: Any, schema: Schema) -> int | None:
    from murmure.engines.sources.tables import open_table

    return open_table(source, list(schema), schema.kinds).rows or None


def _setting(name: str, value: Any, schema: Schema) -> Any:
    if name == "weights" and value != "balanced":
        return {column: _weight(column, text) for column, text in _pairs("--weights", value).items()}
    if name == "oracle" and "=" in value:
        return _pairs("--oracle", value)
    if name == "priors":
        return read_priors(value, schema)
    return value


def _pairs(what: str, text: str) -> dict[str, str]:
    """a=2,b=1; a name that holds a comma stands in quotes, as in a CSV file."""
    out: dict[str, str] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        column, equals, value = (word.strip() for word in part.rpartition("="))
        if not equals or not column or not value:
            raise UsageError(f"{what}: {shorten(part)} is not COLUMN=VALUE.", f"{what} age=2,income=1")
        if column in out:
            raise UsageError(f"{what} names column {column!r} twice.")
        out[column] = value
    return out


def _weight(column: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--weights: {column!r} is given {shorten(text)}, wanted a number.", "--weights age=2"
        ) from None


def read_priors(path: Path, schema: Schema) -> dict[str, Any]:
    """Public shares by column (a list, or by label), or the JSON of an earlier release: then also which plan it was."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        held = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}.") from None
    except (ValueError, RecursionError):
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise UsageError(f"{str(path)!r} is not {kind}.", '{"smoker": [0.8, 0.2], ...}') from None
    if not isinstance(held, dict):
        raise UsageError(f"{str(path)!r} holds no shares by column.", '{"smoker": [0.8, 0.2], ...}')
    if "figures" in held and "plan" in held:
        return _from_release(path, held, schema)
    return {"priors": {name: _shares(path, name, said, schema) for name, said in held.items()}}


def _from_release(path: Path, held: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    from murmure.local.rsfd import as_prior

    shares: dict[str, dict[str, float]] = {}
    try:
        for row in held["figures"]:
            if row.get("share") is not None:
                shares.setdefault(row["column"], {})[row["label"]] = float(row["share"])
        paid = str(held["plan"])
    except (TypeError, KeyError, AttributeError, ValueError):
        raise UsageError(f"{str(path)!r} is not a release.", "murmure estimate OUT --json writes one") from None
    lost = [name for name in schema.private if name not in shares]
    if lost:
        raise UsageError(
            f"the release {str(path)!r} holds no shares of column {lost[0]!r}.", "give shares of every column"
        )
    priors = {name: as_prior(_shares(path, name, shares[name], schema)).tolist() for name in schema.private}
    return {"priors": priors, "paid": paid}


def _shares(path: Path, name: str, said: Any, schema: Schema) -> list[float]:
    """In the order of the column's values."""
    try:
        if not isinstance(said, Mapping) or name not in schema.private:
            return [float(share) for share in said]
        labels = schema[name].labels()
        if set(said) != set(labels):
            odd = sorted(set(said) ^ set(labels))
            raise UsageError(f"{path.name!r}, column {name!r}: the labels are not those of the schema: {shorten(odd)}.")
        return [float(said[label]) for label in labels]
    except (TypeError, ValueError):
        raise UsageError(f"{path.name!r}, column {name!r}: {shorten(said)} is no list of shares.") from None


# -- the charge --------------------------------------------------------------------------------------------------------


class SanitiseCharge:
    """Charges a run once all rows are randomised, before the output takes its name."""

    def __init__(self, ledger: ChargeFile, source: Any, schema: Schema) -> None:
        from murmure.engines.sources.tables import open_table
        from murmure.run.tables.table_format import PLAN_KEY

        self.ledger, self.schema = ledger, schema
        table = open_table(source, list(schema), schema.kinds)
        if PLAN_KEY in table.metadata:
            raise UsageError(
                f"{table.source_name} is sanitised already.", "sanitise the original; murmure estimate reads this one"
            )
        self.paths = table.paths
        self.paid: ChargeTotals | None = None

    def pay(self, receipt: Receipt) -> None:
        import hashlib

        from murmure.certify.certificate import certify

        columns = json.dumps(self.schema.to_dict(), sort_keys=True).encode()
        plan, guarantees = receipt.plan, receipt.guarantees
        self.paid = self.ledger.charge(
            self.paths,
            {
                "record": certify(plan.person, "record").epsilon,
                "attribute": certify(plan.person, "attribute").epsilon,
                "person": guarantees["reader"].epsilon,
            },
            unit=plan.unit,
            rows_per_person=int(plan.rows_per_person),
            schema=hashlib.sha256(columns).hexdigest(),
            plan=plan.digest,
            rows=receipt.rows,  # how many were dropped is for the terminal: the ledger lies beside OUT
            output=Path(str(receipt.path)).name,
            seeded=receipt.seeded,
        )

    def words(self) -> str:
        """ "these people have now paid epsilon = 1 + 1 = 2 in 2 releases" """
        assert self.paid is not None
        charges = [f"{epsilon:.6g}" for epsilon in self.paid.charges]
        whose = "these people" if len(self.paths) == 1 else f"the people of {self.paid.name}"
        if len(charges) == 1:
            return f"{whose} have now paid epsilon = {charges[0]} in 1 release, by this ledger"
        shown = charges if len(charges) <= 6 else [*charges[:2], "...", *charges[-2:]]
        total = f"{' + '.join(shown)} = {self.paid.total:.6g}"
        return f"{whose} have now paid epsilon = {total} in {len(charges)} releases, by this ledger"


# -- the answer --------------------------------------------------------------------------------------------------------


def _as_json(receipt: Receipt, made: Made, till: SanitiseCharge, output: Path) -> dict[str, Any]:
    from murmure.advise.record_advice import protocols
    from murmure.show.certificate_words import certificate_json, protects

    assert till.paid is not None
    plan = receipt.plan
    return {
        "output": str(output),
        "rows_in": receipt.rows + receipt.dropped,
        "rows_out": receipt.rows,
        "dropped": receipt.dropped,
        "beyond_rows_per_person": receipt.beyond,
        "clamped": dict(receipt.moved),
        "solution": made.name,
        "mechanism": type(plan.person).__name__,
        "columns": dict(zip(plan.person.columns, protocols(plan.person), strict=True)),
        "public": list(plan.statistic.domain.open),  # type: ignore[union-attr]
        "unit": plan.unit,
        "rows_per_person": int(plan.rows_per_person),
        "protects": protects(plan),
        "plan": plan.digest,
        "seeded": receipt.seeded,
        "seconds": round(receipt.seconds, 3),
        "guarantees": {who: certificate_json(c) for who, c in receipt.guarantees.items()},
        "ledger": {
            "path": str(till.ledger.path),
            "charge": till.paid.number,
            "paid": list(till.paid.charges),
            "total": till.paid.total,
            "words": till.words(),
        },
        "warnings": made.warnings,
    }


def _show(receipt: Receipt, made: Made, till: SanitiseCharge, sources: tuple[str, ...], output: Path) -> None:
    from rich.table import Table

    from murmure.advise.record_advice import protocols
    from murmure.show.certificate_words import both_certificates, mechanism_title, promise, protects

    assert till.paid is not None
    out, plan = console(), receipt.plan
    what = sources[0] if len(sources) == 1 else f"{len(sources)} sources"
    out.print(f"{what} -> {output}", style="bold", end="\n\n")
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    read = receipt.rows + receipt.dropped
    table.add_row("rows", f"{group_digits(read)} read, {group_digits(receipt.rows)} written")
    if receipt.dropped:
        outside = receipt.dropped - receipt.beyond
        why = [f"{group_digits(outside)} outside the schema"] if outside else []
        why += [f"{group_digits(receipt.beyond)} beyond the rows of one person"] if receipt.beyond else []
        table.add_row("dropped", f"{' and '.join(why)}; that a row is not there says that it was one of these")
    if receipt.moved:
        counts = ", ".join(f"{name} {group_digits(rows)}" for name, rows in receipt.moved.items())
        table.add_row("clamped", f"{counts}: rows moved to the nearest bound. Exact counts, for the holder of the data")
    table.add_row("solution", made.chosen + mechanism_title(plan.person))
    by_protocol: dict[str, list[str]] = {}
    for column, protocol in zip(plan.person.columns, protocols(plan.person), strict=True):
        by_protocol.setdefault(protocol, []).append(column)
    for i, (protocol, columns) in enumerate(by_protocol.items()):
        table.add_row("columns" if i == 0 else "", f"{protocol}: {', '.join(columns)}")
    carried = plan.statistic.domain.open  # type: ignore[union-attr]
    if carried:
        table.add_row("public", f"{', '.join(carried)}: carried as they are, protected by nothing")
    table.add_row("protects", protects(plan))
    table.add_row("plan", plan.digest[:12])
    if receipt.seeded:
        table.add_row("seeded", "an experiment, NOT FOR REAL PEOPLE; the file says so too")
    out.print(table)
    out.print("\nWhat whoever sees it can learn", style="bold")
    out.print(both_certificates(plan, receipt.guarantees))
    out.print(promise(receipt.guarantees["reader"]))
    again = len(till.paid.charges) > 1
    out.print()
    words = f"Ledger {till.ledger.path}, charge {till.paid.number}: {till.words()}."
    out.print(words, style="bold red" if again else None, soft_wrap=True)
