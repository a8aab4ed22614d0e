"""A report on the page: each statement where it stands, quiet marks, charts, what was found and changed; and the list of runs."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.server.browser import Tab, check_accessible
from tests.server.serving import serving
from tests.support.made_reports import OWN, RUN_ID, make_report, save_run

pytestmark = pytest.mark.process  # a browser is started
SAID = "[...document.querySelectorAll('.report-text .claim')].map(e => [e.dataset.claim, e.textContent])"


ODD_ID, OTHER_ID = "20260101-010101-oddd", "20260102-050607-zzzz"
EXTRA = "\N{PILE OF POO} 发动机 & *not* emphasis_ `x|y` |"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server with three reports."""
    home = tmp_path_factory.mktemp("reported")
    save_run(home)
    save_run(home, make_report(EXTRA), run_id=ODD_ID, created="2026-01-01T01:01:01+00:00")
    other = save_run(home, make_report(title="Another"), run_id=OTHER_ID, created="2026-01-02T05:06:07+00:00")
    other.save(other.load().model_copy(update={"is_answered": False}))
    with serving(home) as served:
        yield served


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[Tab]:
    made = Tab(browser)
    yield made
    made.page.goto("about:blank")
    made.context.close()
    assert made.faults == []


def show(tab: Tab, address: str, run: str) -> None:
    tab.page.goto("about:blank")
    tab.page.goto(f"{address}/#/runs/{run}")
    expect(tab.page.locator(".verification")).to_be_attached()


@pytest.fixture
def tab(opened: Tab, address: str) -> Tab:
    show(opened, address, RUN_ID)
    return opened


def squeezed(text: str) -> str:
    return re.sub(r"[\s|]+", "", text)


def test_each_statement_is_found_where_it_stands_in_any_script(opened: Tab, address: str) -> None:
    show(opened, address, ODD_ID)
    report, shown = make_report(EXTRA), dict[str, str]()
    for key, text in opened.page.evaluate(SAID):
        shown[key] = shown.get(key, "") + text
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


def test_the_counts_are_those_of_the_exports_and_the_authors_own_can_be_taken_out_of_focus(tab: Tab) -> None:
    page = tab.page
    expect(page.locator(".trust")).to_contain_text("7/10statements supported")
    numbers = [chip.inner_text().split("\n")[-1].split()[-1] for chip in page.locator(".filter").all()]
    assert numbers == ["7", "2", "1", "1", "1"]
    expect(page.locator(".prose p.own")).to_have_text(OWN)
    page.locator(".claim.verdict-own").first.click()
    expect(page.locator(".evidence .badges")).to_have_text("The author's own")
    page.keyboard.press("Escape")
    page.locator(".filter", has_text="The author's own").click()
    faded = "e => Number(getComputedStyle(e).opacity) < 0.5"
    assert page.locator(".claim.verdict-own").first.evaluate(faded)
    assert not page.locator(".claim.verdict-supported").first.evaluate(faded)


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


def test_another_run_begins_at_its_top_and_the_list_tells_them_apart(browser: Browser, address: str) -> None:
    made = Tab(browser, timezone_id="UTC", bypass_csp=True)
    page = made.page
    show(made, address, RUN_ID)
    times = [one.inner_text().replace("\u202f", " ") for one in page.locator(".run-list time").all()]
    assert times == ["Jan 2, 5:06 AM", "Jan 2, 3:04 AM", "Jan 1, 1:01 AM"]
    dots = [one.get_attribute("title") for one in page.locator(".run-list .dot").all()]
    assert dots == ["Finished without an answer", "Finished", "Finished"]
    page.mouse.wheel(0, 700)
    page.wait_for_function("scrollY > 300")
    page.locator(".run-list a", has_text="Another").click()
    expect(page.locator(".run-head h1")).to_have_text("Another")
    assert page.evaluate("scrollY") == 0
    expect(page.locator(".verification")).to_be_attached()
    page.locator(".verification summary").click()
    check_accessible(page, "a report with what was found")
    made.context.close()
    assert made.faults == []
