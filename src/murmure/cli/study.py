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
from murmure.cli.party_options import printable, study_to_dict
from murmure.cli.terminal import console, print_json
from murmure.core.errors import MurmureError
from murmure.run.report.number_format import group_digits
from murmure.run.report.terminal_tables import headed_table

if TYPE_CHECKING:
    from murmure.parties.coordinator.folders import StudyFolder
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.study.document import Study

MAX_SHOWN = 40  # figures on a terminal
PATH = click.Path(path_type=Path)


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
@click.argument("folder", type=PATH)
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
@click.argument("folder", type=PATH)
@click.argument("written", metavar="STUDY.TOML", type=PATH)
@click.argument("cards", metavar="CARD...", nargs=-1, required=True, type=PATH)
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
    from murmure.parties.coordinator.folders import CoordinatorFolder, StudyFolder
    from murmure.parties.study.document import Study
    from murmure.parties.study.key_files import read_card

    home = CoordinatorFolder(folder)
    document = Study.from_toml(written, tuple(read_card(path) for path in cards), home.card, minimum_cell)
    document.check_ratio()
    study_folder = StudyFolder.create(home, document)
    if as_json:
        print_json({"folder": str(study_folder.path), **study_to_dict(document, "en")})
        return
    _print_study(document)
    click.echo(f"\nWritten: {study_folder.path / 'study.json'}")
    click.echo(f"Serve it with: murmure study run {study_folder.path}")


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
        width = max(map(len, names))
        for name in names:
            click.echo(f"{name:<{width}}  {', '.join(key for key, _, _ in key_table(name))}")
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
@click.argument("folder", metavar="STUDY", type=PATH)
@click.option("--lang", type=click.Choice(["en", "fr"]), default="en", show_default=True)
@json_option
def show(folder: Path, lang: str, as_json: bool) -> None:
    """What the study in folder STUDY asks of whom, in the words that every party reads before it approves."""
    document = _open_study(folder).study
    if as_json:
        print_json({"folder": str(folder), **study_to_dict(document, lang)})
        return
    _print_study(document, lang)


def _print_study(document: Study, lang: Any = "en") -> None:
    out = console()
    out.print(document.name, style="bold", soft_wrap=True)
    for line in map(printable, document.in_words(lang)):
        out.print(f"  {line}" if line.startswith(" ") else f"- {line}", soft_wrap=True)
    out.print()
    width = max(len(card.name) for card in document.roster)
    for card in document.roster:
        out.print(f"{card.name:<{width}}  {card.fingerprint}", soft_wrap=True)
    out.print(f"study {document.digest.hex()}", style="dim", soft_wrap=True)


def _open_study(folder: Path) -> StudyFolder:
    from murmure.parties.coordinator.folders import StudyFolder

    study_folder = StudyFolder(folder)
    _ = study_folder.study  # read now, so that a folder without a study is refused here
    return study_folder


# -- run ---------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="Serve a study until it is done.")
@click.argument("folder", metavar="STUDY", type=PATH)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 is all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8460, show_default=True, help="0: any free one.")
@click.option("--wait", type=float, default=600.0, show_default=True, metavar="S", help="Seconds for parties to join.")
@click.option(
    "--patience", type=float, default=30.0, show_default=True, metavar="S", help="Seconds for any later answer."
)
@click.option("--certificate", type=PATH, metavar="FILE", help="PEM, for TLS; with --key.")
@click.option("--key", type=PATH, metavar="FILE", help="PEM: the certificate's private key.")
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
            raise UsageError("{name} must be a number of seconds, got {got:g}.", "{name} 60", name=name, got=value)
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together.", "give both, for TLS, or neither")
    for name, path in (("--certificate", certificate), ("--key", key)):
        if path is not None and not path.is_file():
            raise UsageError("{name}: there is no file {path!r}.", name=name, path=str(path))
    from murmure.parties.http.address import LOOPBACK
    from murmure.parties.http.server import ServerSettings, ServerUrls, log_to_stderr, serve

    study_folder = _open_study(folder)

    def started(where: ServerUrls) -> None:
        if as_json:
            name = study_folder.study.name
            _print_json_line({"event": "serving", "study": name, "url": where.parties, "page": where.page})
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
    view = serve(study_folder, ServerSettings(host, port, wait, patience, certificate, key, once), started)
    if as_json:
        _print_json_line({"event": "ended", **view.to_dict()})
    else:
        _print_result(view)
    _raise_if_failed(view)


def _print_json_line(fields: dict[str, Any]) -> None:
    click.echo(json.dumps(fields, allow_nan=False))
    sys.stdout.flush()


# -- status and result -------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="How a study stands.")
@click.argument("folder", metavar="STUDY", type=PATH)
@json_option
def status(folder: Path, as_json: bool) -> None:
    """How the study in folder STUDY stands, whether it is being served or not."""
    view = _read_status(folder)
    if as_json:
        print_json(view.to_dict())
        return
    from murmure.parties.coordinator.page_words import PARTY_STATES, STAGES, STATES

    progress, document, out = view.progress, view.study, console()
    out.print(document.name, style="bold", soft_wrap=True)
    at_most = "at most " if document.rounds_vary else ""
    rounds = f", round {progress.round} of {at_most}{document.rounds}" if document.rounds > 1 else ""
    doing = f": parties {STAGES[progress.stage][0]}" if progress.stage in STAGES else ""
    out.print(f"{STATES[progress.state][0]}{rounds}{doing if progress.state == 'running' else ''}", soft_wrap=True)
    if progress.ended is not None and progress.ended.kind:
        out.print(printable(f"{progress.ended.kind}: {progress.ended.words}"), soft_wrap=True)
    width = max(len(card.name) for card in document.roster)
    for place, card in enumerate(document.roster):
        out.print(f"  {card.name:<{width}}  {PARTY_STATES[progress.party_state(place)][0]}", soft_wrap=True)


@study.command(cls=MurmureCommand, short_help="What came out.")
@click.argument("folder", metavar="STUDY", type=PATH)
@click.option("--html", type=PATH, metavar="FILE", help="Write it as a page that stands alone.")
@json_option
def result(folder: Path, html: Path | None, as_json: bool) -> None:
    """What came out of the study in folder STUDY: exact figures, over whom, and what they promise."""
    view = _read_status(folder)
    if not view.results:
        _raise_if_failed(view)
        raise UsageError(
            "the study has no result yet.",
            "murmure study status {folder} shows its progress; run serves it",
            folder=folder,
        )
    if html is not None:
        if view.earlier:
            raise UsageError(
                "the study ran under a protocol older than murmure 0.6, and a page would promise more than that "
                "protocol guaranteed.",
                "leave --html out, or write the page with the release that ran it",
            )
        from murmure.core.files import all_or_nothing
        from murmure.parties.coordinator.page import page_file
        from murmure.run.report.report import check_page_path

        check_page_path(html)
        with all_or_nothing(html) as part:
            part.write_text(page_file(view), encoding="utf-8")
    if as_json:
        print_json({**view.to_dict(), "html": html and str(html)})
        return
    _print_result(view)
    if html is not None:
        click.echo(f"Written: {html}")


def _read_status(folder: Path) -> StatusView:
    from murmure.parties.coordinator.progress import Progress
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.coordinator.store import ran_earlier, read_progress

    study_folder = _open_study(folder)
    progress, results = read_progress(study_folder.log, study_folder.study.digest)
    everybody = tuple(range(len(study_folder.study.roster)))
    return StatusView(
        study_folder.study,
        Progress(awaited=everybody) if progress is None else Progress.from_dict(progress),
        tuple(results),
        ran_earlier(study_folder.log),
    )


def _print_result(view: StatusView) -> None:
    from murmure.parties.coordinator.progress import absent_in_words
    from murmure.parties.study.costs import study_cost_in_words
    from murmure.parties.study.earlier_protocol import NOTE
    from murmure.parties.study.model_outcomes import outcome_lines

    out = console()
    out.print(view.study.name, style="bold", soft_wrap=True)
    absent = f"; {absent_in_words(view.progress.absent)}" if view.progress.absent else ""
    for outcome, figures in view.figures():
        names = ", ".join(view.study.roster[place].name for place in outcome.cohort)
        rounds = f"round {outcome.round}, " if view.study.rounds > 1 else ""
        out.print(f"{rounds}{figures.about}", soft_wrap=True)
        out.print(f"over {len(outcome.cohort)} parties: {names}{absent}", style="dim", soft_wrap=True)
        if figures.people is not None:
            about = "" if figures.exact else "about "
            out.print(f"{about}{group_digits(figures.people)} rows", style="dim")
        table = headed_table()
        table.add_column("", overflow="fold")
        table.add_column("exact" if figures.exact else "noisy", justify="right", overflow="fold")
        if not figures.exact:
            table.add_column("low", justify="right")
            table.add_column("high", justify="right")
        for row in figures.rows[:MAX_SHOWN]:
            table.add_row(printable(row.label), row.said, *([] if figures.exact else [row.low or "", row.high or ""]))
        out.print(table)
        if len(figures.rows) > MAX_SHOWN:
            out.print(
                f"the first {MAX_SHOWN}; {group_digits(len(figures.rows) - MAX_SHOWN)} more with --json", style="dim"
            )
        for line in (*figures.notes(), *figures.promises()):
            for part in line.split("\n"):
                out.print(printable(part), style="dim", soft_wrap=True)
    for fit in view.outcomes():
        click.echo("\n".join(outcome_lines(fit)))
    if view.results and (cost := study_cost_in_words(view.study)):
        out.print(f"all questions of this study together: {cost}", style="dim", soft_wrap=True)
    if view.earlier:
        out.print(NOTE, soft_wrap=True)


def _raise_if_failed(view: StatusView) -> None:
    ended = view.progress.ended
    if ended is None or not ended.kind:
        return
    from murmure.parties.coordinator.errors import StudyOver

    error: MurmureError = StudyOver(
        "the study ended without a result ({kind}): {words}",
        hint="create a new study: keys and masks are never used twice",
        kind=ended.kind,
        words=ended.words,
    )
    raise error
