"""Draw the pictures of the page, docs/page-*.png, from real runs over the bundled library (needs Chromium)."""

import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from PIL import Image
from playwright.sync_api import Browser, Page, expect
from tests.server.browser import browsing
from tests.server.serving import client, serving, until_report

HERE = Path(__file__).parent
QUESTIONS = {
    "zh": "大语言模型推理优化有哪些方法？",
    "ko": "KRAS G12C 억제제의 내성 기전에는 어떤 것들이 있나요?",
    "compared": "Compare Medusa and EAGLE.",
    "en": "How does speculative decoding work?",
}
LOCALES = {"zh": "zh-CN", "ko": "ko-KR", "ja": "ja-JP"}
COLOURS = 160


def picture(browser: Browser, name: str, address: str, act: Callable[[Page], None], **options: object) -> None:
    """Save what the page shows after `act` as docs/page-NAME.png, with few colours so that it stays small."""
    settings = {"viewport": {"width": 1360, "height": 850}, "locale": "en-US", **options}
    context = browser.new_context(**settings)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    act(page)
    page.wait_for_timeout(500)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.quantize(COLOURS, dither=Image.Dither.NONE).save(HERE / f"page-{name}.png", optimize=True)
    context.close()


def open_evidence(page: Page) -> None:
    """Open the evidence of a statement in the middle of the report."""
    page.locator(".report-text .cite").nth(4).click()
    expect(page.locator(".evidence .passage mark").first).to_be_visible()


def ask(page: Page) -> None:
    """Wait for the form."""
    expect(page.locator(".composer")).to_be_visible()


def watch(page: Page) -> None:
    """Ask a question, and stop when its sections are being researched."""
    page.get_by_label("Question", exact=True).fill(
        "What are the main ways to make large language model inference faster?"
    )
    page.get_by_label("Start the research").click()
    expect(page.locator(".section-card.is-written, .section-card.is-done").first).to_be_visible(timeout=60_000)


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as home, serving(Path(home)) as address, client(address) as http:
        reports: dict[str, str] = {}
        for name, question in QUESTIONS.items():
            new = {"question": question, "model_provider": "finder", "allow_clarification": False}
            run = http.post("/api/v1/runs", json=new).json()["id"]
            until_report(http, run)
            reports[name] = f"{address}/#/runs/{run}"
        report = reports["en"]
        phone = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
        with browsing() as browser:
            picture(browser, "ask", address, ask)
            picture(browser, "evidence", report, open_evidence)
            picture(browser, "evidence-dark", report, open_evidence, color_scheme="dark")
            picture(browser, "phone", report, open_evidence, **phone)
            for code, locale in LOCALES.items():
                shown = reports.get(code, address)
                picture(browser, code, shown, open_evidence if code in reports else ask, locale=locale)
            picture(browser, "watch", address, watch)


if __name__ == "__main__":
    main()
