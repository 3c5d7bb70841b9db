"""The same people give the same codes, whatever they were written with: `schema init` finds out how, and says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.cli.written_ways import NAMES, PEOPLE, WRITERS, same_codes, schema_for

from murmure.cli import main
from murmure.core.file_format import PLAIN_FILE
from murmure.core.schema import Schema
from murmure.engines.sources.data_file import DataFile
from murmure.engines.sources.tables import open_table


def call(*args: Any) -> Any:
    return CliRunner().invoke(main, ["schema", *map(str, args)])


def codes_of(path: Path, schema: Schema, lenient: bool) -> list[Any]:
    kinds = schema.lenient_kinds if lenient else schema.kinds
    table = open_table(DataFile(path, schema), list(schema), kinds, lenient=lenient)
    parts = [schema.encode(batch) for batch in table.batches()]
    assert len(parts) == 1
    return list(parts[0])


@pytest.mark.parametrize("how", WRITERS)
def test_the_same_people_have_the_same_codes(how: str, tmp_path: Path) -> None:
    """By the [file] that init writes, strictly and leniently; `check` finds every row valid, with it and without."""
    name, write = WRITERS[how]
    data, out = write(tmp_path / name), tmp_path / "schema.toml"
    result = call("init", data, "-o", out, "--json")
    assert result.exit_code == 0, result.output

    drafted = Schema.load(out)
    schema = schema_for(drafted.file, drafted.column_specs["fumeur"].domain)  # true and false, or two words
    assert json.loads(result.stdout)["rows"] == len(PEOPLE)
    assert list(drafted) == list(NAMES)
    assert same_codes(codes_of(data, schema, lenient=False))
    assert same_codes(codes_of(data, schema, lenient=True))
    plain = tmp_path / "plain.toml"
    plain.write_text("# mine\n" + schema_for(PLAIN_FILE).to_toml(), encoding="utf-8")
    checked = call("check", plain, data, "--json")
    assert checked.exit_code == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["valid"] == len(PEOPLE)
    assert "# mine\n[columns" in plain.read_text(encoding="utf-8")
    assert same_codes(codes_of(data, Schema.load(plain), lenient=False))
