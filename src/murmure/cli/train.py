"""`murmure train`: naive Bayes, regressions and k-means with noise, charged in a ledger, written as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, UsageError, did_you_mean
from murmure.cli.language import echo
from murmure.cli.ledger_session import (
    LedgerSession,
    check_columns,
    check_delta,
    ledger_options,
    single_source,
)
from murmure.cli.options import (
    OneOf,
    json_option,
    relation_option,
    require_options,
    rows_of_one_person,
    split_columns,
    unit_options,
)
from murmure.cli.outputs import refuse_existing
from murmure.cli.terminal import print_document, print_json
from murmure.core.errors import Phrase, shorten
from murmure.core.files import all_or_nothing
from murmure.show.document import Block, Document, Facts, Paragraph
from murmure.show.phrase import Several

if TYPE_CHECKING:
    from murmure.core.schema import Schema
    from murmure.learn.base import Learner

MODELS = {
    "naive-bayes": "NaiveBayes",
    "linear": "LinearRegression",
    "logistic": "LogisticRegression",
    "kmeans": "KMeans",
}
EXAMPLE = Phrase("murmure train naive-bayes people.csv --schema schema.toml --target sick --epsilon 1 -o model.json")
EXAMPLES = {
    "linear": "murmure train linear people.csv --schema schema.toml --target income --epsilon 1 -o line.json",
    "logistic": "murmure train logistic people.csv --schema schema.toml --target sick --epsilon 1 -o odds.json",
    "kmeans": "murmure train kmeans people.csv --schema schema.toml --features age,income --clusters 4 --epsilon 1 "
    "-o centres.json",
}
SCORE_WARNING = Phrase(
    "WARNING: the score is an exact figure about the rows of --test; nothing protects them if it is published. Rows "
    "that are in both files are not detected: keep them apart yourself."
)
SCORES = {"classifier": Phrase("accuracy"), "regressor": Phrase("R2")}
MODEL_MARK = b'"murmure-model"'
CLEAR_WARNING = Phrase("WARNING: --clear protects nobody: the model is an exact function of the rows.")
LOCAL_WARNING = Phrase(
    "WARNING: --local randomises every row here, by itself, for a comparison: nothing is charged. To collect rows "
    "that are randomised where people are, use murmure sanitise."
)


@click.command(cls=MurmureCommand, short_help="Learn a model from a table with noise, charged in a ledger.")
@click.argument(
    "model",
    type=OneOf(
        Phrase("there is no model"),
        Phrase("the models are"),
        tuple(MODELS),
        {long.lower(): short for short, long in MODELS.items()},
    ),
    required=False,
)
@click.argument("sources", metavar="DATA", nargs=-1)
@click.option("--schema", "schema_file", type=click.Path(path_type=Path), metavar="FILE", help="TOML.  [required]")
@click.option("--target", metavar="Y", help="The column to predict.  [required, but for kmeans]")
@click.option("--features", metavar="A,B,...", help="The columns to predict from.  [default: all others of the schema]")
@click.option("--epsilon", type=float, metavar="E", help="What the model may cost.  [required, or --clear]")
@click.option("--delta", type=float, metavar="D", help="Gaussian noise.  [default: 0, discrete Laplace]")
@relation_option
@unit_options
@click.option("--clusters", type=int, metavar="K", help="kmeans: how many.  [required]")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Other settings, such as split=equal.")
@click.option("--local", is_flag=True, help="Randomise every row instead, and learn from that.")
@click.option("--mechanism", metavar="NAME", help="With --local: how rows are randomised.")
@click.option("--no-debias", is_flag=True, help="With --local: learn from the randomised rows as they are.")
@click.option("--clear", is_flag=True, help="Without privacy, for comparison.")
@click.option("--test", metavar="FILE", help="Also measure how well it predicts these rows.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="A .json file.  [required]")
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@ledger_options
@json_option
def train(
    model: str | None,
    sources: tuple[str, ...],
    schema_file: Path | None,
    target: str | None,
    features: str | None,
    epsilon: float | None,
    delta: float | None,
    relation: Any,
    unit: str,
    rows_per_person: int | None,
    clusters: int | None,
    settings: tuple[str, ...],
    local: bool,
    mechanism: str | None,
    no_debias: bool,
    clear: bool,
    test: str | None,
    output: Path | None,
    force: bool,
    as_json: bool,
    **ledger_settings: Any,
) -> None:
    """Learn from DATA (a CSV, Parquet or Arrow file, a folder, or a pattern in quotes) and write the model to OUT.

    MODEL is naive-bayes, linear, logistic or kmeans; OUT is JSON, and reading it runs nothing. Bounds and classes come
    from the schema; cells that it does not allow are not errors. The charge is written before the model; training
    again on the same file gives the same model from the ledger, at no cost.

    \b
    murmure train naive-bayes people.csv --schema schema.toml --target sick --epsilon 1 --budget 3 -o model.json
    murmure train kmeans people.csv --schema schema.toml --features age,income --clusters 4 --epsilon 1 -o centres.json
    """
    needed = {
        Phrase("a model ({models})", models=", ".join(MODELS)): model,
        Phrase("a table DATA"): sources,
        "--schema": schema_file,
        "--target": target if model not in (None, "kmeans") else "none",
        "--clusters": clusters if model == "kmeans" else "none",
        "--epsilon": "none" if clear else epsilon,
        "-o OUT": output,
    }
    require_options(Phrase("murmure train"), needed, EXAMPLES.get(model or "", EXAMPLE))
    assert model is not None and schema_file is not None and output is not None
    if model == "kmeans" and target is not None:
        raise UsageError("kmeans predicts no column, and takes no --target.", "leave it out")
    if model != "kmeans" and clusters is not None:
        raise UsageError("--clusters is for kmeans.", "leave it out")
    source = single_source(sources)
    session = _open_session(source, local, clear, ledger_settings)
    if not local:
        relation = session.relation(relation)
    privacy = _privacy(local, clear, epsilon, delta, relation, unit, rows_per_person, mechanism, no_debias)
    from murmure import learn
    from murmure.core.schema import Schema
    from murmure.learn.base import Learner

    schema = used_columns(Schema.load(schema_file), features, target)
    schema.refuse_drafted()
    learner = getattr(learn, MODELS[model])(schema=schema, privacy=privacy)
    if local and type(learner)._learn_locally is Learner._learn_locally:
        raise UsageError("{model} does not learn from randomised rows.", "leave --local out", model=model)
    given = {"target": target} if target is not None else {}
    learner.set_params(**given, **({"n_clusters": clusters} if clusters is not None else {}))
    learner.set_params(**_parse_settings(learner, settings))
    _check_output(output, force)
    columns = [*schema.private, *([] if unit == "row" else [unit])]
    from murmure.engines.sources.data_file import described

    check_columns(described(source, schema), columns, schema.kinds)
    if test is not None:
        check_columns(described(test, schema), schema.private, schema.kinds)
        _refuse_training_rows(test, source, clear)
    learner.check(source)  # what is public fits together; no row is read
    session.ensure_budget(delta, relation, unit)
    learner.set_params(ledger=session.account, rng=session.rng)
    # The output is opened before the model is fitted: a place that cannot be written must not cost anything.
    with all_or_nothing(output) as part:
        learner.fit(source)
        session.charge = learner.charge_
        document = _model_document(learner, session)
        part.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    score = None if test is None else score_rows(learner, test)
    if as_json:
        more = {"protects": protects_text(learner), "score": score and vars(score), "warnings": session.warnings}
        print_json({"output": str(output), **document, **more})
    else:
        title = Phrase("{kind} of {source} -> {output}", kind=type(learner).__name__, source=source, output=str(output))
        print_document(model_document(title, learner, bool(document["seeded"]), session, test, score))


def _privacy(
    local: bool,
    clear: bool,
    epsilon: float | None,
    delta: float | None,
    relation: Any,
    unit: str,
    rows_per_person: int | None,
    mechanism: str | None,
    no_debias: bool,
) -> Any:
    from murmure.plan.privacy import Central, Local
    from murmure.plan.privacy import Clear as InTheClear

    if local and clear:
        raise UsageError("--local and --clear exclude one another.", "leave one of them out")
    if (mechanism is not None or no_debias) and not local:
        name = "--mechanism" if mechanism is not None else "--no-debias"
        raise UsageError("{name} is for --local.", "add --local, or leave it out", name=name)
    if clear:
        if epsilon is not None or delta is not None:
            raise UsageError("--clear has no epsilon: nothing is protected.", "leave out --epsilon, or --clear")
        return InTheClear()
    assert epsilon is not None
    check_delta(delta or None)  # 0 means no delta
    if local:
        if delta is not None or unit != "row" or relation == "replace":
            raise UsageError(
                "--local takes --epsilon alone: it protects the whole row of one person.", "leave the rest out"
            )
        return Local(epsilon, mechanism, not no_debias)
    rows = rows_of_one_person(unit, rows_per_person, Phrase("the noise grows"))
    return Central(epsilon, delta or 0.0, relation, unit, rows)


def _open_session(source: Any, local: bool, clear: bool, ledger_settings: dict[str, Any]) -> LedgerSession:
    """Without noise at the curator a ledger has nothing to charge; a warning says so."""
    if not (local or clear):
        return LedgerSession.open(source, **ledger_settings)
    for name in ("ledger", "dataset", "who", "budget", "fresh"):
        if ledger_settings[name]:
            raise UsageError(
                "--{name} is for noise at the curator; here nothing is charged.", "leave it out", name=name
            )
    return LedgerSession.without_ledger([CLEAR_WARNING if clear else LOCAL_WARNING], ledger_settings["seed"])


def used_columns(schema: Schema, features: str | None, target: str | None) -> Schema:
    """The columns that are used."""
    from murmure.cli.query import check_column

    wanted = list(schema.private) if features is None else split_columns(features)
    for name in (*wanted, *([target] if target else ())):
        check_column(schema, name)
    if target is not None and features is not None:
        if target in wanted:
            raise UsageError("--features names the target {target!r} too.", "leave it out of --features", target=target)
        wanted.append(target)
    return schema.with_columns({name: schema.column_specs[name] for name in wanted})


def _parse_settings(learner: Learner, settings: Sequence[str]) -> dict[str, Any]:
    """split=vaidya, alpha=0.5, iterations=3: parameters of the learner."""
    free = [
        name
        for name in learner.get_params(deep=False)
        if name not in ("schema", "target", "privacy", "engine", "ledger", "rng", "n_clusters")
    ]
    out: dict[str, Any] = {}
    for text in settings:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise UsageError(
                "--set {text} is not NAME=VALUE.", "the names are {free}", text=shorten(text), free=", ".join(free)
            )
        name = name.replace("-", "_")
        if name not in free:
            hint = did_you_mean(name, free) or Phrase("there are {free}", free=", ".join(free))
            raise UsageError("{kind} has no setting {name}.", hint, kind=type(learner).__name__, name=shorten(name))
        # Values are JSON (3, 0.5, [1, 2]); Python's spelling of true, false and none is accepted, other text is text.
        try:
            out[name] = json.loads(value)
        except ValueError:
            out[name] = {"True": True, "False": False, "None": None}.get(value, value)
    return out


def _check_output(output: Path, force: bool) -> None:
    from murmure.core.files import refuse_to_replace

    if output.suffix.lower() != ".json":
        raise UsageError(
            "a model is written as JSON, and {name!r} does not end in .json.", "-o model.json", name=output.name
        )
    if output.is_dir():
        raise UsageError(
            "{output!r} is a folder; name a file.", "-o {output_2}", output=str(output), output_2=output / "model.json"
        )
    refuse_existing(output, force)
    refuse_to_replace(output, lambda start: MODEL_MARK in start, Phrase("a model"))


def _refuse_training_rows(test: str, source: Any, clear: bool) -> None:
    """An exact score of the training rows would reveal what the noise hides."""
    from murmure.engines.sources.file_tables import source_paths

    if clear:
        return
    learned, tested = source_paths(source), source_paths(test)
    if any(_same_bytes(path, other) for path in tested for other in learned):
        raise UsageError(
            "--test {test} holds the rows that the model learns from: an exact score of them undoes the noise.",
            "keep some rows apart for the test, and never train on them",
            test=test,
        )


def _same_bytes(path: Path, other: Path) -> bool:
    """The same file, or a copy. The same rows in another order or format, or among others, are not detected."""
    import filecmp

    return path.samefile(other) or (path.stat().st_size > 0 and filecmp.cmp(path, other, shallow=False))


def _model_document(learner: Learner, session: LedgerSession) -> dict[str, Any]:
    from murmure.learn.model_file import learner_to_dict

    document = learner_to_dict(learner)
    paid = session.to_dict()
    document["ledger"] = paid and {name: paid[name] for name in ("path", "dataset", "charge")}
    return document


@dataclass(frozen=True)
class Score:
    """How well a model predicts the rows that fit the schema; the others are left out."""

    value: float | None
    rows: int
    left_out: int


def score_rows(learner: Any, test: str) -> Score:
    """The exact accuracy, R2, or minus the squared distances. Nothing protects these rows."""
    import numpy as np
    import pyarrow as pa

    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.tables import open_table

    echo(SCORE_WARNING)
    schema = learner.schema_
    table = open_table(described(test, schema), list(schema.private), schema.lenient_kinds, lenient=True)
    batches, rows = [], 0
    for batch in table.batches():
        _, kept = schema.encode_valid(batch)
        rows += len(kept)
        batches.append(batch.filter(pa.array(np.asarray(kept))))
    whole = pa.Table.from_batches(batches) if batches else None
    kept_rows = 0 if whole is None else whole.num_rows
    if whole is None or kept_rows == 0:
        return Score(None, 0, rows)
    columns = {name: column_values(whole.column(name)) for name in schema.private}
    return Score(float(learner.score(columns)), kept_rows, rows - kept_rows)


def column_values(column: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.array(column.to_pylist(), object)
    return column.to_numpy()


# -- the answer --------------------------------------------------------------------------------------------------------


def model_document(
    title: Phrase, learner: Any, seeded: bool, session: LedgerSession, test: str | None, score: Score | None
) -> Document:
    """What was learned, how well it predicts, what it costs, and what is left."""
    from murmure.core.notices import SEEDED
    from murmure.learn.learner_summary import tables_of

    target = learner._target
    features = ", ".join(name for name in learner.schema_.private if name != target)
    facts: list[tuple[str, Any]] = [(Phrase("features"), features)]
    if target is not None:
        facts.append((Phrase("target"), target))
    facts += model_figures(learner)
    if score is not None:
        facts.append((SCORES.get(learner.kind, Phrase("score")), score_in_words(score, test)))
    facts += [(Phrase("costs"), cost_in_words(learner)), (Phrase("protects"), protects_text(learner))]
    blocks: list[Block] = [Paragraph(SEEDED, "warning")] if seeded else []
    blocks += tables_of(learner) if hasattr(learner, "coef_") else []
    paid = session.summary() if session.charge else Phrase("Nothing was charged.")
    return Document(title, (*blocks, Facts(tuple(facts)), Paragraph(paid)))


def score_in_words(score: Score, test: str | None) -> Phrase:
    left_out = Phrase(", {rows:,} left out that the schema does not allow", rows=score.left_out)
    value = Phrase("none") if score.value is None else Phrase("{value:.4f}", value=score.value)
    return Phrase(
        "{value} on {rows:,} rows of {test}{left_out}",
        value=value,
        rows=score.rows,
        test=test,
        left_out=left_out if score.left_out else "",
    )


def cost_in_words(learner: Any) -> Phrase:
    from murmure.ledger.figures import rounded_up

    reader = learner.guarantees_["reader"]
    if reader.epsilon == float("inf"):
        return Phrase("no differential privacy")
    return Phrase(
        "epsilon {epsilon}, delta {delta:g} ({relation}); {method}",
        epsilon=rounded_up(reader.epsilon),
        delta=reader.delta,
        relation=reader.relation,
        method=reader.method,
    )


def protects_text(learner: Any) -> str:
    """Who is protected, in the words of `murmure query`."""
    from types import SimpleNamespace

    from murmure.plan.privacy import Clear as InTheClear
    from murmure.run.report.certificate_words import protects

    if isinstance(learner.privacy, InTheClear):
        return Phrase("nobody")
    unit, rows = learner.privacy.unit, learner.privacy.rows_per_person
    return protects(SimpleNamespace(guarantees=lambda: learner.guarantees_, unit=unit, rows_per_person=rows))


def model_figures(learner: Any) -> list[tuple[str, Any]]:
    """The figures that people look for first; those of regressions are in their tables."""
    from murmure.plan.privacy import Local

    out: list[tuple[str, Any]] = []
    if hasattr(learner, "class_prior_"):
        shares = zip(learner.classes_, learner.class_prior_, strict=True)
        each = [Phrase("{label}: {share:.3f}", label=str(label), share=float(share)) for label, share in shares]
        out.append((Phrase("classes"), Phrase("{classes}", classes=Several(each, Phrase(", ")))))
    elif hasattr(learner, "classes_"):
        out.append((Phrase("classes"), ", ".join(str(label) for label in learner.classes_)))
    if getattr(learner, "post_", None):
        out.append((Phrase("repaired"), learner.post_))
    if getattr(learner, "bse_", 0) is None:
        why = Phrase("none: the noisy sums were repaired before they were solved, and no formula gives the error then.")
        if isinstance(learner.privacy, Local):
            why = Phrase(
                "none: rows were randomised one by one, and the sums of their products do not tell how they vary "
                "together."
            )
        out.append((Phrase("std err"), why))
    if hasattr(learner, "cluster_centers_"):
        names = [name for name in learner.schema_.private if name != learner._target]
        for i, (centre, size) in enumerate(zip(learner.cluster_centers_, learner.cluster_sizes_, strict=True)):
            values = zip(names, centre, strict=True)
            figures = [Phrase("{name} {value:.4g}", name=name, value=float(value)) for name, value in values]
            words = Phrase(
                "{figures} (about {rows:,} rows)", figures=Several(figures, Phrase(", ")), rows=round(float(size))
            )
            out.append((Phrase("cluster {number}", number=i), words))
    return out
