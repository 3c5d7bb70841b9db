"""Decimals: what is written is what is added up, whatever holds it; and anything else is refused by its row."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import murmure as mu
from murmure import Column, Decimals, Schema
from murmure.core.cells.lenient_encoding import encode_domain_lenient, encode_schema_lenient
from murmure.core.column import kind_of
from murmure.core.errors import InvalidParameter, OutsideDomain
from murmure.engines.sources.tables import open_table

TENTHS = Decimals(-100, 100, places=1)


def exact(domain: Decimals, values: object) -> list[Fraction]:
    return [domain.exact(code) for code in domain.encode(values)]


# -- exactness ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "value", "meant"),
    [
        (TENTHS, 0.1, "0.1"),
        (TENTHS, 0.30000000000000004 - 5e-17, "0.3"),
        (Decimals(0, 2 * 10**12, 1), 1000000000000.4, "1000000000000.4"),
        (Decimals(-10, 10, 9), -6.860120914, "-6.860120914"),
        (Decimals(-10, 10, 17), 0.1 + 0.2, "0.30000000000000004"),
        (Decimals(0, 10**17, 0), 12345678901234567, "12345678901234567"),
        (Decimals(0, 1, 18), Decimal("0.123456789012345678"), "0.123456789012345678"),
        (Decimals("0.1", "0.7", 1), np.float32(0.3), "0.3"),
        (Decimals(0, 10**6, 3), np.float32(16777.216), "16777.217"),
        (TENTHS, -0.0, "0"),
        (TENTHS, 1e-300 * 1e-300, "0"),
    ],
)
def test_value_is_the_decimal_that_is_printed(domain: Decimals, value: object, meant: str) -> None:
    """16777.216 is no float of 32 bits: the nearest one prints as 16777.217."""
    assert exact(domain, [value]) == [Fraction(meant)]
    assert exact(domain, np.array([value])) == [Fraction(meant)]


@given(st.floats(-1e6, 1e6))
def test_every_float_is_read_as_it_prints_or_refused(x: float) -> None:
    domain = Decimals(-(10**6), 10**6, 12)
    meant = Fraction(repr(x))
    if (meant * 10**12).denominator == 1:
        assert exact(domain, [x]) == [meant] == exact(domain, np.array([x, x]))[:1]
    else:
        with pytest.raises(OutsideDomain):
            domain.encode([x])


@given(st.decimals(-(10**5), 10**5, places=13))
def test_decimals_and_their_floats(x: Decimal) -> None:
    """18 digits: a Decimal is read to the last, a float as it prints."""
    domain = Decimals(-(10**5), 10**5, 13)

    assert exact(domain, [x]) == [Fraction(x)]
    assert exact(domain, pa.array([x])) == [Fraction(x)]
    near = Decimals(-(10**5), 10**5, 13, rounding="nearest")
    assert exact(near, [x]) == [Fraction(x)]
    moved = abs(exact(near, [float(x)])[0] - Fraction(float(x)))
    assert moved <= Fraction(1, 2 * 10**13) + abs(Fraction(float(x))) / 2**53


@given(st.floats(-99, 99), st.integers(0, 16))
@example(1.015, 2)  # its product with 100 lies below the middle, and what it prints as is the middle
@example(2.6750000000000003, 2)  # one unit in the last place from the middle: a reader may have been off
@example(-98.76543210987654, 16)
def test_a_number_is_rounded_alike_whatever_holds_it(x: float, places: int) -> None:
    """By 15 digits, to the nearest, the even one of two; where the domain has more digits, by arithmetic of floats."""
    domain = Decimals(-100, 100, places, rounding="nearest")
    if domain.short:
        meant = Fraction(round(Fraction(f"{x:.15g}") * 10**places), 10**places)
    else:
        meant = Fraction(round(Fraction(x * 10.0**places)), 10**places)
        assert abs(meant - Fraction(x)) <= domain.step / 2 + abs(Fraction(x)) / 2**53

    written = [[repr(x)], pa.array([repr(x)]), [Decimal(repr(x)), "x"], [f"  {x!r}"]] if domain.short else []
    for data in ([x], np.array([x, 0.5]), [x, Decimal(1)], pa.array([x]), pl.Series([x]), *written):
        assert domain.exact(domain.parse(data).codes[0]) == meant
        assert domain.exact(encode_domain_lenient(domain, data)[0]) == meant


def test_narrow_floats_are_rounded_and_kept_within_bounds() -> None:
    """0.1 of 32 bits lies above a tenth, and 0.7 below seven tenths."""
    near = Decimals("0.1", "0.7", 9, rounding="nearest")
    data = np.array([0.1, 0.3, 0.7], np.float32)
    assert exact(near, data) == [Fraction(round(float(x) * 10**9), 10**9) for x in data]
    assert Decimals(0, "0.1", 9, rounding="nearest").encode(data[:1]).tolist() == [10**8]
    with pytest.raises(OutsideDomain, match="row 1"):
        near.encode(np.array([0.3, 0.71], np.float32))
    assert encode_domain_lenient(near, np.array([-np.inf, np.inf, 0.0], np.float32)).tolist() == [0, near.size - 1, 0]


def test_rounding_at_the_widest_and_the_farthest() -> None:
    widest = Decimals(-2, "2.611686018427387903", 18, rounding="nearest")
    assert widest.encode(np.array([-2.0, float(widest.high), 0.0])).tolist() == [0, 2**62 - 1, 2 * 10**18]
    far = Decimals(10**17, 10**17 + 100, 16, rounding="nearest")
    assert exact(far, np.array([1e17, 1e17 + 16])) == [10**17, 10**17 + 20]  # as they print
    assert encode_domain_lenient(far, np.array([-np.inf, np.inf])).tolist() == [0, far.size - 1]
    with pytest.raises(OutsideDomain, match="row 0"):
        far.encode([1e17 + 112])
    short = Decimals(0, 1, 2, rounding="nearest")
    assert short.encode([math.nextafter(1.0, 2.0)]).tolist() == [100]


def test_rounding_looks_at_what_is_written_and_refuses_what_is_beyond_before_it_rounds() -> None:
    near = Decimals(0, 3, 2, rounding="nearest")

    assert exact(near, [2.675, 0.125, 2.6749]) == [Fraction("2.68"), Fraction("0.12"), Fraction("2.67")]
    with pytest.raises(OutsideDomain, match=r"row 1 holds 3\.001"):
        near.encode([1.0, 3.001])


def test_whatever_holds_a_column() -> None:
    domain = Decimals(0, 100, 2)
    data = [0.1, 99.99, 100.0]
    codes = [10, 9999, 10000]

    for values in (
        data,
        tuple(data),
        [Decimal("0.1"), 99.99, 100],
        np.array(data),
        np.array(data, np.float32),
        pd.Series(data),
        pd.Series(data, dtype="Float64"),
        pd.Series([Decimal("0.10"), Decimal("99.99"), Decimal("100")]),
        pd.Series(data, dtype=pd.ArrowDtype(pa.float64())),
        pl.Series(data),
        pl.Series([Decimal("0.10"), Decimal("99.99"), Decimal("100")]),
        pa.array(data),
        pa.chunked_array([data[:1], data[1:]]),
        pa.array(list(map(Decimal, ("0.1", "99.99", "100")))),
        pa.array(list(map(Decimal, ("0.1", "99.99", "100"))), pa.decimal128(38, 19)),
        pa.array(list(map(Decimal, ("0.1", "99.99", "100"))), pa.decimal256(50, 10)),
        pa.array(list(map(Decimal, ("7", "0.1", "99.99", "100")))).slice(1),
        pa.array(list(map(Decimal, ("0.1", "99.99", "100")))).dictionary_encode(),
    ):
        assert domain.encode(values).tolist() == codes, type(values)
    for kind in (np.int8, np.uint8, np.int64, np.uint64):
        assert domain.encode(np.array([0, 7, 100], kind)).tolist() == [0, 700, 10000]
    assert domain.encode([]).tolist() == []


def test_no_step_of_the_codes_overflows() -> None:
    widest = Decimals(-2, "2.611686018427387903", 18)
    assert widest.size == 2**62

    assert widest.encode(np.array([-2, 2])).tolist() == [0, 4 * 10**18]
    assert widest.encode([Decimal("2.611686018427387903")]).tolist() == [2**62 - 1]
    far = Decimals(10**17, 10**17 + 1, 18)
    assert far.encode(np.array([10**17, 10**17 + 1])).tolist() == [0, 10**18]
    assert far.encode([1e17]).tolist() == [0]
    assert exact(far, [Decimal("100000000000000000.000000000000000001")]) == [10**17 + Fraction(1, 10**18)]
    total = mu.run(mu.Plan(mu.Sums(Schema({"x": widest}), ["x", "x ** 2"])), {"x": [2.5, -1.25]}).estimate
    assert list(total.sums) == [Fraction("1.25"), Fraction("7.8125")]


def test_floats_of_codes_are_the_nearest() -> None:
    for domain in (TENTHS, Decimals(10**6, 10**6 + 1, 12)):
        codes = np.linspace(0, domain.size - 1, 101).astype(np.int64)
        assert domain.floats(codes).tolist() == [float(domain.exact(code)) for code in codes]
    assert TENTHS.numbers()[:2].tolist() == [-100.0, -99.9]
    assert TENTHS.label(1001) == "0.1" and TENTHS.labels()[0] == "-100"


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 0.25], r"row 1 holds 0.25 \(1 outside"),
        ([Decimal("0.11")], "row 0 holds"),
        (pa.array([Decimal("0.50"), Decimal("0.11")]), "row 1 holds"),
        ([Decimal("0.2500")], r"row 0 holds 0\.25 \("),
        ([Decimal("2.5e2")], r"row 0 holds 250 \("),
        ([Decimal("0.1234567890123456789")], r"row 0 holds Decimal\('0\.1234567890123456789'\)"),
        ([0.0, 100.1], r"row 1 holds 100.1 \(1 outside"),
        ([101], "row 0 holds 101"),
        ([Decimal("1e999999999")], "row 0 holds"),
        ([10**5000 // 10**4990], "row 0 holds"),
        ([1.0, math.inf], "row 1 holds inf"),
        ([1.0, -math.inf, "x"], "row 1 holds -inf"),
        (np.array([1.0, math.inf]), "row 1 holds inf"),
        ([1.0, math.nan], "row 1 has no value"),
        ([1.0, None, 2.0], "row 1 has no value"),
        ([Decimal("NaN"), Decimal("sNaN")], r"row 0 has no value \(2 missing in all"),
        (pd.Series([1, None], dtype="Int64"), "row 1 has no value"),
        (pa.array([Decimal("0.5"), None]), "row 1 has no value"),
        (["0.5", "0,5"], "row 1 holds '0,5'"),
        (["0.5", "0.55"], "row 1 holds '0.55'"),
        (np.array([0.5, 0.300000000000001]), "row 1 holds 0.300000000000001"),
        (np.array([2**64 - 1], np.uint64), "row 0 holds 18446744073709551615"),
        (np.array([1.0 + 2.0j]), "got values of type complex"),
    ],
)
def test_anything_else_is_refused_by_its_row(values: object, message: str) -> None:
    with pytest.raises(OutsideDomain, match=message):
        TENTHS.encode(values)


def test_more_decimals_come_with_a_hint() -> None:
    with pytest.raises(OutsideDomain, match='rounding="nearest"'):
        TENTHS.encode([0.25])
    with pytest.raises(OutsideDomain, match="widen the domain"):
        TENTHS.encode([1e300])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 1, 19), "places must be at most 18"),
        ((0, 1, -1), "places must be a whole number"),
        ((0, 1, True), "places must be a whole number"),
        ((0, 0.25, 1), "high must have at most 1 decimals"),
        ((1, 1, 1), "needs low < high"),
        ((math.nan, 1, 1), "low must be a finite number"),
        ((0, "many", 1), "high must be a finite number"),
        ((0, math.inf, 1), "high must be a finite number"),
        ((True, 2, 1), "low must be a finite number"),
        ((0, 5, 18), "at most 2\\*\\*62 values"),
        ((0, 10**18, 0), "between -10\\*\\*18"),
        ((0, 1, 1, "up"), "rounding must be"),
        ((0, 1, 1, "refuse", None, 3), "absent must be a number from 0 to 1"),
        ((0, 1, 1, "refuse", None, "x"), "absent must be a number from 0 to 1"),
    ],
)
def test_bad_parameters(given: tuple[object, ...], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Decimals(*given)  # type: ignore[arg-type]


def test_bounds_are_one_thing_however_they_are_given() -> None:
    made = [Decimals(low, "1e1", 2) for low in (0.1, "0.10", Decimal("0.1"), np.float32(0.1), np.float64(0.1), "1e-1")]

    assert len(set(made)) == 1
    assert made[0].to_dict()["low"] == "0.1" and made[0].to_dict()["high"] == "10"
    assert (made[0].low_exact, made[0].high_exact, made[0].step) == (Fraction(1, 10), 10, Fraction(1, 100))


# -- where it travels --------------------------------------------------------------------------------------------------


def test_through_json_and_toml() -> None:
    schema = Schema(
        {
            "temperature": Column(Decimals(30, "45.5", 1), missing="constant", missing_value=36.6),
            "fine": Decimals("-0.123456789012345678", 1, 18),
            "dose": Column(Decimals(0, 99, 4, "nearest"), note="mg"),
        }
    )

    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema
    assert Schema.from_toml(schema.to_toml()) == schema
    assert schema.kinds == dict.fromkeys(schema, "decimal") and kind_of(TENTHS) == "decimal"
    plan = mu.Plan(mu.Sums(schema, ["temperature", "fine * dose"]))
    assert mu.Plan.from_json(plan.to_json()) == plan
    for domain in (schema["temperature"], Decimals(0, 1, 2, column="x", absent="0.25")):
        mean = mu.Plan(mu.Mean(domain))
        assert mu.Plan.from_json(mean.to_json()) == mean


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("places = 1\nlow = 0", "high is missing"),
        ("places = 1\nlow = 0\nhigh = 0.25", "high must have at most 1 decimals"),
        ("low = 0\nhigh = 1", "places is missing"),
        ("low = 0\nhigh = 1\nplaces = 1\ncells = 3", "takes no 'cells'"),
        ("low = 0\nhigh = 1\nplaces = 1\nmissing = 'constant'\nmissing_value = 0.25", "missing_value must be"),
    ],
)
def test_bad_toml(line: str, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        Schema.from_toml(f'[columns.x]\ntype = "decimals"\n{line}\n')


def test_text_of_a_csv_is_read_digit_by_digit(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x\n1,0.1\n2,0.123456789012345678\n3,1e-3\n4,+.5\n5,\n6, 1 \n", encoding="utf-8")
    schema = Schema({"x": Column(Decimals(0, 1, 18), missing="constant", missing_value="0.000000000000000001")})
    meant = [Fraction(v) for v in ("0.1", "0.123456789012345678", "0.001", "0.5", "0.000000000000000001", "1")]

    total = mu.run(mu.Plan(mu.Sums(schema, ["x"])), path).estimate
    assert list(total.sums) == [sum(meant)]
    lenient = [
        encode_schema_lenient(schema, b)[0]
        for b in open_table(path, ["x"], schema.lenient_kinds, lenient=True).batches()
    ]
    assert [float(schema["x"].exact(code)) for code in np.concatenate(lenient)] == pytest.approx(
        list(map(float, meant)), rel=1e-15
    )


@pytest.mark.parametrize("text", ["1e30", "abc", "inf", "0x1", "123456789012345678901234567890"])
def test_text_of_a_csv_that_is_no_such_number(tmp_path, text: str) -> None:
    """Arrow alone would read 1e30 as 18960114910927365649.47."""
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n0.5,1\n{text},1\n", encoding="utf-8")

    with pytest.raises(InvalidParameter, match=f"row 1, column 'x' holds '{text}'"):
        mu.run(mu.Plan(mu.Sums(Schema({"x": TENTHS}), ["x"])), path)


@pytest.mark.parametrize("text", ["0.1000000000000000000000001", "0.1000000000000000055511151231257827"])
def test_digits_beyond_the_fifteenth_are_not_looked_at(tmp_path, text: str) -> None:
    """A frame would have made a float of it, and both must say the same. A domain with more digits looks at all."""
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n0.5,1\n{text},1\n", encoding="utf-8")

    assert mu.run(mu.Plan(mu.Sums(Schema({"x": TENTHS}), ["x"])), path).estimate.sums[0] == Fraction("0.6")
    with pytest.raises(OutsideDomain, match="row 1"):
        mu.run(mu.Plan(mu.Sums(Schema({"x": Decimals(0, 1, 16)}), ["x"])), path)


@pytest.mark.parametrize("text", ["0.05", "0.10000000000001"])
def test_text_with_more_decimals_is_refused(tmp_path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"x,y\n0.5,1\n{text},1\n", encoding="utf-8")

    with pytest.raises(OutsideDomain, match="row 1"):
        mu.run(mu.Plan(mu.Sums(Schema({"x": TENTHS}), ["x"])), path)
    near = Schema({"x": Decimals(0, 1, 1, "nearest")})
    assert mu.run(mu.Plan(mu.Sums(near, ["x"])), path).estimate.sums[0] in (Fraction("0.5"), Fraction("0.6"))


def test_parquet_decimals(tmp_path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([Decimal("0.10"), Decimal("99.90")])}), path)

    assert list(mu.run(mu.Plan(mu.Sums(Schema({"x": TENTHS}), ["x"])), path).estimate.sums) == [100]


# -- where every row is read -------------------------------------------------------------------------------------------


def test_every_row_gets_a_code() -> None:
    domain = Decimals(0, 10, 1)
    read = [None, math.nan, "?", -3, 11.7, math.inf, -math.inf, 0.25, 0.35, "0.1", True]
    read += [Decimal("9.99"), Decimal("NaN")]
    meant = [None, None, None, 0, 10, 10, 0, 0.2, 0.4, 0.1, 1, 10, None]

    found = [None if code == domain.size else float(domain.exact(code)) for code in encode_domain_lenient(domain, read)]
    assert found == meant
    assert [float(domain.exact(code)) for code in encode_domain_lenient(domain, read, missing=Decimal("7.5"))][:3] == [
        7.5,
        7.5,
        7.5,
    ]
    assert encode_domain_lenient(domain, np.array([-5, 3, 200])).tolist() == [0, 30, 100]
    assert encode_domain_lenient(domain, np.array([0, 2**64 - 1], np.uint64)).tolist() == [0, 100]
    assert encode_domain_lenient(Decimals("0.2", "0.8", 1), np.array([-1, 0, 1])).tolist() == [0, 0, 6]
    assert encode_domain_lenient(domain, pa.array(["0.1", "12", "x", None, "9.949999999999"])).tolist() == [
        1,
        100,
        101,
        101,
        99,
    ]
    assert (
        encode_domain_lenient(domain, pa.array(["9.94999999999999999999"])).tolist()
        == encode_domain_lenient(domain, [9.95]).tolist()
        == [100]
    )
    assert encode_domain_lenient(domain, pa.array([Decimal("0.25"), None, Decimal("99.00")])).tolist() == [2, 101, 100]


@given(st.lists(st.floats(-120, 120) | st.decimals(-120, 120, places=1), min_size=1, max_size=5))
def test_lenient_codes_agree_with_strict_ones(values: list[float | Decimal]) -> None:
    codes = encode_domain_lenient(TENTHS, values)
    read = TENTHS.parse(values)
    for i, code in enumerate(codes):
        if read.outside_mask is None or not read.outside_mask[i]:
            assert code == read.codes[i]
        alone = encode_domain_lenient(TENTHS, [values[i]])
        assert alone[0] == code


def test_missing_answers_beside_large_codes() -> None:
    schema = Schema({"x": Column(Decimals(-1000, 1000, 15), missing="constant", missing_value="999.123456789012345")})

    codes = schema.encode({"x": [0.5, None]})[0]
    assert codes.dtype == np.int64
    assert schema["x"].exact(codes[1]) == Fraction("999.123456789012345")
    with pytest.raises(InvalidParameter, match="has no label for missing"):
        Column(TENTHS, missing="value")


# -- what is asked about it --------------------------------------------------------------------------------------------


def test_statistics_of_few_values_and_the_refusal_of_many() -> None:
    few, many = Decimals(30, 45, 1, column="t"), Decimals(30, 45, 12, column="t")
    data = {"t": [36.6, 37.0, 41.2, 36.6]}

    assert mu.run(mu.Plan(mu.Mean(few)), data).estimate.mean[0] == pytest.approx(37.85)
    assert mu.run(mu.Plan(mu.Sum(few)), data).estimate.mean[0] == pytest.approx(151.4)
    with pytest.raises(InvalidParameter, match="at most 15 digits"):
        mu.Sum(Decimals(10**15, 10**15 + 9, 1, column="t"))
    assert mu.run(mu.Plan(mu.Quantile(few)), data).estimate.mean[0] == pytest.approx(36.6)
    assert mu.run(mu.Plan(mu.Where(mu.Count(few), column=few, between=(36.6, 37))), data).estimate.mean[0] == 3
    for make in (
        mu.Mean,
        mu.Sum,
        mu.Variance,
        mu.Quantile,
        mu.Histogram,
        lambda d: mu.GRR(d, 1.0),
        lambda d: mu.Duchi(d, 1.0),
        lambda d: mu.SMP(Schema({"t": d}), 1.0),
        lambda d: mu.Marginals(Schema({"t": d})),
        lambda d: mu.advise(d, 1.0, 100),
        lambda d: mu.advise(Schema({"t": d}), 1.0, 100),
    ):
        with pytest.raises(InvalidParameter, match=r"at most 2\*\*31 values"):
            make(many)
    for ask in (many.labels, many.numbers):
        with pytest.raises(InvalidParameter, match="too many to list"):
            ask()


def test_in_words() -> None:
    from murmure.parties.study.question_words import describe_domain
    from murmure.show.language import Language

    fine = Decimals(0, "0.123456789012345678", 18)
    assert TENTHS.public() == "the numbers -100 to 100 with at most 1 decimals"
    assert TENTHS.describe() == "a number from -100 to 100 with at most 1 decimals"
    assert "0.123456789012345678, with at most 18 decimals" in describe_domain(fine)
    assert (
        Language("fr").say(describe_domain(Decimals(0, "1.5", 1, "nearest")))
        == "nombres de 0 à 1,5, arrondis à au plus 1 décimale"
    )
    assert repr(Decimals(0, "1.5", 1, "nearest", "x")) == "Decimals(0, 1.5, places=1, rounding='nearest', column='x')"


def test_learners_count_decimals_among_the_numbers() -> None:
    from murmure.statistics.learning.class_moments import ClassMoments
    from murmure.statistics.learning.gram import Gram

    schema = Schema({"t": Decimals(30, 45, 1), "sick": mu.Categories(["no", "yes"])})
    assert ClassMoments(schema, "sick").numbers == ("t",)
    assert Gram(schema, "t").width > 0
    fine = Schema({"t": Decimals(30, 45, 12), "sick": mu.Categories(["no", "yes"])})
    for make in (lambda: ClassMoments(fine, "sick"), lambda: Gram(fine, "t")):
        with pytest.raises(InvalidParameter, match="values"):
            make()
