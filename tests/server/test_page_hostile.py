"""What strangers wrote does nothing in the page; a long report stays light."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.server.browser import Tab
from tests.server.serving import client, serving, until_report
from tests.support.made_reports import save_run

pytestmark = pytest.mark.process  # a browser is started
SCRIPTS = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg/onload=window.hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<a href='javascript:window.hacked=1'>x</a>",
    "<style>@import 'http://127.0.0.1:9/x'; * { display: none }</style>",
    "<base href='http://127.0.0.1:9/'>",
    "<form action='http://127.0.0.1:9/'><button>x</button></form>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.hacked=1>",
    "[x](javascript:window.hacked=1)",
    "[x](JaVaScRiPt&colon;window.hacked=1)",
    "[x](data:text/html,<script>window.hacked=1</script>)",
    "![x](http://127.0.0.1:9/x.png)",
    "<javascript:window.hacked=1>",
    "[1](javascript:window.hacked=1)",
    "[s1p1](javascript:window.hacked=1)",
    "`</code><script>window.hacked=1</script>`",
    "```\n</pre><script>window.hacked=1</script>\n```",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "\u202egnp.exe\u2066\u2067 \u200b\u200d\ufeff",
    "${window.hacked=1} {{constructor.constructor('window.hacked=1')()}}",
    '"><script>window.hacked=1</script>',
    "| a | b |\n|---|---|\n| <script>window.hacked=1</script> | x |",
)
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def tamper(home: Path, run: str, change: Any) -> None:
    """Change the kept result of a run."""
    path = home / "runs" / run / "result.json"
    result = json.loads(path.read_text("utf-8"))
    change(result)
    path.write_text(json.dumps(result), "utf-8")


def test_hostile_texts_do_nothing(browser: Browser, own_state: Path) -> None:
    made = Tab(browser)
    page = made.page
    poison = "\n\n".join(f"The Alpha engine turns at 3,000 rpm, said {text}." for text in SCRIPTS if "\n" not in text)
    with serving(own_state) as address, client(address) as http:
        documents = {
            f"{SCRIPTS[1]}.md": f"# {SCRIPTS[0]} Alpha engine\n\n{poison}\n",
            "b.html": f"<h1>Alpha engine</h1><p>{poison}</p>",
        }
        files = [{"file": (name, text.encode())} for name, text in documents.items()]
        ids = [http.post("/api/v1/documents", files=file).json()["id"] for file in files]
        new = {"question": f"How fast is the Alpha engine? {SCRIPTS[1]}", "documents": ids, "model_provider": "finder"}
        run = http.post("/api/v1/runs", json={**new, "allow_clarification": False}).json()["id"]
        until_report(http, run)

        def poisoned(result: dict[str, Any]) -> None:
            result["title"] = " ".join(SCRIPTS[:6])
            result["report"] += "\n\n## " + SCRIPTS[0] + "\n\n" + "\n\n".join(SCRIPTS)
            for number, claim in enumerate(result["claims"]):
                claim["text"] += SCRIPTS[number % len(SCRIPTS)]
                claim["verdict"]["reason"] = SCRIPTS[number % len(SCRIPTS)]
            for reference in result["references"]:
                reference |= {"title": SCRIPTS[0], "url": "javascript:window.hacked=1", "location": SCRIPTS[1]}
            for source in result["sources"].values():
                source |= {"title": SCRIPTS[2], "url": "javascript:window.hacked=1"}
            result["gaps"].append({"what": SCRIPTS[0], "why": SCRIPTS[1], "source": "", "codes": [], "values": {}})
            told = ("quote", "problem", "evidence", "reply")
            result["problems"] = [
                dict.fromkeys(told, one) | {"kind": "misleading", "outcome": "rejected"} for one in SCRIPTS
            ]
            result["edits"] = [{"old": one, "new": f"{one} {one}", "problems": [0], "applied": True} for one in SCRIPTS]
            result["parts"] = [{"text": one, "answered": "partly", "where": [one]} for one in SCRIPTS]
            result["disagreements"] = [
                {"first": one, "second": one, "borne_out": "neither", "why": one, "passages": ["s1p1"]}
                for one in SCRIPTS
            ]

        tamper(own_state, run, poisoned)
        for part in ("", "/statements", "/sources", "/process"):
            page.goto(f"{address}/#/runs/{run}{part}")
            page.reload()
            expect(page.locator(".trust")).to_be_visible()
            page.wait_for_load_state("networkidle")
            assert page.evaluate("window.hacked") is None, part
            assert page.locator("main :is(img, script, iframe, style, base, object, embed, math)").count() == 0
            assert page.locator("a[href^='javascript' i], a[href^='data' i]").count() == 0
        page.goto(f"{address}/#/runs/{run}")
        page.reload()
        page.locator(".cite").first.click()
        expect(page.locator(".evidence .passage mark").first).to_be_visible()
        page.get_by_role("button", name="In its text").first.click()
        expect(page.locator(".snapshot-text mark")).to_be_visible()
        assert page.evaluate("window.hacked") is None
        assert not BIDI.search(page.locator(".snapshot h2").inner_text())
        assert not BIDI.search(page.locator(".sidebar").inner_text())
        assert all(url.startswith((address, "blob:")) for url in made.asked)
        assert made.faults == []
    made.context.close()


WORDS, CITATIONS, PER_SECTION = 10_000, 500, 25


def longest_task(browser: Browser, address: str, run: str) -> float:
    """Return the longest task of opening a report, scrolling through it and filtering it, in milliseconds.

    Measured is the time that the page's own thread computes: other work on the machine does not count.
    """
    made = Tab(browser)
    page = made.page
    browser.start_tracing(page=page, categories=["toplevel", "devtools.timeline"])
    page.goto(f"{address}/#/runs/{run}")
    expect(page.locator(".cite")).to_have_count(CITATIONS)
    for _ in range(12):
        page.mouse.wheel(0, 1500)
        page.wait_for_timeout(30)
    page.locator(".filter").first.click(force=True)
    page.wait_for_timeout(100)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    made.context.close()
    # The browser draws pages of its own too, in other processes.
    (process,) = {e["pid"] for e in events if str(e["args"].get("data", {}).get("url", "")).startswith(address)}
    ours = [
        e["tdur"] / 1000 for e in events if e["pid"] == e["tid"] == process and "toplevel" in e["cat"] and "tdur" in e
    ]
    assert len(ours) > 100
    return max(ours)


def test_a_long_report_with_many_citations_stays_light(browser: Browser, own_state: Path) -> None:
    with serving(own_state) as address, client(address) as http:
        run = save_run(own_state).run_id

        def grown(result: dict[str, Any]) -> None:
            (passage, *_), (source, *_) = result["passages"], result["references"]
            report = "# Long"
            result |= {"claims": [], "problems": [], "edits": []}
            for number in range(CITATIONS):
                if number % PER_SECTION == 0:
                    report += f"\n\n## Section {number // PER_SECTION}"
                report += "\n\n" if number % 5 == 0 else " "
                said = f"The engine of number {number} {'turns at a steady rate ' * 4}in all weathers."
                start = len(report)
                kind = "unverified" if number % 5 == 4 else "supported"
                report += f"{said} [{source['number']}]" + ("°" if kind == "unverified" else "")
                claim = {"id": f"c{number + 1}", "text": said, "passages": [passage], "verdict": {"kind": kind}}
                result["claims"].append({**claim, "start": start, "end": len(report)})
            result["report"] = report

        tamper(own_state, run, grown)
        assert len(http.get(f"/api/v1/runs/{run}/report").json()["report"].split()) >= WORDS
        assert longest_task(browser, address, run) < 1_000  # what is squared takes many seconds


def test_a_quotation_within_thousands_does_not_stop_the_page(browser: Browser, own_state: Path) -> None:
    run = save_run(own_state).run_id
    with serving(own_state) as address:
        tamper(own_state, run, lambda result: result.update(report=f"# Long\n\n{'> ' * 8_000}deep\n\nThe end of it."))
        made = Tab(browser)
        made.page.goto(f"{address}/#/runs/{run}")
        expect(made.page.get_by_text("The end of it.")).to_be_visible()
