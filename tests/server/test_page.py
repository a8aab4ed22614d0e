"""The page in a real browser against a real server: ask, plan, watch, check, ask further; and what it looks like to all."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Route, expect

from tests.runs.running import engines
from tests.server.browser import Tab, check_accessible
from tests.server.conftest import Finished
from tests.server.serving import client, serving

QUESTION = "Which kinds of engines are there?"
pytestmark = pytest.mark.process  # a browser is started


@pytest.fixture
def tab(browser: Browser) -> Iterator[Tab]:
    made = Tab(browser)
    yield made
    made.context.close()
    assert made.faults == []


def open_report(tab: Tab, finished: Finished, part: str = "") -> None:
    tab.page.goto(f"{finished.address}/#/runs/{finished.run_id}{part}")
    expect(tab.page.locator(".trust")).to_be_visible()


def test_the_whole_story(tab: Tab, own_state: Path, tmp_path: Path) -> None:
    docs = sorted(engines(tmp_path / "docs").iterdir())
    page = tab.page
    with serving(own_state) as address:
        page.goto(address)
        page.get_by_label("Question", exact=True).fill(QUESTION)
        page.locator("input[type=file]").set_input_files(docs)
        expect(page.locator(".file-chips li:not(.busy)")).to_have_count(len(docs))
        page.get_by_text("Show plan first").click()
        page.get_by_label("Start the research").click()
        # The plan: a section is renamed, another one is added.
        page.get_by_label("Title of section 1").fill("The Alpha engine")
        page.get_by_role("button", name="Add a section").click()
        last = page.locator(".plan-list li").last
        last.get_by_label(re.compile("Title of section")).fill("Who built them")
        last.get_by_label(re.compile("Searches")).fill("built by | year")
        page.get_by_role("button", name="Start the research").click()
        expect(page.locator(".trust")).to_be_visible(timeout=60_000)
        expect(page.locator(".report-text")).to_contain_text("Who built them")
        # A citation opens its passage, which stands word for word in the snapshot.
        page.locator(".report-text .cite").nth(1).click()
        mark = page.locator(".evidence .passage mark").first
        expect(mark).to_be_visible()
        page.get_by_role("button", name="In its text").first.click()
        shown = page.locator(".snapshot mark")
        expect(shown).to_be_in_viewport()
        assert mark.inner_text().split() == [w for w in shown.inner_text().split() if not re.fullmatch("#+", w)]
        page.locator(".snapshot").get_by_label("Close").click()
        page.keyboard.press("Escape")
        # A further question.
        page.get_by_label("Ask about this report").fill("How fast is the Gamma engine?")
        page.get_by_label("Ask", exact=True).click()
        expect(page.locator(".further-answer .prose")).to_contain_text("21,000", timeout=60_000)
        page.reload()
        expect(page.locator(".further-answer .prose")).to_contain_text("21,000", timeout=60_000)
        # The run stands among the earlier ones, is found, and is deleted.
        page.get_by_label("Search earlier research").fill("engines")
        expect(page.locator(".run-list a")).to_have_count(1)
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Delete").click()
        expect(page.locator(".run-list a")).to_have_count(0)
        with client(address) as http:
            assert http.get("/api/v1/runs").json()["total"] == 0


TABLE = (
    """# Engines by speed and weight

| Engine | Speed | Weight |
|---|---|---|
| Alpha engine | 3,000 rpm | 60 kg |
| Beta engine | 4,500 rpm | 85 kg |

The speed of the Beta engine is told at https://example.org/"""
    + "engines/" * 40
)


def test_tables_and_long_addresses_keep_to_their_place(tab: Tab, own_state: Path) -> None:
    page = tab.page
    with serving(own_state) as address, client(address) as http:
        document = http.post("/api/v1/documents", files={"file": ("a.md", TABLE.encode())}).json()["id"]
        question = "What are the speed and the weight of the Beta engine?"
        new = {"question": question, "documents": [document], "model_provider": "finder"}
        run = http.post("/api/v1/runs", json=new).json()["id"]
        page.goto(f"{address}/#/runs/{run}/statements")
        expect(page.locator(".statement").first).to_be_visible(timeout=60_000)
        row = page.locator(".statement", has=page.locator(".row-claim"), has_text="Beta engine")
        expect(row).to_contain_text("4,500 rpm")
        row.locator("button").click()
        expect(page.locator(".evidence .row-claim")).to_contain_text("Weight 85 kg")
        page.get_by_role("tab", name=re.compile("^Report")).click()
        expect(page.locator(".report-text td").last).to_have_text("85 kg")
        expect(page.locator(".report-text .cite").first).to_be_visible()
        for place in range(page.locator(".report-text .cite").count()):
            page.locator(".report-text .cite").nth(place).click()
            expect(page.locator(".evidence .passage mark").first).to_be_visible()
            for box in (".evidence-body", "main"):
                assert page.locator(box).evaluate("e => e.scrollWidth <= e.clientWidth + 1"), (box, place)
        page.goto("about:blank")


def test_each_format_is_offered_and_one_is_downloaded(tab: Tab, finished: Finished) -> None:
    open_report(tab, finished)
    offered = [one["name"] for one in finished.http.get("/api/v1/options").json()["exports"]]
    tab.page.get_by_role("button", name="Export").click()
    shown = tab.page.get_by_role("menuitem")
    expect(shown).to_have_count(len(offered))
    with tab.page.expect_download(timeout=90_000) as download:
        shown.first.click()
    assert Path(download.value.path()).stat().st_size > 100
    expect(tab.page.get_by_role("menu")).to_be_hidden()


def test_a_clarification_is_answered_by_choosing(tab: Tab, indexed: Path) -> None:
    page = tab.page
    with serving(indexed) as address:
        page.goto(address)
        page.get_by_label("Question", exact=True).fill("cancer")
        page.get_by_label("Start the research").click()
        option = page.locator(".question-card .option").first
        chosen = option.inner_text()
        option.click()
        expect(page.locator(".trust, .notice.bad").first).to_be_visible(timeout=60_000)
        expect(page.locator("main")).to_contain_text(re.compile("cancer", re.IGNORECASE))
        assert chosen
        page.goto("about:blank")


def test_nothing_serious_stands_in_the_way_of_assistive_technology(
    browser: Browser, finished: Finished, own_state: Path
) -> None:
    made = Tab(browser, bypass_csp=True)
    page = made.page
    page.goto(finished.address)
    expect(page.locator(".composer")).to_be_visible()
    check_accessible(page, "ask")
    for part in ("report", "statements", "sources", "process"):
        page.goto(f"{finished.address}/#/runs/{finished.run_id}/{part}")
        expect(page.locator(f".tab-{part} > *").first).to_be_visible()
        check_accessible(page, part)
        if part == "statements":
            expect(page.locator(".statement")).to_have_count(12)
    expect(page.locator(".process")).to_contain_text("12 statements verified, 3 problems found")
    page.get_by_role("tab", name=re.compile("^Report")).click()
    page.locator(".cite").first.click()
    expect(page.locator(".evidence .passage mark").first).to_be_visible()
    check_accessible(page, "evidence")
    page.get_by_role("button", name="In its text").first.click()
    expect(page.locator(".snapshot mark")).to_be_visible()
    check_accessible(page, "snapshot")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export").click()
    check_accessible(page, "menu")
    page.goto(f"{finished.address}/#/compare/{finished.run_id}/{finished.run_id}")
    expect(page.locator(".compare .two").nth(1)).to_be_visible()
    check_accessible(page, "compare")
    with serving(own_state, require_tokens=True) as address:
        page.goto(address)
        expect(page.get_by_label("Token")).to_be_visible()
        check_accessible(page, "login")
        page.goto("about:blank")
    made.context.close()


def test_the_first_load_is_small_quick_and_from_this_server_alone(tab: Tab, finished: Finished) -> None:
    page = tab.page
    page.goto(finished.address)
    expect(page.locator(".composer")).to_be_visible()
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate(
        "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
        ".map(e => e.encodedBodySize).reduce((a, b) => a + b, 0)"
    )
    assert 10_000 < loaded < 150_000
    assert all(url.startswith(finished.address) for url in tab.asked)


def test_the_page_fits_a_phone(browser: Browser, finished: Finished) -> None:
    made = Tab(browser, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = made.page
    for part in (
        "",
        f"#/runs/{finished.run_id}",
        f"#/runs/{finished.run_id}/sources",
        f"#/runs/{finished.run_id}/process",
    ):
        page.goto(f"{finished.address}/{part}")
        expect(page.locator("main > .view > *").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"), part
    page.goto(f"{finished.address}/#/runs/{finished.run_id}")
    page.locator(".cite").first.tap()
    expect(page.locator(".evidence .passage mark").first).to_be_in_viewport()
    # Above the evidence the statement is in sight, once the sheet has slid in.
    page.locator(".evidence").evaluate("e => Promise.all(e.getAnimations().map(one => one.finished))")
    top = page.locator(".evidence").bounding_box()
    assert top is not None
    clip = {"x": 10, "y": 60, "width": 340, "height": top["y"] - 70}
    shown = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("L")  # type: ignore[arg-type]
    assert len(set(shown.getdata())) > 20
    made.context.close()
    assert made.faults == []


def test_a_report_that_arrives_late_is_not_shown_over_what_the_user_went_to(tab: Tab, finished: Finished) -> None:
    page, held = tab.page, list[Route]()
    page.route("**/report?*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function
    with page.expect_request("**/report?*"):
        page.goto(f"{finished.address}/#/runs/{finished.run_id}")
    page.evaluate("location.hash = '#/'")
    expect(page.locator(".composer")).to_be_visible()
    with page.expect_response("**/report?*") as answer:
        held[0].continue_()
    answer.value.finished()
    page.evaluate("new Promise((done) => setTimeout(done))")  # what waits for the answer has gone on
    expect(page.locator(".composer")).to_be_visible()
    assert page.locator(".reported").count() == 0


def test_everything_can_be_done_by_keyboard(tab: Tab, finished: Finished) -> None:
    open_report(tab, finished)
    page = tab.page
    page.locator(".cite").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".evidence .passage mark").first).to_be_visible()
    page.get_by_label("Next statement").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".evidence-place")).to_contain_text(re.compile(r"\d+ / \d+"))
    page.keyboard.press("Escape")
    expect(page.locator(".evidence")).to_be_hidden()
    page.locator("#tab-report").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-statements")).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Search earlier research")).to_be_focused()
