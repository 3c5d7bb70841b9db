"""docs/ref-collector-api.md names everything that the collector answers, takes, stores and counts, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.routing import Route
from tests.docs import collector_tables

from murmure.collector.http.api_routes import ApiRoutes
from murmure.collector.http.app import make_app
from murmure.collector.http.page_routes import PageRoutes
from murmure.collector.http.requests import Desk
from murmure.collector.http.settings import WebSettings
from murmure.collector.http.status_routes import StatusRoutes
from murmure.collector.intake import errors as intake_errors
from murmure.collector.intake.errors import IntakeFailed
from murmure.collector.intake.frames import FRAME, PAYLOAD
from murmure.collector.intake.segments import HEADER
from murmure.collector.service.collector import Collector
from murmure.collector.service.errors import RETRY_SECONDS, STATUS

TEXT = collector_tables.PAGE.read_text(encoding="utf-8")


def part(heading: str) -> str:
    """The page from this heading to the next one of its level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)
    assert found is not None, heading
    return found[1]


def first_cells(heading: str) -> list[str]:
    """The code in the first column of the tables under a heading."""
    return re.findall(r"^\| `([^`]+)` \|", part(heading), re.M)


@pytest.mark.parametrize("name", collector_tables.SECTIONS)
def test_a_table_is_what_the_code_says(name: str) -> None:
    """`python -m tests.docs.collector_tables` writes the page."""
    assert collector_tables.section(name) in TEXT


def test_every_route_of_the_app_has_an_entry(tmp_path: Path) -> None:
    """Those of the API are in the table of routes, pages and files in one of theirs."""
    with Collector(tmp_path) as collector:
        make_app(collector)
        desk = Desk(collector, WebSettings())
        groups = (ApiRoutes(desk), PageRoutes(desk), StatusRoutes(desk))
        served = [route for group in groups for route in group.routes()]
    assert all(isinstance(route, Route) for route in served)
    exports = {path for path in collector_tables.PATHS if "/export." in path}
    expected = {
        f"{method} {path}"
        for route in served
        for path in (exports if "{ending}" in route.path else [route.path.replace(":path}", "}")])
        for method in (route.methods or ())
        if method != "HEAD"
    } | {f"POST /api/surveys/{{id}}/{hot}" for hot in ("reports", "batches")}

    assert expected == {*first_cells("Routes"), *first_cells("Pages and files")}


def test_every_environment_variable_is_named() -> None:
    """Of the options of `murmure serve`; each has its command-line spelling beside it."""
    for option in collector_tables.settings():
        assert str(option.envvar).startswith("MURMURE_SERVE_")
        assert f"| `{option.opts[0]}` | `{option.envvar}` |" in part("Options")


def test_every_error_code_has_its_status_and_its_patience() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\d{3}) \| (-|\d+ s) \| \S", part("Errors"), re.M)
    patience = {code: f"{seconds} s" for code, seconds in RETRY_SECONDS.items()}

    assert [(code, str(status), patience.get(code, "-")) for code, status in STATUS.items()] == rows


def test_every_metric_is_named(tmp_path: Path) -> None:
    with Collector(tmp_path) as collector:
        status = StatusRoutes(Desk(collector, WebSettings()))
        names = [name for name, *_ in status._figures()]

    assert names and names == first_cells("Metrics")


def test_the_log_is_described_byte_for_byte() -> None:
    """Sizes of header, frame and payload; the reasons why a folder is not opened."""
    log = part("The log of reports")
    errors = [one for one in vars(intake_errors).values() if isinstance(one, type) and issubclass(one, IntakeFailed)]
    reasons = {error.reason for error in errors if error is not IntakeFailed}

    assert f"header, {HEADER.size} bytes" in log
    assert f"frame, {FRAME.size} bytes" in log
    assert f"payload, {PAYLOAD.size} bytes" in log
    assert reasons == set(first_cells("When a folder is not served"))
