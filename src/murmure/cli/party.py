"""`murmure party`: an organisation that takes part in a study, and decides itself what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.options import json_option
from murmure.cli.party_join import join
from murmure.cli.party_options import (
    FILE,
    FIRST,
    about,
    earlier_disclosures,
    home_option,
    line_options,
    open_client,
    own_key,
    print_study,
    printable,
)
from murmure.cli.terminal import print_json
from murmure.core.errors import shorten

if TYPE_CHECKING:
    from murmure.parties.party.folder import PartyFolder


@click.group(cls=MurmureGroup, short_help="Take part in a study with rows that never leave.")
def party() -> None:
    """Take part in sums between organisations, with rows that never leave.

    \b
    murmure party init murmure-party --name "Hospital A"       a key, and a card for the coordinator
    murmure party look https://office.example:8460             what a study asks, in plain words
    murmure party join https://office.example:8460 --rows stays.csv
    murmure party result                                       what came out, once more
    murmure party history                                      what was approved, and what was let go

    The folder of the party is named by --home or MURMURE_PARTY. Every command takes --json.
    """


# -- init and card -----------------------------------------------------------------------------------------------------


@party.command(cls=MurmureCommand, short_help="Make a party's key and card.")
@click.argument("folder", type=FILE)
@click.option("--name", required=True, help="By which the others know you.")
@json_option
def init(folder: Path, name: str, as_json: bool) -> None:
    """Make a party in FOLDER: a key that stays there, and card.json to hand to the coordinator."""
    from murmure.parties.party.folder import PartyFolder

    _show_card(PartyFolder.create(folder, name), as_json)


@party.command(cls=MurmureCommand, short_help="Show a party's card and fingerprint.")
@home_option
@json_option
def card(folder: Path, as_json: bool) -> None:
    """The card to hand to the coordinator, and the digits to compare by voice."""
    from murmure.parties.party.folder import PartyFolder

    _show_card(PartyFolder(folder), as_json)


def _show_card(home: PartyFolder, as_json: bool) -> None:
    mine = home.card
    if as_json:
        print_json({"folder": str(home.folder), "card": mine.to_dict(), "fingerprint": mine.fingerprint})
        return
    click.echo(f"{mine.name}: {mine.fingerprint}")
    click.echo(f"Hand {home.folder / 'card.json'} to the coordinator, and compare these digits by voice.")
    click.echo(f"Keep the rest of {home.folder} to yourself.")


# -- look --------------------------------------------------------------------------------------------------------------


@party.command(cls=MurmureCommand, short_help="What a study asks, in plain words.")
@click.argument("url")
@click.option("--rows", metavar="ROWS", help="Yours: checked as `join` checks them, and counted. They stay here.")
@click.option("--query", metavar="SQL", help="With a database: one SELECT.")
@home_option
@line_options
@json_option
def look(
    url: str,
    rows: str | None,
    query: str | None,
    folder: Path,
    ca: Path | None,
    plain_http: bool,
    lang: Any,
    as_json: bool,
) -> None:
    """What the study at URL asks, of whom, and who learns what. Nothing is sent but the question.

    With --rows it also says what in your rows would stop `join`, which would then decline.
    """
    from murmure.parties.party.condition_warnings import local_warnings
    from murmure.parties.party.local_sums import compute_local_sums
    from murmure.parties.party.policy import Policy
    from murmure.parties.party.row_sources import open_rows
    from murmure.parties.study.document import Study

    with open_client(url, ca, plain_http, FIRST) as client:
        study = Study.open(client.study())
    mine, told = own_key(folder), earlier_disclosures(folder, study, lang)
    if rows is not None:
        told += local_warnings(study, open_rows(rows, query), language=lang)
    if not as_json:
        print_study(study, lang, mine, told)
    if rows is not None:  # what would stop `join` stops here, where nobody hears of it
        Policy().check_rows(study, compute_local_sums(study, open_rows(rows, query))[0].rows)
    if as_json:
        print_json(about(study, lang, mine, told))


# -- decline -----------------------------------------------------------------------------------------------------------


@party.command("decline", cls=MurmureCommand, short_help="Tell the coordinator no.")
@click.argument("url")
@home_option
@line_options
@json_option
def say_no(url: str, folder: Path, ca: Path | None, plain_http: bool, lang: str, as_json: bool) -> None:
    """Tell the coordinator at URL that this party takes no part, so that nobody waits for it. No reason is given."""
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.party.invitation import Invitation, decline
    from murmure.parties.party.policy import Policy
    from murmure.parties.study.document import Study

    home = PartyFolder(folder)
    home.store.file.look()
    with open_client(url, ca, plain_http, FIRST) as client:
        signed = client.study()
        study = Study.open(signed)
        decline(
            Invitation(home, study, signed, client.address.url, Policy(), None, None), client, "declined by a command"
        )
    if as_json:
        print_json({"study": study.name, "digest": study.digest.hex(), "declined": True})
    else:
        click.echo(f"Declined: {study.name}. The coordinator knows.")


# -- status and history ------------------------------------------------------------------------------------------------


@party.command(cls=MurmureCommand, short_help="The studies of this party, and how they stand.")
@home_option
@json_option
def status(folder: Path, as_json: bool) -> None:
    """The studies that this party joined, how they stand, what came out, and what the noisy ones have cost in all."""
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.costs import spending_by_column

    home = PartyFolder(folder)
    home.store.file.look()
    studies = []
    for one in home.store.studies():
        results = home.store.results(one.digest)
        studies.append(
            {
                "study": one.name,
                "digest": one.digest.hex(),
                "url": one.url,
                "state": one.state,
                "reason": one.reason,
                "joined": one.at,
                "rounds_done": len(results),
                "sums": [[str(v) for v in sums] for sums, _ in results],
            }
        )
    paid = spending_by_column(home.store.charges())
    if as_json:
        said = {"party": home.card.name, "fingerprint": home.card.fingerprint, "studies": studies}
        print_json({**said, "paid": [one.to_dict() for one in paid]})
        return
    click.echo(f"{home.card.name}: {home.card.fingerprint}")
    if not studies:
        click.echo("No study was joined.")
    for held in studies:
        click.echo(f"{held['joined']}  {held['study']}: {held['state']}, rounds done: {held['rounds_done']}")
        if held["reason"]:
            click.echo(printable(f"  {held['reason']}"))
    for one_sum in paid:
        click.echo(one_sum.to_text())


@party.command(cls=MurmureCommand, short_help="What came out of a study, once more.")
@click.argument("which", metavar="[STUDY]", required=False)
@home_option
@json_option
def result(which: str | None, folder: Path, as_json: bool) -> None:
    """What came out of STUDY (its name, or the first digits of its digest), or of the last one, as `join` said it."""
    from murmure.cli.party_join import show_outcomes
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.party.runner import RoundSums
    from murmure.parties.study.document import Study

    home = PartyFolder(folder)
    home.store.file.look()
    held = [(one, home.store.results(one.digest)) for one in home.store.studies()]
    found = [(one, sums) for one, sums in held if sums and _is(one, which)]
    if not found:
        named = "" if which is None else f" called {shorten(which)}"
        over = [one.name for one, sums in held if sums]
        raise UsageError(
            f"there is no result of a study{named}.",
            f"there are results of {', '.join(map(repr, over))}"
            if over
            else "murmure party status shows how they stand",
        )
    one, sums = found[-1]
    show_outcomes(Study.open(one.signed), [RoundSums(*part) for part in sums], as_json)


def _is(one: Any, which: str | None) -> bool:
    if which is None:
        return True
    return one.name.lower() == which.lower() or (len(which) >= 4 and one.digest.hex().startswith(which.lower()))


@party.command(cls=MurmureCommand, short_help="What was approved, and which sums were let go.")
@home_option
@json_option
def history(folder: Path, as_json: bool) -> None:
    """Every decision about a study, every cohort for which this party let a sum go, and what noisy sums have cost.

    Costs are added up over all noisy studies that read a column, from the moment that the masked sum left: the others
    can undo the masks without this party. Exact sums cost without a bound and are not among them.
    """
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.costs import spending_by_column

    home = PartyFolder(folder)
    home.store.file.look()
    decisions, released, paid = home.store.decisions(), home.store.released(), spending_by_column(home.store.charges())
    if as_json:
        print_json({"decisions": decisions, "released": released, "paid": [one.to_dict() for one in paid]})
        return
    if not decisions:
        click.echo("Nothing was decided, and nothing was let go.")
    for line in _in_order(decisions, released):
        click.echo(printable(line))
    for one in paid:
        click.echo(one.to_text())


def _in_order(decisions: list[dict[str, str]], released: list[dict[str, Any]]) -> Iterator[str]:
    """By their times; a sum was let go before the study of it ended, also within one second."""
    ahead = list(released)
    for one in decisions:
        over = one["decision"] in ("finished", "ended")
        while ahead and (ahead[0]["at"], not over or ahead[0]["study"] != one["study"]) < (one["at"], True):
            yield _let_go(ahead.pop(0))
        yield f"{one['at']}  {one['decision']:<9} {one['name']} ({one['study'][:12]}): {one['why']}"
    yield from map(_let_go, ahead)


def _let_go(one: dict[str, Any]) -> str:
    from murmure.parties.party.transaction import ROW_COUNT_COLUMN

    kind = "exact" if one["exact"] else "noisy"
    columns = ", ".join(name for name in one["columns"] if name != ROW_COUNT_COLUMN) + f" and {ROW_COUNT_COLUMN}" * (
        ROW_COUNT_COLUMN in one["columns"]
    )
    how = "let go" if one["certain"] else "may be out"
    return (
        f"{one['at']}  {how:<9} {one['name']} round {one['round']}: {kind} sums of {columns} "
        f"over {len(one['members'])} parties"
    )


party.add_command(join)
