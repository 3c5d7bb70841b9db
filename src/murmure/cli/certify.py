"""`murmure certify`: what anyone who sees reports can learn about one person, computed from the law that runs."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from murmure.catalogue import MECHANISMS, RECORDS, load
from murmure.cli.commands import MurmureCommand, UsageError, did_you_mean
from murmure.cli.language import help_text
from murmure.cli.option_words import option
from murmure.cli.options import DOMAIN_OPTIONS, build_domain, domain_options, json_option, require_options
from murmure.cli.plug_in_options import mechanism_options
from murmure.cli.record_certificates import both_certificates
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import MurmureError, Phrase, shorten
from murmure.show.document import Block, Document, Items, Paragraph, Section, Table
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.plan.plan import Plan

HINT_VALUES = {"epsilon": "1", "epsilon_once": "0.5"}  # what a hint proposes; probabilities get 0.5
TWO_COINS = "two-coins"  # Warner with two fair coins: heads, the truth; tails, the second coin answers
RECORD_EXAMPLE = Phrase("murmure certify rsfd-grr --schema schema.toml --epsilon 1")
KINDS = {"answers": Phrase("answers"), "numbers": Phrase("numbers"), "yes-no": Phrase("yes-no")}


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in MECHANISMS if name.lower().startswith(incomplete.lower())]


@click.command(cls=MurmureCommand, short_help="What a mechanism really protects: its exact epsilon.")
@click.argument("mechanism", required=False, shell_complete=_complete)
@click.option("--list", "as_list", is_flag=True, help="List the mechanisms, a line each.")
@click.option("--plan", type=click.Path(path_type=Path), metavar="FILE", help="Certify a plan (JSON) instead.")
@domain_options
@click.option("--epsilon", type=float, metavar="E", help="The budget to ask for.")
@mechanism_options()
@click.option("--schema", type=click.Path(path_type=Path), metavar="FILE", help="A whole record: its columns (TOML).")
@click.option(
    "--calibrate", type=click.Choice(["record", "attribute", "paper"]), help="rsfd, rsrfd: what epsilon is for."
)
@click.option(
    "--relation",
    type=click.Choice(["record", "attribute"]),
    default="record",
    show_default=True,
    help="What of a person may differ: the whole record, or one attribute.",
)
@click.option("--reports", type=int, metavar="N", help="How many reports one person sends.  [default: 1]")
@click.option("--for-ever", is_flag=True, help="RAPPOR: all reports of a client that keeps its first draw.")
@json_option
def certify(
    mechanism: str | None,
    as_list: bool,
    plan: Path | None,
    categories: int | None,
    labels: str | None,
    integers: tuple[int, int] | None,
    interval: tuple[float, float] | None,
    cells: int | None,
    relation: Any,
    reports: int | None,
    for_ever: bool,
    as_json: bool,
    schema: Path | None,
    **settings: Any,
) -> None:
    """Certify a MECHANISM: its exact epsilon, and the two answers and the report that attain it.

    \b
    murmure certify GRR --categories 4 --epsilon 1
    murmure certify rsfd-grr --schema schema.toml --epsilon 1
    murmure certify Warner --truth 1/2 --yes-coin 1/2
    murmure certify --plan plan.json
    murmure certify --list
    """
    domain = (categories, labels, integers, interval, cells)
    given = {name: value for name, value in settings.items() if value is not None}
    modes = [mechanism is not None, as_list, plan is not None]
    if sum(modes) != 1:
        what = (
            Phrase("nothing to certify")
            if not any(modes)
            else Phrase("a MECHANISM, --plan and --list exclude one another")
        )
        raise UsageError(
            "{what}.", "murmure certify GRR --categories 4 --epsilon 1, or murmure certify --list", what=what
        )
    if mechanism is None and (given or for_ever or any(value is not None for value in domain)):
        raise UsageError("--plan and --list take no mechanism's options.", "a plan already says everything")
    if schema is not None:
        if mechanism is None or for_ever or any(value is not None for value in domain):
            raise UsageError("--schema is for a solution over its columns.", RECORD_EXAMPLE)
        certify_record(mechanism, schema, given, reports, as_json)
    elif as_list:
        show_list(as_json)
    elif plan is not None:
        certify_plan(plan, relation, reports, as_json)
    else:
        from murmure.local.rappor import RAPPOR

        assert mechanism is not None
        name = exact_name(mechanism, given)
        built = build_mechanism(name, domain, given)
        if for_ever and not isinstance(built, RAPPOR):
            raise UsageError(
                "{name} stores nothing: each of its reports is fresh.", "add --reports N to add up N of them", name=name
            )
        certify_one(built, relation, reports, for_ever, as_json)


def build_solution(name: str, path: Path, given: dict[str, Any], without_priors: str) -> tuple[str, Any]:
    """The solution over a schema that was typed, and its full name. without_priors: where one with priors is found."""
    from murmure.advise.solutions import SOLUTIONS
    from murmure.core.schema import Schema

    known = {**{solution: solution for solution in SOLUTIONS}, "rsfd": "rsfd-grr"}
    if name.lower() not in known:
        raise UsageError(
            "there is no solution {name}.", did_you_mean(name, known) or RECORD_EXAMPLE, name=shorten(name)
        )
    solution = SOLUTIONS[known[name.lower()]]
    require_options(name, {"--epsilon": given.get("epsilon")}, RECORD_EXAMPLE)
    for extra in given.keys() - {"epsilon", *solution.takes}:
        raise UsageError("{name} takes no {extra}.", RECORD_EXAMPLE, name=name, extra=option(extra))
    if "priors" in solution.takes:
        raise UsageError("{name} needs priors.", without_priors, name=name)
    return known[name.lower()], solution(Schema.load(path), given.pop("epsilon"), **given)


def certify_record(name: str, path: Path, given: dict[str, Any], reports: int | None, as_json: bool) -> None:
    """Both certificates of a solution over a schema: of the whole record, and of one attribute."""
    from murmure.certify.certificate import certify as certificate_of
    from murmure.plan.plan import Plan
    from murmure.run.report.certificate_words import certificate_json, mechanism_title
    from murmure.statistics.marginals import Marginals

    hint = Phrase("murmure sanitise --priors FILE prints its certificates")
    full_name, solution = build_solution(name, path, given, hint)
    plan = Plan(Marginals(solution.domain), person=solution)
    record, attribute = (certificate_of(plan.person, unit, reports) for unit in ("record", "attribute"))  # type: ignore[arg-type]
    if as_json:
        print_json(
            {
                "solution": full_name,
                "record": certificate_json(record),
                "attribute": certificate_json(attribute),
            }
        )
        return
    blocks = both_certificates(plan, {"reader": record, "either, about one attribute": attribute})
    print_document(Document(mechanism_title(plan.person), blocks))


def exact_name(name: str, given: Mapping[str, Any] | None = None) -> str:
    """A mechanism's name, in any case. given: its settings, of which the lecture's two coins have none."""
    if name.lower() == TWO_COINS:
        for setting in given or {}:
            raise UsageError(
                "{two_coins} takes no {setting}: both coins are fair.",
                "Warner takes other coins: --truth 2/3",
                two_coins=TWO_COINS,
                setting=option(setting),
            )
        return "Warner"
    by_lower = {known.lower(): known for known in MECHANISMS}
    if name.lower() in {record.lower() for record in RECORDS}:
        raise UsageError("{name} is a mechanism of records: it needs --schema.", RECORD_EXAMPLE, name=name)
    if name.lower() not in by_lower:
        raise UsageError(
            "there is no mechanism {name}.",
            did_you_mean(name, (*MECHANISMS, TWO_COINS)) or Phrase("murmure certify --list shows all of them"),
            name=shorten(name),
        )
    return by_lower[name.lower()]


def mechanism_settings(cls: Any, given: Collection[str] = ()) -> dict[str, bool]:
    """The options of a mechanism, and whether each must be given; where one of several must, the first of them."""
    from murmure.core.types import Mechanism

    one_of = cls.one_of if issubclass(cls, Mechanism) else ()
    wanted = one_of[:1] if not set(one_of) & set(given) else ()
    return {f.name: f.default is MISSING or f.name in wanted for f in fields(cls) if f.name != "domain"}


def answer_kind(cls: Any) -> str:
    """What a mechanism is for: answers, numbers, or yes-no."""
    from murmure.local.warner import YesNo

    if issubclass(cls, YesNo):
        return "yes-no"
    domain = next(f.type for f in fields(cls) if f.name == "domain")
    return "numbers" if "Integers" in str(domain) and "Domain" not in str(domain) else "answers"


def one_sentence(cls: Any) -> str:
    """One sentence: the class's first, unless it is for those who write Python; then its module's."""
    first = (cls.__doc__ or "").strip().splitlines()[0]
    return first if "`" not in first else (sys.modules[cls.__module__].__doc__ or first).strip().splitlines()[0]


def build_mechanism(
    name: str,
    domain: tuple[Any, Any, Any, Any, Any],
    given: dict[str, Any],
    command: str = "murmure certify ",
    answers: Any = None,
) -> Any:
    """The mechanism that was typed. answers: its domain, where something else than a domain's option names it."""
    cls = load(name)
    settings, wants = mechanism_settings(cls, given), answer_kind(cls)
    for extra in given.keys() - settings.keys():
        raise UsageError(
            "{name} takes no {extra}.",
            "{name} takes {settings}",
            name=name,
            extra=option(extra),
            settings=", ".join(map(option, settings)),
        )
    required = [setting for setting, needed in settings.items() if needed]
    domain_example = {"yes-no": "", "numbers": " --integers 0:10", "answers": " --categories 4"}[wants]
    values = "".join(f" {option(s)} {HINT_VALUES.get(s, '0.5')}" for s in required)
    example = f"{command}{name}{domain_example}{values}"
    has_domain = wants == "yes-no" or answers is not None or any(value is not None for value in domain[:4])
    one_of = () if has_domain else DOMAIN_OPTIONS[2:] if wants == "numbers" else DOMAIN_OPTIONS
    require_options(name, {option(setting): given.get(setting) for setting in required}, example, one_of)
    if answers is not None:
        return cls(answers, **given)
    # A mechanism for two answers leaves no choice, so calling them no and yes guesses nothing.
    return cls(build_domain(*domain, "no,yes" if wants == "yes-no" else None), **given)


def certify_one(mechanism: Any, relation: Any, reports: int | None, for_ever: bool, as_json: bool) -> None:
    from murmure.certify.certificate import certify as certificate_of
    from murmure.core.certificate_blocks import certificate_blocks
    from murmure.run.report.certificate_words import certificate_json, mechanism_json, mechanism_title, promise

    certificate = certificate_of(mechanism.for_ever if for_ever else mechanism, relation, reports)
    if as_json:
        print_json(
            {
                "mechanism": mechanism_json(mechanism),
                "reports": reports,
                **certificate_json(certificate),
            }
        )
        return
    blocks = (*certificate_blocks(certificate, reports=reports, asked=True), Paragraph(promise(certificate)))
    print_document(Document(mechanism_title(mechanism), blocks))


def read_plan(path: Path) -> Plan:
    """The plan in a file."""
    from murmure.plan.plan import Plan

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else Phrase("it is not text")
        raise UsageError(
            "cannot read {path!r}: {why}.", "write a plan with plan.to_json()", path=str(path), why=why
        ) from None
    try:
        return Plan.from_json(text)
    except MurmureError:
        raise
    except (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, RecursionError):
        raise UsageError(
            "{path!r} is JSON, but not a plan.", "write a plan with plan.to_json()", path=str(path)
        ) from None


def certify_plan(path: Path, relation: Any, reports: int | None, as_json: bool) -> None:
    from murmure.certify.certificate import certify as certificate_of
    from murmure.core.certificate_blocks import certificate_blocks
    from murmure.run.report.certificate_words import certificate_json, mechanism_title, promise

    plan = read_plan(path)
    guarantees = dict(plan.guarantees())
    if plan.person is not None and (relation != "record" or reports is not None):
        guarantees = dict.fromkeys(guarantees, certificate_of(plan.person, relation, reports))
    if as_json:
        certificates = {observer: certificate_json(c) for observer, c in guarantees.items()}
        print_json({"plan": plan.digest, "about": plan.describe(), "reports": reports, "guarantees": certificates})
        return
    blocks: list[Block] = [] if plan.person is None else [Paragraph(mechanism_title(plan.person))]
    # Observers with equal certificates are shown together.
    distinct: list[Any] = []
    for certificate in guarantees.values():
        if certificate not in distinct:
            distinct.append(certificate)
    for certificate in distinct:
        names = [observer for observer, other in guarantees.items() if other == certificate]
        title = Phrase("What they can learn: {observers}", observers=Several(names))
        parts = certificate_blocks(certificate, reports=reports, asked=True)
        blocks.append(Section(title, (*parts, Paragraph(promise(certificate)))))
    print_document(
        Document(Phrase("Plan {plan}: {about}", plan=plan.digest[:12], about=plan.describe()), tuple(blocks))
    )


def show_list(as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for name in MECHANISMS:
        cls = load(name)
        options = [option(s) if needed else f"[{option(s)}]" for s, needed in mechanism_settings(cls).items()]
        rows.append({"mechanism": name, "for": answer_kind(cls), "options": options, "about": one_sentence(cls)})
    if as_json:
        print_json(rows)
        return
    shown = [(row["mechanism"], KINDS[row["for"]], " ".join(row["options"]), help_text(row["about"])) for row in rows]
    head = (Phrase("mechanism"), Phrase("for"), Phrase("options"), Phrase("what it does"))
    legend = Items(
        (
            Phrase("answers: --categories K or --labels A,B,... (or whole numbers: --integers LOW:HIGH)"),
            Phrase("numbers: --integers LOW:HIGH or --interval LOW:HIGH"),
            Phrase("yes-no: nothing, or --labels NO,YES"),
            Phrase("[...] may be left out"),
        )
    )
    print_document(Document(Phrase("Mechanisms"), (Table("", head, tuple(shown), words=True), legend)))
