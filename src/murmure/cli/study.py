"""`murmure study`: the coordinator of sums between organisations. Each of them runs `murmure party`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.options import json_option, page_options
from murmure.cli.party_options import in_language, lang_option, print_study, say, study_to_dict
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import MurmureError
from murmure.show.phrase import Phrase

if TYPE_CHECKING:
    from murmure.parties.coordinator.folders import StudyFolder
    from murmure.parties.coordinator.status_view import StatusView

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
    say(Phrase("{name}: {key}", name=card.name, key=card.fingerprint))
    card_file = str(folder / "card.json")
    say(Phrase("Hand {file} to the parties, and let them compare these digits by telephone.", file=card_file))
    say(Phrase("Keep {file} to yourself.", file=str(folder / "identity.key")))


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
        print_json({"folder": str(study_folder.path), **study_to_dict(document)})
        return
    print_study(document)
    click.echo()
    say(Phrase("Written: {path}", path=str(study_folder.path / "study.json")))
    say(Phrase("Serve it with: murmure study run {path}", path=str(study_folder.path)))


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
        print_json(
            {
                name: {
                    "keys": [dict(zip(("key", "type", "default"), row, strict=True)) for row in key_table(name)],
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
        click.echo()
        say(Phrase("murmure study models MODEL says what each key may hold."))
        return
    (name,) = names
    head = (Phrase("key"), Phrase("what it may hold"), Phrase("if left out"))
    rows = [[in_language(text) for text in row] for row in (head, *key_table(name))]
    first, second = (max(len(row[i]) for row in rows) for i in range(2))
    for row in rows:
        click.echo(f"{row[0]:<{first}}  {row[1]:<{second}}  {row[2]}".rstrip())
    for text in examples_of(name):
        click.echo(f"\n{text.rstrip()}")


# -- show --------------------------------------------------------------------------------------------------------------


@study.command("show", cls=MurmureCommand, short_help="What is asked of whom, in words.")
@click.argument("folder", metavar="STUDY", type=PATH)
@lang_option
@json_option
def show_study(folder: Path, lang: Any, as_json: bool) -> None:
    """What the study in folder STUDY asks of whom, in the words that every party reads before it approves."""
    document = _open_study(folder).study
    if as_json:
        print_json({"folder": str(folder), **study_to_dict(document, lang)})
        return
    print_study(document)


def _open_study(folder: Path) -> StudyFolder:
    from murmure.parties.coordinator.folders import StudyFolder

    study_folder = StudyFolder(folder)
    _ = study_folder.study  # read now, so that a folder without a study is refused here
    return study_folder


# -- run ---------------------------------------------------------------------------------------------------------------


@study.command(cls=MurmureCommand, short_help="Serve a study until it is done.")
@click.argument("folder", metavar="STUDY", type=PATH)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8460,
    show_default=True,
    help="Port to listen on; 0 for any free one.",
)
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
    from murmure.core.serving.listening import LOOPBACK
    from murmure.parties.coordinator.page import result_document
    from murmure.parties.http.server import ServerSettings, ServerUrls, log_to_stderr, serve

    study_folder = _open_study(folder)

    def started(where: ServerUrls) -> None:
        if as_json:
            name = study_folder.study.name
            _print_json_line({"event": "serving", "study": name, "url": where.parties, "page": where.page})
            return
        say(Phrase("Parties join at  {url}", url=where.parties))
        say(Phrase("Look on at       {url}", url=where.page))
        if certificate is None and host not in LOOPBACK:
            warning = Phrase(
                "WARNING: without --certificate anyone on the network in between sees who takes part, and the page's "
                "token."
            )
            say(warning, err=True)
        sys.stdout.flush()

    log_to_stderr()
    view = serve(study_folder, ServerSettings(host, port, wait, patience, certificate, key, once), started)
    if as_json:
        _print_json_line({"event": "ended", **view.to_dict()})
    else:
        print_document(result_document(view))
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
    from murmure.parties.coordinator.page import status_document

    print_document(status_document(view))


@study.command(cls=MurmureCommand, short_help="What came out.")
@click.argument("folder", metavar="STUDY", type=PATH)
@click.option("--html", type=PATH, metavar="FILE", help="Write it as a page that stands alone.")
@page_options
@json_option
def result(
    folder: Path, html: Path | None, title: str | None, question: str | None, author: str | None, as_json: bool
) -> None:
    """What came out of the study in folder STUDY: exact figures, over whom, and what they promise."""
    from murmure.parties.coordinator.page import page_file, result_document

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
        from murmure.run.report.report import check_page_path
        from murmure.show.document import Heading

        check_page_path(html)
        with all_or_nothing(html) as part:
            part.write_text(page_file(view, Heading(title, question, author)), encoding="utf-8")
    if as_json:
        print_json({**view.to_dict(), "html": html and str(html)})
        return
    print_document(result_document(view))
    if html is not None:
        say(Phrase("Written: {path}", path=str(html)))


def _read_status(folder: Path) -> StatusView:
    from murmure.parties.coordinator.progress import StudyProgress
    from murmure.parties.coordinator.status_view import StatusView
    from murmure.parties.coordinator.store import ran_earlier, read_progress

    study_folder = _open_study(folder)
    progress, results = read_progress(study_folder.log, study_folder.study.digest)
    everybody = tuple(range(len(study_folder.study.roster)))
    return StatusView(
        study_folder.study,
        StudyProgress(awaited=everybody) if progress is None else StudyProgress.from_dict(progress),
        tuple(results),
        ran_earlier(study_folder.log),
    )


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
