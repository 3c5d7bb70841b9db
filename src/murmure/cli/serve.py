"""`murmure serve`: surveys that people answer in their browsers, which randomise before anything is sent."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from murmure.cli.commands import MurmureCommand, MurmureGroup, UsageError
from murmure.cli.language import echo
from murmure.cli.options import json_option, option_group
from murmure.cli.terminal import print_json, print_line
from murmure.core.errors import Phrase, shorten
from murmure.core.serving.listening import LOOPBACK
from murmure.show.language import language

if TYPE_CHECKING:
    from murmure.collector.http.server import ServiceUrls
    from murmure.collector.service.analysts import Analysts
    from murmure.collector.service.collector import Collector
    from murmure.collector.service.surveys import SurveyRecord

PATH = click.Path(path_type=Path)
DEFAULT_FOLDER = Path("murmure-surveys")
MAX_PASSWORD_BYTES = 4096  # of a file that is taken for a password

folder_option = click.option(
    "--folder",
    type=PATH,
    envvar="MURMURE_SERVE_FOLDER",
    metavar="DIR",
    help="Where surveys and reports are kept.  [default: MURMURE_SERVE_FOLDER, or murmure-surveys]",
)
# Where a service listens; each also by an environment variable, MURMURE_SERVE_ and the option in capitals.
address_options = option_group(
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        envvar="MURMURE_SERVE_HOST",
        help="Address to listen on; 0.0.0.0 for all.",
    ),
    click.option(
        "--port",
        type=click.IntRange(0, 65535),
        default=8480,
        show_default=True,
        envvar="MURMURE_SERVE_PORT",
        help="Port to listen on; 0 for any free one.",
    ),
)


@click.group(
    cls=MurmureGroup, invoke_without_command=True, short_help="Surveys that browsers randomise: the service itself."
)
@folder_option
@address_options
@click.option(
    "--certificate", type=PATH, envvar="MURMURE_SERVE_CERTIFICATE", metavar="FILE", help="PEM, for TLS; with --key."
)
@click.option(
    "--key", type=PATH, envvar="MURMURE_SERVE_KEY", metavar="FILE", help="PEM: the certificate's private key."
)
@click.option(
    "--public-url",
    envvar="MURMURE_SERVE_PUBLIC_URL",
    metavar="URL",
    help="Public address of the service, behind a reverse proxy: https://survey.example.org",
)
@click.option(
    "--trust-proxy",
    is_flag=True,
    envvar="MURMURE_SERVE_TRUST_PROXY",
    help="Trust X-Forwarded-For from the proxy; used only to limit attempts.",
)
@click.option(
    "--metrics-token",
    envvar="MURMURE_SERVE_METRICS_TOKEN",
    metavar="TOKEN",
    help="Token that opens /metrics; better set by MURMURE_SERVE_METRICS_TOKEN.",
)
@json_option
@click.pass_context
def serve(
    ctx: click.Context,
    folder: Path | None,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    public_url: str | None,
    trust_proxy: bool,
    metrics_token: str | None,
    as_json: bool,
) -> None:
    """Serve surveys: people answer in their browsers, which randomise each answer before it is sent.

    \b
    murmure serve                                            on this machine; prints a link for the first account
    murmure serve --host 0.0.0.0 --certificate c.pem --key k.pem
    murmure serve --public-url https://survey.example.org --trust-proxy
    murmure serve analyst add anna                           another account; asks for its password
    murmure serve check                                      stored reports against tallies
    murmure serve export SURVEY -o reports.parquet

    Stops cleanly on Ctrl-C and SIGTERM. Each option has an environment variable: MURMURE_SERVE_PORT for --port. With
    --json: one line of JSON once it serves. Nothing about a request is logged.
    """
    ctx.obj = folder
    if ctx.invoked_subcommand is not None:
        return
    from murmure.collector.http.server import ServeSettings
    from murmure.collector.http.server import serve as serve_folder

    check_tls_options(certificate, key)
    settings = ServeSettings(
        host, port, certificate, key, check_public_url(public_url), trust_proxy, metrics_token or None
    )
    where = folder or DEFAULT_FOLDER

    def started(urls: ServiceUrls) -> None:
        if as_json:
            line = {"event": "serving", "url": urls.base, "port": urls.port, "folder": str(where), "setup": urls.setup}
            click.echo(json.dumps(line))
        else:
            print_line(Phrase("Serving {url} (surveys are in {folder})", url=urls.base, folder=str(where)))
            if urls.setup is not None:
                print_line(Phrase("Make the first account here, once: {url}", url=urls.setup))
        sys.stdout.flush()
        if not urls.base.startswith("https:") and not {host, urlsplit(urls.base).hostname} <= LOOPBACK:
            warn_plain_http()
        if settings.public_url is not None and not settings.tls and not trust_proxy:
            warn_shared_limits()

    def stopping() -> None:
        if not as_json:
            echo(Phrase("Stopping: requests under way are still answered. Press Ctrl-C again to leave at once."))

    serve_folder(where, settings, started, stopping)


def warn_plain_http() -> None:
    echo(
        Phrase(
            "WARNING: without --certificate somebody on the network in between could replace the page itself, and "
            "with it the randomising. Answers are randomised before they are sent, but only by an honest page. "
            "Analysts' passwords can be read on the way."
        )
    )


def warn_shared_limits() -> None:
    echo(
        Phrase(
            "WARNING: behind a proxy and without --trust-proxy everyone shares one limit on attempts: anyone who "
            "uses it up keeps the others from signing in and from getting public coins."
        )
    )


def check_tls_options(certificate: Path | None, key: Path | None) -> None:
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together.", "give both, for TLS, or neither")
    for name, path in (("--certificate", certificate), ("--key", key)):
        if path is not None and not path.is_file():
            raise UsageError("{name}: there is no file {path!r}.", name=name, path=str(path))


def check_public_url(url: str | None) -> str | None:
    if not url:
        return None
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and url.isascii()
    except ValueError:
        good = False
    if not good or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc or " " in url:
        raise UsageError(
            "--public-url must be the address of a site, without a path, got {got}.",
            "--public-url https://survey.example.org",
            got=shorten(url),
        )
    return f"{parts.scheme}://{parts.netloc}"


# -- analysts ----------------------------------------------------------------------------------------------------------

password_option = click.option(
    "--password-file",
    type=click.File(),
    metavar="FILE",
    help="Read the password from here; - is standard input.  [default: ask]",
)


@serve.group(cls=MurmureGroup, short_help="Who may make surveys and see their results.")
def analyst() -> None:
    """Accounts of those who make surveys and see their results. Respondents need none.

    \b
    murmure serve analyst add anna
    murmure serve analyst list
    murmure serve analyst password anna --password-file secret.txt

    They can be changed while the service runs. Each command takes --json.
    """


@analyst.command("add", cls=MurmureCommand, short_help="Make an account.")
@click.argument("name")
@password_option
@folder_option
@json_option
@click.pass_context
def add_analyst(ctx: click.Context, name: str, password_file: Any, folder: Path | None, as_json: bool) -> None:
    """Make an account called NAME. Its password is asked for, or read from a file, and never typed as an option.

    \b
    murmure serve analyst add anna
    murmure serve analyst add anna --password-file secret.txt --folder murmure-surveys
    """
    where = _folder(ctx, folder)
    analysts = _analysts(where, make=True)
    added = analysts.create(name, _password(password_file))
    _show_change(as_json, where, added.name, "added", Phrase("Added: {name}.", name=added.name))


@analyst.command("list", cls=MurmureCommand, short_help="All accounts.")
@folder_option
@json_option
@click.pass_context
def list_analysts(ctx: click.Context, folder: Path | None, as_json: bool) -> None:
    """The names of all accounts.

    \b
    murmure serve analyst list --folder murmure-surveys
    """
    where = _folder(ctx, folder)
    names = [one.name for one in _analysts(where).list()]
    if as_json:
        print_json({"folder": str(where), "analysts": names})
        return
    for name in names:
        print_line(Phrase("{name}", name=name))
    if not names:
        print_line(Phrase("There is no account yet: murmure serve prints a link that makes the first one."))


@analyst.command("remove", cls=MurmureCommand, short_help="Remove an account without surveys.")
@click.argument("name")
@folder_option
@json_option
@click.pass_context
def remove_analyst(ctx: click.Context, name: str, folder: Path | None, as_json: bool) -> None:
    """Remove the account NAME, if it has no surveys.

    \b
    murmure serve analyst remove anna
    """
    where = _folder(ctx, folder)
    _analysts(where).remove(name)
    _show_change(as_json, where, name, "removed", Phrase("Removed: {name}.", name=name))


@analyst.command("password", cls=MurmureCommand, short_help="Change a password.")
@click.argument("name")
@password_option
@folder_option
@json_option
@click.pass_context
def change_password(ctx: click.Context, name: str, password_file: Any, folder: Path | None, as_json: bool) -> None:
    """Change the password of the account NAME, and end its sessions.

    \b
    murmure serve analyst password anna
    """
    where = _folder(ctx, folder)
    _analysts(where).change_password(name, _password(password_file))
    _show_change(as_json, where, name, "changed", Phrase("Changed: the password of {name}.", name=name))


def _show_change(as_json: bool, folder: Path, name: str, change: str, words: Phrase) -> None:
    if as_json:
        print_json({"folder": str(folder), "analyst": name, "change": change})
    else:
        print_line(words)


def _password(file: Any) -> str:
    if file is not None:
        try:
            return str(file.read(MAX_PASSWORD_BYTES)).removesuffix("\n").removesuffix("\r")
        except (OSError, UnicodeDecodeError):
            raise UsageError("--password-file cannot be read as text.", "write the password into it, alone") from None
    if not sys.stdin.isatty():
        raise UsageError(
            "there is no terminal to ask for the password.", "--password-file FILE, or - for standard input"
        )
    say = language().say
    return str(
        click.prompt(say(Phrase("Password")), hide_input=True, confirmation_prompt=say(Phrase("Once more")), err=True)
    )


# -- stored reports ----------------------------------------------------------------------------------------------------


@serve.command(cls=MurmureCommand, short_help="Compare stored reports with the tallies.")
@folder_option
@json_option
@click.pass_context
def check(ctx: click.Context, folder: Path | None, as_json: bool) -> None:
    """Read the whole log and all stored reports, add them up again, and compare with the tallies that results use.

    \b
    murmure serve check --folder murmure-surveys
    """
    where = _folder(ctx, folder)
    with _collector(where) as collector:
        collector.intake.flush()
        collector.intake.check()
        surveys = [_survey_fields(collector, record) for record in _records(collector)]
    if as_json:
        print_json({"folder": str(where), "ok": True, "surveys": surveys})
        return
    from murmure.collector.service.surveys import STATE_NAMES

    for survey in surveys:
        print_line(
            Phrase(
                "{id}  {state}, answers: {n:,}  {title}",
                id=survey["id"],
                state=STATE_NAMES[survey["state"]],
                n=sum(survey["answers"]),
                title=survey["title"],
            )
        )
    print_line(Phrase("All tallies equal the sums of the stored reports."))


def _survey_fields(collector: Collector, record: SurveyRecord) -> dict[str, Any]:
    waves = range(1, record.survey.waves + 1)
    return {
        "id": record.id,
        "title": record.survey.title.in_language(language().code),
        "state": record.state,
        "answers": [collector.intake.tally_of(record.number, wave)[0] for wave in waves],
        "refused": collector.refusals(record),
    }


@serve.command(cls=MurmureCommand, short_help="Write the reports of a survey to a file.")
@click.argument("survey")
@click.option("-o", "--output", type=PATH, required=True, metavar="FILE", help="Ends in .parquet, .csv or .json.")
@click.option("--wave", type=click.IntRange(min=1), metavar="N", help="Of a survey in waves.  [default: the last]")
@click.option("--force", is_flag=True, help="Overwrite FILE.")
@folder_option
@json_option
@click.pass_context
def export(
    ctx: click.Context,
    survey: str,
    output: Path,
    wave: int | None,
    force: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Write the reports of SURVEY (its id, the end of its link) to a file that `murmure estimate` reads.

    They are in a random order, without a token and without a time.

    \b
    murmure serve export k3v9q2mdx7ab -o reports.parquet
    murmure estimate reports.parquet
    """
    from murmure.cli.outputs import refuse_existing

    kind: Any = output.suffix.lower().removeprefix(".")
    if kind not in ("parquet", "csv", "json"):
        raise UsageError("-o must end in .parquet, .csv or .json, got {got!r}.", "-o reports.parquet", got=output.name)
    refuse_existing(output, force)
    from murmure.collector.service.exports import export as write_export

    with _collector(_folder(ctx, folder)) as collector:
        record = collector.surveys.find(survey)
        if record is None or record.state == "draft":
            known = [one.id for one in _records(collector) if one.state != "draft"]
            raise UsageError(
                "there is no survey {survey} with reports.",
                Phrase("surveys with reports: {known}", known=", ".join(known)) if known else None,
                survey=shorten(survey),
            )
        if wave is not None and wave > record.survey.waves:
            raise UsageError("--wave must be at most {waves}, got {got}.", waves=record.survey.waves, got=wave)
        collector.intake.flush()
        blocks = collector.blocks(record, wave or record.wave)
        count = write_export(blocks, record.plan, kind, output, overwrite=force)
    if as_json:
        print_json({"survey": survey, "reports": count, "file": str(output), "plan": record.plan.digest})
    else:
        print_line(Phrase("Written: {path} ({n:,} reports)", path=str(output), n=count))


# -- what they share ---------------------------------------------------------------------------------------------------


def _folder(ctx: click.Context, folder: Path | None) -> Path:
    """That of the command, else the one that was given before it: murmure serve --folder DIR check."""
    given = folder or ctx.find_object(Path)
    return given or DEFAULT_FOLDER


def _require_folder(folder: Path) -> None:
    from murmure.collector.service.database import DATABASE_FILE

    if not (folder / DATABASE_FILE).is_file():
        raise UsageError(
            "there are no surveys in {folder!r}.",
            "--folder names the folder that murmure serve uses; murmure serve makes it",
            folder=str(folder),
        )


def _collector(folder: Path) -> Collector:
    from murmure.collector.http.server import open_collector

    _require_folder(folder)
    return open_collector(folder)


def _analysts(folder: Path, make: bool = False) -> Analysts:
    """Their table alone, which may change while the folder is served."""
    from murmure.collector.http.server import open_collector
    from murmure.collector.service.analysts import Analysts
    from murmure.collector.service.collector import open_database
    from murmure.collector.service.database import DATABASE_FILE

    if make and not (folder / DATABASE_FILE).exists():
        open_collector(folder).close()
    _require_folder(folder)
    return Analysts(*open_database(folder))


def _records(collector: Collector) -> list[SurveyRecord]:
    return [record for one in collector.analysts.list() for record in collector.surveys.of_owner(one.number)]
