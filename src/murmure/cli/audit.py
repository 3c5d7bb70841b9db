"""`murmure audit`: does a randomiser reveal more than it claims? A bound on epsilon from samples alone."""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.attack_options import shows_result
from murmure.cli.certify import build_mechanism, build_solution, exact_name, read_plan
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.option_words import option
from murmure.cli.options import domain_options, option_group, require_options, split_labels
from murmure.cli.plug_in_options import mechanism_options
from murmure.core.errors import Phrase, shorten

if TYPE_CHECKING:
    from murmure.attacks.audits.audit_result import AuditResult
    from murmure.core.random import Random

EXAMPLE = Phrase('murmure audit --command "node randomiser.js" --pair no,yes --epsilon 1')
RECORD_EXAMPLE = Phrase("murmure audit rsfd-grr --schema schema.toml --epsilon 1")
outside_options = option_group(
    click.option("--command", metavar="WORDS", help="A program: a JSON value a line in, a report a line out."),
    click.option("--url", metavar="URL", help='An address that takes {"value": ...} and answers with a report.'),
    click.option("--python", "function", metavar="MODULE:NAME", help="A Python function: value in, report out."),
    click.option("--batched", is_flag=True, help="--python: the function takes a value and n, and returns n reports."),
    click.option("--fresh", is_flag=True, help="A new process, or --python as the maker of one, for each report."),
    click.option("--pair", "pairs", multiple=True, metavar="A,B", help="Two values to tell apart. Repeatable."),
)
sampling_options = option_group(
    click.option("--claim", type=float, metavar="E", help="The epsilon that is claimed.  [default: --epsilon]"),
    click.option(
        "--delta", type=float, metavar="D", help="The delta that is claimed.  [default: ours state it; else 0]"
    ),
    click.option("--samples", type=int, metavar="N", help="Reports of each value.  [default: by kind]"),
    click.option(
        "--alpha", type=float, default=0.05, show_default=True, metavar="P", help="Chance of a false alarm, at most."
    ),
    click.option(
        "--time-limit", type=float, default=10.0, show_default=True, metavar="S", help="Seconds that a call may take."
    ),
)


@click.command(cls=MurmureCommand, short_help="Whether a randomiser reveals more than it claims, from samples.")
@click.argument("mechanism", required=False)
@outside_options
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Audit a plan (JSON).")
@click.option("--file", type=click.Path(path_type=Path), metavar="FILE", help="Audit what sanitised this file.")
@domain_options
@click.option("--epsilon", type=float, metavar="E", help="The budget: of a mechanism, or as claimed by others.")
@mechanism_options()
@click.option("--schema", type=click.Path(path_type=Path), metavar="FILE", help="A whole record: its columns (TOML).")
@click.option(
    "--calibrate", type=click.Choice(["record", "attribute", "paper"]), help="rsfd, rsrfd: what epsilon is for."
)
@sampling_options
@shows_result
def audit(
    mechanism: str | None,
    command: str | None,
    url: str | None,
    function: str | None,
    batched: bool,
    fresh: bool,
    pairs: tuple[str, ...],
    plan: Path | None,
    file: Path | None,
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    schema: Path | None,
    claim: float | None,
    delta: float | None,
    samples: int | None,
    alpha: float,
    time_limit: float,
    rng: Random,
    **settings: Any,
) -> AuditResult:
    """Audit a MECHANISM, a program, an address, a function, a plan or a sanitised file, from samples alone.

    Ends in one of three verdicts: violates (exit status 1), consistent (0), no statement (3).

    \b
    murmure audit GRR --categories 4 --epsilon 1
    murmure audit rsfd-grr --schema schema.toml --epsilon 1 --calibrate paper --claim 1
    murmure audit --command "node randomiser.js" --pair no,yes --epsilon 1
    murmure audit --url http://localhost:8000/report --pair no,yes --epsilon 1
    murmure audit --python survey:randomise --pair 0,1 --epsilon 1
    """
    from murmure.attacks.audits.audit import audit as audit_samples
    from murmure.attacks.audits.sources import Command

    domain = (categories, labels, integers, interval, cells)
    given = {name: value for name, value in settings.items() if value is not None}
    subjects = {
        "MECHANISM": mechanism,
        "--command": command,
        "--url": url,
        "--python": function,
        "--plan": plan,
        "--file": file,
    }
    named = [name for name, value in subjects.items() if value is not None]
    if len(named) != 1:
        what = (
            Phrase("nothing to audit")
            if not named
            else Phrase("a MECHANISM, --command, --url, --python, --plan and --file exclude one another")
        )
        raise UsageError("{what}.", EXAMPLE, what=what)
    if batched and function is None:
        raise UsageError("--batched is for --python.", "leave it out")
    if fresh and function is None and command is None:
        raise UsageError("--fresh is for --python and --command.", "leave it out")
    if claim is not None and not claim >= 0:
        raise UsageError("--claim must be a number from 0, got {got:g}.", EXAMPLE, got=claim)
    epsilon = given.get("epsilon") if claim is None else claim
    subject: Any
    if mechanism is not None:
        subject = _mechanism(mechanism, domain, schema, given)
        epsilon = claim
    else:
        others = [option(name) for name in given if name != "epsilon"]
        if others or schema is not None or any(value is not None for value in domain):
            raise UsageError("{name} takes no mechanism's options.", EXAMPLE, name=named[0])
        subject = plan or file
        if plan is not None:
            subject = read_plan(plan)
        elif file is None:
            require_options(named[0], {"--epsilon": epsilon, "--pair": pairs or None}, EXAMPLE)
        if command is not None:
            subject = Command(_words(command))
        elif url is not None:
            subject = _address(url)
        elif function is not None:
            subject = _function(function)
    read_pairs = [_pair(text) for text in pairs] or None
    return audit_samples(
        subject,
        epsilon,
        read_pairs,
        delta=delta,
        samples=samples,
        alpha=alpha,
        rng=rng,
        batched=batched,
        fresh=fresh,
        time_limit=time_limit,
    )


def _mechanism(name: str, domain: tuple[Any, ...], schema: Path | None, given: dict[str, Any]) -> Any:
    """The mechanism that was typed: of one answer, or with --schema of a record."""
    if schema is None:
        given.pop("calibrate", None)
        return build_mechanism(exact_name(name, given), domain, given, "murmure audit ")  # type: ignore[arg-type]
    return build_solution(name, schema, given, Phrase("audit it in Python: murmure.audit(mechanism)"))[1]


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise UsageError("--command: {got} is not a command.", EXAMPLE, got=shorten(command))
    return words


def _address(url: str) -> str:
    from murmure.attacks.audits.sources import is_url

    if not is_url(url):
        raise UsageError("--url: {got} is not an http address.", "--url http://localhost:8000/report", got=shorten(url))
    return url


def _function(text: str) -> Any:
    """module:name, from the current folder or from what is installed."""
    module, _, name = text.partition(":")
    hint = Phrase("--python survey:randomise, for the function randomise of survey.py")
    if not module or not name:
        raise UsageError("--python: {got} is not MODULE:NAME.", hint, got=shorten(text))
    sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise UsageError("--python: cannot find {got}: {error}.", hint, got=shorten(text), error=str(error)) from None
    finally:
        sys.path.remove("")
    return found


def _pair(text: str) -> tuple[Any, Any]:
    """Two values, as JSON where they are some (1, true), else as text."""
    values = _json_pair(text) or split_labels(text)
    if len(values) != 2:
        raise UsageError("--pair takes two values, got {got}.", '--pair no,yes, or --pair "[1, 2]"', got=shorten(text))
    one, other = (_read(value) for value in values)
    return one, other


def _json_pair(text: str) -> list[Any] | None:
    try:
        values = json.loads(text)
    except ValueError:
        return None
    return values if isinstance(values, list) else None


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
