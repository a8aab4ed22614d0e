"""Verification over HTTP and on the page: a report is handed in, and seen marked."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.server.browser import Tab, browsing, check_accessible
from tests.server.serving import client, serving
from tests.support.fake_web import FakeWeb
from tests.verify.reports import engines_web, html, markdown

NO_REPORTS: list[dict[str, object]] = [
    {},
    {"text": "x", "revise": True},
    {"text": " "},
    {"text": "x", "reports": ["d0000000000000000"]},
    {"text": "x" * 500_001},
]


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[FakeWeb, str]]:
    with engines_web() as (made, base):
        monkeypatch.setenv("DEEP_RESEARCH_ALLOWED_INTERNAL_HOSTS", f"127.0.0.1:{made.port}")
        monkeypatch.setenv("DEEP_RESEARCH_MODEL_PROVIDER", "finder")
        yield made, base


def finished(http: httpx.Client, run: str) -> dict[str, Any]:
    """The report of a run, once it is there."""
    until = time.monotonic() + 60
    while http.get(f"/api/v1/runs/{run}").json()["status"] in ("queued", "running") and time.monotonic() < until:
        time.sleep(0.05)
    return http.get(f"/api/v1/runs/{run}/report").json()


def test_text_and_uploads_are_verified_and_what_is_no_report_is_refused(
    own_state: Path, web: tuple[FakeWeb, str]
) -> None:
    with serving(own_state) as address, client(address) as http:
        made = http.post("/api/v1/verifications", json={"text": markdown(web[1])}, headers={"idempotency-key": "one"})
        assert made.status_code == 201
        assert made.headers["location"].endswith(made.json()["id"])
        assert made.json()["title"] in ("", "Engines compared")
        again = http.post("/api/v1/verifications", json={"text": markdown(web[1])}, headers={"idempotency-key": "one"})
        assert (again.status_code, again.json()["id"]) == (200, made.json()["id"])
        report = finished(http, made.json()["id"])
        assert len(report["problems"]) == 2
        files = {"file": ("r.html", html(web[1]).encode())}
        document = http.post("/api/v1/documents", files=files).json()["id"]
        run = http.post("/api/v1/verifications", json={"reports": [document]}).json()["id"]
        assert [problem["quote"] for problem in finished(http, run)["problems"]] == [
            "The Alpha engine turns at 3,500 rpm."
        ]
        exported = http.get(f"/api/v1/runs/{run}/export/html")
        assert "3,000 rpm" in exported.text
        for body in NO_REPORTS:
            refused = http.post("/api/v1/verifications", json=body)
            assert 400 <= refused.status_code < 500
            assert refused.json()["detail"]


@pytest.mark.process
def test_a_report_that_is_dropped_is_seen_marked(own_state: Path, web: tuple[FakeWeb, str]) -> None:
    with browsing() as browser, serving(own_state) as address:
        tab = Tab(browser, bypass_csp=True)
        page = tab.page
        page.goto(address)
        report: Any = {"name": "r.md", "mimeType": "text/markdown", "buffer": markdown(web[1]).encode()}
        page.locator("input[type=file]").set_input_files(report)
        expect(page.locator(".file-chips li:not(.busy)")).to_have_count(1)
        page.get_by_role("button", name="Verify a report").click()
        expect(page.get_by_role("heading", name="Engines compared")).to_be_visible(timeout=60_000)
        expect(page.locator("main")).to_contain_text("the number 3,500 is in none of the cited sources", timeout=60_000)
        expect(page.locator("main")).to_contain_text("What was found wrong")
        check_accessible(page, "a verified report")
        assert not tab.faults
