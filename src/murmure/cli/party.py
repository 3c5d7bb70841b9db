"""`murmure party`: an organisation that takes part in a study, and decides itself what it gives."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from murmure.cli.party_join import join
from murmure.cli.party_shared import FILE, FIRST, about, home_option, line_options, open_line, own_key, show
from murmure.cli.shared import Clear, ClearGroup, json_option, print_json

if TYPE_CHECKING:
    from murmure.service.home import Home


@click.group(cls=ClearGroup, short_help="Take part in a study with rows that never leave.")
def party() -> None:
    """Take part in sums between organisations, with rows that never leave.

    \b
    murmure party init murmure-party --name "Hospital A"       a key, and a card for the coordinator
    murmure party look https://office.example:8460             what a study asks, in plain words
    murmure party join https://office.example:8460 --rows stays.csv
    murmure party history                                      what was approved, and what was let go

    The folder of the party is named by --home or MURMURE_PARTY. Every command takes --json.
    """


# -- init and card -----------------------------------------------------------------------------------------------------


@party.command(cls=Clear, short_help="Make a party's key and card.")
@click.argument("folder", type=FILE)
@click.option("--name", required=True, help="By which the others know you.")
@json_option
def init(folder: Path, name: str, as_json: bool) -> None:
    """Make a party in FOLDER: a key that stays there, and card.json to hand to the coordinator."""
    from murmure.service.home import Home

    _show_card(Home.create(folder, name), as_json)


@party.command(cls=Clear, short_help="Show a party's card and fingerprint.")
@home_option
@json_option
def card(folder: Path, as_json: bool) -> None:
    """The card to hand to the coordinator, and the digits to compare by voice."""
    from murmure.service.home import Home

    _show_card(Home(folder), as_json)


def _show_card(home: Home, as_json: bool) -> None:
    mine = home.card
    if as_json:
        print_json({"folder": str(home.folder), "card": mine.to_dict(), "fingerprint": mine.fingerprint})
        return
    click.echo(f"{mine.name}: {mine.fingerprint}")
    click.echo(f"Hand {home.folder / 'card.json'} to the coordinator, and compare these digits by voice.")
    click.echo(f"Keep the rest of {home.folder} to yourself.")


# -- look --------------------------------------------------------------------------------------------------------------


@party.command(cls=Clear, short_help="What a study asks, in plain words.")
@click.argument("url")
@home_option
@line_options
@json_option
def look(url: str, folder: Path, ca: Path | None, plain_http: bool, lang: str, as_json: bool) -> None:
    """What the study at URL asks, of whom, and who learns what. Nothing is sent but the question."""
    from murmure.study import Study

    with open_line(url, ca, plain_http, FIRST) as client:
        study = Study.open(client.study())
    mine = own_key(folder)
    if as_json:
        print_json(about(study, lang, mine))
    else:
        show(study, lang, mine)


# -- decline -----------------------------------------------------------------------------------------------------------


@party.command("decline", cls=Clear, short_help="Tell the coordinator no.")
@click.argument("url")
@home_option
@line_options
@json_option
def say_no(url: str, folder: Path, ca: Path | None, plain_http: bool, lang: str, as_json: bool) -> None:
    """Tell the coordinator at URL that this party takes no part, so that nobody waits for it. No reason is given."""
    from murmure.service.home import Home
    from murmure.service.joining import Terms, decline
    from murmure.service.policy import Policy
    from murmure.study import Study

    home = Home(folder)
    home.store.file.look()
    with open_line(url, ca, plain_http, FIRST) as client:
        signed = client.study()
        study = Study.open(signed)
        decline(Terms(home, study, signed, client.address.url, Policy(), None, None), client, "declined by a command")
    if as_json:
        print_json({"study": study.name, "digest": study.digest.hex(), "declined": True})
    else:
        click.echo(f"Declined: {study.name}. The coordinator was told.")


# -- status and history ------------------------------------------------------------------------------------------------


@party.command(cls=Clear, short_help="The studies of this party, and how they stand.")
@home_option
@json_option
def status(folder: Path, as_json: bool) -> None:
    """The studies that this party joined, how they stand, and what came out."""
    from murmure.service.home import Home

    home = Home(folder)
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
    if as_json:
        print_json({"party": home.card.name, "fingerprint": home.card.fingerprint, "studies": studies})
        return
    click.echo(f"{home.card.name}: {home.card.fingerprint}")
    if not studies:
        click.echo("No study was joined.")
    for held in studies:
        click.echo(f"{held['joined']}  {held['study']}: {held['state']}, rounds done: {held['rounds_done']}")
        if held["reason"]:
            click.echo(f"  {held['reason']}")


@party.command(cls=Clear, short_help="What was approved, and which sums were let go.")
@home_option
@json_option
def history(folder: Path, as_json: bool) -> None:
    """Every decision about a study, and every cohort for which this party let a sum go."""
    from murmure.service.home import Home

    home = Home(folder)
    home.store.file.look()
    decisions, released = home.store.decisions(), home.store.released()
    if as_json:
        print_json({"decisions": decisions, "released": released})
        return
    if not decisions:
        click.echo("Nothing was decided, and nothing was let go.")
    for one in decisions:
        click.echo(f"{one['at']}  {one['decision']:<9} {one['name']} ({one['study'][:12]}): {one['why']}")
    for two in released:
        members, kind = two["members"], "exact" if two["exact"] else "noisy"
        assert isinstance(members, list) and isinstance(two["columns"], list)
        click.echo(
            f"{two['at']}  let go    {two['name']} round {two['round']}: {kind} sums of {', '.join(two['columns'])} "
            f"over {len(members)} parties"
        )


party.add_command(join)
