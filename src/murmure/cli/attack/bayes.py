"""`murmure attack bayes`: the best guess of an answer from its report, for any mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.catalogue import MECHANISMS, RECORDS
from murmure.cli.attack_options import epsilon_option, shows_result
from murmure.cli.certify import TWO_COINS, build_mechanism, exact_name, read_plan
from murmure.cli.commands import MurmureCommand, UsageError, did_you_mean
from murmure.cli.option_words import option
from murmure.cli.options import NumberList, WholeNumber, domain_options, require_options
from murmure.cli.plug_in_options import mechanism_options
from murmure.core.errors import Phrase, shorten

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack bayes GRR OUE --categories 4 --epsilon 0.5,1,2")
RECORD_EXAMPLE = Phrase("murmure attack bayes smp rsfd-grr --schema schema.toml --epsilon 1")


@click.command("bayes", cls=MurmureCommand, short_help="The best guess of an answer from its report.")
@click.argument("mechanisms", metavar="[MECHANISM]...", nargs=-1)
@domain_options
@epsilon_option
@mechanism_options()
@click.option("--schema", type=click.Path(path_type=Path), metavar="FILE", help="Whole records: their columns (TOML).")
@click.option(
    "--calibrate", type=click.Choice(["record", "attribute", "paper"]), help="rsfd, rsrfd: what epsilon is for."
)
@click.option("--attribute", metavar="COLUMN", help="With --schema: guess this column.  [default: the whole record]")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Attack the mechanism of a plan (JSON).")
@click.option(
    "--prior", type=NumberList(), metavar="F1,F2,...", help="Shares of the answers that the attacker expects."
)
@click.option(
    "--priors",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --schema: such shares of every column, JSON or TOML; fakes of rsrfd follow them.",
)
@click.option("--people", type=WholeNumber(), default=2000, show_default=True, metavar="N", help="Drawn each time.")
@click.option("--repetitions", type=int, metavar="R", help="Measure it too, R times.  [default: 20 if it must be]")
@shows_result
def command(
    mechanisms: tuple[str, ...],
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    epsilon: list[float] | None,
    schema: Path | None,
    attribute: str | None,
    plan: Path | None,
    prior: list[float] | None,
    priors: Path | None,
    people: int,
    repetitions: int | None,
    rng: Random,
    **settings: Any,
) -> AttackResult:
    """How often is the best guess from one report right? No attacker with this knowledge can do better.

    \b
    murmure attack bayes GRR OUE --categories 4 --epsilon 0.5,1,2
    murmure attack bayes GRR --labels no,yes --epsilon 1 --prior 0.9,0.1
    murmure attack bayes smp rsfd-grr --schema schema.toml --epsilon 1 --attribute region
    murmure attack bayes --plan plan.json
    """
    domain = (categories, labels, integers, interval, cells)
    given = {name: value for name, value in settings.items() if value is not None}
    if bool(mechanisms) == (plan is not None):
        what = Phrase("nothing to attack") if plan is None else Phrase("a MECHANISM and --plan exclude one another")
        raise UsageError("{what}.", EXAMPLE, what=what)
    if attribute is not None and schema is None and plan is None:
        raise UsageError("--attribute is a column of --schema, which is not given.", RECORD_EXAMPLE)
    if priors is not None and schema is None:
        raise UsageError("--priors is for the columns of --schema, which is not given.", RECORD_EXAMPLE)
    expected: Any = prior
    if plan is not None:
        if given or epsilon or schema is not None or any(value is not None for value in domain):
            raise UsageError("--plan takes no mechanism's options.", "a plan already says everything")
        attacked = [_person_of(plan)]
    elif schema is not None:
        if prior is not None:
            raise UsageError("--prior is for one question, --priors for the columns of --schema.", RECORD_EXAMPLE)
        attacked, expected = _records(mechanisms, schema, epsilon, given, priors)
    else:
        attacked = [made for name in mechanisms for made in _made(name, domain, epsilon, given)]
    from murmure.attacks.person.bayes import bayes_guess

    return bayes_guess(attacked, expected, attribute=attribute, people=people, repetitions=repetitions, rng=rng)


def _made(name: str, domain: tuple[Any, ...], epsilon: list[float] | None, given: dict[str, Any]) -> list[Any]:
    """One mechanism at every epsilon."""
    exact = exact_name(name, given)
    budgets = [{"epsilon": value} for value in epsilon] if epsilon else [{}]
    if name.lower() == TWO_COINS:
        budgets = [{}]
    return [build_mechanism(exact, domain, given | budget, "murmure attack bayes ") for budget in budgets]  # type: ignore[arg-type]


def _records(
    names: tuple[str, ...], path: Path, epsilon: list[float] | None, given: dict[str, Any], priors: Path | None
) -> tuple[list[Any], Any]:
    """Solutions over the columns of a schema at every epsilon, and what the attacker expects of every column."""
    from murmure.advise.solutions import SOLUTIONS
    from murmure.cli.sanitise import read_priors
    from murmure.core.schema import Schema

    known = {**{solution: solution for solution in SOLUTIONS}, "rsfd": "rsfd-grr", "rsrfd": "rsrfd-grr"}
    require_options(Phrase("murmure attack bayes"), {"--epsilon": epsilon}, RECORD_EXAMPLE)
    schema = Schema.load(path)
    read = {} if priors is None else read_priors(priors, schema)
    out = []
    for name in names:
        if name.lower() not in known:
            plain = {m.lower() for m in (*MECHANISMS, *RECORDS)}
            hint = RECORD_EXAMPLE if name.lower() in plain else did_you_mean(name, known) or RECORD_EXAMPLE
            raise UsageError("there is no solution {name}.", hint, name=shorten(name))
        solution = SOLUTIONS[known[name.lower()]]
        for extra in given.keys() - set(solution.takes):
            raise UsageError("{name} takes no {extra}.", RECORD_EXAMPLE, name=name, extra=option(extra))
        needs = "priors" in solution.takes
        if needs and priors is None:
            raise UsageError(
                "{name} needs --priors.", "public shares of every column, or an earlier release", name=name
            )
        out += [solution(schema, value, **given, **(read if needs else {})) for value in epsilon or ()]
    return out, read.get("priors")


def _person_of(path: Path) -> Any:
    plan = read_plan(path)
    if plan.person is None:
        raise UsageError(
            "{path!r} is a plan without reports of people: there is nothing to guess from.", EXAMPLE, path=str(path)
        )
    return plan.person
