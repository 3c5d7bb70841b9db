"""`murmure ols`, `murmure logit`, ...: the figures of a statistician, as text, JSON, HTML or LaTeX.

Each command is a function of murmure.econometrics: its words come first, then the tables, then its options. Which there
are, models say themselves (`entry`); a command is made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import click

from murmure.catalogue import model_functions, persisted_name
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.ledger_session import LedgerSession, check_delta, ledger_options
from murmure.cli.options import json_option, option_group, page_options, require_options, rows_of_one_person
from murmure.cli.plug_in_options import option_of
from murmure.cli.terminal import print_json
from murmure.core.catalogue_entries import CommandForm, ModelFunction, OptionForm
from murmure.core.errors import Phrase
from murmure.core.files import all_or_nothing

ERRORS = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster")

# Options that several models take; a model brings its other ones along (core/catalogue_entries.py).
SHARED_OPTIONS = {
    form.name: form
    for form in (
        OptionForm("errors", "Standard errors; cluster: a table is a cluster.  [default: nonrobust]", choices=ERRORS),
        OptionForm("by", "The column of groups.  [required]", metavar="G"),
        OptionForm("groups", "Which of its labels.  [default: all]", kind="names"),
        OptionForm("grid", "Public points.  [default: the column's own values]", kind="numbers"),
        OptionForm("event", "The column that says whether it happened.  [required]", metavar="E"),
        OptionForm("columns", "Which columns.  [default: all numbers]", kind="names"),
        OptionForm("scaled", "Columns in units of their deviations.", kind="flag"),
        OptionForm("offset", "A column or expression whose coefficient is 1.", metavar="O"),
        OptionForm("rounds", "The most rounds.", kind="whole", metavar="N", low=1, high=1000),
    )
}


_common_options = option_group(
    click.option(
        "--schema",
        "schema_file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Public bounds and labels, TOML.  [default: read off DATA, in the clear]",
    ),
    click.option(
        "--secure",
        is_flag=True,
        help="A rehearsal of masked sums between the tables, each a party: you have all rows here, and nothing "
        "is hidden from you.",
    ),
    click.option(
        "--rows-are-public",
        is_flag=True,
        help="With --secure: everybody may see the rows, so few rows and rare conditions are no reason to refuse.",
    ),
    click.option(
        "--minimum-cell",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --secure: rows that a condition must pick out, by public facts.  [default: 5]",
    ),
    click.option("--html", "html_file", type=click.Path(path_type=Path), metavar="OUT", help="Write a page too."),
    page_options,
    click.option("--latex", "as_latex", is_flag=True, help="Print LaTeX."),
    click.option(
        "--plot",
        "plot_file",
        type=click.Path(path_type=Path),
        metavar="OUT",
        help="Write a picture too (.png, .svg, .pdf).",
    ),
    click.option("--epsilon", type=float, metavar="E", help="With noise: what the answer may cost."),
    click.option("--delta", type=float, metavar="D", help="With --epsilon: Gaussian noise."),
    click.option("--unit", default="row", metavar="row|COLUMN", help="With --epsilon: who is protected."),
    click.option("--rows-per-person", type=int, metavar="N", help="With --unit COLUMN."),
    ledger_options,
    json_option,
)


def help_of(name: str, form: CommandForm) -> Phrase:
    return Phrase(
        "{about}\n\n"
        "DATA is a table: a CSV, Parquet or Arrow file, a folder, or a pattern in quotes. Several are tables of "
        "several parties: added up in the clear, or, with --secure, by masked sums, as a rehearsal of a study.\n\n"
        "\b\nmurmure {name} {example}",
        about=Phrase(form.about),
        name=name,
        example=form.example,
    )


def command_forms() -> dict[str, ModelFunction]:
    """The functions that can be typed, by the names of their commands."""
    return {name.replace("_", "-"): function for name, function in model_functions().items() if function.command}


@cache
def model_command(name: str) -> click.Command | None:
    """The command of this name, if a model has it."""
    function = command_forms().get(name)
    if function is None or function.command is None:
        return None
    form, options = function.command, _options(function.command)

    def run(**given: Any) -> None:
        _run(function.name, form, given)

    for option_form in reversed(options):
        run = option_of(option_form)(run)
    run = _common_options(run)
    run = click.argument("sources", metavar="DATA...", nargs=-1)(run)
    for word in reversed(form.arguments):
        run = click.argument(word.lower(), metavar=word, required=False)(run)
    return click.command(name, cls=MurmureCommand, short_help=form.about, help=help_of(name, form))(run)


def _options(form: CommandForm) -> list[OptionForm]:
    return [SHARED_OPTIONS[name] if isinstance(name, str) else name for name in form.options]


def _run(function_name: str, form: CommandForm, given: dict[str, Any]) -> None:
    from murmure import econometrics

    command = Phrase("murmure {function_name}", function_name=function_name.replace("_", "-"))
    words = [given[word.lower()] for word in form.arguments]
    sources: tuple[str, ...] = given["sources"]
    options = {option_form.name: given[option_form.name] for option_form in _options(form)}
    required = [option_form.name for option_form in _options(form) if "[required]" in option_form.help]
    needed = dict(zip(form.arguments, words, strict=True)) | {Phrase("a table DATA"): sources}
    needed |= {f"--{name}": options[name] for name in required}
    require_options(command, needed, f"{command} {form.example}")
    _check_outputs(given)
    session = _open_session(given, sources)
    privacy = _privacy(given, sources, session)
    if session is not None:
        session.ensure_budget(given["delta"], privacy.relation, given["unit"])
    data: Any = list(sources) if len(sources) > 1 or given["secure"] else sources[0]
    arguments = {name: value for name, value in options.items() if value is not None}
    arguments |= {word.lower(): value for word, value in zip(form.arguments, words, strict=True)}
    result = getattr(econometrics, function_name)(
        data=data,
        **arguments,
        schema=given["schema_file"],
        privacy=privacy,
        ledger=session.account if session else None,
        rng=session.rng if session else None,
    )
    if session is not None:
        session.charge = result.how.charge
    _print_answer(result, session, given)


def _check_outputs(given: dict[str, Any]) -> None:
    from murmure.core.files import refuse_to_replace
    from murmure.show.html import is_murmure_page

    page = given["html_file"]
    for name in ("title", "question", "author"):
        if given[name] is not None and page is None:
            raise UsageError("--{name} is for a page.", "add --html result.html, or leave it out", name=name)
    if page is not None:
        if page.suffix.lower() not in (".html", ".htm"):
            raise UsageError("--html {page}: the name of a page must end in .html.", "--html result.html", page=page)
        refuse_to_replace(page, is_murmure_page, Phrase("a page that Murmure wrote"))
    picture = given["plot_file"]
    if picture is not None and picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(
            "--plot {picture}: the name of a picture must end in .png, .svg or .pdf.",
            "--plot result.png",
            picture=picture,
        )
    if given["as_json"] and given["as_latex"]:
        raise UsageError("--json and --latex exclude one another.", "leave out one of them")


def _privacy(given: dict[str, Any], sources: Sequence[str], session: LedgerSession | None) -> Any:
    from murmure.plan.privacy import Central, Secure

    epsilon, delta = given["epsilon"], given["delta"]
    check_delta(delta)
    if epsilon is None:
        for name in ("delta", "rows_per_person", "budget", "ledger", "dataset", "who"):
            if given[name] is not None:
                raise UsageError(
                    "--{name} is for noise.",
                    "leave it out; --epsilon adds noise to the commands that take it",
                    name=name.replace("_", "-"),
                )
    if given["schema_file"] is None and (epsilon is not None or given["secure"]):
        raise UsageError(
            "{detail} needs --schema: bounds and labels are public constants, never read off the rows.",
            "murmure schema init DATA drafts one",
            detail=Phrase("--secure") if given["secure"] else Phrase("--epsilon"),
        )
    rows = rows_of_one_person(given["unit"], given["rows_per_person"], Phrase("the noise grows"))
    relation = session.relation(None) if session else "add/remove"
    noise = dict(epsilon=epsilon, delta=delta or 0.0, relation=relation, unit=given["unit"], rows_per_person=rows)
    rules = _secure_rules(given)
    if given["secure"]:
        if len(sources) < 3:
            raise UsageError(
                "--secure needs three tables or more, got {got}.", "give one table for each party", got=len(sources)
            )
        return Secure(**rules) if epsilon is None else Secure(**noise, **rules)
    return None if epsilon is None else Central(**noise)


def _secure_rules(given: dict[str, Any]) -> dict[str, Any]:
    """The rules for exact sums between tables."""
    cell, public = given["minimum_cell"], given["rows_are_public"]
    if (cell is not None or public) and not given["secure"]:
        raise UsageError("--minimum-cell and --rows-are-public are for --secure.", "add it, or leave them out")
    return {"rows_are_public": public} | ({} if cell is None else {"minimum_cell": cell})


def _open_session(given: dict[str, Any], sources: Sequence[str]) -> LedgerSession | None:
    names = ("ledger", "dataset", "who", "budget", "fresh", "no_ledger", "seed")
    if given["epsilon"] is None:
        if given["seed"] is not None or given["fresh"]:
            raise UsageError("--seed and --fresh are for noise, but there is no noise.", "leave them out")
        return None
    if len(sources) > 1 and given["dataset"] is None and not given["no_ledger"]:
        raise UsageError("several tables have no common name: which budget pays?", "--dataset visits, for example")
    # Several tables are recognised by none of their bytes: another list that begins alike is another question.
    source = sources[0] if len(sources) == 1 else None
    return LedgerSession.open(source, **{name: given[name] for name in names})


def _print_answer(result: Any, session: LedgerSession | None, given: dict[str, Any]) -> None:
    from murmure.show.document import Heading
    from murmure.show.language import language

    page, picture = given["html_file"], given["plot_file"]
    heading = Heading(given["title"], given["question"], given["author"])
    if page is not None:
        with all_or_nothing(page) as part:
            part.write_text(result.to_page(heading), encoding="utf-8")
    if picture is not None:
        _draw(result, picture)
    if given["as_json"]:
        fields = result.to_dict()
        if session is not None:
            fields |= {"ledger": session.to_dict(), "warnings": session.warnings}
        print_json(fields)
        return
    click.echo(result.to_latex() if given["as_latex"] else result.summary())
    if session is not None and not given["as_latex"]:
        click.echo(language().say(session.summary()))
    for place in (page, picture):
        if place is not None:
            click.echo(language().say(Phrase("Written: {place}", place=str(place))), err=True)


def _draw(result: Any, place: Path) -> None:
    from murmure.core.plotting import pyplot
    from murmure.econometrics.results.result import Drawable

    if not isinstance(result, Drawable):
        raise UsageError("{result} has no picture.", "leave --plot out", result=persisted_name(result))

    figure = result.plot().figure
    with all_or_nothing(place) as part:
        figure.savefig(part, format=place.suffix[1:].lower(), dpi=150, bbox_inches="tight")
    pyplot().close(figure)
