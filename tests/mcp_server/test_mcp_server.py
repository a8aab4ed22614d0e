"""Our MCP server as a process, spoken to by the official client."""

import asyncio
import json
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import httpx2
import pytest

from mcp import Client, StdioServerParameters, stdio_client
from tests.mcp.serving import POCKET
from tests.mcp_server.clients import environment, over_http, served
from tests.runs.running import engines

QUESTION = "Compare the Alpha engine and the Beta engine"
TOOLS = [
    "ask", "begin_research", "check_claim", "export_report", "find", "get_report", "note", "open", "record_verdicts",
    "research", "search", "verify_report",
]  # fmt: skip


async def _use(client: Client, docs: Path) -> None:
    said: list[str] = []

    async def progress(_done: float, _total: float | None, message: str | None) -> None:
        said.append(message or "")

    listed = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert sorted(listed) == TOOLS
    assert all(tool.output_schema for tool in listed.values())
    done = await client.call_tool("research", {"question": QUESTION, "docs": [str(docs)]}, progress_callback=progress)
    found: Any = done.structured_content
    assert not done.is_error
    assert found["answered"]
    assert len(found["references"]) >= 2
    assert done.content[0].text == found["report"]
    assert any("searched documents: " in line for line in said)
    assert any("notes: " in line for line in said)

    links = [block.uri for block in done.content if block.type == "resource_link"]
    for uri in links[:3]:
        (read,) = (await client.read_resource(uri)).contents
        assert read.text
    (markdown,) = (await client.read_resource(links[0])).contents
    assert markdown.text == found["report"]

    run = found["run_id"]
    (whole,) = (await client.read_resource(links[1])).contents
    result = json.loads(whole.text)
    built = "The Beta engine was built in 2004 by Anna Holm in Bergen."
    for given in ({"evidence": built}, {"run_id": run, "passages": list(result["passages"])[:50]}):
        right: Any = (await client.call_tool("check_claim", {"claim": built, **given})).structured_content
        assert right["verdict"] == "supported"
    wrong: Any = (
        await client.call_tool("check_claim", {"claim": built.replace("2004", "2005"), "evidence": built})
    ).structured_content
    assert wrong["verdict"] != "supported"
    asked = await client.call_tool("ask", {"question": "Where was the Beta engine built?", "run_id": run})
    assert "Bergen" in asked.content[0].text
    again: Any = (await client.call_tool("get_report", {"run_id": run[:-2]})).structured_content
    assert again["report"] == found["report"]


@pytest.mark.process
async def test_an_agent_researches_asks_checks_and_reads(tmp_path: Path) -> None:
    docs, home = engines(tmp_path / "docs"), tmp_path / "home"
    home.mkdir()
    noisy = f'command = "sh"\nargs = ["-c", "echo no json; exec {sys.executable} {POCKET}"]\n'  # it makes no traceback
    (home / "settings.toml").write_text(f"[mcp_servers.pocket]\n{noisy}")
    command = StdioServerParameters(command=sys.executable, args=["-m", "deep_research", "mcp"], env=environment(home))
    with TemporaryFile("w+") as errors:
        async with Client(stdio_client(command, errlog=errors), read_timeout_seconds=90) as client:
            await _use(client, docs)
        errors.seek(0)
        assert errors.read() == ""


@pytest.mark.process
async def test_over_http_other_sites_are_refused_and_claims_that_take_long_to_judge_hold_up_no_other_request(
    tmp_path: Path,
) -> None:
    unit = "The unit 7 has 7 kg. "
    hostile = {"claim": (unit * 190)[:4000], "evidence": (unit * 9523)[:200_000]}
    with served(tmp_path / "home") as url:
        async with httpx2.AsyncClient(trust_env=False) as http:
            assert (await http.post(url, json={}, headers={"origin": "https://evil.example"})).status_code == 403
            assert (await http.post(url, json={}, headers={"host": "evil.example"})).status_code == 421
            assert (await http.post(url, content=b"x" * 3_300_000)).status_code == 413

        async with over_http(url) as client, over_http(url) as other:
            judging = [asyncio.create_task(client.call_tool("check_claim", hostile)) for _ in range(8)]
            for _ in range(20):
                await asyncio.wait_for(other.list_tools(), 5)
            assert not all(task.done() for task in judging)
            first = next(asyncio.as_completed(judging))
            refused: Any = await first
            assert refused.is_error
            assert "was not judged" in refused.content[0].text
            for task in judging:
                task.cancel()
            await asyncio.wait(judging)
