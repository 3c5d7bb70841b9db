"""`murmure party join`: read a study, approve it, check the rows, take part, and get the result."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import file_format_option, json_option, load_file_format
from murmure.cli.party_options import (
    FIRST_PATIENCE,
    NO,
    STAGE_TEXTS,
    YES,
    ask,
    connection_options,
    earlier_disclosures,
    home_option,
    open_client,
    open_party,
    print_study,
    say,
)
from murmure.show.phrase import Phrase, Quoted

if TYPE_CHECKING:
    from murmure.core.file_format import FileFormat
    from murmure.parties.http.client import Client
    from murmure.parties.party.ledger_account import StudyAccount
    from murmure.parties.study.document import Study


@click.command(cls=MurmureCommand, short_help="Approve a study and take part.")
@click.argument("url")
@click.option(
    "--rows", metavar="ROWS", help="CSV, Parquet, workbook, x.duckdb::table, or an address with --query.  [required]"
)
@click.option("--query", metavar="SQL", help="With a database: one SELECT.")
@file_format_option
@click.option("--yes", is_flag=True, help="Approve without asking; needs one of the next two.")
@click.option("--approve", metavar="DIGEST", help="Approve this very study, as `party look` names it.")
@click.option("--coordinator-fingerprint", metavar="F", help="Take studies signed by this key only.")
@click.option("--minimum-parties", type=int, default=5, show_default=True, help="In every sum; never below 3.")
@click.option("--minimum-rows", type=int, default=1, show_default=True, help="That you bring, or you take no part.")
@click.option("--forbid-column", "forbidden", multiple=True, metavar="C", help="Never read this column.")
@click.option("--require-noise", is_flag=True, help="Refuse exact sums.")
@click.option(
    "--guard",
    type=click.Choice(["columns", "question"]),
    default="columns",
    show_default=True,
    help="Hold a cohort against all earlier exact sums (each tells the number of rows), or only against those of the "
    "very same question: numbers of rows may then be told apart.",
)
@click.option("--budget", type=float, metavar="EPS", help="Take no part if all noisy studies cost more in all.")
@click.option("--allow-more-sums", is_flag=True, help="More exact sums than rows allow, over several studies.")
@click.option("--rows-are-public", is_flag=True, help="Everybody may see your rows: more sums than rows may be asked.")
@click.option(
    "--minimum-cell",
    type=int,
    default=5,
    show_default=True,
    help="Rows that a condition of an exact sum must pick out, by public facts; at 1, one row will do.",
)
@click.option("--delta", type=float, metavar="D", help="At which --budget is meant.  [default: 1e-06]")
@click.option(
    "--ledger", metavar="FILE|URL", help="Pays for noise.  [default: $MURMURE_LEDGER, or murmure-ledger.db here]"
)
@click.option("--dataset", metavar="NAME", help="Whose budget pays there.  [default: the name of the file of rows]")
@click.option(
    "--accept-new-key", "accepted", multiple=True, metavar="NAME", help="This party made a new key: you have asked it."
)
@click.option(
    "--patience", type=float, default=600.0, show_default=True, metavar="S", help="Seconds without an answer."
)
@click.option(
    "--wait",
    type=float,
    default=86_400.0,
    show_default=True,
    metavar="S",
    help="Seconds for the others' next step; then say no and leave.",
)
@click.option(
    "--decline/--no-decline",
    "declines",
    default=True,
    help="If your own rules or rows stop you: tell the coordinator no, without a reason and for good; or tell nobody, "
    "to mend it and join again.  [default: decline]",
)
@click.option("--verbose", is_flag=True, help="A line on stderr for every message.")
@home_option
@connection_options
@json_option
def join(
    url: str,
    rows: str | None,
    query: str | None,
    file_format: Path | None,
    yes: bool,
    approve: str | None,
    coordinator_fingerprint: str | None,
    minimum_parties: int,
    minimum_rows: int,
    forbidden: tuple[str, ...],
    require_noise: bool,
    guard: Any,
    budget: float | None,
    delta: float | None,
    ledger: str | None,
    dataset: str | None,
    allow_more_sums: bool,
    rows_are_public: bool,
    minimum_cell: int,
    accepted: tuple[str, ...],
    patience: float,
    wait: float,
    declines: bool,
    verbose: bool,
    folder: Path,
    ca: Path | None,
    plain_http: bool,
    lang: Any,
    as_json: bool,
) -> None:
    """Read what the study at URL asks, approve it, and take part with your rows until the result is there.

    Rows are checked before anything is sent: a value outside its bound stops here, with the number of its row. What
    leaves is a masked sum. Whoever is stopped by its own rules or rows declines by itself, so that nobody waits; no
    reason leaves. Stopped at any other moment, the same command goes on where it was. The first join pins the
    coordinator's key: later studies under the same URL must be signed by it. It pins those of the other parties too:
    later, whoever has another key under the same name is refused, unless --accept-new-key names it.
    """
    if rows is None:
        raise UsageError("murmure party join needs --rows.", "murmure party join URL --rows stays.csv")
    # Now, and not when the result is there: nobody waits for this party yet.
    from murmure.cli.party_outcomes import show_outcomes
    from murmure.parties.party.invitation import Invitation, check_known, check_rules, join_study, needs_rows, read_rows
    from murmure.parties.party.policy import Policy
    from murmure.parties.study.document import Study

    if not 0 < wait < 1e9:
        raise UsageError("--wait must be a number of seconds, got {got:g}.", "--wait 3600", got=wait)
    if delta is not None and budget is None:
        raise UsageError("--delta belongs to --budget.", "--budget 2 --delta 1e-6")
    limits: dict[str, Any] = {name: v for name, v in (("budget", budget), ("delta", delta)) if v is not None}
    limits |= {"allow_more_sums": allow_more_sums, "rows_are_public": rows_are_public, "minimum_cell": minimum_cell}
    policy = Policy(minimum_parties, minimum_rows, forbidden, require_noise, guard, **limits)
    home, file = open_party(folder), load_file_format(file_format)
    with open_client(url, ca, plain_http, patience, verbose) as client:
        # An address that was never met may be mistyped: do not wait long for its first answer.
        known_coordinator = home.store.pinned(client.address.url) is not None
        client.patience = patience if known_coordinator else min(patience, FIRST_PATIENCE)
        signed = client.study()
        since = time.monotonic()
        client.patience = patience
        study = Study.open(signed)
        account = _study_account(study, rows, ledger, dataset)
        terms = Invitation(
            home, study, signed, client.address.url, policy, approve, coordinator_fingerprint, accepted, account
        )
        check_known(terms)
        at_terminal = not (as_json or yes or approve) and _has_terminal()
        # A refusal may reveal earlier studies: a coordinator that nobody here has named is not told.
        named = known_coordinator or at_terminal or approve is not None or coordinator_fingerprint is not None
        with _declining(terms, client, since, declines and named, at_terminal):
            check_rules(terms)
        warnings = _row_warnings(terms, rows, query, file)
        approval = terms.approval(yes)
        if approval is None:
            approval = _ask_approval(terms, client, as_json, warnings)
        else:
            for line in warnings:
                say(line, err=True)
        with _declining(terms, client, since, declines and not _no_such_file(rows), at_terminal):
            local_sums = read_rows(terms, rows, query, file) if needs_rows(terms) else []
        outcomes = join_study(terms, client, local_sums, approval, _stage_printer(study), client.log, wait)
    show_outcomes(study, outcomes, as_json)


def _study_account(study: Study, rows: str, ledger: str | None, dataset: str | None) -> StudyAccount | None:
    """The account that pays for noise: that of the file of rows, as for a question about it. Exact sums cost none."""
    from murmure.cli.ledger_session import open_account
    from murmure.parties.party.ledger_account import StudyAccount
    from murmure.parties.party.row_sources import TABLE_MARK
    from murmure.parties.study.costs import charges_of

    if not charges_of(study):
        return None
    if "://" in rows:
        if dataset is None:
            raise UsageError("rows of a database have no name: which budget pays for the noise?", "--dataset visits")
        from murmure.ledger.ledger import Ledger, default_place

        return StudyAccount(Ledger(ledger or default_place()).account(dataset))
    return StudyAccount(open_account(rows.partition(TABLE_MARK)[0], ledger, dataset, None, []))


def _no_such_file(rows: str) -> bool:
    """A mistyped path is a mistake in the command, not a reason to decline."""
    from murmure.parties.party.row_sources import TABLE_MARK

    return "://" not in rows and TABLE_MARK not in rows and not Path(rows).exists()


@contextmanager
def _declining(terms: Any, client: Client, since: float, declines: bool, asks: bool) -> Iterator[None]:
    """Where its own rules or rows stop this party, decline. The reason is printed here and never sent."""
    from murmure.core.errors import MissingExtra
    from murmure.parties.party.invitation import decline_automatically
    from murmure.parties.party.refusals import StoreFailed

    try:
        yield
    except (MissingExtra, StoreFailed):  # the machine is not set up: neither a rule nor the rows
        raise
    except Exception as error:
        if asks and declines:  # a person may prefer to correct it and join again
            say(getattr(error, "text", str(error)), err=True)
            tell_no = Phrase(
                "Tell the coordinator no, so that nobody waits? This is final, and no reason is given (yes, no)"
            )
            declines = ask(tell_no) in YES
        name = Quoted(terms.study.name)
        if declines and decline_automatically(terms, client, since):
            say(Phrase("Declined: {name}. The coordinator was told no, without a reason.", name=name), err=True)
        else:
            say(Phrase("Nothing was sent to the coordinator of {name}.", name=name), err=True)
        raise


def _stage_printer(study: Study) -> Callable[[int, str], None]:
    """A line on stderr when a stage begins."""
    printed: set[tuple[int, str]] = set()

    def print_stage(number: int, stage: str) -> None:
        if stage not in STAGE_TEXTS or (number, stage) in printed:
            return
        printed.add((number, stage))
        text = STAGE_TEXTS[stage]
        fields = {"number": number, "rounds": study.rounds, "text": text}
        if study.rounds_vary:
            text = Phrase("round {number} of at most {rounds}: {text}", **fields)
        elif study.rounds > 1:
            text = Phrase("round {number} of {rounds}: {text}", **fields)
        say(text, err=True)

    return print_stage


def _row_warnings(terms: Any, rows: str, query: str | None, file: FileFormat) -> list[Phrase]:
    """Conditions that pick out few of the party's rows: shown to the person who approves, and to nobody else."""
    from murmure.core.errors import MurmureError
    from murmure.parties.party.condition_warnings import local_warnings
    from murmure.parties.party.row_sources import open_rows

    if terms.home.store.study(terms.study.digest) is not None:
        return []
    try:
        return local_warnings(terms.study, open_rows(rows, query, file), terms.policy.minimum_cell)
    except MurmureError:  # errors in the rows are reported when they are checked
        return []


def _ask_approval(terms: Any, client: Client, as_json: bool, warnings: list[Phrase]) -> str:
    """A person at a terminal decides; a script names what it approves by an option."""
    from murmure.parties.party.invitation import decline
    from murmure.parties.party.refusals import NotApproved

    study, name = terms.study, Quoted(terms.study.name)
    if as_json or not _has_terminal():
        raise NotApproved(
            "nobody approved the study {name!r}: there is no terminal to ask on.",
            hint="read it with murmure party look, then --approve {digest}",
            name=study.name,
            digest=study.digest.hex(),
        )
    print_study(study, terms.home.identity.public, [*earlier_disclosures(terms.home.folder, study), *warnings])
    answer = ask(Phrase("Take part? yes, no (the coordinator is told), or anything else to leave"))
    if answer in YES:
        return "approved at a terminal"
    if answer in NO:
        decline(terms, client, "declined at a terminal")
        say(Phrase("Declined: {name}. The coordinator has been told.", name=name))
    else:
        say(Phrase("Not approved: {name}. Nothing was sent.", name=name))
    raise click.exceptions.Exit(1)  # no error, but no result either


def _has_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()
