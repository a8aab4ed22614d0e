"""The browser of the system, driven by Playwright: a test skips where there is none, and never in CI."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find_browser() -> str:
    """Return the path of the system's Chromium. Skips the test where there is none; in CI it fails."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), "")
    if not found:
        said = "No Chromium was found: install it (Debian: apt-get install chromium) to run the tests of the page."
        if os.environ.get("CI"):  # noqa: TID251 - whether a missing browser may be passed over
            pytest.fail(said)
        pytest.skip(said)
    return found


@contextmanager
def browsing() -> Iterator[Browser]:
    """Give a browser, closed at the end of the block."""
    path = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


class Tab:
    """A page of a browser with what went wrong in it: errors of scripts and of the content security policy."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        settings = {"viewport": {"width": 1280, "height": 850}, "locale": "en-US", **options}
        self.context = browser.new_context(**settings)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: dialog.accept())


def check_accessible(page: Page, where: str) -> None:
    """Check what is shown for anything serious in the way of assistive technology; its colours in light and dark."""
    for theme, rules in (("light", None), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        options = {"resultTypes": ["violations"], **({"runOnly": {"type": "rule", "values": rules}} if rules else {})}
        found = Axe().run(page, options=options).response["violations"]
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], (where, theme)
    page.emulate_media(color_scheme="light")
