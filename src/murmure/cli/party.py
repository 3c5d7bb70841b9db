"""`murmure party`: an organisation that takes part in a study, and decides itself what it gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.options import file_format_option, json_option, load_file_format
from murmure.cli.party_join import join
from murmure.cli.party_options import (
    FIRST_PATIENCE,
    PATH,
    connection_options,
    earlier_disclosures,
    home_option,
    open_client,
    open_party,
    party_key,
    print_study,
    say,
    study_to_dict,
)
from murmure.cli.terminal import print_json
from murmure.core.errors import shorten
from murmure.show.language import Language
from murmure.show.phrase import Phrase, Quoted, Several, visible

if TYPE_CHECKING:
    from murmure.parties.party.folder import PartyFolder


STATES = {"joined": Phrase("taking part"), "done": Phrase("done"), "failed": Phrase("failed")}
DECISIONS = {
    "approved": Phrase("approved"),
    "declined": Phrase("declined"),
    "new key": Phrase("new key"),
    "ended": Phrase("ended"),
    "finished": Phrase("finished"),
}


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
@click.argument("folder", type=PATH)
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
    say(Phrase("{name}: {key}", name=mine.name, key=mine.fingerprint))
    card_file = str(home.folder / "card.json")
    say(Phrase("Hand {file} to the coordinator, and compare these digits by telephone.", file=card_file))
    say(Phrase("Keep the rest of {folder} to yourself.", folder=str(home.folder)))


# -- look --------------------------------------------------------------------------------------------------------------


@party.command(cls=MurmureCommand, short_help="What a study asks, in plain words.")
@click.argument("url")
@click.option("--rows", metavar="ROWS", help="Yours: checked as `join` checks them, and counted. They stay here.")
@click.option("--query", metavar="SQL", help="With a database: one SELECT.")
@file_format_option
@home_option
@connection_options
@json_option
def look(
    url: str,
    rows: str | None,
    query: str | None,
    file_format: Path | None,
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

    # Nothing is pinned or stored here: looking at a study must not commit the party to anything.
    with open_client(url, ca, plain_http, FIRST_PATIENCE) as client:
        study = Study.open(client.study())
    mine, notes = party_key(folder), earlier_disclosures(folder, study)
    file = load_file_format(file_format)
    if rows is not None:
        notes += local_warnings(study, open_rows(rows, query, file))
    if not as_json:
        print_study(study, mine, notes)
    if rows is not None:  # what would stop `join` stops here, where the coordinator does not learn of it
        Policy().check_rows(study, compute_local_sums(study, open_rows(rows, query, file))[0].rows)
    if as_json:
        fields = study_to_dict(study, lang)
        for entry, member in zip(fields["parties"], study.roster, strict=True):
            entry["you"] = member.key == mine
        print_json({**fields, "before": [Language(lang or "en", visible).say(note) for note in notes]})


# -- decline -----------------------------------------------------------------------------------------------------------


@party.command("decline", cls=MurmureCommand, short_help="Tell the coordinator no.")
@click.argument("url")
@home_option
@connection_options
@json_option
def decline_study(url: str, folder: Path, ca: Path | None, plain_http: bool, lang: Any, as_json: bool) -> None:
    """Tell the coordinator at URL that this party takes no part, so that nobody waits for it. No reason is given."""
    from murmure.parties.party.invitation import Invitation, decline
    from murmure.parties.party.policy import Policy
    from murmure.parties.study.document import Study

    home = open_party(folder)
    with open_client(url, ca, plain_http, FIRST_PATIENCE) as client:
        signed = client.study()
        study = Study.open(signed)
        decline(
            Invitation(home, study, signed, client.address.url, Policy(), None, None), client, "declined by a command"
        )
    if as_json:
        print_json({"study": study.name, "digest": study.digest.hex(), "declined": True})
    else:
        say(Phrase("Declined: {name}. The coordinator has been told.", name=Quoted(study.name)))


# -- status and history ------------------------------------------------------------------------------------------------


@party.command(cls=MurmureCommand, short_help="The studies of this party, and how they stand.")
@home_option
@json_option
def status(folder: Path, as_json: bool) -> None:
    """The studies that this party joined, how they stand, what came out, and what the noisy ones have cost in all."""
    from murmure.parties.party.spending import spending_by_column

    home = open_party(folder)
    studies = []
    for record in home.store.studies():
        results = home.store.results(record.digest)
        studies.append(
            {
                "study": record.name,
                "digest": record.digest.hex(),
                "url": record.url,
                "state": record.state,
                "reason": record.reason,
                "joined": record.at,
                "rounds_done": len(results),
                "sums": [[str(v) for v in sums] for sums, _ in results],
            }
        )
    paid = spending_by_column(home.store.charges())
    if as_json:
        fields = {"party": home.card.name, "fingerprint": home.card.fingerprint, "studies": studies}
        print_json({**fields, "paid": [record.to_dict() for record in paid]})
        return
    say(Phrase("{name}: {key}", name=home.card.name, key=home.card.fingerprint))
    if not studies:
        say(Phrase("No study was joined."))
    for study in studies:
        say(
            Phrase(
                "{at}  {study}: {state}, rounds done: {rounds}",
                at=study["joined"],
                study=Quoted(study["study"]),
                state=STATES.get(str(study["state"]), study["state"]),
                rounds=study["rounds_done"],
            )
        )
        if study["reason"]:
            say(f"  {study['reason']}")
    for charge in paid:
        say(charge.in_words())


@party.command(cls=MurmureCommand, short_help="What came out of a study, once more.")
@click.argument("which", metavar="[STUDY]", required=False)
@home_option
@json_option
def result(which: str | None, folder: Path, as_json: bool) -> None:
    """What came out of STUDY (its name, or the first digits of its digest), or of the last one, as `join` said it."""
    from murmure.cli.party_outcomes import show_outcomes
    from murmure.parties.party.runner import RoundSums
    from murmure.parties.study.document import Study

    home = open_party(folder)
    studies = [(record, home.store.results(record.digest)) for record in home.store.studies()]
    matching = [(record, sums) for record, sums in studies if sums and _matches(record, which)]
    if not matching:
        called = "" if which is None else Phrase(" called {which}", which=shorten(which))
        named_results = [record.name for record, sums in studies if sums]
        raise UsageError(
            "there is no result of a study{called}.",
            Phrase("there are results of {named_results}", named_results=", ".join(map(repr, named_results)))
            if named_results
            else "murmure party status shows their progress",
            called=called,
        )
    record, sums = matching[-1]
    earlier = home.store.ran_earlier(record.digest)
    show_outcomes(Study.open(record.signed), [RoundSums(*part) for part in sums], as_json, earlier)


def _matches(record: Any, which: str | None) -> bool:
    if which is None:
        return True
    return record.name.lower() == which.lower() or (len(which) >= 4 and record.digest.hex().startswith(which.lower()))


@party.command(cls=MurmureCommand, short_help="What was approved, and which sums were let go.")
@home_option
@json_option
def history(folder: Path, as_json: bool) -> None:
    """Every decision about a study, every cohort for which this party let a sum go, and what noisy sums have cost.

    Costs are added up over all noisy studies that read a column, from the moment that the masked sum left: the others
    can undo the masks without this party. Exact sums cost without a bound and are not among them.
    """
    from murmure.parties.party.spending import spending_by_column

    home = open_party(folder)
    decisions, released, paid = home.store.decisions(), home.store.released(), spending_by_column(home.store.charges())
    if as_json:
        print_json({"decisions": decisions, "released": released, "paid": [charge.to_dict() for charge in paid]})
        return
    if not decisions:
        say(Phrase("Nothing was decided, and nothing was released."))
    for line in _history_lines(decisions, released):
        say(line)
    for charge in paid:
        say(charge.in_words())


def _history_lines(decisions: list[dict[str, str]], released: list[dict[str, Any]]) -> Iterator[Phrase]:
    """By time. Within one second, the release of a sum comes before the end of its study."""
    # Two lists that are sorted by time, merged; times have the precision of a second.
    ahead = list(released)
    for decision in decisions:
        over = decision["decision"] in ("finished", "ended")
        while ahead and (ahead[0]["at"], not over or ahead[0]["study"] != decision["study"]) < (decision["at"], True):
            yield _released_line(ahead.pop(0))
        yield Phrase(
            "{at}  {decision} {study} ({digest}): {why}",
            at=decision["at"],
            decision=DECISIONS.get(decision["decision"], decision["decision"]),
            study=Quoted(decision["name"]),
            digest=decision["study"][:12],
            why=decision["why"],
        )
    yield from map(_released_line, ahead)


def _released_line(release: dict[str, Any]) -> Phrase:
    from murmure.parties.study.cohort_guard import ROW_COUNT_COLUMN

    names: list[Any] = [Quoted(name) for name in release["columns"] if name != ROW_COUNT_COLUMN]
    names += [Phrase("the number of rows")] if ROW_COUNT_COLUMN in release["columns"] else []
    return Phrase(
        "{at}  {certainty} {study} round {round}: {kind} of {names} over {parties} parties",
        at=release["at"],
        certainty=Phrase("released") if release["certain"] else Phrase("perhaps released"),
        study=Quoted(release["name"]),
        round=release["round"],
        kind=Phrase("exact sums") if release["exact"] else Phrase("noisy sums"),
        names=Several(names),
        parties=len(release["members"]),
    )


party.add_command(join)
