"""`murmure predict`: the predictions of a trained model for other rows."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from murmure.cli.commands import MurmureCommand, UsageError
from murmure.cli.options import file_format_option, json_option, load_file_format, require_options
from murmure.cli.outputs import refuse_existing
from murmure.cli.terminal import print_json, print_line
from murmure.core.errors import InvalidParameter, Phrase, Plural
from murmure.core.files import all_or_nothing

if TYPE_CHECKING:
    from murmure.core.file_format import FileFormat

EXAMPLE = Phrase("murmure predict model.json others.csv -o predicted.csv")


@click.command(cls=MurmureCommand, short_help="What a trained model says about the rows of a table.")
@click.argument("model", type=click.Path(path_type=Path), required=False)
@click.argument("source", metavar="DATA", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="A .csv file.  [required]")
@file_format_option
@click.option("--proba", is_flag=True, help="Also how likely each class is.")
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@json_option
def predict(
    model: Path | None,
    source: str | None,
    output: Path | None,
    file_format: Path | None,
    proba: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Predict every row of DATA with MODEL, which `murmure train` wrote, and write the predictions to OUT, in order.

    This costs nothing: the model is paid for, and these rows are yours to look at.

    \b
    murmure predict model.json others.csv -o predicted.csv
    """
    needed = {Phrase("a MODEL"): model, Phrase("a table DATA"): source, "-o OUT": output}
    require_options(Phrase("murmure predict"), needed, EXAMPLE)
    assert model is not None and source is not None and output is not None
    if output.suffix.lower() != ".csv":
        raise UsageError(
            "predictions are written as CSV, but {name!r} does not end in .csv.", "-o predicted.csv", name=output.name
        )
    refuse_existing(output, force)
    if output.exists() and output.resolve() == Path(source).resolve():
        raise UsageError(
            "{output!r} is the table being read: it would be overwritten.", "choose another name", output=str(output)
        )
    learner: Any = read_model(model)
    if proba and learner.kind != "classifier":
        raise UsageError("{kind} gives no probabilities.", "leave --proba out", kind=type(learner).__name__)
    rows = read_features(learner, source, load_file_format(file_format))
    predicted = learner.predict(rows)
    columns = {learner._target or "cluster": predicted}
    if proba:
        columns |= {f"P({label})": p for label, p in zip(learner.classes_, learner.predict_proba(rows).T, strict=True)}
    with all_or_nothing(output) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
    if as_json:
        print_json({"output": str(output), "rows": len(predicted), "columns": list(columns)})
    else:
        words = Plural(
            "{n:,} prediction: {output}", "{n:,} predictions: {output}", n=len(predicted), output=str(output)
        )
        print_line(words)


def read_model(path: Path) -> Any:
    from murmure.learn.model_file import learner_from_json

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else Phrase("it is not text")
        raise InvalidParameter(
            "cannot read the model {path!r}: {why}.", hint="murmure train writes one", path=str(path), why=why
        ) from None
    return learner_from_json(text, repr(str(path)))


def read_features(learner: Any, source: str, file: FileFormat) -> dict[str, Any]:
    """The columns of DATA that the model predicts from, in memory."""
    import pyarrow as pa

    from murmure.cli.train import column_values
    from murmure.engines.sources.data_file import described
    from murmure.engines.sources.tables import open_table

    schema = learner.schema_
    names = [name for name in schema.private if name != learner._target]
    table = open_table(described(source, schema.with_file(file)), names, schema.kinds)
    whole = pa.Table.from_batches(list(table.batches()), schema=table.schema)
    return {name: column_values(whole.column(name)) for name in names}
