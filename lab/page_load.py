"""Measure the time until the page is usable and the bytes loaded.

Each load has a new browser profile and a real server process.

    python lab/page_load.py --times 9

Prints one line of JSON: bytes of the first load, milliseconds until the question can be typed (median, longest, and of
the first visitor of the server), and the load of the machine.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Browser
from tests.cli.terminal import COMMAND
from tests.server.browser import browsing

_SIZES = "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"


def first_load(browser: Browser, address: str, wanted: str) -> tuple[float, int]:
    """Return milliseconds from request until `wanted` is there, and bytes loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 850})
    page = context.new_page()
    page.add_init_script(
        f"new MutationObserver(() => {{ if (!window.usable && document.querySelector({json.dumps(wanted)})) "
        "window.usable = performance.now(); }).observe(document, { childList: true, subtree: true });"
    )
    page.goto(address)
    page.locator(wanted).wait_for()
    page.wait_for_load_state("networkidle")
    size = page.evaluate(f"{_SIZES}.map(e => e.encodedBodySize).reduce((a, b) => a + b, 0)")
    usable = float(page.evaluate("window.usable"))
    context.close()
    return usable, int(size)


def main() -> int:
    """Print the figures as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=9)
    times = parser.parse_args().times
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as home, browsing() as browser:
        environment = {**os.environ, "DEEP_RESEARCH_HOME": home}
        server = subprocess.Popen([str(COMMAND), "serve", "--port", str(port)], env=environment)
        try:
            _wait_for(address)
            loads = [first_load(browser, address, "#question") for _ in range(times)]
        finally:
            server.terminate()
            server.wait(30)
    usable = [milliseconds for milliseconds, _ in loads]
    figures = {
        "bytes": loads[0][1],
        "usable_ms": {
            "median": round(statistics.median(usable)),
            "longest": round(max(usable)),
            "first": round(usable[0]),
        },
        "times": times,
        "load": [round(one, 1) for one in os.getloadavg()],
    }
    print(json.dumps(figures))
    return 0


def _wait_for(address: str) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if httpx.get(f"{address}/readyz", trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError(address)


if __name__ == "__main__":
    sys.exit(main())
