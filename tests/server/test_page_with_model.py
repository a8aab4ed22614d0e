"""The page while a run goes on: sections advance, it is steered, the report is written; or it waits for a worker."""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.model.harness import PLAN, QUESTION, served
from tests.runs.running import engines
from tests.server.browser import Tab, check_accessible
from tests.server.serving import Held, Wire, begin, client, serving
from tests.server.test_streaming import WORDS, writing
from tests.support.made_reports import RUN_ID

pytestmark = pytest.mark.process  # a browser is started


def lose_connection(page: Page, wire: Wire, say: Callable[[], object]) -> None:
    """Cut the connection in the middle: what was said meanwhile is shown when it is back, and nothing twice."""
    lines = page.locator(".activity .event").count()
    wire.cut()
    expect(page.locator(".connection")).to_be_visible(timeout=30_000)
    say()
    wire.mend()
    expect(page.locator(".activity")).to_contain_text("You: Said meanwhile", timeout=30_000)
    expect(page.locator(".activity .event")).to_have_count(lines + 1)
    expect(page.locator(".connection")).to_be_hidden()


def test_a_run_with_a_model_is_watched_and_steered(
    browser: Browser, own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tab = Tab(browser, bypass_csp=True)
    page = tab.page
    script = Held()
    with (
        served(monkeypatch, script) as provider,
        serving(own_state) as address,
        client(address) as http,
        closing(Wire(address)) as wire,
    ):
        docs = engines(tmp_path / "docs")
        run = begin(http, docs, QUESTION, model_provider="compatible", model_name="scripted", confirm_plan=True)
        page.goto(f"{wire.address}/#/runs/{run}")
        # The plan is confirmed, and is gone from the page while the research goes on.
        page.get_by_role("button", name="Start the research").click()
        expect(page.locator(".section-card.is-searching")).to_have_count(len(PLAN))
        expect(page.locator(".plan")).to_have_count(0)
        expect(page.locator(".pill")).to_contain_text("In progress")
        check_accessible(page, "a run that goes on")
        steering = page.get_by_label("Steer the research")
        steering.fill("Mind the weight")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".activity")).to_contain_text("You: Mind the weight")
        page.get_by_label("Kind of instruction").select_option("add")
        steering.fill("Prices: what each engine costs")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".section-card")).to_have_count(len(PLAN) + 1)
        page.get_by_role("button", name=re.compile("Drop the section Prices")).click()
        expect(page.locator(".section-card.is-dropped")).to_have_count(1)
        lose_connection(
            page,
            wire,
            lambda: http.post(f"/api/v1/runs/{run}/steer", json={"kind": "remark", "text": "Said meanwhile"}),
        )
        script.go.set()
        expect(page.locator(".trust")).to_be_visible(timeout=90_000)
        tab.faults[:] = [fault for fault in tab.faults if "net::ERR" not in fault]
        assert provider.calls
        report = http.get(f"/api/v1/runs/{run}/report").json()
        assert "Mind the weight" in report["report"]
        page.locator(".report-text .claim").first.click()
        expect(page.locator(".evidence .badges")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("tab", name=re.compile("Process")).click()
        expect(page.locator(".ledger")).to_contain_text(str(report["ledger"]["model_calls"]))
        page.goto("about:blank")
    tab.context.close()
    assert tab.faults == []


def test_the_page_shows_the_report_while_it_is_written_and_verified(browser: Browser, own_state: Path) -> None:
    with writing(own_state) as (at, writer):
        tab = Tab(browser)
        page = tab.page
        page.goto(f"{at.address}/#/runs/{RUN_ID}")
        expect(page.locator(".writing .prose")).to_contain_text(WORDS[-1].strip())
        expect(page.locator(".writing .prose")).to_contain_text(WORDS[0].strip())
        expect(page.locator(".writing .eyebrow")).to_contain_text("Being written")
        writer.steps[0].set()
        expect(page.locator(".writing .eyebrow")).to_contain_text("12 statements verified, 3 problems found")
        writer.steps[1].set()
        expect(page.locator(".writing .eyebrow")).to_contain_text("2 changes made")
        assert page.locator(".activity .event-report_piece").count() == 0
        writer.steps[2].set()
        expect(page.locator(".report-text")).to_contain_text("Take the Alpha engine for boats")
        tab.context.close()
        assert tab.faults == []


def test_a_run_that_waits_for_a_worker_says_so_on_the_page(browser: Browser, url: str, own_state: Path) -> None:
    with serving(own_state, queued=True) as address, client(address) as http:
        new = {"question": QUESTION, "model_provider": "finder"}
        run = http.post("/api/v1/runs", json=new).json()["id"]
        page = browser.new_page()
        page.goto(f"{address}/#/runs/{run}")
        expect(page.locator(".notice")).to_contain_text("deep-research worker", timeout=30_000)
        page.goto("about:blank")
