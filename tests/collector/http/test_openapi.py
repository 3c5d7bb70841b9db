"""The OpenAPI document and the routes: neither has something that the other has not."""

from __future__ import annotations

from pathlib import Path

from starlette.routing import Route
from tests.collector.http.services import service

from murmure.collector.http.app import make_app
from murmure.collector.http.openapi import PATHS
from murmure.collector.http.page_routes import EXPORTS
from murmure.collector.service.collector import Collector

HOT = {("/api/surveys/{id}/reports", "POST"), ("/api/surveys/{id}/batches", "POST")}
OF_PAGES = ("/s/", "/surveys/", "/sign-in/", "/v/", "/static/", "/client/")
PAGES = {"/", "/first", "/favicon.ico"}


def served_operations(folder: Path) -> set[tuple[str, str]]:
    with Collector(folder) as collector:
        routes = [route for route in make_app(collector)._rest.routes if isinstance(route, Route)]
    found = set(HOT)
    for route in routes:
        if route.path in PAGES or route.path.startswith(OF_PAGES):
            continue
        paths = (
            [route.path.replace("{ending}", ending) for ending in EXPORTS] if "{ending}" in route.path else [route.path]
        )
        found |= {(path, method) for path in paths for method in route.methods or () if method != "HEAD"}
    return found


def test_the_document_has_every_operation_and_no_other(tmp_path: Path) -> None:
    written = {(path, method.upper()) for path, operations in PATHS.items() for method in operations}

    assert served_operations(tmp_path) == written


def test_an_address_says_all_that_it_takes(tmp_path: Path) -> None:
    """Also where several routes share it: so the routes above are those that answer."""
    with service(tmp_path) as running:
        for path in PATHS:
            answer = running.visitor().ask("PATCH", path.format(id="nosuchsurvey"))
            allowed = set(answer.headers["allow"].split(", ")) - {"HEAD"}

            assert answer.status == 405 and answer.json["error"] == "method"
            assert allowed == {method.upper() for method in PATHS[path]}, path
