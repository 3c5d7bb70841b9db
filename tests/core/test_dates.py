"""Dates: every day of many years in every unit, whichever library or file brings the column."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

import murmure as mu
from murmure.core.cells.lenient_encoding import encode_domain_lenient
from murmure.core.cells.meaning import UNKNOWN
from murmure.core.cells.parsed_dates import DateUnit, date_meaning
from murmure.core.column import kind_of
from murmure.core.domain import with_column, with_outside
from murmure.engines.sources.arrow_cells import arrow_cells

UNITS: tuple[DateUnit, ...] = ("day", "week", "month", "year")
# Leap years and others, 53 weeks (2004, 2009, 2015, 2020, 2026), the leap year of a century and a century without one
SPANS = {
    "now": ("2003-12-29", "2028-01-02"),
    "1900": ("1896-01-01", "1904-12-31"),
    "1582": ("1581-06-01", "1583-03-31"),
    "first": ("0001-01-01", "0009-12-31"),
    "last": ("9990-01-01", "9999-12-31"),
}


def days(first: str, last: str) -> list[dt.date]:
    start, end = (dt.date.fromisoformat(text).toordinal() for text in (first, last))
    return [dt.date.fromordinal(number) for number in range(start, end + 1)]


def label_of(day: dt.date, unit: str) -> str:
    """The standard library's calendar, day by day."""
    year, week, _ = day.isocalendar()
    return {
        "day": day.isoformat(),
        "week": f"{year:04}-W{week:02}",
        "month": day.isoformat()[:7],
        "year": day.isoformat()[:4],
    }[unit]


# -- the calendar ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS)
def test_every_day_has_the_code_of_its_period(span: tuple[str, str], unit: DateUnit) -> None:
    """Codes are 0, 1, ... in order, and labels are those of the standard library's calendar."""
    everyday, domain = days(*span), mu.Dates(*span, unit=unit)
    labels = list(dict.fromkeys(label_of(day, unit) for day in everyday))

    assert domain.labels() == labels == list(domain.values)
    assert (
        [domain.label(code) for code in (0, domain.size - 1)] == [labels[0], labels[-1]] == [domain.first, domain.last]
    )
    assert domain.size == len(labels)
    expected = [labels.index(label_of(day, unit)) for day in everyday[::5]]
    assert domain.encode(everyday[::5]).tolist() == expected
    assert domain.encode([day.isoformat() for day in everyday[::5]]).tolist() == expected
    assert domain.encode(np.array(everyday[::5], "M8[D]")).tolist() == expected
    assert domain.encode(pa.array(everyday[::5], pa.date32())).tolist() == expected
    assert domain.encode(labels).tolist() == list(range(domain.size))  # its own labels mean themselves


@pytest.mark.parametrize("unit", UNITS)
def test_all_years_from_1_to_9999_fit(unit: DateUnit) -> None:
    domain = mu.Dates("0001-01-01", "9999-12-31", unit)

    size = {"day": 3_652_059, "week": -(-3_652_059 // 7), "month": 9999 * 12, "year": 9999}[unit]
    assert domain.size == size
    assert domain.encode([dt.date.min, dt.date.max]).tolist() == [0, size - 1]


def test_week_53_and_the_days_around_new_year() -> None:
    """1 January may lie in the last week of the year before, and 31 December in the first of the next."""
    weeks = mu.Dates("2020-12-21", "2021-01-17", unit="week")

    assert weeks.labels() == ["2020-W52", "2020-W53", "2021-W01", "2021-W02"]
    assert weeks.encode(["2020-12-27", "2020-12-28", "2021-01-01", "2021-01-03", "2021-01-04"]).tolist() == [
        0,
        1,
        1,
        1,
        2,
    ]
    assert mu.Dates("2024-12-31", "2025-01-07", "week").labels() == ["2025-W01", "2025-W02"]
    assert date_meaning("week", "2021-W53") is UNKNOWN  # 2021 has 52


def test_ends_become_their_periods() -> None:
    months = mu.Dates(dt.date(2024, 1, 15), pd.Timestamp("2024-06-30 12:00"), unit="month")

    assert months == mu.Dates("2024-01", "2024-06", "month") == mu.Dates("2024-01-31", "2024-06-01", "month")
    assert (months.first, months.last, months.size) == ("2024-01", "2024-06", 6)
    assert mu.Dates(1990, 2030, unit="year") == mu.Dates("1990", "2030-12-31", unit="year")


# -- what a cell means -------------------------------------------------------------------------------------------------

MARCH = "2024-03-05"
DAYS = (  # spellings of that day, whichever the unit
    MARCH, " 2024-03-05\t", b"2024-03-05", "2024-03-05T10:20", "2024-03-05T10:20:00", "2024-03-05 23:59:59.999999",
    "2024-03-05T00:00:00Z", "2024-03-05T00:30:00+02:00", "2024-03-05T23:30:00-11", "2024-03-05 10:20:00+0530",
    dt.date(2024, 3, 5), dt.datetime(2024, 3, 5, 23, 59), pd.Timestamp(MARCH), np.datetime64(MARCH),
    dt.datetime(2024, 3, 5, 0, 30, tzinfo=dt.timezone(dt.timedelta(hours=14))), pd.Timestamp("2024-03-05T00:30+02:00"),
    np.datetime64("2024-03-05T12", "h"), np.datetime64("2024-03-05T12:00:00.123", "ns"),
)  # fmt: skip
PERIODS: tuple[tuple[Any, tuple[str, ...]], ...] = (  # spellings of periods, and the units that take them
    ("2024-W10", ("week",)), ("2024-03", ("month", "year")), (np.datetime64("2024-03", "M"), ("month", "year")),
    ("2024", ("year",)), (2024, ("year",)), (2024.0, ("year",)), (" 2024.0", ("year",)), ("2.024e3", ("year",)),
    (np.int16(2024), ("year",)), (np.datetime64("2024", "Y"), ("year",)), (Decimal("2024.00"), ("year",)),
)  # fmt: skip
SPELLED = tuple(cell for cell, _ in PERIODS)
UNREADABLE = (
    "2024-02-30", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "0000-01-01", "2024-3-5",
    "05/03/2024", "5 March 2024", "20240305", "2024-03-05T24:00", "2024-03-05T10", "2024-03-05x", "2024-W54",
    "2024-03-05 10:20 Uhr", "2024-W00", "2024-w10", "2024-W10-2", "12024-01-01", "-2024-01-01", "\uff12024-03-05",
    "2024\u201303\u201305", "x", True, -1, 45_000, 2024.5, float("inf"), [1], (2024, 3, 5), dt.time(10),
    dt.timedelta(3), np.timedelta64(3, "D"), np.datetime64("2024-03-07", "W"), np.datetime64("0000-01-01"),
    np.datetime64("12024-01-01"), object(), b"\xff", pd.Period("2024-03"),
)  # fmt: skip
MISSING = (None, float("nan"), "", "  ", "nan", "NaT", "nat", pd.NaT, pd.NA, np.datetime64("NaT"))


def domain_of(unit: DateUnit, **settings: Any) -> mu.Dates:
    return mu.Dates("2000-01-01", "2049-12-31", unit, **settings)


@pytest.mark.parametrize("unit", UNITS)
def test_what_cells_mean(unit: DateUnit) -> None:
    """One list of every kind of cell, each read alone and all at once: the same."""
    domain, expected = domain_of(unit), []
    code = domain.labels().index(label_of(dt.date(2024, 3, 5), unit))
    cells: list[Any] = [*DAYS, *SPELLED, *UNREADABLE, *MISSING]
    for cell in cells:
        read = any(cell is one for one in DAYS) or any(cell is one and unit in units for one, units in PERIODS)
        expected.append(code if read else domain.size if any(cell is one for one in MISSING) else None)
    # true is the number 1, and so the year 1; no domain of today holds it
    known = [date_meaning(unit, cell) for cell in cells]

    parsed = domain.parse(cells)
    for i, (cell, want) in enumerate(zip(cells, expected, strict=True)):
        missing = parsed.missing is not None and parsed.missing[i]
        outside = parsed.outside_mask is not None and parsed.outside_mask[i]
        got = domain.size if missing else None if outside else int(parsed.codes[i])
        assert got == want, cell
        assert (known[i] is None) == (want == domain.size), cell
        alone = domain.parse([cell])
        assert (alone.missing is not None, alone.outside_mask is not None) == (missing, outside), cell
        assert missing or outside or alone.codes[0] == got


@pytest.mark.parametrize("unit", UNITS)
def test_text_means_the_same_in_arrow_and_in_lists(unit: DateUnit) -> None:
    """Arrow's texts are read at once, those of a list one by one: every text of both, mixed and alone."""
    texts = [cell for cell in (*DAYS, *SPELLED, *UNREADABLE, *MISSING) if isinstance(cell, str)] + [None]
    domain = domain_of(unit)

    for array in (pa.array(texts), pa.chunked_array([texts, texts[::-1]]), pa.array(texts).dictionary_encode(),
                  pl.Series(texts), pd.Series(texts), pd.Series(texts).astype("category")):  # fmt: skip
        cells = array.to_pylist() if isinstance(array, pa.Array | pa.ChunkedArray) else list(array)
        expected = [date_meaning(unit, cell) for cell in cells]
        got = domain.parse(array)
        assert got.missing is not None and got.missing.tolist() == [period is None for period in expected]
        strict = got.outside_mask
        assert strict is not None
        first = date_meaning(unit, domain.first)
        assert isinstance(first, int)
        for i, period in enumerate(expected):
            if isinstance(period, int):
                assert strict[i] == (not 0 <= period - first < domain.size)
                assert strict[i] or got.codes[i] == period - first, cells[i]
            else:
                assert strict[i] == (period is UNKNOWN), cells[i]
    for text in texts:
        alone = domain.parse(pa.array([text], pa.string()))
        assert (alone.missing is not None) == (date_meaning(unit, text) is None), text
        assert (alone.outside_mask is not None) == (date_meaning(unit, text) in (UNKNOWN, 1 - 1970)), text


# -- containers --------------------------------------------------------------------------------------------------------

ROWS = [dt.date(2024, 3, 5), None, dt.date(1999, 12, 31), dt.date(2000, 1, 1), dt.date(2049, 12, 31)]
TIMES = [None if day is None else dt.datetime(day.year, day.month, day.day, 23, 30) for day in ROWS]
PARIS = [None if time is None else pd.Timestamp(time).tz_localize("Europe/Paris") for time in TIMES]
CONTAINERS: dict[str, Callable[[], Any]] = {
    "dates": lambda: ROWS,
    "times": lambda: TIMES,
    "a tuple": lambda: tuple(ROWS),
    "texts": lambda: [None if day is None else day.isoformat() for day in ROWS],
    "numpy days": lambda: np.array(ROWS, "M8[D]"),
    "numpy seconds": lambda: np.array(TIMES, "M8[s]"),
    "numpy nanoseconds": lambda: np.array(TIMES, "M8[ns]"),
    "numpy objects": lambda: np.array(ROWS, object),
    "numpy masked": lambda: np.ma.masked_array(
        np.array([day or dt.date(2024, 1, 1) for day in ROWS], "M8[D]"), [day is None for day in ROWS]
    ),
    "pandas times": lambda: pd.Series(pd.to_datetime(TIMES)),
    "pandas index": lambda: pd.DatetimeIndex(TIMES),
    "pandas zones": lambda: pd.Series(PARIS),
    "pandas zoned index": lambda: pd.DatetimeIndex(PARIS),
    "pandas objects": lambda: pd.Series(ROWS, dtype=object),
    "pandas categorical": lambda: pd.Series(pd.to_datetime(TIMES)).astype("category"),
    "pandas Arrow": lambda: pd.Series(TIMES, dtype=pd.ArrowDtype(pa.timestamp("us"))),
    "pandas frame": lambda: pd.DataFrame({"admitted": pd.to_datetime(TIMES)}),
    "polars dates": lambda: pl.Series(ROWS),
    "polars times": lambda: pl.Series(TIMES),
    "polars zones": lambda: pl.Series(TIMES).dt.replace_time_zone("Europe/Paris"),
    "polars categorical": lambda: pl.Series([None if d is None else d.isoformat() for d in ROWS], dtype=pl.Categorical),
    "date32": lambda: pa.array(ROWS, pa.date32()),
    "date64": lambda: pa.array(ROWS, pa.date64()),
    "timestamp[s]": lambda: pa.array(TIMES, pa.timestamp("s")),
    "timestamp[ns]": lambda: pa.array(TIMES, pa.timestamp("ns")),
    "timestamp[us, tz=+05:30]": lambda: pa.compute.assume_timezone(pa.array(TIMES, pa.timestamp("us")), "Asia/Kolkata"),
    "timestamp[ns, tz=Europe/Paris]": lambda: pa.compute.assume_timezone(
        pa.array(TIMES, pa.timestamp("ns")), "Europe/Paris"
    ),
    "chunks": lambda: pa.chunked_array([pa.array(ROWS[:2], pa.date32()), pa.array(ROWS[2:], pa.date32())]),
    "a dictionary of dates": lambda: pa.array(ROWS, pa.date32()).dictionary_encode(),
    "a dictionary of texts": lambda: pa.array([None if d is None else str(d) for d in ROWS]).dictionary_encode(),
    "a slice": lambda: pa.array([dt.date(2001, 1, 1), *ROWS], pa.date32())[1:],
    "a table": lambda: pa.table({"admitted": pa.array(ROWS, pa.date32())}),
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_codes(container: str, unit: DateUnit) -> None:
    domain, last = domain_of(unit), domain_of(unit).size - 1
    code = domain.labels().index(label_of(dt.date(2024, 3, 5), unit))
    before = 0 if unit == "week" else domain.size  # 1999-12-31 and 2000-01-01 lie in one week

    parsed = domain.parse(CONTAINERS[container]())
    assert parsed.missing is not None and parsed.missing.tolist() == [False, True, False, False, False]
    outside = np.zeros(5, bool) if parsed.outside_mask is None else parsed.outside_mask
    assert outside.tolist() == [False, False, before > 0, False, False]
    assert parsed.codes[[0, 3, 4]].tolist() == [code, 0, last]
    for rule, expected in {
        "refuse": [code, domain.size, 0, 0, last],  # where every row is read
        "clamp": [code, domain.size, 0, 0, last],
        "drop": [code, domain.size, before, 0, last],
    }.items():
        lenient = encode_domain_lenient(with_outside(domain, rule), CONTAINERS[container]())  # type: ignore[arg-type]
        assert lenient.tolist() == expected, rule


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_is_read_by_engines(container: str) -> None:
    """As above, through the tables of `run` and `sanitise`, which turn Python's objects into text."""
    schema = mu.Schema({"admitted": mu.Dates("2000-01-01", "2049-12-31", "year", outside="drop")})
    plan = mu.Plan(mu.Histogram(schema["admitted"]), curator=mu.DiscreteLaplace(epsilon=60.0))
    values = CONTAINERS[container]()
    rows = values if len(getattr(values, "shape", ())) == 2 else {"admitted": values}

    counts = mu.run(plan, rows, rng=mu.Random.seeded(1)).estimate.counts
    assert {code: int(n) for code, n in enumerate(counts) if n} == {0: 1, 24: 1, 49: 1}
    reports = mu.sanitise(rows, mu.SPL(schema, epsilon=60.0, oracle="GRR"), invalid="drop", rng=mu.Random.seeded(1))
    assert reports["admitted"].to_pylist() == ["2024", "2000", "2049"]


@pytest.mark.parametrize("container", ["dates", "times", "texts", "pandas objects", "date32"])
def test_public_dates_are_copied_as_people_write_them(container: str) -> None:
    column = mu.Column(mu.Dates("1990-01-01", "2049-12-31"), public=True)
    schema = mu.Schema({"admitted": column, "smoker": mu.Categories(["no", "yes"])})
    rows = {"admitted": CONTAINERS[container]()[2:], "smoker": ["no", "yes", "no"]}

    copied = mu.sanitise(rows, mu.SPL(schema, epsilon=1.0))["admitted"].to_pylist()
    assert [str(day)[:10] for day in copied] == [str(day) for day in ROWS[2:]]


@pytest.mark.parametrize("unit", UNITS)
def test_objects_mean_the_same_as_text_of_tables(unit: DateUnit) -> None:
    """Every kind of cell in one column of objects: turned into text, each means what it meant; and is no label."""
    cells = [*DAYS, *SPELLED, *UNREADABLE, *MISSING]
    domain, texts = domain_of(unit), arrow_cells(cells, "text")

    one, two = domain.parse(cells), domain.parse(texts)
    assert one.missing is not None and two.missing is not None and (one.missing == two.missing).all()
    assert one.outside_mask is not None and two.outside_mask is not None
    assert (one.outside_mask == two.outside_mask).all()
    inside = ~one.missing & ~one.outside_mask
    assert (one.codes[inside] == two.codes[inside]).all()
    labels = mu.Categories(["2024-03-05", "2024"])
    assert (encode_domain_lenient(labels, cells) == encode_domain_lenient(labels, texts)).all()


def test_a_schema_reads_dates_from_files(tmp_path: Path) -> None:
    """A CSV, and Parquet with dates, times and times in a zone: the same histogram."""
    schema = mu.Schema({"admitted": mu.Column(mu.Dates("2000-01-01", "2049-12-31", "year"), outside="drop")})
    texts = "\n".join(["admitted", *("" if day is None else day.isoformat() for day in ROWS)]) + "\n"
    (tmp_path / "people.csv").write_text(texts.replace("\n\n", '\n""\n'))
    for name in ("date32", "timestamp[s]", "timestamp[ns, tz=Europe/Paris]", "a dictionary of texts"):
        table = pa.table({"admitted": CONTAINERS[name]()})
        pyarrow.parquet.write_table(table, tmp_path / f"{name.partition('[')[0]}{len(name)}.parquet")

    plan = mu.Plan(mu.Histogram(schema["admitted"]), curator=mu.DiscreteLaplace(epsilon=50.0))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 5
    for file in files:
        counts = mu.run(plan, str(file), rng=mu.Random.seeded(1)).estimate.counts
        assert {code: int(n) for code, n in enumerate(counts) if n} == {0: 1, 24: 1, 49: 1}, file.name


# -- policies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
def test_clamping_moves_dates_to_the_nearest_end(unit: DateUnit) -> None:
    domain = domain_of(unit, outside="clamp")
    cells = ["0001-01-01", "9999-12-31", "2024-03-05", dt.date(1950, 1, 1)]

    parsed = domain.parse(cells)
    assert domain.encode(cells).tolist() == [0, domain.size - 1, parsed.codes[2], 0]
    assert parsed.clamped is not None and parsed.clamped.tolist() == [True, True, False, True]
    with pytest.raises(mu.MurmureError, match="ISO"):
        domain.encode(["2024-02-30"])  # no date has no nearest end


@pytest.mark.parametrize("unit", UNITS)
def test_strict_and_lenient_reading_agree(unit: DateUnit) -> None:
    """Where strict encoding accepts a row, lenient encoding gives the same code; what it refuses is nobody."""
    cells = [*DAYS, *SPELLED, *UNREADABLE, *MISSING]
    for outside in ("refuse", "clamp", "drop"):
        domain = domain_of(unit, outside=outside)
        lenient = encode_domain_lenient(domain, cells)
        for cell, code in zip(cells, lenient.tolist(), strict=True):
            assert encode_domain_lenient(domain, [cell]).tolist() == [code]
            try:
                strict = domain.encode([cell]).tolist()
            except mu.MurmureError:
                beyond = outside != "drop" and isinstance(date_meaning(unit, cell), int)
                assert code == (0 if beyond else domain.size)
            else:
                assert strict in ([code], [])


def test_missing_answers_count_as_a_public_date() -> None:
    column = mu.Column(mu.Dates("2024-01", "2024-12", "month"), missing="constant", missing_value=dt.date(2024, 6, 30))
    schema = mu.Schema({"admitted": column})

    assert column.missing_value == "2024-06"
    assert schema.encode({"admitted": ["2024-01-01", None, "NaT"]})[0].tolist() == [0, 5, 5]
    assert encode_domain_lenient(schema["admitted"], [None, "x", "2030-01-01"]).tolist() == [5, 5, 11]
    assert mu.Schema.from_toml(schema.to_toml()) == mu.Schema.from_dict(schema.to_dict()) == schema


def test_the_rule_of_a_schema_reaches_dates() -> None:
    schema = mu.Schema({"day": mu.Dates("2024-01-01", "2024-12-31"), "ward": mu.Categories(["A", "B"])}, "clamp")

    assert (schema["day"].outside, schema["ward"].outside) == ("clamp", "refuse")
    assert "dates beyond at the nearest end" in schema.public()


# -- written down ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", UNITS)
def test_written_and_read_back(unit: DateUnit) -> None:
    for settings in ({}, {"absent": "2001-05-07"}, {"outside": "clamp"}, {"outside": "drop", "absent": "2001-05-07"}):
        domain = domain_of(unit, **settings)
        schema = mu.Schema({"admitted": domain, "age": mu.Integers(0, 9)})
        plan = mu.Plan(mu.Histogram(schema["admitted"]), curator=mu.DiscreteLaplace(epsilon=1.0))

        assert mu.Schema.from_toml(schema.to_toml()) == schema
        assert mu.Schema.from_dict(schema.to_dict()) == schema
        assert mu.Plan.from_json(plan.to_json()).digest == plan.digest
        assert eval(repr(domain), {"Dates": mu.Dates}) == domain
        assert hash(eval(repr(domain), {"Dates": mu.Dates})) == hash(domain)
        assert kind_of(domain) == "text"  # a file reader parses nothing


def test_toml_has_dates() -> None:
    text = '[columns.day]\ntype = "dates"\nfirst = 2024-01-01\nlast = 2024-12-31T10:00:00Z\n'
    month = '[columns.month]\ntype = "dates"\nfirst = 2024-01-01\nlast = "2024-12"\nunit = "month"\n'
    schema = mu.Schema.from_toml(text + month)

    assert schema["day"] == mu.Dates("2024-01-01", "2024-12-31", column="day")
    assert schema["month"] == mu.Dates("2024-01", "2024-12", "month", column="month")
    assert "first = 2024-01-01\nlast = 2024-12-31\n" in schema.to_toml()
    assert 'first = "2024-01"\nlast = "2024-12"\nunit = "month"\n' in schema.to_toml()


def test_dates_are_equal_by_what_they_hold() -> None:
    days = mu.Dates("2024-01-01", "2024-01-02")

    assert days != mu.Categories(["2024-01-01", "2024-01-02"]) and mu.Categories(["2024-01-01", "2024-01-02"]) != days
    assert with_column(days, "x") != days and with_column(with_column(days, "x"), None) == days
    assert mu.Dates("2024-01-01", "2024-02-01", "month") != mu.Dates("2024-01-01", "2024-02-01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("2024-02-30", "2024-12-31"), r"Dates\.first must be a date, got '2024-02-30'"),
        (("2024-01-01", None), r"Dates\.last must be a date, got None"),
        (("01/02/2024", "2024-12-31"), r"Dates\.first must be a date"),
        ((20240101, 20241231), r"Dates\.first must be a date"),
        (("2024-01", "2024-12"), r"Dates\.first must be a date"),  # of days
        (("2024-12-31", "2024-01-01"), r"first before last, got 2024-12-31 and 2024-01-01"),
        (("2024-01-01", "2024-01-31", "month"), r"first before last, got 2024-01 and 2024-01"),
        (("2024-01-01", "2024-01-31", "quarter"), r"Dates\.unit must be one of 'day', 'week', 'month', 'year'"),
        (("2024-01-01", "2024-01-31", ["day"]), r"Dates\.unit must be one of"),
        (("2024-01-01", "2024-01-31", "day", None, "2025-01-01"), r"Dates\.absent must be a date from"),
        (("2024-01-01", "2024-01-31", "day", None, None, "keep"), r"Dates\.outside must be one of"),
    ],
)
def test_bad_dates_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message):
        mu.Dates(*arguments)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('first = 2024-01-01\nlast = 2023-01-01\n', "first must be before last, got 2024-01-01 and 2023-01-01"),
        ('first = "x"\nlast = 2023-01-01\n', "column 'day': first must be a date, got 'x'"),
        ('first = 2024-01-01\n', "last is missing"),
        ('first = 2024-01-01\nlast = 2025-01-01\nunit = "hour"\n', "unit must be one of"),
        ('first = 2024-01-01\nlast = 2025-01-01\nlow = 3\n', "type dates takes no 'low'"),
        ('first = 10:00:00\nlast = 2025-01-01\n', "first must be a date"),
        ('first = 2024-01-01\nlast = 2025-01-01\nmissing = "value"\n', "has no label for missing values"),
    ],
)  # fmt: skip
def test_bad_schemas_are_refused_in_the_words_of_the_file(lines: str, message: str) -> None:
    with pytest.raises(mu.MurmureError, match=message) as error:
        mu.Schema.from_toml(f'[columns.day]\ntype = "dates"\n{lines}')
    assert "Dates" not in str(error.value.message)


@pytest.mark.parametrize("values", [pa.array([dt.time(10)]), pa.array([dt.timedelta(1)]), np.array([1], "m8[D]"),
                                    pa.array([[1]]), np.array([1j]), np.array(["2024-03-07"], "M8[W]")])  # fmt: skip
def test_types_that_are_no_dates_are_refused(values: Any) -> None:
    domain = domain_of("day")
    with pytest.raises(mu.MurmureError, match="got values of type"):
        domain.encode(values)
    with pytest.raises(mu.MurmureError, match="got values of type"):  # by the type of the column, whatever rows hold
        encode_domain_lenient(domain, values)


def test_months_of_numpy_are_no_days() -> None:
    months = np.array(["2024-03"], "M8[M]")
    assert domain_of("month").encode(months).tolist() == [24 * 12 + 2]
    with pytest.raises(mu.MurmureError, match="got values of type"):
        domain_of("day").encode(months)


def test_other_domains_say_where_dates_belong() -> None:
    for domain in (mu.Integers(0, 9), mu.Interval(0, 1), mu.Categories(["a", "b"]), mu.Decimals(0, 1, 1)):
        with pytest.raises(mu.MurmureError, match=r"Dates\(first, last\)"):
            domain.encode(np.array(["2024-03-05"], "M8[D]"))


def test_an_error_shows_the_date_that_is_outside() -> None:
    with pytest.raises(
        mu.MurmureError, match=r"row 1 holds '1999-12-31' .*wanted a date from 2000-01-01 to 2049-12-31"
    ):
        domain_of("day").encode(np.array(["2024-03-05", "1999-12-31"], "M8[D]"))
    with pytest.raises(mu.MurmureError, match=r"row 0 holds '05/03/2024'"):
        domain_of("day").encode(["05/03/2024"])


def test_the_codec_of_plans_takes_dates() -> None:
    question = mu.Where(
        mu.Count(mu.Integers(0, 9, "age")),
        mu.Dates("2024-01-01", "2024-12-31", "week", "admitted"),
        between=(dt.date(2024, 3, 5), "2024-W20"),
    )
    plan = mu.Plan(question, curator=mu.DiscreteLaplace(epsilon=1.0))

    assert question.between == ("2024-W10", "2024-W20")
    assert mu.Plan.from_json(plan.to_json()).statistic == question
