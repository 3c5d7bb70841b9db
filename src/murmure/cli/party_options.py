"""What the commands of a party share: its folder, the connection to the coordinator, and what they print."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import UsageError
from murmure.cli.options import option_group
from murmure.cli.terminal import print_document
from murmure.show.document import Document, Items, Paragraph, Section, Table
from murmure.show.language import NAMES, Language, LanguageCode, current_language
from murmure.show.phrase import Phrase, visible

if TYPE_CHECKING:
    from murmure.parties.http.client import Client
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.document import Study
    from murmure.secure.identity import Card

HOME_VARIABLE, DEFAULT_HOME = "MURMURE_PARTY", "murmure-party"
FIRST_PATIENCE = 10.0  # seconds for a coordinator that was never met to answer
PATH = click.Path(path_type=Path)
YES, NO = {"yes", "y", "oui", "o"}, {"no", "n", "non"}  # as people answer, whatever the language
STAGE_TEXTS = {  # what a party reads while it waits
    "shares": Phrase("joined; waiting until the others have joined"),
    "alive": Phrase("masked sum sent; waiting for those of the others"),
    "agree": Phrase("list of those who stayed signed"),
    "result": Phrase("masks removed; waiting for the total"),
    "done": Phrase("the total is here"),
}


home_option = click.option(
    "--home",
    "folder",
    type=PATH,
    envvar=HOME_VARIABLE,
    default=DEFAULT_HOME,
    metavar="FOLDER",
    help="The party's folder.  [default: MURMURE_PARTY, or murmure-party]",
)


# The language of what is printed is found by cli/language.py; JSON is in English unless this names another.
lang_option = click.option(
    "--lang",
    type=click.Choice(list(NAMES)),
    help="The language of help, messages and results.  [default: that of your system]",
)
# How the coordinator is reached, and the language in which its study is described.
connection_options = option_group(
    click.option("--ca", type=PATH, metavar="FILE", help="PEM: who signs its certificate.  [default: system]"),
    click.option("--plain-http", is_flag=True, help="Without TLS, on a network of your own."),
    lang_option,
)


def open_party(folder: Path) -> PartyFolder:
    """The party of this folder, whose file is checked before anything relies on it."""
    from murmure.parties.party.folder import PartyFolder

    home = PartyFolder(folder)
    home.store.file.check_intact()
    return home


def party_key(folder: Path) -> bytes | None:
    """Of the party in this folder, if there is one."""
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.key_files import KEY

    return PartyFolder(folder).identity.public if (folder / KEY).exists() else None


def earlier_disclosures(folder: Path, study: Study) -> list[Phrase]:
    """What the party in this folder, if there is one, remembers that bears on the study."""
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.party.history import earlier_disclosures
    from murmure.parties.study.key_files import KEY

    return earlier_disclosures(PartyFolder(folder).store, study) if (folder / KEY).exists() else []


def study_to_dict(study: Study, lang: LanguageCode | None = None) -> dict[str, Any]:
    """What a study asks of whom, for JSON: in English, unless somebody asked for another language."""
    return {
        "study": study.name,
        "purpose": study.purpose,
        "digest": study.digest.hex(),
        "coordinator": {"name": study.coordinator.name, "fingerprint": study.coordinator.fingerprint},
        "parties": [{"name": card.name, "fingerprint": card.fingerprint} for card in study.roster],
        "rounds": study.rounds,
        "words": list(study.in_words(lang or "en")),
    }


def print_study(study: Study, mine: bytes | None = None, disclosures: Sequence[Phrase] = ()) -> None:
    """For the person who decides: what is asked, earlier disclosures, and all cards with the digits to compare."""
    from murmure.parties.study.study_words import describe_study

    stranger = mine is not None and all(card.key != mine for card in study.roster)
    told = Phrase("You are not among those who are asked: your key is not in the roster.")
    notes = (*disclosures, *([told] if stranger else []))
    blocks = (
        Items(tuple(describe_study(study))),
        *((Section(Phrase("Before you decide"), (Items(notes),)),) if notes else ()),
        _cards(Phrase("Who asks"), [study.coordinator], mine),
        _cards(Phrase("Who takes part"), study.roster, mine),
        Paragraph(
            Phrase("Compare these digits with the coordinator and the others in another way, such as by telephone.")
        ),
        Paragraph(Phrase("study {digest}", digest=study.digest.hex()), "note"),
    )
    print_document(Document(study.name, blocks))


def _cards(title: Phrase, cards: Iterable[Card], mine: bytes | None) -> Table:
    rows = [
        (card.name, Phrase("{key} (you)", key=card.fingerprint) if card.key == mine else card.fingerprint)
        for card in cards
    ]
    return Table(title, ("", Phrase("key")), tuple(rows), words=True)


def say(text: str, err: bool = False) -> None:
    """A line in the language of the command. Text of a stranger in it cannot move the cursor or hide a word."""
    click.echo(in_language(text), err=err)


def in_language(text: str) -> str:
    return Language(current_language(), visible).say(text)


def ask(question: Phrase) -> str:
    """What somebody at the terminal answers, in small letters."""
    return str(click.prompt(in_language(question), default="", show_default=False)).strip().lower()


def open_client(url: str, ca: Path | None, plain: bool, patience: float, verbose: bool = False) -> Client:
    from murmure.parties.http.address import Address
    from murmure.parties.http.client import Client

    if not 0 <= patience < 1e9:
        raise UsageError("--patience must be a number of seconds, got {got:g}.", "--patience 600", got=patience)
    return Client(Address.of(url, plain), ca, patience, _log_to_stderr if verbose else lambda line: None)


def _log_to_stderr(line: str) -> None:
    from murmure.parties.party.transaction import now

    click.echo(f"{now()} murmure party[{os.getpid()}] {line}", err=True)
