"""The research desk: a whole research by an agent through MCP alone, with the official client."""

import asyncio
import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deep_research import api
from deep_research.cli.main import run as command
from deep_research.concurrency import side_by_side
from deep_research.settings import Settings, load_settings
from deep_research_server.access_tokens import AccessTokens
from mcp import Client
from tests.mcp_server.clients import in_process, over_http, over_stdio, served, served_here
from tests.runs.running import engines
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher
from tests.support.turns import TOO_LONG, turns_of_tasks
from tests.verify.reports import engines_web

QUESTION = "How do the Alpha engine and the Beta engine differ?"
FINDER = {"DEEP_RESEARCH_MODEL_PROVIDER": "finder"}


async def told(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured answer of a tool."""
    answer: Any = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    return answer.structured_content


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool says that it refuses."""
    answer: Any = await client.call_tool(tool, arguments)
    assert answer.is_error, answer.content
    return answer.content[0].text


async def begun(client: Client, docs: Path) -> str:
    return (await told(client, "begin_research", question=QUESTION, docs=[str(docs)]))["run_id"]


async def passage_with(client: Client, run: str, words: str) -> str:
    """The id of a passage that holds words."""
    found = await told(client, "search", run_id=run, queries=[words])
    return next(one["id"] for one in found["passages"] if words in one["text"])


@pytest.mark.process
async def test_an_agent_researches_is_killed_and_ends_in_an_exported_report(tmp_path: Path) -> None:
    docs, home = engines(tmp_path / "docs"), tmp_path / "home"
    async with over_stdio(home, **FINDER) as client:
        run = await begun(client, docs)
        alpha = await passage_with(client, run, "3,000 rpm")
        noted = await told(client, "note", run_id=run, text=f"- Alpha turns at 3,000 rpm [{alpha}] [s99p1]")
        assert noted["unknown"] == ["s99p1"]
        for process in _children(os.getpid(), b"mcp"):
            os.kill(process, signal.SIGKILL)  # as a crash would
    async with over_stdio(home, **FINDER) as client:
        beta = await passage_with(client, run, "85 kg")
        again = await told(client, "search", run_id=run, queries=["3,000 rpm"], source="library")
        assert alpha in [one["id"] for one in again["passages"]]
        read = await told(client, "open", run_id=run, what=alpha.partition("p")[0])
        assert "rotary engine" in " ".join(one["text"] for one in read["passages"])
        places = await told(client, "find", run_id=run, words="Anna Holm", source=beta.partition("p")[0])
        assert [one["id"] for one in places["passages"]]

        wrong = f"# Two engines\n\nThe Alpha engine turns at 3,500 rpm [{alpha}].\n\nThe Beta engine weighs 85 kg [{beta}].\n"
        checked = await told(client, "verify_report", run_id=run, report=wrong)
        assert not checked["is_judged"]
        assert ["3,500" in problem["problem"] for problem in checked["problems"]] == [True]
        assert {one["id"] for one in checked["passages"]} == {alpha, beta}
        checked = await told(client, "verify_report", run_id=run, report=wrong.replace("3,500", "3,000"))
        assert not checked["problems"]
        verdicts = [{"statement": one["id"], "verdict": "supported"} for one in checked["statements"]]
        done = await told(client, "record_verdicts", run_id=run, verdicts=verdicts)
        assert done["counts"]["supported"] == 2
        assert done["open_statements"] == 0

        shown = await told(client, "export_report", run_id=run)
        assert "3,000 rpm [1]" in shown["text"]
        page = tmp_path / "report.html"
        saved = await told(client, "export_report", run_id=run, format="html", save_to=str(page))
        assert saved["saved_at"] == str(page)
        assert "rotary engine" in page.read_text("utf-8")
        for name in (page, tmp_path / ".bashrc", tmp_path / "report.md"):
            assert "no new file" in await refusal(client, "export_report", run_id=run, format="html", save_to=str(name))
        assert not (tmp_path / ".bashrc").exists()
        answer = await told(client, "get_report", run_id=run)
        assert answer["verdicts"]["supported"] == 2
    report = api.open_run(run, home=home).report
    for claim in report.claims:
        for key in claim.passages:
            found = api.open_run(run, home=home).read_passage(key).passage
            assert found.text == report.passages[key].text
    assert report.sections[0].notes.startswith("- Alpha turns")


def _children(process: int, word: bytes = b"") -> set[int]:
    """The processes that a process has started, or those whose command has a word."""
    found: set[int] = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_child = int((entry / "stat").read_text("ascii").rpartition(")")[2].split()[1]) == process
            if is_child and (not word or word in (entry / "cmdline").read_bytes().split(b"\0")):
                found.add(int(entry.name))
    return found


@pytest.mark.process
async def test_two_agents_work_at_one_library_at_once(tmp_path: Path) -> None:
    docs, home = engines(tmp_path / "docs"), tmp_path / "home"
    names = ("Alpha", "Beta", "Gamma")

    async def work(client: Client, run: str, order: tuple[str, ...]) -> list[str]:
        ids = []
        for name in order:
            found = await told(client, "search", run_id=run, queries=[f"{name} engine rpm"])
            ids.append(found["passages"][0]["id"])
            await told(client, "note", run_id=run, text=f"{name} [{ids[-1]}]")
        return ids

    async with in_process(home, **FINDER) as first, over_stdio(home, **FINDER) as second:
        run = await begun(first, docs)
        at_work = [work(first, run, names), work(first, run, names[::-1]), work(second, run, names[::-1])]
        one, two, three = await side_by_side(at_work)
        assert one == two[::-1] == three[::-1]
        last = await told(first, "note", run_id=run, text="The end.")
        assert last["notes"] == 10
    urls = [facts.source.url for facts in api.open_run(run, home=home).list_sources()]
    assert len(urls) == len(set(urls))


async def test_over_http_a_session_belongs_to_its_owner(tmp_path: Path) -> None:
    home = tmp_path / "home"
    anna, bert = (AccessTokens(home).create(name) for name in ("anna", "bert"))
    with served_here(home) as url:
        async with over_http(url, authorization=f"Bearer {anna}") as client:
            for tool in ("research", "begin_research"):
                assert "own user" in await refusal(client, tool, question=QUESTION, docs=["/etc"])
            begin = {"question": QUESTION, "sources": ["wikipedia"]}
            run = (await told(client, "begin_research", **begin))["run_id"]
            assert "own user" in await refusal(client, "export_report", run_id=run, save_to="/tmp/x.md")
            assert (await told(client, "note", run_id=run, text="Mine."))["notes"] == 1
        async with over_http(url, authorization=f"Bearer {bert}") as client:
            assert "There is no run" in await refusal(client, "note", run_id=run, text="Not mine.")
            assert "There is no run" in await refusal(client, "get_report", run_id=run)
        async with httpx2.AsyncClient(trust_env=False) as http:
            for headers in ({}, {"authorization": "Bearer wrong"}):
                assert (await http.post(url, json={}, headers=headers)).status_code == 401


@pytest.mark.process
async def test_an_export_of_one_owner_keeps_no_other_waiting(tmp_path: Path) -> None:
    """The process that makes it is stopped meanwhile, as a huge report would hold it for minutes."""
    home = tmp_path / "home"
    anna, bert = ({"authorization": f"Bearer {AccessTokens(home).create(name)}"} for name in ("anna", "bert"))
    with served(home, "--require-tokens") as url:
        async with over_http(url, **anna) as client, over_http(url, **bert) as other:
            begin = {"question": QUESTION, "sources": ["wikipedia"]}
            run, another = [(await told(one, "begin_research", **begin))["run_id"] for one in (client, other)]
            await told(client, "verify_report", run_id=run, report="# Engines\n\nThere are small ones.")
            (server,) = _children(os.getpid(), b"mcp")
            known = _children(server)
            exporting = asyncio.create_task(told(client, "export_report", run_id=run, format="xlsx"))
            while not (made := _children(server) - known):
                assert not exporting.done()
                await asyncio.sleep(0.01)
            os.kill(made.pop(), signal.SIGSTOP)
            try:
                assert (await told(other, "note", run_id=another, text="Mine."))["notes"] == 1
                assert not exporting.done()
            finally:
                for child in _children(server):
                    os.kill(child, signal.SIGCONT)
            assert (await exporting)["base64"]


async def test_what_a_tool_does_not_know_and_notes_beyond_a_bound_are_refused_in_one_line(tmp_path: Path) -> None:
    docs, home = engines(tmp_path / "docs"), tmp_path / "home"
    async with in_process(home, **FINDER) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False, tool.name
        run = await begun(client, docs)
        alpha = await passage_with(client, run, "3,000 rpm")
        verdicts = [{"statement": "c1", "verdict": "supported"}]
        for tool, arguments, said in (
            ("begin_research", {"question": QUESTION, "documents": ["x"]}, "documents"),
            ("begin_research", {"question": QUESTION, "docs": ["/nowhere"]}, "/nowhere"),
            ("begin_research", {"question": QUESTION, "sources": ["wikipedai"]}, "Did you mean 'wikipedia'"),
            ("research", {"question": "x", "folder": "x"}, "folder"),
            ("research", {"question": "x", "docs": ["/nowhere"]}, "/nowhere"),
            ("research", {"question": "x", "depth": "endless"}, "depth"),
            ("get_report", {"run_id": "nothing"}, "There is no run"),
            ("check_claim", {"claim": "x"}, "Give `evidence`"),
            ("search", {"run_id": run, "queries": ["x"], "source": "gogle"}, "There is no source 'gogle'"),
            ("search", {"run_id": run, "queries": []}, "queries"),
            ("search", {"run_id": "nothing", "queries": ["x"]}, "There is no run"),
            ("record_verdicts", {"run_id": run, "verdicts": verdicts}, "Hand a report"),
            ("export_report", {"run_id": run}, "Hand a report"),
            ("verify_report", {"run_id": run, "report": "x" * 500_001}, "500000"),
        ):
            assert said in await refusal(client, tool, **arguments), tool
        await told(client, "verify_report", run_id=run, report=f"Alpha turns at 3,000 rpm [{alpha}]. It is small.")
        for verdict, said in (
            ({"statement": "c9", "verdict": "supported"}, "no statement 'c9'"),
            ({"statement": "c2", "verdict": "supported"}, "cites no passage"),
            ({"statement": "c1", "verdict": "right"}, "verdict"),
            ({"statement": "c1", "verdict": "contradicted", "passages": ["s9p9"]}, "no passage 's9p9'"),
            ({"statement": "c1", "verdict": "supported", "why": "x"}, "why"),
        ):
            assert said in await refusal(client, "record_verdicts", run_id=run, verdicts=[verdict])
        assert "papyrus" in await refusal(client, "export_report", run_id=run, format="papyrus")
        assert "no folder" in await refusal(client, "export_report", run_id=run, save_to="/nowhere/x.md")
        nothing = await told(client, "open", run_id=run, what="s99")
        assert "no source" in nothing["told"]
        inside = await told(client, "open", run_id=run, what="http://169.254.169.254/latest/meta-data/")
        assert not inside["passages"]
        for _ in range(20):
            await told(client, "note", run_id=run, text="n" * 50_000)
        assert "1,000,000 characters" in await refusal(client, "note", run_id=run, text="one more")
        assert await passage_with(client, run, "3,000 rpm") == alpha


async def test_a_report_of_links_is_verified_and_large_ones_come_in_parts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with engines_web() as (web, base):
        opened = {"DEEP_RESEARCH_ALLOWED_INTERNAL_HOSTS": f"127.0.0.1:{web.port}", **FINDER}
        async with in_process(home, **opened) as client:
            run = await begun(client, engines(tmp_path / "docs"))
            read = await told(client, "open", run_id=run, what=f"{base}/beta")
            assert "85 kg" in read["passages"][-1]["text"]
            lines = [f"The Beta engine weighs {number} kg ([Beta]({base}/beta))." for number in range(60, 100)]
            first = await told(client, "verify_report", run_id=run, report="# Beta\n\n" + "\n\n".join(lines))
            assert (len(first["statements"]), first["next"]) == (25, 25)
            second = await told(client, "verify_report", run_id=run, start=25)
            assert (len(second["statements"]), second["next"]) == (15, None)
            assert len(first["problems"]) + len(second["problems"]) == 39
            assert web.count("engines.test", "/beta") == 1
            assert len(json.dumps(first)) < 40_000


async def test_many_calls_and_a_long_report_hold_up_no_other_session(tmp_path: Path) -> None:
    begun = await api.begin_desk(QUESTION, Settings(model_provider="finder"), home=tmp_path / "home")
    desk = api.open_desk(begun.run_id, home=tmp_path / "home")
    async with turns_of_tasks() as held_up:
        noted = await side_by_side([desk.add_note(f"note {number}") for number in range(80)])
    assert sorted(one.notes for one in noted) == list(range(1, 81))
    assert max(held_up) < TOO_LONG
    ids = "".join(f"[s{source}p{passage}]" for source in range(1, 30) for passage in range(1, 30))
    async with turns_of_tasks() as held_up:
        checked = await desk.verify_report(f"# Engines\n\n{f'It weighs 85 kg {ids}. ' * 10}")
    assert len(checked.problems) > 0
    assert max(held_up) < TOO_LONG


async def test_a_report_may_cite_ids_links_and_numbers_side_by_side(tmp_path: Path) -> None:
    with engines_web() as (web, base):
        settings = Settings(model_provider="finder", allowed_internal_hosts=(f"127.0.0.1:{web.port}",))
        docs = [str(engines(tmp_path / "docs"))]
        begun = await api.begin_desk(QUESTION, settings, home=tmp_path / "home", docs=docs)
        desk = api.open_desk(begun.run_id, home=tmp_path / "home")
        found = await desk.search(["Gamma engine"])
        key = found.passages[0].id
        checked = await desk.verify_report(
            f"# Engines\n\nThere is a Gamma engine [{key}].\n\nThe Alpha engine turns at 3,000 rpm ([Alpha]({base}/alpha)).\n\n"
            f"The Beta engine weighs 85 kg [1].\n\n## Sources\n\n[1] {base}/beta\n"
        )
        assert [bool(one.passages) for one in checked.statements] == [True] * 3
        assert checked.statements[0].passages == (key,)
        text = (await desk.export_report("markdown")).data.decode()
        assert "engine [1]" in text
        assert "85 kg [3]" in text
        assert "judged by nobody" in text
        assert "](http" not in text.partition("## Ref")[0]
        assert "\\(http" not in text


async def test_where_a_model_is_set_it_judges(tmp_path: Path) -> None:
    docs, home = engines(tmp_path / "docs"), tmp_path / "home"
    with ScriptedProvider(ScriptedResearcher()) as provider:
        model = {
            "OPENAI_COMPATIBLE_BASE_URL": provider.base_url,
            "OPENAI_COMPATIBLE_API_KEY": "test-key",
            "DEEP_RESEARCH_MODEL_PROVIDER": "compatible",
            "DEEP_RESEARCH_MODEL_NAME": "scripted",
        }
        async with in_process(home, **model) as client:
            run = await begun(client, docs)
            assert not provider.calls
            alpha = await passage_with(client, run, "3,000 rpm")
            text = f"# Alpha\n\nThe Alpha engine turns at 3,000 rpm [{alpha}].\n\nIt sells well in Peru and Chile [{alpha}].\n"
            checked = await told(client, "verify_report", run_id=run, report=text)
            assert checked["is_judged"]
            assert [one["verdict"] for one in checked["statements"]] == ["supported", "unverified"]
            paid = len(provider.calls)
            await told(client, "verify_report", run_id=run, report=text)
            assert len(provider.calls) == paid


def test_a_session_is_listed_shown_and_not_carried_out(
    tmp_path: Path, own_state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = engines(tmp_path / "docs")
    begin = api.begin_desk(QUESTION, load_settings(model_provider="finder"), home=own_state, docs=[str(docs)])
    run = asyncio.run(begin).run_id
    assert command(["list"]) == 0
    assert run in capsys.readouterr().out
    assert command(["resume", run]) == 2
    assert "deep-research mcp" in capsys.readouterr().err
