"""`murmure ols`, `murmure logit`, ...: the figures of a statistician, as text, JSON, HTML or LaTeX, from one list.

Each command is a function of murmure.econometrics: its words come first, then the tables, then its options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from murmure.catalogue import persisted_name
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.ledger_session import LedgerSession, check_delta, ledger_options, open_ledger_session
from murmure.cli.options import json_option, option_group, require_options, rows_of_one_person, split_columns
from murmure.cli.terminal import print_json
from murmure.core.errors import Phrase, shorten
from murmure.core.files import all_or_nothing

SECTION = "Figures from sums (econometrics)"
ERRORS = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster")
NAME_LIST = "A,B,..."


def _split_names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """age,stay -> ("age", "stay"); a name that contains a comma is in quotes, as in a CSV file."""
    if value is None:
        return None
    return tuple(split_columns(value))


def _split_numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """0,0.5,1 -> ("0", "0.5", "1"): decimals stay as they are typed."""
    if value is None:
        return None
    parts = tuple(part.strip() for part in value.split(","))
    for part in parts:
        try:
            float(part)
        except ValueError:
            raise UsageError(
                "{opt}: {part} is not a number.", "{opt} 0,10,20.5", opt=param.opts[0], part=shorten(part)
            ) from None
    return parts


def _text(name: str, metavar: str, help: str) -> Any:
    return click.option(f"--{name}", metavar=metavar, help=help)


def _names(name: str, help: str) -> Any:
    return click.option(f"--{name}", metavar=NAME_LIST, callback=_split_names, help=help)


def _grid(name: str, help: str) -> Any:
    return click.option(f"--{name}", metavar="X,Y,...", callback=_split_numbers, help=help)


OPTIONS: dict[str, Any] = {
    "errors": click.option(
        "--errors",
        type=click.Choice(ERRORS),
        help="Standard errors; cluster: a table is a cluster.  [default: nonrobust]",
    ),
    "family": click.option(
        "--family",
        type=click.Choice(["exponential", "weibull", "beta", "multinomial"]),
        help="Which law.  [required]",
    ),
    "errors_of_law": click.option(
        "--errors",
        type=click.Choice(["hessian", "sandwich", "opg"]),
        help="Standard errors.  [default: hessian]",
    ),
    "weights": _text("weights", "W", "A column, or an expression of columns: rows count by it.  [required]"),
    "lambdas": _grid("lambdas", "Penalties.  [default: 0 and powers of ten]"),
    "instruments": _text("instruments", "Z", 'What stands for the endogenous columns: "z1 + z2 + x1".  [required]'),
    "treated": _text("treated", "D", "The column that says who is treated.  [required]"),
    "post": _text("post", "T", "The column that says what came after.  [required]"),
    "covariates": _text("covariates", "X", 'Further columns: "age + ward".'),
    "by": _text("by", "G", "The column of groups.  [required]"),
    "by_groups": _text("by", "G", "A curve for each label of this column."),
    "by_two": _text("by", "G", "The column of groups; without it one sample is compared with --mu."),
    "groups": _names("groups", "Which of its labels.  [default: all]"),
    "mu": _text("mu", "M", "What the mean is compared with.  [default: 0]"),
    "pooled": click.option("--pooled", is_flag=True, default=None, help="One variance for both groups."),
    "strata": _text("strata", "S", "The column of strata.  [required]"),
    "grid": _grid("grid", "Public points.  [default: the column's own values]"),
    "edges": _grid("edges", "Public edges of the bins.  [default: the column's own values]"),
    "shares": _grid("shares", "Which quantiles.  [default: 0.25,0.5,0.75]"),
    "event": _text("event", "E", "The column that says whether it happened.  [required]"),
    "ties": click.option(
        "--ties",
        type=click.Choice(["breslow", "efron"]),
        help="How events at one time are counted.  [default: breslow]",
    ),
    "time": _text("time", "T", "The column of times.  [required]"),
    "outcome": _text("outcome", "Y", "The column that the score is to tell.  [required]"),
    "columns": _names("columns", "Which columns.  [default: all numbers]"),
    "columns_needed": _names("columns", "Which columns.  [required]"),
    "scaled": click.option("--scaled", is_flag=True, default=None, help="Columns in units of their deviations."),
    "offset": _text("offset", "O", "A column or expression whose coefficient is 1."),
    "dispersion": click.option("--dispersion", type=click.Choice(["pearson"]), help="Errors for overdispersed counts."),
    "link": click.option("--link", type=click.Choice(["log", "inverse"]), help="[default: log]"),
    "rounds": click.option("--rounds", type=click.IntRange(1, 1000), metavar="N", help="The most rounds."),
    "clusters": click.option("--clusters", type=click.IntRange(1, 10_000), metavar="K", help="How many.  [required]"),
}
PARAMETERS = {  # options that commands describe differently -> their common parameter
    "by_groups": "by",
    "by_two": "by",
    "columns_needed": "columns",
    "errors_of_law": "errors",
}


@dataclass(frozen=True)
class Spec:
    """One command: its arguments, its options, and an example."""

    name: str
    words: tuple[str, ...]
    about: str
    options: tuple[str, ...]
    example: str


GLM = ("errors", "rounds")
SPECS = (
    Spec("ols", ("FORMULA",), "Least squares.", ("errors",), '"stay ~ age + ward" visits.parquet'),
    Spec("wls", ("FORMULA",), "Weighted least squares.", ("weights",), '"stay ~ age" visits.csv --weights n'),
    Spec(
        "ridge",
        ("FORMULA",),
        "Ridge regression for many penalties.",
        ("lambdas",),
        '"y ~ a + b" t.csv --lambdas 0.1,1,10',
    ),
    Spec(
        "iv",
        ("FORMULA",),
        "Two-stage least squares.",
        ("instruments",),
        '"pay ~ school" t.csv --instruments "distance"',
    ),
    Spec(
        "did",
        ("OUTCOME",),
        "Difference in differences.",
        ("treated", "post", "covariates", "errors"),
        "jobs stores.csv --treated state --post after",
    ),
    Spec(
        "fixed-effects",
        ("FORMULA",),
        "A level for every table, slopes in common.",
        (),
        '"stay ~ age" a.csv b.csv c.csv',
    ),
    Spec("logit", ("FORMULA",), "Logistic regression.", GLM, '"died ~ age + ward" visits.csv'),
    Spec("probit", ("FORMULA",), "Probit regression.", GLM, '"died ~ age + ward" visits.csv'),
    Spec("poisson", ("FORMULA",), "Poisson regression.", ("offset", "dispersion", *GLM), '"visits ~ age" people.csv'),
    Spec("gamma", ("FORMULA",), "Gamma regression.", ("link", *GLM), '"cost ~ age" claims.csv'),
    Spec(
        "negative-binomial",
        ("FORMULA",),
        "Counts that vary more than Poisson's.",
        ("offset", *GLM),
        '"visits ~ age" people.csv',
    ),
    Spec(
        "cox",
        ("FORMULA",),
        "Proportional hazards (Cox).",
        ("time", "event", "grid", "ties", "rounds"),
        '"age + ward" t.csv --time days --event died',
    ),
    Spec(
        "mle",
        ("FORMULA",),
        "An exponential, Weibull, beta or multinomial law, by name.",
        ("family", "errors_of_law", "rounds"),
        '"days ~ age" visits.csv --family weibull',
    ),
    Spec("describe", (), "Mean, deviation, skewness, kurtosis.", ("columns",), "visits.csv --columns age,stay"),
    Spec("covariance", (), "Covariances.", ("columns",), "visits.csv --columns age,stay"),
    Spec("correlation", (), "Correlations and their tests.", ("columns",), "visits.csv --columns age,stay"),
    Spec("pca", (), "Principal components.", ("columns", "scaled"), "visits.csv --columns age,stay,cost"),
    Spec(
        "ttest",
        ("COLUMN",),
        "Compare two means (Welch), or one with a number.",
        ("by_two", "groups", "mu", "pooled"),
        "stay visits.csv --by sex",
    ),
    Spec("anova", ("COLUMN",), "Compare the means of groups.", ("by", "groups"), "stay visits.csv --by ward"),
    Spec(
        "contingency",
        ("FIRST", "SECOND"),
        "A table of two columns: chi-squared, G, Cramer's V.",
        (),
        "ward died visits.csv",
    ),
    Spec(
        "mantel-haenszel",
        ("EXPOSURE", "OUTCOME"),
        "The odds ratio over strata.",
        ("strata",),
        "smoker ill t.csv --strata age_group",
    ),
    Spec(
        "ecdf", ("COLUMN",), "The distribution of a column, with a band.", ("grid",), "stay visits.csv --grid 1,2,5,10"
    ),
    Spec(
        "quantiles", ("COLUMN",), "Quantiles on a public grid.", ("shares", "grid"), "stay visits.csv --shares 0.5,0.9"
    ),
    Spec("histogram", ("COLUMN",), "Counts between public edges.", ("edges",), "stay visits.csv --edges 0,2,5,10"),
    Spec(
        "kaplan-meier",
        ("TIME",),
        "Survival curves.",
        ("event", "by_groups", "grid"),
        "days t.csv --event died --by arm",
    ),
    Spec("logrank", ("TIME",), "Compare survival curves.", ("event", "by", "grid"), "days t.csv --event died --by arm"),
    Spec("roc", ("SCORE",), "How well a score tells an outcome.", ("outcome", "grid"), "score t.csv --outcome ill"),
    Spec(
        "kmeans",
        (),
        "Clusters, by Lloyd's rounds.",
        ("columns_needed", "clusters", "scaled", "rounds"),
        "t.csv --columns x,y --clusters 3",
    ),
)


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


HELP = """{about}

    DATA is a table: a CSV, Parquet or Arrow file, a folder, or a pattern in quotes. Several are tables of several
    parties: added up in the clear, or, with --secure, by masked sums, as a rehearsal of a study.

    \b
    murmure {name} {example}
    """


def make_command(spec: Spec) -> click.Command:
    """The command of one line of the list."""

    def run(**given: Any) -> None:
        _run(spec, given)

    run.__doc__ = HELP.format(about=spec.about, name=spec.name, example=spec.example)
    for name in reversed(spec.options):
        run = OPTIONS[name](run)
    run = _common_options(run)
    run = click.argument("sources", metavar="DATA...", nargs=-1)(run)
    for word in reversed(spec.words):
        run = click.argument(word.lower(), metavar=word, required=False)(run)
    return click.command(spec.name, cls=MurmureCommand, short_help=spec.about)(run)


def _run(spec: Spec, given: dict[str, Any]) -> None:
    from murmure import econometrics

    example = Phrase("murmure {name} {example}", name=spec.name, example=spec.example)
    words = [given[word.lower()] for word in spec.words]
    sources: tuple[str, ...] = given["sources"]
    options = {name: given[name] for name in map(_parameter, spec.options)}
    needed = dict(zip(spec.words, words, strict=True)) | {"a table DATA": sources}
    needed |= {f"--{name}": options[name] for name in map(_parameter, filter(_is_required, spec.options))}
    require_options(Phrase("murmure {name}", name=spec.name), needed, example)
    _check_outputs(given)
    privacy = _privacy(given, sources)
    session = _open_session(given, sources)
    data: Any = list(sources) if len(sources) > 1 or given["secure"] else sources[0]
    arguments = {name: value for name, value in options.items() if value is not None}
    arguments |= {word.lower(): value for word, value in zip(spec.words, words, strict=True)}
    function = getattr(econometrics, spec.name.replace("-", "_"))
    result = function(
        data=data,
        **arguments,
        schema=given["schema_file"],
        privacy=privacy,
        ledger=session.account if session else None,
        rng=session.rng if session else None,
    )
    _print_answer(spec, result, session, given)


def _parameter(option: str) -> str:
    return PARAMETERS.get(option, option)


def _is_required(name: str) -> bool:
    """The help text says so: it is the one place where an option is marked as required."""

    def probe() -> None: ...

    return "[required]" in (OPTIONS[name](probe).__click_params__[0].help or "")


def _check_outputs(given: dict[str, Any]) -> None:
    from murmure.core.files import refuse_to_replace

    page = given["html_file"]
    if page is not None:
        if page.suffix.lower() not in (".html", ".htm"):
            raise UsageError("--html {page}: the name of a page must end in .html.", "--html result.html", page=page)
        refuse_to_replace(page, lambda start: b"murmure" in start, Phrase("a page that Murmure wrote"))
    picture = given["plot_file"]
    if picture is not None and picture.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UsageError(
            "--plot {picture}: the name of a picture must end in .png, .svg or .pdf.",
            "--plot result.png",
            picture=picture,
        )
    if given["as_json"] and given["as_latex"]:
        raise UsageError("--json and --latex exclude one another.", "leave out one of them")


def _privacy(given: dict[str, Any], sources: Sequence[str]) -> Any:
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
    noise = dict(epsilon=epsilon, delta=delta or 0.0, unit=given["unit"], rows_per_person=rows)
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
        raise UsageError("several tables have no common name: say whose budget pays.", "--dataset visits, for example")
    return open_ledger_session(sources[0], delta=given["delta"], **{name: given[name] for name in names})


def _print_answer(spec: Spec, result: Any, session: LedgerSession | None, given: dict[str, Any]) -> None:
    page, picture = given["html_file"], given["plot_file"]
    if page is not None:
        with all_or_nothing(page) as part:
            part.write_text(result_page(result, spec.name), encoding="utf-8")
    if picture is not None:
        _draw(result, picture)
    if given["as_json"]:
        fields = result.to_dict()
        if session is not None:
            fields |= {"ledger": session.to_dict(), "warnings": session.warnings}
        print_json(fields)
        return
    if given["secure"]:
        from murmure.core.notices import REHEARSAL_NOTICE

        click.echo(f"{REHEARSAL_NOTICE}\n", err=given["as_latex"])
    click.echo(result.to_latex() if given["as_latex"] else result.summary())
    if session is not None and not given["as_latex"]:
        click.echo(session.summary())
    for place in (page, picture):
        if place is not None:
            click.echo(f"Written: {place}", err=True)


def _draw(result: Any, place: Path) -> None:
    if not hasattr(result, "plot"):
        raise UsageError("{result} has no picture.", "leave out --plot", result=persisted_name(result))
    from murmure.core.show import pyplot

    axes = result.plot()
    figure = axes.figure if hasattr(axes, "figure") else axes[0].figure
    with all_or_nothing(place) as part:
        figure.savefig(part, format=place.suffix[1:].lower(), dpi=150, bbox_inches="tight")
    pyplot().close(figure)


def result_page(result: Any, name: str) -> str:
    """One file that needs no other: the tables, and how they were obtained."""
    import html

    title = html.escape(f"{name}: {getattr(result, 'formula', '') or result.title}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="murmure">\n<title>{title}</title>\n'
        "<style>body{margin:2rem auto;max-width:50rem;padding:0 1rem;font-family:system-ui,sans-serif}</style>\n"
        f"</head>\n<body>\n{result.to_html()}\n</body>\n</html>\n"
    )


COMMANDS = tuple(make_command(spec) for spec in SPECS)
