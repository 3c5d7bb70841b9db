"""`murmure attack average`: ask again and again until the noise averages out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.catalogue import MECHANISMS, NOISES, load
from murmure.cli.attack_options import shows_result
from murmure.cli.certify import build_mechanism, exact_name, mechanism_settings, read_plan
from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import NumberList, WholeNumber, domain_options
from murmure.cli.plug_in_options import mechanism_options
from murmure.core.errors import Phrase

if TYPE_CHECKING:
    from murmure.attacks.base.attack_result import AttackResult
    from murmure.core.random import Random

EXAMPLE = Phrase("murmure attack average GRR --categories 4 --epsilon 1")
NOISE_EXAMPLE = Phrase("murmure attack average DiscreteLaplace --epsilon 0.1 --budget 1")


@click.command(cls=MurmureCommand, short_help="Repeated reports or answers, until the noise averages out.")
@click.argument("mechanism", required=False)
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Attack a plan (JSON) instead.")
@domain_options
@click.option("--epsilon", type=float, metavar="E", help="The budget of one report, or of one answer.")
@mechanism_options()
@click.option(
    "--times",
    type=NumberList(),
    default="1,2,5,10,20,50,100",
    show_default=True,
    metavar="T,T",
    help="How many reports or answers.",
)
@click.option(
    "--people",
    type=WholeNumber(),
    default=1000,
    show_default=True,
    metavar="N",
    help="Noise: how many people are counted.",
)
@click.option("--budget", type=float, metavar="E", help="Noise: what the ledger allows in all.")
@click.option("--delta", type=float, default=0.0, metavar="D", help="Noise: of the budget, and of Gaussian noise.")
@click.option(
    "--trials", type=int, default=4000, show_default=True, metavar="N", help="People to measure a large law on."
)
@shows_result
def command(
    mechanism: str | None,
    plan: Path | None,
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    times: list[float],
    people: int,
    budget: float | None,
    delta: float,
    trials: int,
    rng: Random,
    **settings: Any,
) -> AttackResult:
    """Average over repeated reports of a MECHANISM, or over repeated answers with a MECHANISM's noise (a count).

    Against the first, a client memoises its report; against the second, a ledger refuses once the budget is spent.

    \b
    murmure attack average GRR --categories 4 --epsilon 1
    murmure attack average RAPPOR --categories 4 --epsilon 2 --epsilon-once 1
    murmure attack average DiscreteLaplace --epsilon 0.1 --budget 1 --people 500
    """
    if (mechanism is None) == (plan is None):
        what = Phrase("nothing to attack") if plan is None else Phrase("a MECHANISM and --plan exclude one another")
        raise UsageError("{what}.", EXAMPLE, what=what)
    domain = (categories, labels, integers, interval, cells)
    given = {name: value for name, value in settings.items() if value is not None}
    attacked: Any
    if plan is not None:
        if given or any(value is not None for value in domain):
            raise UsageError("--plan takes no mechanism's options.", "a plan already says everything")
        attacked = read_plan(plan)
    else:
        assert mechanism is not None
        attacked = _noise_plan(mechanism, domain, given, delta) or build_mechanism(
            exact_name(mechanism, given), domain, given, "murmure attack average "
        )
    from murmure.attacks.person.averages import averaging

    return averaging(
        attacked,
        [int(t) if t == int(t) else t for t in times],  # type: ignore[misc]
        people=people,
        budget=budget,
        delta=delta,
        trials=trials,
        rng=rng,
    )


def _noise_plan(name: str, domain: tuple[Any, ...], given: dict[str, Any], delta: float) -> Any:
    """A count with this noise; None if the name is not one of a noise."""
    names = {known.lower(): known for known in NOISES if known not in MECHANISMS}
    if name.lower() not in names:
        return None
    if any(value is not None for value in domain):
        raise UsageError("{name} is noise on a count: it takes no answers.", NOISE_EXAMPLE, name=names[name.lower()])
    from murmure.core.domain import Categories
    from murmure.plan.plan import Plan
    from murmure.statistics.count import Count

    if "epsilon" not in given:
        raise UsageError("{name} needs --epsilon.", NOISE_EXAMPLE, name=names[name.lower()])
    noise = load(names[name.lower()])
    settings = mechanism_settings(noise)
    if any(needed for setting, needed in settings.items() if setting != "epsilon"):
        raise UsageError("{name} has further settings.", "attack a plan: --plan plan.json", name=names[name.lower()])
    budget = {"delta": delta} if delta and "delta" in settings else {}
    return Plan(Count(Categories(2)), curator=noise(epsilon=given["epsilon"], **budget))
