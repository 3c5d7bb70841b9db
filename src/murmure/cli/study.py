"""`murmure study`: the coordinator of sums between organisations. Each of them runs `murmure party`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.options import json_option
from murmure.cli.party_options import printable
from murmure.cli.terminal import console, print_json
from murmure.core.errors import MurmureError
from murmure.show.number_format import group_digits

if TYPE_CHECKING:
    from murmure.parties.coordinator.folders import StudyFolder
    from murmure.parties.coordinator.status_view import StatusView

MOST_SHOWN = 40  # figures on a terminal
FOLDER = click.Path(path_type=Path)


@click.group(cls=MurmureGroup, short_help="Ask several organisations for a sum of which nobody sees a part.")
def study() -> None:
    """Ask several organisations for sums of which nobody, not even the coordinator, sees a part.

    \b
    murmure study init office --name "Statistics office"    who asks: a key, and a card to hand out
    murmure study models                                    what study.toml may ask for, and its keys
    murmure study new office study.toml cards/*.json        what is asked of whom, signed
    murmure study run office/stay-2026                      serve it until everybody has answered
    murmure study status office/stay-2026                   how it stands
    murmure study result office/stay-2026 --html r.html     what came out

    Each party makes its card with `murmure party init`, reads what is asked, and joins with `murmure party join`. Every
    command takes --json.
    """


# -- init --------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="Make the coordinator's identity.")
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="By which the parties know you.")
@json_option
def init(folder: Path, name: str, as_json: bool) -> None:
    """Make the coordinator's identity in FOLDER: a key that stays there, and card.json to hand to the parties."""
    from murmure.parties.coordinator.folders import CoordinatorFolder

    card = CoordinatorFolder.create(folder, name).card
    if as_json:
        print_json({"folder": str(folder), "card": card.to_dict(), "fingerprint": card.fingerprint})
        return
    click.echo(f"{card.name}: {card.fingerprint}")
    click.echo(f"Hand {folder / 'card.json'} to the parties, and let them compare these digits by voice.")
    click.echo(f"Keep {folder / 'identity.key'} to yourself.")


# -- new ---------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="Write and sign a study.")
@click.argument("folder", type=FOLDER)
@click.argument("written", metavar="STUDY.TOML", type=FOLDER)
@click.argument("cards", metavar="CARD...", nargs=-1, required=True, type=FOLDER)
@click.option(
    "--minimum-cell",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Rows that a condition of an exact sum must pick out, as the parties allow it: each has its own rule.",
)
@json_option
def new(folder: Path, written: Path, cards: tuple[Path, ...], minimum_cell: int, as_json: bool) -> None:
    """Write the study of STUDY.TOML for the parties of the CARDs, signed by the coordinator of FOLDER, into a folder
    inside FOLDER. A study is never changed: parties approve it as it stands. `murmure study models` lists the keys of
    each [[models]].
    """
    from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder, read_card
    from murmure.parties.study.document import Study

    home = CoordinatorFolder(folder)
    made = Study.from_toml(written, tuple(read_card(path) for path in cards), home.card, minimum_cell)
    made.check_ratio()
    held = StudyFolder.create(home, made)
    if as_json:
        print_json({"folder": str(held.path), **_about(held)})
        return
    _show(held)
    click.echo(f"\nWritten: {held.path / 'study.json'}")
    click.echo(f"Serve it with: murmure study run {held.path}")


# -- models ------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="The models of a study.toml, and their keys.")
@click.argument("model", required=False)
@json_option
def models(model: str | None, as_json: bool) -> None:
    """Which models a STUDY.TOML may ask for; with MODEL, its keys, what each may hold, and examples. They are the
    keywords of the function of the same name in murmure.econometrics.

    \b
    murmure study models
    murmure study models cox
    """
    from murmure import econometrics
    from murmure.parties.study.model_examples import examples_of
    from murmure.parties.study.model_keys import key_table
    from murmure.parties.study.toml_models import function_name

    names = list(econometrics.FUNCTIONS) if model is None else [function_name("murmure study models", model)]
    if as_json:
        head = ("key", "type", "default")
        print_json(
            {
                name: {
                    "keys": [dict(zip(head, row, strict=True)) for row in key_table(name)],
                    "examples": list(examples_of(name)),
                }
                for name in names
            }
        )
        return
    if model is None:
        wide = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{wide}}  {', '.join(key for key, _, _ in key_table(name))}")
        click.echo("\nmurmure study models MODEL says what each key may hold.")
        return
    (name,) = names
    rows = [("key", "what it may hold", "if left out"), *key_table(name)]
    first, second = (max(len(row[i]) for row in rows) for i in range(2))
    for row in rows:
        click.echo(f"{row[0]:<{first}}  {row[1]:<{second}}  {row[2]}".rstrip())
    for text in examples_of(name):
        click.echo(f"\n{text.rstrip()}")


# -- show --------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="What is asked of whom, in words.")
@click.argument("folder", metavar="STUDY", type=FOLDER)
@click.option("--lang", type=click.Choice(["en", "fr"]), default="en", show_default=True)
@json_option
def show(folder: Path, lang: str, as_json: bool) -> None:
    """What the study in folder STUDY asks of whom, in the words that every party reads before it approves."""
    held = _opened(folder)
    if as_json:
        print_json({"folder": str(folder), **_about(held, lang)})
        return
    _show(held, lang)


def _about(held: StudyFolder, lang: Any = "en") -> dict[str, Any]:
    made = held.study
    return {
        "study": made.name,
        "purpose": made.purpose,
        "digest": made.digest.hex(),
        "coordinator": {"name": made.coordinator.name, "fingerprint": made.coordinator.fingerprint},
        "parties": [{"name": card.name, "fingerprint": card.fingerprint} for card in made.roster],
        "rounds": made.rounds,
        "words": list(made.in_words(lang)),
    }


def _show(held: StudyFolder, lang: Any = "en") -> None:
    made, out = held.study, console()
    out.print(made.name, style="bold", soft_wrap=True)
    for line in map(printable, made.in_words(lang)):
        out.print(f"  {line}" if line.startswith(" ") else f"- {line}", soft_wrap=True)
    out.print()
    wide = max(len(card.name) for card in made.roster)
    for card in made.roster:
        out.print(f"{card.name:<{wide}}  {card.fingerprint}", soft_wrap=True)
    out.print(f"study {made.digest.hex()}", style="dim", soft_wrap=True)


def _opened(folder: Path) -> StudyFolder:
    from murmure.parties.coordinator.folders import StudyFolder

    held = StudyFolder(folder)
    _ = held.study  # refused now, if it is none
    return held


# -- run ---------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="Serve a study until it is done.")
@click.argument("folder", metavar="STUDY", type=FOLDER)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 is all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8460, show_default=True, help="0: any free one.")
@click.option("--wait", type=float, default=600.0, show_default=True, metavar="S", help="Seconds for parties to join.")
@click.option(
    "--patience", type=float, default=30.0, show_default=True, metavar="S", help="Seconds for any later answer."
)
@click.option("--certificate", type=FOLDER, metavar="FILE", help="PEM, for TLS; with --key.")
@click.option("--key", type=FOLDER, metavar="FILE", help="PEM: the certificate's private key.")
@click.option(
    "--once/--keep", default=True, help="Stop when everybody has the result, or go on showing it.  [default: once]"
)
@json_option
def run(
    folder: Path,
    host: str,
    port: int,
    wait: float,
    patience: float,
    certificate: Path | None,
    key: Path | None,
    once: bool,
    as_json: bool,
) -> None:
    """Serve the study in folder STUDY until it is done. Prints the address for the parties, and that of a page with a
    token: whoever has it may look on.

    The first stage is closed when all have joined or declined, or after --wait seconds; later ones when all have
    answered, or after --patience seconds. If too few parties are left then, the study ends with TooFewParties. Killed
    at any moment, it goes on where it stopped when it is started again. With --json: a line of JSON when it serves, and
    one when it has ended.
    """
    for name, value in (("--wait", wait), ("--patience", patience)):
        if not (math.isfinite(value) and 0 <= value <= 1e8):
            raise UsageError(f"{name} must be a number of seconds, got {value:g}.", f"{name} 60")
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together.", "give both, for TLS, or neither")
    for name, path in (("--certificate", certificate), ("--key", key)):
        if path is not None and not path.is_file():
            raise UsageError(f"{name}: there is no file {str(path)!r}.")
    from murmure.parties.http.server import LOOPBACK, ServerSettings, ServerUrls, log_to_stderr, serve

    held = _opened(folder)

    def started(where: ServerUrls) -> None:
        if as_json:
            _line({"event": "serving", "study": held.study.name, "url": where.parties, "page": where.page})
            return
        click.echo(f"Parties join at  {where.parties}")
        click.echo(f"Look on at       {where.page}")
        if certificate is None and host not in LOOPBACK:
            click.echo(
                "WARNING: without --certificate everybody on the way sees who takes part, and the page's token.",
                err=True,
            )
        sys.stdout.flush()

    log_to_stderr()
    seen = serve(held, ServerSettings(host, port, wait, patience, certificate, key, once), started)
    if as_json:
        _line({"event": "ended", **seen.to_dict()})
    else:
        _show_result(seen)
    _refuse_failed(seen)


def _line(held: dict[str, Any]) -> None:
    click.echo(json.dumps(held, allow_nan=False))
    sys.stdout.flush()


# -- status and result -------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="How a study stands.")
@click.argument("folder", metavar="STUDY", type=FOLDER)
@json_option
def status(folder: Path, as_json: bool) -> None:
    """How the study in folder STUDY stands, whether it is being served or not."""
    seen = _seen(folder)
    if as_json:
        print_json(seen.to_dict())
        return
    from murmure.parties.coordinator.page_words import PARTY_STATES, STAGES, STATES

    standing, made, out = seen.standing, seen.study, console()
    out.print(made.name, style="bold", soft_wrap=True)
    most = "at most " if made.rounds_vary else ""
    rounds = f", round {standing.round} of {most}{made.rounds}" if made.rounds > 1 else ""
    doing = f": parties {STAGES[standing.stage][0]}" if standing.stage in STAGES else ""
    out.print(f"{STATES[standing.state][0]}{rounds}{doing if standing.state == 'running' else ''}", soft_wrap=True)
    if standing.ended is not None and standing.ended.kind:
        out.print(printable(f"{standing.ended.kind}: {standing.ended.words}"), soft_wrap=True)
    wide = max(len(card.name) for card in made.roster)
    for place, card in enumerate(made.roster):
        out.print(f"  {card.name:<{wide}}  {PARTY_STATES[standing.of(place)][0]}", soft_wrap=True)


@study.command(cls=MurmureCommand, short_help="What came out.")
@click.argument("folder", metavar="STUDY", type=FOLDER)
@click.option("--html", type=FOLDER, metavar="FILE", help="Write it as a page that stands alone.")
@json_option
def result(folder: Path, html: Path | None, as_json: bool) -> None:
    """What came out of the study in folder STUDY: exact figures, over whom, and what they promise."""
    seen = _seen(folder)
    if not seen.results:
        _refuse_failed(seen)
        raise UsageError(
            "the study has no result yet.", f"murmure study status {folder} says how it stands; run serves it"
        )
    if html is not None:
        from murmure.core.files import all_or_nothing
        from murmure.parties.coordinator.page import page_file
        from murmure.show.report import check_place

        check_place(html)
        with all_or_nothing(html) as part:
            part.write_text(page_file(seen), encoding="utf-8")
    if as_json:
        print_json({**seen.to_dict(), "html": html and str(html)})
        return
    _show_result(seen)
    if html is not None:
        click.echo(f"Written: {html}")


def _seen(folder: Path) -> StatusView:
    from murmure.parties.coordinator.progress import Progress
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.coordinator.store import read_progress

    held = _opened(folder)
    standing, results = read_progress(held.log, held.study.digest)
    everybody = tuple(range(len(held.study.roster)))
    return StatusView(
        held.study,
        Progress(awaited=everybody) if standing is None else Progress.from_dict(standing),
        tuple(results),
    )


def _show_result(seen: StatusView) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from murmure.parties.coordinator.progress import absent_in_words
    from murmure.parties.study.costs import study_cost_in_words
    from murmure.parties.study.model_outcomes import outcome_lines

    out = console()
    out.print(seen.study.name, style="bold", soft_wrap=True)
    gone = f"; {absent_in_words(seen.standing.absent)}" if seen.standing.absent else ""
    for one, figures in seen.figures():
        names = ", ".join(seen.study.roster[place].name for place in one.cohort)
        rounds = f"round {one.round}, " if seen.study.rounds > 1 else ""
        out.print(f"{rounds}{figures.about}", soft_wrap=True)
        out.print(f"over {len(one.cohort)} parties: {names}{gone}", style="dim", soft_wrap=True)
        if figures.people is not None:
            about = "" if figures.exact else "about "
            out.print(f"{about}{group_digits(figures.people)} rows", style="dim")
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="dim")
        table.add_column("", overflow="fold")
        table.add_column("exact" if figures.exact else "noisy", justify="right", overflow="fold")
        if not figures.exact:
            table.add_column("low", justify="right")
            table.add_column("high", justify="right")
        for row in figures.rows[:MOST_SHOWN]:
            table.add_row(printable(row.label), row.said, *([] if figures.exact else [row.low or "", row.high or ""]))
        out.print(table)
        if len(figures.rows) > MOST_SHOWN:
            out.print(
                f"the first {MOST_SHOWN}; {group_digits(len(figures.rows) - MOST_SHOWN)} more with --json", style="dim"
            )
        for line in (*figures.notes(), *figures.promises()):
            for part in line.split("\n"):
                out.print(printable(part), style="dim", soft_wrap=True)
    for fit in seen.fits():
        click.echo("\n".join(outcome_lines(fit)))
    if seen.results and (cost := study_cost_in_words(seen.study)):
        out.print(f"all questions of this study together: {cost}", style="dim", soft_wrap=True)


def _refuse_failed(seen: StatusView) -> None:
    ended = seen.standing.ended
    if ended is None or not ended.kind:
        return
    from murmure.parties.coordinator.errors import StudyOver

    error: MurmureError = StudyOver(
        f"the study ended without a result ({ended.kind}): {ended.words}",
        hint="make a new study of it: keys and masks are never used twice",
    )
    raise error
