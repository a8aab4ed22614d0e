"""Whole runs over real HTTP: the scripted provider with the scripted researcher, and small notes to search."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deep_research.data import COVERAGE, Report
from deep_research.i18n.catalog import explain
from tests.runs.running import Ran, engines, run, write_notes
from tests.runs.soundness import assert_sound
from tests.support.scripted_provider import RecordedCall, ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, step_of

QUESTION = "Which kinds of engines are there, and how do they differ?"
SHORT = "How fast does the Alpha engine turn?"
ENGINES = ("Alpha engine", "Beta engine", "Gamma engine")
PLAN = {name: [f"{name} speed weight", f"{name} used for"] for name in ENGINES}

Script = Callable[[Request], Any]


@contextmanager
def served(
    patch: pytest.MonkeyPatch, script: Script | None = None, *, wire: str = "compatible", **server: Any
) -> Iterator[ScriptedProvider]:
    """A scripted model that the program finds in its environment."""
    address, key = {
        "compatible": ("OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"),
        "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
        "openai": ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
        "aliyun": ("DASHSCOPE_BASE_URL", "DASHSCOPE_API_KEY"),
        "ollama": ("OLLAMA_HOST", "OLLAMA_API_KEY"),
    }[wire]
    made = {"retry_after_seconds": 0.02, **server}
    with ScriptedProvider(script or ScriptedResearcher(sections=PLAN, sentences=4), **made) as provider:
        patch.setenv(address, provider.base_url)
        patch.setenv(key, "test-key")
        yield provider


def research(folder: Path, question: str = QUESTION, *, wire: str = "compatible", **settings: Any) -> Ran:
    """Do a whole run with the scripted model over notes about three engines."""
    docs = settings.pop("docs", None) or [engines(folder / "notes")]
    values = {"model_provider": wire, "model_name": "scripted", "model_timeout_seconds": 1, **settings}
    return run(question, home=folder / "home", docs=docs, **values)


def chinese(folder: Path) -> Path:
    """Notes in Chinese."""
    return write_notes(
        folder,
        alpha="# 甲型发动机\n\n甲型发动机是一种转子发动机，转速为每分钟3000转。甲型发动机由李明于1999年在武汉制造。甲型发动机不需要机油。\n",
        beta="# 乙型发动机\n\n乙型发动机是一种活塞发动机，转速为每分钟4500转。乙型发动机由王芳于2004年在大连制造。乙型发动机重85千克。\n",
    )


def korean(folder: Path) -> Path:
    """Notes in Korean."""
    return write_notes(
        folder,
        alpha="# 알파 엔진\n\n알파 엔진은 분당 3000회 회전하는 로터리 엔진이다. 알파 엔진은 1999년 부산에서 김민수가 만들었다.\n",
        beta="# 베타 엔진\n\n베타 엔진은 분당 4500회 회전하는 피스톤 엔진이다. 베타 엔진은 2004년 대구에서 이지은이 만들었다.\n",
    )


@contextmanager
def held_at(
    patch: pytest.MonkeyPatch, step: str, when: Callable[[], object] = lambda: True
) -> Iterator[tuple[ScriptedProvider, threading.Event, threading.Event]]:
    """A scripted model that waits at its first `step`: it, the event that it is there, and the one that lets it go on."""
    asked, go_on = threading.Event(), threading.Event()
    researcher = ScriptedResearcher(sections=PLAN, sentences=4)

    def script(request: Request) -> Reply:
        if step_of(request) == step and when() and not asked.is_set():
            asked.set()
            go_on.wait(60)
        return researcher(request)

    with served(patch, script) as provider:
        try:
            yield provider, asked, go_on
        finally:
            go_on.set()


def failing(script: Script, fault: str, *, where: Callable[[Request], bool]) -> Script:
    """`script`, except that the requests named by `where` fail."""
    return lambda request: Reply(fault=fault) if where(request) else script(request)


def playing(**steps: Callable[[Request], Any]) -> Script:
    """The scripted researcher, but for the steps that a test answers itself; what gives None is answered as ever."""
    usual = ScriptedResearcher(sections=PLAN, sentences=4)

    def script(request: Request) -> Any:
        own = steps.get(step_of(request))
        said = own(request) if own is not None else None
        return usual(request) if said is None else said

    return script


def citing(request: Request, text: str) -> str:
    """A text with `{Alpha}` for the id of the first passage of the source "Alpha engine" that a request shows."""
    ids: dict[str, str] = {}
    for shown in passages_in(request):
        ids.setdefault(shown.source.split()[0], shown.id)
    return re.sub(r"\{(\w+)\}", lambda found: ids.get(found[1], found[0]), text)


def writing(text: str) -> Callable[[Request], Reply]:
    """The step `write` of a writer that hands over this text; see `citing`."""
    return lambda request: Reply(text=citing(request, text))


def quickly(folder: Path, question: str = SHORT, **settings: Any) -> Ran:
    """Do a run with one researcher."""
    return research(folder, question, workflow="quick", **settings)


@dataclass
class Scene:
    """The folder of a test and its environment; `provider` is the server of its last run."""

    folder: Path
    patch: pytest.MonkeyPatch
    provider: ScriptedProvider = field(init=False)

    def served(self, script: Script | None = None, **server: Any) -> AbstractContextManager[ScriptedProvider]:
        """See `served`."""
        return served(self.patch, script, **server)

    def research(self, script: Script | None = None, question: str = QUESTION, **settings: Any) -> Ran:
        """Do a whole run with a model that plays this script."""
        with self.served(script) as self.provider:
            return research(self.folder, question, **settings)

    def quickly(self, script: Script | None = None, question: str = SHORT, **settings: Any) -> Ran:
        """Do one with one researcher."""
        return self.research(script, question, workflow="quick", **settings)


def of_step(provider: ScriptedProvider, step: str) -> list[RecordedCall]:
    """The calls of one step in order."""
    return [call for call in provider.calls if step_of(call.request) == step]


def steps(provider: ScriptedProvider) -> Counter[str]:
    """How often each step was asked for."""
    return Counter(step_of(call.request) for call in provider.calls)


def assert_presentable(ran: Ran) -> None:
    """The report is sound, no section is silently empty, and what is missing is named."""
    assert_sound(ran.report, ran.folder)
    report = ran.report
    for section in report.sections:
        assert section.notes or any(section.title in gap.what for gap in report.gaps), section.title
    untold = [gap for gap in report.gaps if gap.what != COVERAGE and not gap.source and "review_open" not in gap.codes]
    for gap in untold[:20]:
        assert " ".join(explain(gap, report.language).split()) in " ".join(report.report.split())


def standing(report: Report) -> list[str]:
    """The claims that are shown as supported."""
    return [claim.text for claim in report.claims if claim.stands]
