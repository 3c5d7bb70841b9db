"""`murmure sanitise`: every row of a table is randomised before it leaves your organisation, certified and charged."""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.catalogue import solution_names
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.language import PhraseOption, echo
from murmure.cli.ledger_session import (
    LedgerSession,
    account_options,
    check_budget_option,
    is_pattern,
    open_account,
    warn,
)
from murmure.cli.option_words import option
from murmure.cli.options import OneOf, WholeNumber, json_option, require_options, rows_of_one_person, unit_options
from murmure.cli.outputs import refuse_existing
from murmure.cli.record_certificates import both_certificates
from murmure.cli.terminal import print_document, print_json
from murmure.cli.written_figures import WrittenFigures, written_figure_options
from murmure.core.errors import Phrase, Plural, shorten
from murmure.show.document import Document, Facts, Paragraph, Section
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.cli.estimate import Answer
    from murmure.core.schema import Schema
    from murmure.ledger.account import Account
    from murmure.run.tables.sanitiser import Receipt

SOLUTION_NAMES = ("auto", *solution_names())
PER_COLUMN = ("plain", "spl")
ASSUMED_PEOPLE = 10_000  # if unknown: all variances shrink alike, so the choice hardly depends on it
EXAMPLE = Phrase("murmure sanitise people.csv --schema schema.toml --epsilon 1 -o sanitised.parquet")


@click.command(cls=MurmureCommand, short_help="Randomise every row of a table before it leaves your organisation.")
@click.argument("sources", metavar="IN...", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--epsilon", type=float, metavar="E", help="The budget of a whole row.  [required, or per column]")
@click.option("--epsilon-per-column", type=float, metavar="E", help="Instead, for plain and spl: of each column.")
@click.option(
    "--solution",
    cls=PhraseOption,
    type=OneOf(
        Phrase("there is no solution"),
        Phrase("there are"),
        SOLUTION_NAMES,
        {"rsfd": "rsfd-grr", "rsrfd": "rsrfd-grr"},
    ),
    metavar="NAME",
    help=Phrase("{names}.  [default: auto, the least variance of smp and spl]", names=", ".join(SOLUTION_NAMES)),
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="The file to write.  [required]")
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
@click.option(
    "--people", type=WholeNumber(), metavar="N", help="auto: how many take part, where the table does not say."
)
@unit_options
@click.option(
    "--invalid",
    type=click.Choice(["refuse", "drop"]),
    default="refuse",
    show_default=True,
    help="What to do with rows that the schema does not allow.",
)
@click.option("--seed", type=int, metavar="N", help="Repeatable, for experiments. NOT FOR REAL PEOPLE.")
@written_figure_options
@account_options
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@json_option
def sanitise(
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
    ledger: str | None,
    dataset: str | None,
    who: str | None,
    budget: float | None,
    force: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Randomise every row of IN (CSV, Parquet or Arrow files, folders, patterns) and write it to OUT.

    OUT holds all that `murmure estimate` needs. --epsilon is the total of a row, whatever the solution. Every run is
    charged in the ledger, to the same account as questions about the same file: sanitising the same people again makes
    them pay again. (A file is recognised by its name and by its bytes; the same people in another file are not, unless
    both have the same --dataset.)

    \b
    murmure sanitise people.csv --schema schema.toml --epsilon 1 -o sanitised.parquet
    murmure sanitise 'visits-*.parquet' --schema visits.toml --epsilon 1 --unit patient --rows-per-person 4 -o out.csv
    murmure sanitise people.csv --schema schema.toml --epsilon 1 -o sanitised.parquet --estimate --html figures.html
    """
    figures = WrittenFigures.of(settings)
    if epsilon is not None and epsilon_per_column is not None:
        raise UsageError("--epsilon and --epsilon-per-column exclude one another.", "--epsilon is the total of a row")
    needed = {
        Phrase("a table IN"): sources,
        "--schema": schema_file,
        "--epsilon": epsilon if epsilon_per_column is None else epsilon_per_column,
        "-o OUT": output,
    }
    require_options(Phrase("murmure sanitise"), needed, EXAMPLE)
    assert schema_file is not None and output is not None
    rows = rows_of_one_person(unit, rows_per_person, Phrase("what one person pays grows"))
    from murmure.core.random import Random
    from murmure.core.schema import Schema
    from murmure.engines.sources.table_writer import leftover_files
    from murmure.run.tables.sanitiser import sanitise as sanitise_table

    schema = Schema.load(schema_file)
    schema.refuse_drafted()
    check_budget_option(budget)
    source: Any = sources[0] if len(sources) == 1 else list(sources)
    counted = [] if figures is None else figures.checked(source, schema)
    given = {name: value for name, value in settings.items() if value is not None}
    built = build_solution(schema, source, solution, epsilon, epsilon_per_column, people, given)
    rng = None if seed is None else Random.seeded(seed)
    if seed is not None:
        built.warn(
            Phrase("--seed is for experiments: anyone who knows the seed can undo every report. NOT FOR REAL PEOPLE.")
        )
    paths = _unsanitised_paths(source, schema)
    _check_output(output, paths, force)
    if dataset is None and any(map(is_pattern, sources)):  # a pattern has no name: each of its files has an account
        sources = tuple(map(str, paths))
        source = list(sources)
    accounts = _open_accounts(sources, output, ledger, dataset, who, built.warnings)
    for part in leftover_files(output):
        built.warn(
            Phrase(
                "{part!r} is what a run that was killed left: rows that were randomised, and paid for by no charge. "
                "Remove it, unless that run still goes on.",
                part=str(part),
            )
        )
    if budget is not None:
        for account in accounts:
            LedgerSession(account, budget=budget).ensure_budget(None, "replace", unit)
    charges = [account.ledger.state(account.dataset).charges for account in accounts]
    try:
        receipt: Receipt = sanitise_table(
            source,
            built.mechanism,
            output,
            invalid=invalid,
            unit=unit,
            rows_per_person=rows,
            rng=rng,
            overwrite=force,
            ledger=accounts,
            estimate=counted,
        )
    except BaseException:
        # The charge is written before the output takes its name, so a charge without an output is possible; the reverse
        # is not. Also Ctrl-C must say so.
        for account, before in zip(accounts, charges, strict=True):
            if account.ledger.state(account.dataset).charges > before:
                echo(Phrase("{dataset!r} was charged, although nothing was released.", dataset=account.dataset))
        raise
    if not as_json:
        print_document(receipt_document(receipt, built, sources, output))
    answer = None if figures is None else _figures_of_written(figures, receipt, output)
    if as_json:
        told = _as_json(receipt, built, output)
        print_json(told if figures is None or answer is None else told | {"estimate": figures.as_json(answer)})
    elif figures is not None and answer is not None:
        click.echo()
        figures.show(answer)


def _figures_of_written(figures: WrittenFigures, receipt: Receipt, output: Path) -> Answer:
    try:
        return figures.answer(receipt)
    except BaseException:  # the table is there, and paid for, whatever becomes of its figures
        echo(Phrase("{output!r} is written and charged: murmure estimate reads it.", output=str(output)))
        raise


def _open_accounts(
    sources: tuple[str, ...],
    output: Path,
    ledger: str | None,
    dataset: str | None,
    who: str | None,
    warnings: list[str],
) -> list[Account]:
    """The account of every source, or the one that --dataset names; old charges beside them must be known first."""
    if dataset is not None and len(sources) > 1:
        raise UsageError(
            "--dataset names one account, but each of several tables has its own.",
            "leave it out: the account of each table pays; or put them into one folder",
        )
    accounts = [open_account(source, ledger, dataset, who, warnings) for source in sources]
    if len({account.dataset for account in accounts}) < len(accounts):
        raise UsageError(
            "two of these tables have one account: their people would pay twice.", "put them into one folder"
        )
    if output.resolve() == Path(accounts[0].ledger.name).resolve():
        raise UsageError(
            "{output!r} cannot be the ledger too.", "leave --ledger out, or name another file", output=str(output)
        )
    accounts[0].ledger.refuse_unimported(output.resolve().parent, Path.cwd())
    return accounts


def _unsanitised_paths(source: Any, schema: Schema) -> tuple[Path, ...]:
    """The files behind the source, which nobody has sanitised before."""
    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.tables import open_table
    from murmure.run.tables.table_format import PLAN_KEY

    table = open_table(described(source, schema), list(schema), schema.kinds)
    if PLAN_KEY in table.metadata:
        raise UsageError(
            "{source_name} is already sanitised.",
            "sanitise the original; murmure estimate reads this one",
            source_name=table.source_name,
        )
    return table.paths


def _check_output(output: Path, sources: tuple[Path, ...], force: bool) -> None:
    """What the writer would refuse too, in the words of the command line."""
    if output.is_dir():
        raise UsageError(
            "{output!r} is a folder; name a file.",
            "-o {output_2}",
            output=str(output),
            output_2=output / "sanitised.parquet",
        )
    # That OUT is one of the sources is the writer's error: --force would not help.
    if not any(output.exists() and output.samefile(source) for source in sources):
        refuse_existing(output, force)


# -- which mechanism ---------------------------------------------------------------------------------------------------


@dataclass
class BuiltSolution:
    """A mechanism, its name, how it was chosen, and the warnings about it."""

    name: str
    mechanism: Any
    how_chosen: str = ""
    warnings: list[str] = field(default_factory=list)

    def warn(self, words: Phrase) -> None:
        warn(self.warnings, Phrase("WARNING: {words}", words=words))


def build_solution(
    schema: Schema,
    source: Any,
    name: str | None,
    epsilon: float | None,
    per_column: float | None,
    people: int | None,
    given: Mapping[str, Any],
) -> BuiltSolution:
    """The mechanism that the options ask for."""
    from murmure.advise.solutions import SOLUTIONS, auto_solution

    name = name or ("auto" if per_column is None else "plain")
    if per_column is not None and name not in PER_COLUMN:
        raise UsageError(
            "--epsilon-per-column is for {per_column}; {name} spends --epsilon on the whole row.",
            "--solution plain, or --epsilon",
            per_column=Several(PER_COLUMN),
            name=name,
        )
    takes = SOLUTIONS[name].takes if name != "auto" else ()
    for extra in given.keys() - set(takes):
        allowed = [other for other, solution in SOLUTIONS.items() if extra in solution.takes]
        raise UsageError(
            "--solution {name} takes no {extra}.",
            "it is for {allowed}",
            name=name,
            extra=option(extra),
            allowed=", ".join(allowed),
        )
    if people is not None and name != "auto":
        raise UsageError("--people is for --solution auto, which uses it to choose.", "leave it out")
    if name == "auto":
        assert epsilon is not None
        known_people = people or _count_rows(source, schema)
        chosen, mechanism = auto_solution(schema, epsilon, known_people or ASSUMED_PEOPLE)
        whom = Phrase(" (for {people:,} people; --people N says how many)", people=ASSUMED_PEOPLE)
        how = Phrase("auto chose {chosen}{whom}: ", chosen=chosen, whom="" if known_people else whom)
        return BuiltSolution(name, mechanism, how)
    settings = {key: parse_setting(key, value, schema) for key, value in given.items()}
    if "priors" in takes and "priors" not in settings:
        raise UsageError(
            "--solution {name} needs --priors.", "public shares of every column, or an earlier release", name=name
        )
    # An earlier release gives two settings: the priors, and which plan paid for them.
    settings |= settings.pop("priors", {})
    if per_column is not None:
        if "weights" in settings:
            raise UsageError("--epsilon-per-column gives every column the same.", "--epsilon with --weights")
        built = BuiltSolution(name, SOLUTIONS[name].make.per_column(schema, per_column, **settings))
        d = len(schema.private)
        built.warn(
            Phrase(
                "{columns} columns at epsilon {each:.10g} each: a whole row costs epsilon = {total:.10g} IN TOTAL.",
                columns=d,
                each=per_column,
                total=built.mechanism.epsilon,
            )
        )
        return built
    assert epsilon is not None
    built = BuiltSolution(name, SOLUTIONS[name](schema, epsilon, **settings))
    if settings.get("calibrate") == "paper":
        from murmure.certify.certificate import certify

        record, attribute = (certify(built.mechanism, unit).epsilon for unit in ("record", "attribute"))
        built.warn(
            Phrase(
                "--calibrate paper states no epsilon, and {epsilon:.10g} is none: the certifier finds epsilon = "
                "{record:.6g} for a whole row and {attribute:.6g} for one attribute.",
                epsilon=epsilon,
                record=record,
                attribute=attribute,
            )
        )
    return built


def _count_rows(source: Any, schema: Schema) -> int | None:
    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.tables import open_table

    return open_table(described(source, schema), list(schema), schema.kinds).rows or None


def parse_setting(name: str, value: Any, schema: Schema) -> Any:
    """--weights, --oracle and --priors as mechanisms take them; other settings as they are."""
    if name == "weights" and value != "balanced":
        return {column: _parse_weight(column, text) for column, text in _parse_pairs("--weights", value).items()}
    if name == "oracle" and "=" in value:
        return _parse_pairs("--oracle", value)
    if name == "priors":
        return read_priors(value, schema)
    return value


def _parse_pairs(what: str, text: str) -> dict[str, str]:
    """a=2,b=1; a name that contains a comma is in quotes, as in a CSV file."""
    out: dict[str, str] = {}
    for part in next(csv.reader([text], skipinitialspace=True), []):
        column, equals, value = (word.strip() for word in part.rpartition("="))
        if not equals or not column or not value:
            raise UsageError(
                "{what}: {part} is not COLUMN=VALUE.", "{what} age=2,income=1", what=what, part=shorten(part)
            )
        if column in out:
            raise UsageError("{what} names column {column!r} twice.", what=what, column=column)
        out[column] = value
    return out


def _parse_weight(column: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            "--weights: {column!r} is given {text}, wanted a number.",
            "--weights age=2",
            column=column,
            text=shorten(text),
        ) from None


def read_priors(path: Path, schema: Schema) -> dict[str, Any]:
    """Public shares by column (a list, or by label), or the JSON of an earlier release: then also which plan it was."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        document = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text)
    except OSError as error:
        raise UsageError(
            "cannot read {path!r}: {strerror}.", path=str(path), strerror=(error.strerror or str(error)).lower()
        ) from None
    except (ValueError, RecursionError):
        kind = "TOML" if path.suffix.lower() == ".toml" else "JSON"
        raise UsageError(
            "{path!r} is not {kind}.", '{{"smoker": [0.8, 0.2], ...}}', path=str(path), kind=kind
        ) from None
    if not isinstance(document, dict):
        raise UsageError("{path!r} holds no shares by column.", '{{"smoker": [0.8, 0.2], ...}}', path=str(path))
    if "figures" in document and "plan" in document:
        return _priors_of_release(path, document, schema)
    return {"priors": {name: _ordered_shares(path, name, shares, schema) for name, shares in document.items()}}


def _priors_of_release(path: Path, document: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    from murmure.local.rsfd import as_prior

    shares: dict[str, dict[str, float]] = {}
    try:
        for row in document["figures"]:
            if row.get("share") is not None:
                shares.setdefault(row["column"], {})[row["label"]] = float(row["share"])
        paid = str(document["plan"])
    except (TypeError, KeyError, AttributeError, ValueError):
        raise UsageError(
            "{path!r} is not a release.", "murmure estimate OUT --json writes one", path=str(path)
        ) from None
    missing = [name for name in schema.private if name not in shares]
    if missing:
        raise UsageError(
            "the release {path!r} holds no shares of column {missing!r}.",
            "give shares of every column",
            path=str(path),
            missing=missing[0],
        )
    priors = {name: as_prior(_ordered_shares(path, name, shares[name], schema)).tolist() for name in schema.private}
    return {"priors": priors, "paid": paid}


def _ordered_shares(path: Path, name: str, shares: Any, schema: Schema) -> list[float]:
    """In the order of the column's values."""
    try:
        if not isinstance(shares, Mapping) or name not in schema.private:
            return [float(share) for share in shares]
        labels = schema[name].labels()
        if set(shares) != set(labels):
            odd = sorted(set(shares) ^ set(labels))
            raise UsageError(
                "{name!r}, column {name_2!r}: the labels are not those of the schema: {odd}.",
                name=path.name,
                name_2=name,
                odd=shorten(odd),
            )
        return [float(shares[label]) for label in labels]
    except (TypeError, ValueError):
        raise UsageError(
            "{name!r}, column {name_2!r}: {shares} is not a list of shares.",
            name=path.name,
            name_2=name,
            shares=shorten(shares),
        ) from None


# -- the answer --------------------------------------------------------------------------------------------------------


def _as_json(receipt: Receipt, built: BuiltSolution, output: Path) -> dict[str, Any]:
    from murmure.local.base.record_mechanism import protocol_names
    from murmure.run.report.certificate_words import certificate_json, protects

    plan, charge = receipt.plan, receipt.charge
    return {
        "output": str(output),
        "rows_in": receipt.rows + receipt.dropped,
        "rows_out": receipt.rows,
        "dropped": receipt.dropped,
        "beyond_rows_per_person": receipt.beyond,
        "clamped": dict(receipt.moved),
        "solution": built.name,
        "mechanism": type(plan.person).__name__,
        "columns": dict(zip(plan.person.columns, protocol_names(plan.person), strict=True)),
        "public": list(plan.person.domain.open),
        "unit": plan.unit,
        "rows_per_person": int(plan.rows_per_person),
        "protects": protects(plan),
        "plan": plan.digest,
        "seeded": receipt.seeded,
        "seconds": round(receipt.seconds, 3),
        "guarantees": {who: certificate_json(c) for who, c in receipt.guarantees.items()},
        "ledger": {**charge.to_dict(), "total": charge.to_dict()["spent"]["epsilon"], "words": str(charge)},
        "warnings": built.warnings,
    }


def receipt_document(receipt: Receipt, built: BuiltSolution, sources: tuple[str, ...], output: Path) -> Document:
    """What was read and written, by which mechanism, what it protects, and what was paid."""
    from murmure.run.report.certificate_words import promise

    charge = receipt.charge
    what: str = sources[0]
    if len(sources) > 1:
        what = Plural("{n} source", "{n} sources", n=len(sources))
    learn = Section(
        Phrase("What anyone who sees it can learn"),
        (*both_certificates(receipt.plan, receipt.guarantees), Paragraph(promise(receipt.guarantees["reader"]))),
    )
    paid = Paragraph(charge.words(), "warning" if charge.spent.charges > 1 else "text")
    title = Phrase("{what} -> {output}", what=what, output=str(output))
    return Document(title, (Facts(tuple(_receipt_facts(receipt, built))), learn, paid))


def _receipt_facts(receipt: Receipt, built: BuiltSolution) -> Iterator[tuple[Phrase, Any]]:
    from murmure.local.base.record_mechanism import protocol_names
    from murmure.run.report.certificate_words import mechanism_title, protects

    plan = receipt.plan
    read = receipt.rows + receipt.dropped
    yield Phrase("rows"), Phrase("{read:,} read, {written:,} written", read=read, written=receipt.rows)
    if receipt.dropped:
        yield Phrase("dropped"), _dropped_rows(receipt)
    if receipt.moved:
        counts = [Phrase("{name} {rows:,}", name=name, rows=rows) for name, rows in receipt.moved.items()]
        moved = Phrase(
            "{counts}: rows moved to the nearest bound. Exact counts, for the holder of the data",
            counts=Several(counts),
        )
        yield Phrase("clamped"), moved
    yield Phrase("solution"), Phrase("{how}{title}", how=built.how_chosen, title=mechanism_title(plan.person))
    by_protocol: dict[str, list[str]] = {}
    for column, protocol in zip(plan.person.columns, protocol_names(plan.person), strict=True):
        by_protocol.setdefault(protocol, []).append(column)
    for protocol, columns in by_protocol.items():
        yield Phrase("columns"), f"{protocol}: {', '.join(columns)}"
    carried = plan.person.domain.open
    if carried:
        yield (
            Phrase("public"),
            Phrase("{columns}: carried as they are, protected by nothing", columns=", ".join(carried)),
        )
    yield Phrase("protects"), protects(plan)
    yield Phrase("plan"), plan.digest[:12]
    if receipt.seeded:
        yield Phrase("seeded"), Phrase("an experiment, NOT FOR REAL PEOPLE; the file says so too")


def _dropped_rows(receipt: Receipt) -> Phrase:
    outside = receipt.dropped - receipt.beyond
    why = [Phrase("{rows:,} outside the schema", rows=outside)] if outside else []
    why += [Phrase("{rows:,} beyond the rows of one person", rows=receipt.beyond)] if receipt.beyond else []
    return Phrase("{why}; that a row is not there says that it was one of these", why=Several(why))
