"""What a telephone loads to answer, as it is served, and what must never be compressed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from tests.collector.documents import CHEATED, SURVEYS, document, opened
from tests.collector.http.services import Visitor, service

pytest.importorskip("httptools")

MAX_WEIGHT = 60_000  # bytes of all bodies
LOADED = re.compile(r'<(?:link|script)[^>]* (?:href|src)="(/v/[^"]+)"')


def loaded(visitor: Visitor, survey: str, **headers: str) -> dict[str, bytes]:
    """By path: the bodies of the page, of the plan, and of all files that the page names."""
    found = {path: visitor.ask("GET", path, **headers) for path in (f"/s/{survey}", f"/api/surveys/{survey}/plan")}
    page = found[f"/s/{survey}"]
    text = gzip.decompress(page.body) if "content-encoding" in page.headers else page.body
    paths = sorted(set(LOADED.findall(text.decode())))
    found |= {path: visitor.ask("GET", path, **headers) for path in paths}
    assert {answer.status for answer in found.values()} == {200}
    return {path: answer.body for path, answer in found.items()}


@pytest.mark.parametrize("name", ["yes-no", "several", "waves"])
def test_all_that_a_telephone_loads(tmp_path: Path, name: str) -> None:
    """In both forms the same; compressed it is light."""
    with service(tmp_path) as running:
        survey = opened(running.collector, SURVEYS[name][0])
        plain = loaded(running.visitor(), survey.id)
        compressed = loaded(running.visitor(), survey.id, Accept_Encoding="gzip, deflate, br")

    assert len(plain) > 10
    assert {path: gzip.decompress(body) for path, body in compressed.items()} == plain
    assert sum(map(len, compressed.values())) < MAX_WEIGHT < sum(map(len, plain.values()))


def test_what_is_for_analysts_is_not_compressed(tmp_path: Path) -> None:
    """Their pages hold the token of the session, and its length must not depend on what is beside it."""
    with service(tmp_path) as running:
        analyst = running.analyst()
        survey = opened(running.collector, document(CHEATED))
        one = f"/surveys/{survey.id}"
        for path in ("/", "/surveys/new", one, f"{one}/live", f"{one}/class", f"/api{one}", "/api/surveys"):
            answer = analyst.ask("GET", path, Accept_Encoding="gzip")
            assert answer.status == 200, path
            assert "content-encoding" not in answer.headers, path
