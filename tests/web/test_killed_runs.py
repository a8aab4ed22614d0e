"""After kill -9 at any moment a run asks no paid service again what that had answered; counted at the servers."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from deep_research.stores.run_folder import RunFolder, list_runs
from tests.runs.soundness import assert_sound
from tests.support.fake_web import FakeWeb
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer

QUESTION = "Which kinds of engines are there, and how do they differ?"
PLAN = {name: [f"{name} {about}" for about in ("speed", "weight", "use")] for name in ("Alpha engine", "Beta engine")}
KEEPING = 0.5
"""Seconds within which an answer that has arrived is on the disk, also on a busy machine."""
EXTRACTING = 0.8
"""Seconds after each half of an extraction."""


class Tavily:
    """Tavily's interface: of the three pages of a search one comes with it, two have to be extracted, slowly."""

    def __init__(self, web: FakeWeb) -> None:
        self._lock = threading.Lock()
        self.asked: list[tuple[str, float]] = []
        web.site("tavily.test").on("/search", self._search, method="POST").on("/extract", self._extract, method="POST")
        self.base = web.base("tavily.test")

    def _note(self, *what: str) -> None:
        with self._lock:
            self.asked += [(one, time.monotonic()) for one in what]

    def _search(self, request: SeenRequest) -> WebAnswer:
        query = json.loads(request.body)["query"]
        self._note(f"search {query}")
        pages = [f"https://engines.test/{query.replace(' ', '-')}/{n}" for n in range(2)]
        pages.append("https://engines.test/overview")
        rows = [
            {"url": url, "title": url[8:], "content": "Short.", "score": 0.5, "raw_content": None if n else _text(url)}
            for n, url in enumerate(pages)
        ]
        return json_answer({"results": rows})

    def _extract(self, request: SeenRequest) -> WebAnswer:
        urls = json.loads(request.body)["urls"]
        self._note(*(f"page {url}" for url in urls))
        whole = json_answer({"results": [{"url": url, "raw_content": _text(url)} for url in urls]})
        half = len(whole.body) // 2
        return WebAnswer(200, whole.headers, chunks=lambda: (whole.body[:half], whole.body[half:]), pause=EXTRACTING)

    def repeated(self, kill: float) -> list[str]:
        """Return what was asked again although it had been answered well before the kill."""
        times: dict[str, list[float]] = {}
        for what, at in list(self.asked):
            times.setdefault(what, []).append(at)
        return [
            what
            for what, asked in times.items()
            for first, again in itertools.pairwise(asked)
            if not first <= kill <= min(first + _in_flight(what), again)
        ]


def _in_flight(what: str) -> float:
    return KEEPING + (2 * EXTRACTING if what.startswith("page ") else 0.0)


def _text(url: str) -> str:
    name = "Beta engine" if "Beta" in url else "Alpha engine"
    drawn = random.Random(url)
    return f"# {name}\n\n" + "\n\n".join(
        f"The {name} of {url[-9:]} turns {drawn.randint(1000, 9000)} times a minute. It was built in {year}."
        for year in range(1990, 2000)
    )


def _start(arguments: list[str], home: Path, config: Path) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,  # noqa: TID251
        "DEEP_RESEARCH_HOME": str(home),
        "DEEP_RESEARCH_CONFIG": str(config),
        "TAVILY_API_KEY": "tvly-test",
    }
    command = [sys.executable, "-m", "deep_research", *arguments, "--quiet"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_nothing_that_was_answered_is_paid_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, config = tmp_path / "home", tmp_path / "settings.toml"
    script = ScriptedResearcher(sections=PLAN, sentences=3, at_once=(1, 1))
    with FakeWeb() as web, ScriptedProvider(script, latency_seconds=0.05) as provider:
        tavily = Tavily(web)
        monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", provider.base_url)
        monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "test-key")
        lines = ['model_provider = "compatible"', 'model_name = "scripted"', 'sources = ["tavily"]',
                 "allow_clarification = false", "[source_options.tavily]", f'base_url = "{tavily.base}"']  # fmt: skip
        config.write_text("\n".join(lines), "utf-8")
        process = _start([QUESTION], home, config)
        while len(tavily.asked) < 5 and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.6)  # answers have come, and others are on their way
        process.send_signal(signal.SIGKILL)
        kill = time.monotonic()
        process.communicate()
        run_id = list_runs(home)[0].run_id
        last = _start(["resume", run_id], home, config)
        _, said = last.communicate(timeout=200)
        assert last.returncode == 0, said.decode()
        assert tavily.repeated(kill) == []
        # The same counts for the calls of the model.
        ended: dict[str, float] = {}
        for call in provider.calls:
            earlier = ended.get(call.digest)
            assert earlier is None or earlier - KEEPING <= kill <= earlier + KEEPING
            ended[call.digest] = call.ended or time.monotonic()
    counted = Counter(what.partition(" ")[0] for what, _ in tavily.asked)
    assert counted["search"] >= 6, "the run has searched"
    assert counted["page"] >= 5, "the run has read pages"
    folder = RunFolder(home, run_id)
    assert_sound(folder.load_result(), folder)
