"""A report on the page: each statement where it stands, quiet marks, charts, what was found and changed; and the list of runs."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.server.browser import Tab, check_accessible
from tests.server.serving import serving
from tests.support.made_reports import OWN, RUN_ID, make_report, save_run

pytestmark = pytest.mark.process  # a browser is started
SAID = "[...document.querySelectorAll('.report-text .claim')].map(e => [e.dataset.claim, e.textContent])"


@pytest.fixture
def tab(browser: Browser, own_state: Path) -> Iterator[Tab]:
    save_run(own_state)
    made = Tab(browser)
    with serving(own_state) as address:
        made.page.goto(f"{address}/#/runs/{RUN_ID}")
        expect(made.page.locator(".verification")).to_be_attached()
        yield made
        made.page.goto("about:blank")
    made.context.close()
    assert made.faults == []


def squeezed(text: str) -> str:
    return re.sub(r"[\s|]+", "", text)


def test_each_statement_is_found_where_it_stands_in_any_script(browser: Browser, own_state: Path) -> None:
    extra = "\N{PILE OF POO} 发动机 & *not* emphasis_ `x|y` |"
    report = make_report(extra)
    save_run(own_state, report)
    made = Tab(browser)
    with serving(own_state) as address:
        made.page.goto(f"{address}/#/runs/{RUN_ID}")
        expect(made.page.locator(".verification")).to_be_attached()
        shown: dict[str, str] = {}
        for key, text in made.page.evaluate(SAID):
            shown[key] = shown.get(key, "") + text
        made.page.goto("about:blank")
    made.context.close()
    assert made.faults == []
    told = {claim.id: claim.text for claim in report.claims if claim.id != "c11"}
    assert {key: squeezed(text) for key, text in shown.items() if key != "c11"} == {
        key: squeezed(text) for key, text in told.items()
    }
    assert "pg_basebackup" in shown["c11"]
    assert not [text for text in shown.values() if re.search("[\U000f0000-\U0010ffff]", text)]


def test_a_statement_opens_its_passage_and_what_is_not_confirmed_says_why(tab: Tab) -> None:
    page = tab.page
    page.locator(".claim[data-claim=c4]").first.click()
    expect(page.locator(".evidence .claim-text")).to_have_text("The Alpha engine was built in 1999 by Rolf Maier.")
    expect(page.locator(".evidence mark")).to_contain_text("The Alpha engine was built in 1999 by Rolf Maier.")
    # A citation opens the statement before it, and not the other one of its paragraph.
    page.locator(".report-section .cite").nth(1).click()
    expect(page.locator(".evidence .claim-text")).to_have_text("It can be run in any weather.")
    page.get_by_role("button", name="In its text").click()
    expect(page.locator(".snapshot mark")).to_contain_text("must not be run below 5 °C")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    marks = [(mark.get_attribute("title") or "") for mark in page.locator(".doubt").all()]
    assert marks == [
        "Misleading: The manual says that it must not be run below 5 °C.",
        "Contradicted: The table says 85 kg.",
        "Unverified: No passage speaks of countries.",
    ]
    assert page.locator(".report-frame .doubt").count() == 0  # where the sign is explained it is a sign
    page.locator(".doubt").first.click()
    expect(page.locator(".evidence .badges")).to_have_text("Misleading")
    expect(page.locator(".evidence")).to_contain_text("Its manual forbids cold.")


def test_the_authors_own_is_told_apart_and_can_be_taken_out_of_focus(tab: Tab) -> None:
    page = tab.page
    expect(page.locator(".prose p.own")).to_have_text(OWN)
    page.locator(".claim.verdict-own").first.click()
    expect(page.locator(".evidence .badges")).to_have_text("The author's own")
    page.keyboard.press("Escape")
    page.locator(".filter", has_text="The author's own").click()
    faded = "e => Number(getComputedStyle(e).opacity) < 0.5"
    assert page.locator(".claim.verdict-own").first.evaluate(faded)
    assert not page.locator(".claim.verdict-supported").first.evaluate(faded)


def test_the_counts_are_those_of_the_exports(tab: Tab) -> None:
    expect(tab.page.locator(".trust")).to_contain_text("7/10statements supported")
    numbers = [chip.inner_text().split("\n")[-1].split()[-1] for chip in tab.page.locator(".filter").all()]
    assert numbers == ["7", "2", "1", "1", "1"]


def test_a_chart_is_drawn_and_what_cannot_be_drawn_stays_code(tab: Tab) -> None:
    page = tab.page
    expect(page.locator(".figure")).to_have_count(1)
    expect(page.locator(".figure")).to_contain_text("4,500 rpm")
    expect(page.locator("pre", has_text="pie")).to_be_visible()
    page.locator(".figure button").first.click()
    expect(page.locator(".evidence mark")).to_contain_text("3,000 rpm")


def test_what_was_found_and_changed_lies_folded_below(tab: Tab) -> None:
    page = tab.page
    folded = page.locator(".verification")
    expect(folded.locator("li").first).to_be_hidden()
    folded.locator("summary").click()
    expect(folded.locator(".problems > li")).to_have_count(3)
    expect(folded).to_contain_text("Revised by the writer")
    expect(folded.locator(".edits ins").first).to_contain_text("The Beta engine turns at 4,500 rpm")
    assert "[s2p1]" not in folded.inner_text()
    folded.locator(".problems .cite").first.click()
    expect(page.locator(".evidence mark")).to_contain_text("must not be run below 5 °C")


def test_another_run_begins_at_its_top_and_the_list_tells_them_apart(browser: Browser, own_state: Path) -> None:
    save_run(own_state)
    other = save_run(
        own_state, make_report(title="Another"), run_id="20260102-050607-zzzz", created="2026-01-02T05:06:07+00:00"
    )
    other.save(other.load().model_copy(update={"is_answered": False}))
    made = Tab(browser, timezone_id="UTC", bypass_csp=True)
    page = made.page
    with serving(own_state) as address:
        page.goto(f"{address}/#/runs/{RUN_ID}")
        expect(page.locator(".verification")).to_be_attached()
        times = [one.inner_text().replace("\u202f", " ") for one in page.locator(".run-list time").all()]
        assert times == ["Jan 2, 5:06 AM", "Jan 2, 3:04 AM"]
        dots = [one.get_attribute("title") for one in page.locator(".run-list .dot").all()]
        assert dots == ["Finished without an answer", "Finished"]
        page.mouse.wheel(0, 700)
        page.wait_for_function("scrollY > 300")
        page.locator(".run-list a", has_text="Another").click()
        expect(page.locator(".run-head h1")).to_have_text("Another")
        assert page.evaluate("scrollY") == 0
        expect(page.locator(".verification")).to_be_attached()
        page.locator(".verification summary").click()
        check_accessible(page, "a report with what was found")
        page.goto("about:blank")
    made.context.close()
    assert made.faults == []
