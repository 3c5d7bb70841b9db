"""What the commands of a party share: its folder, the connection to the coordinator, texts in two languages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import UsageError
from murmure.cli.options import option_group

if TYPE_CHECKING:
    from murmure.parties.http.client import Client
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.study.document import Study
    from murmure.secure.identity import Card

HOME_VARIABLE, DEFAULT_HOME = "MURMURE_PARTY", "murmure-party"
FIRST_PATIENCE = 10.0  # seconds for a coordinator that was never met to answer
PATH = click.Path(path_type=Path)
TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "asks": "Who asks:",
        "roster": "Who takes part:",
        "you": "you",
        "stranger": "You are not among those who are asked: the roster does not have your key.",
        "study": "study",
        "check": "Compare these digits with the coordinator and the others by another way, such as a telephone.",
        "question": "Take part? yes, no (the coordinator is told), or anything else to leave",
        "round": "round {} of {}",
        "most": "round {} of at most {}",
        "declined": "Declined: {}. The coordinator knows.",
        "left": "Not approved: {}. Nothing was sent.",
        "tell_no": "Tell the coordinator no, so that nobody waits? It is for good, and no reason is told (yes, no)",
        "told": "Declined: {}. The coordinator was told no, without a reason.",
        "not_told": "Nothing was sent to the coordinator of {}.",
        "yes": "yes",
        "no": "no",
    },
    "fr": {
        "asks": "Qui demande\u202f:",
        "roster": "Qui participe\u202f:",
        "you": "vous",
        "stranger": "Vous n’êtes pas parmi les participants\u202f: la liste n’a pas votre clé.",
        "study": "étude",
        "check": "Comparez ces chiffres avec le coordinateur et les autres par une autre voie (le téléphone).",
        "question": "Participer\u202f? oui, non (le coordinateur en est informé), ou autre chose pour partir",
        "round": "tour {} sur {}",
        "most": "tour {} sur {} au plus",
        "declined": "Refusé\u202f: {}. Le coordinateur le sait.",
        "left": "Pas approuvé\u202f: {}. Rien n’est parti.",
        "tell_no": "Dire non au coordinateur, sans motif et pour de bon\u202f? Personne n’attendra (oui, non)",
        "told": "Refusé\u202f: {}. Le coordinateur a reçu un non, sans motif.",
        "not_told": "Rien n’a été envoyé au coordinateur de {}.",
        "yes": "oui",
        "no": "non",
    },
}
STAGE_TEXTS = {  # what a party reads while it waits, in both languages
    "shares": (
        "joined; waiting until the others have joined",
        "inscription envoyée\u202f; en attente des autres participants",
    ),
    "alive": (
        "the masked sum is sent; waiting for those of the others",
        "somme masquée envoyée\u202f; en attente de celles des autres",
    ),
    "agree": ("the list of those who stayed is signed", "liste des présents signée"),
    "result": (
        "the masks are undone; waiting for the total",
        "masques levés\u202f; en attente du total",
    ),
    "done": ("the total is here", "le total est là"),
}


home_option = click.option(
    "--home",
    "folder",
    type=PATH,
    envvar=HOME_VARIABLE,
    default=DEFAULT_HOME,
    metavar="FOLDER",
    help=f"The party's folder.  [default: {HOME_VARIABLE}, or {DEFAULT_HOME}]",
)
# How the coordinator is reached, and the language in which its study is described.
connection_options = option_group(
    click.option("--ca", type=PATH, metavar="FILE", help="PEM: who signs its certificate.  [default: system]"),
    click.option("--plain-http", is_flag=True, help="Without TLS, on a network of your own."),
    click.option("--lang", type=click.Choice(["en", "fr"]), default="en", show_default=True),
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


def earlier_disclosures(folder: Path, study: Study, lang: Any) -> list[str]:
    """What the party in this folder, if there is one, remembers that bears on the study."""
    from murmure.parties.party.folder import PartyFolder
    from murmure.parties.party.history import earlier_disclosures
    from murmure.parties.study.key_files import KEY

    return earlier_disclosures(PartyFolder(folder).store, study, lang) if (folder / KEY).exists() else []


def study_to_dict(study: Study, lang: Any) -> dict[str, Any]:
    """What a study asks of whom, for JSON."""
    return {
        "study": study.name,
        "purpose": study.purpose,
        "digest": study.digest.hex(),
        "coordinator": {"name": study.coordinator.name, "fingerprint": study.coordinator.fingerprint},
        "parties": [{"name": card.name, "fingerprint": card.fingerprint} for card in study.roster],
        "rounds": study.rounds,
        "words": list(study.in_words(lang)),
    }


def print_study(study: Study, lang: Any, mine: bytes | None, disclosures: list[str]) -> None:
    """For the person who decides: what is asked, earlier disclosures, and all cards with the digits to compare."""
    texts = TEXTS[lang]
    width = max(len(card.name) for card in (*study.roster, study.coordinator))

    def named(card: Card) -> str:
        return f"  {card.name:<{width}}  {card.fingerprint}" + (f"  ({texts['you']})" if card.key == mine else "")

    lines = [f"  {line}" if line.startswith(" ") else f"- {line}" for line in study.in_words(lang)]
    lines += [f"- {line}" for line in disclosures]
    if mine is not None and all(card.key != mine for card in study.roster):
        lines.append(f"- {texts['stranger']}")
    asks, roster = [texts["asks"], named(study.coordinator)], [texts["roster"], *map(named, study.roster)]
    for line in (study.name, *lines, "", *asks, *roster, texts["check"], f"{texts['study']} {study.digest.hex()}"):
        click.echo(printable(line))


def printable(line: str) -> str:
    """Text of a stranger: nothing in it may move the cursor or hide a word."""
    from murmure.parties.study.visible_text import visible

    return visible(line)


def open_client(url: str, ca: Path | None, plain: bool, patience: float, verbose: bool = False) -> Client:
    from murmure.parties.http.address import Address
    from murmure.parties.http.client import Client

    if not 0 <= patience < 1e9:
        raise UsageError("--patience must be a number of seconds, got {got:g}.", "--patience 600", got=patience)
    return Client(Address.of(url, plain), ca, patience, _log_to_stderr if verbose else lambda line: None)


def _log_to_stderr(line: str) -> None:
    from murmure.parties.party.transaction import now

    click.echo(f"{now()} murmure party[{os.getpid()}] {line}", err=True)
