"""Servers that know their key spell it so that cleaning puts it together: it is in no file of a run, and in no prompt."""

import asyncio
import json
import logging
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from deep_research.assembly.environment import RunEnvironment
from deep_research.data import Document, Found
from deep_research.data.outside_tools import McpServer
from deep_research.fetch.addresses import parse_address
from deep_research.fetch.http_cache import AnswerStore
from deep_research.fetch.transport import Answer
from deep_research.runs.research_run import resume_run
from deep_research.safe_text import SafeLog, mask_record, register_secrets
from deep_research.stores.run_bundle import write_bundle
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.mcp.test_runs import FIND, MODEL, ToolUser
from tests.model.harness import served
from tests.support.web_answers import WebAnswer
from tests.web.world import ALPHA, QUESTION, World, begin, web_of

SEARCH_KEY, TOOL_KEY = "tvly-CANARYsearch2222333344445555", "wikiCANARYtoken99990000aaaa"
SPELLED = {
    "literal": SEARCH_KEY,
    "zero width": SEARCH_KEY[:9] + "\u200b" + SEARCH_KEY[9:],
    "tag": SEARCH_KEY[:9] + "<b></b>" + SEARCH_KEY[9:],
    "entities": "".join(f"&#{ord(c)};" for c in SEARCH_KEY),
    "escapes": "".join(f"\\u{ord(c):04x}" for c in SEARCH_KEY),
}
TELLING = """
import json, os, sys
KEY = os.environ["KEY"]
SPLIT = KEY[:9] + "\\u200b" + KEY[9:]
SCHEMA = {"type": "object", "properties": {"query": {"type": "string", "description": KEY + SPLIT}}, "required": ["query"]}
TOOLS = [{"name": "search_stories", "description": f"Search. {KEY} {SPLIT}", "inputSchema": SCHEMA}]
print(KEY, SPLIT, file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": KEY, "version": "1"}}
    said = {"title": f"Alpha engine {SPLIT}", "url": f"https://e.test/{KEY}", "text": f"The Alpha engine has {KEY} and {SPLIT} at 3,000 rpm."}
    answers = {"initialize": about, "tools/list": {"tools": TOOLS}, "tools/call": {"content": [{"type": "text", "text": json.dumps([said])}]}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {})}), flush=True)
"""


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deep_research.safe_text._secrets", set())
    monkeypatch.setenv("TAVILY_API_KEY", SEARCH_KEY)
    monkeypatch.setenv("WIKI_TOKEN", TOOL_KEY)


@pytest.mark.parametrize("spelled", SPELLED)
def test_keys_are_in_no_file_of_a_run_nor_of_its_bundle_and_are_sent_to_no_model(
    world: World, own_state: Path, monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    (program := own_state.parent / "telling.py").write_text(TELLING)
    told = {
        "url": "http://leak.test/p",
        "title": "Alpha engine KEY",
        "content": f"{ALPHA} The code is KEY.",
        "score": 0.9,
    }
    lost = told | {"url": "http://lost.test/KEY?k=KEY", "title": "Alpha engine lost KEY", "content": ""}
    body = json.dumps({"results": [told, lost]}).replace(
        "KEY", json.dumps(SPELLED[spelled])[1:-1].replace("\\\\u", "\\u")
    )
    world.engines()
    world.web.site("tavily.test").on(
        "/search", WebAnswer(200, {"content-type": "application/json"}, body.encode()), method="POST"
    )
    world.page(
        "leak.test",
        "/p",
        f"Alpha engine {SEARCH_KEY}",
        ALPHA,
        f"The code of the Alpha engine is {SEARCH_KEY}.",
        extra=f"<p>It is {SPELLED[spelled]}</p>",
    )
    servers = {"wiki": McpServer(command=sys.executable, args=(str(program),), env={"KEY": "$WIKI_TOKEN"})}
    with served(monkeypatch, ToolUser([FIND])) as provider:
        ran = begin(
            QUESTION, home=own_state, sources=("tavily", "searxng"), mcp_servers=servers,
            source_options={"tavily": {"base_url": "http://tavily.test"}}, **MODEL,
        )  # fmt: skip
        environment = RunEnvironment(own_state, make_web=web_of(world.web), mcp_servers=servers)
        ran.finished = asyncio.run(resume_run(ran.folder, environment))
        prompts = json.dumps([one.request for one in provider.calls], default=str)
    asked = [request for request in world.web.requests if request.host == "tavily.test"]
    assert asked, "the search was made"
    assert "mcp:wiki" in {source.origin for source in ran.report.sources.values()}
    write_bundle(ran.folder, bundle := own_state / "bundle.zip")
    with ZipFile(bundle) as packed:
        packed.extractall(own_state / "unpacked")
    for key in (SEARCH_KEY, TOOL_KEY):
        assert [
            path.name for path in own_state.rglob("*") if path.is_file() and key.encode() in path.read_bytes()
        ] == []
        assert key not in prompts


def test_a_page_that_is_kept_for_other_runs_holds_no_key(tmp_path: Path) -> None:
    register_secrets([SEARCH_KEY])
    store = AnswerStore(tmp_path / "pages.db")
    address = parse_address(f"http://leak.test/?k={SEARCH_KEY}")
    store.put(Answer(address, 200, {"etag": SEARCH_KEY}, f"It is {SEARCH_KEY}.".encode()), at=0)
    kept = store.get(address.url, now=0)
    store.close()
    assert kept is not None
    assert len(kept.answer.body) == len(f"It is {SEARCH_KEY}.")
    assert [path for path in tmp_path.iterdir() if SEARCH_KEY.encode() in path.read_bytes()] == []


def test_a_text_keeps_its_offsets_where_a_key_is_masked_in_it() -> None:
    register_secrets([SEARCH_KEY])
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key=f"k:{SEARCH_KEY}", title="T", url=f"https://a.test/{SEARCH_KEY}", origin="x"))
    assert library.add_source(Found(key=f"k:{SEARCH_KEY}", title="T", origin="x")) == source
    text = f"The code is {SEARCH_KEY} and the Alpha engine turns."
    kept = library.add_snapshot(source.id, Document(text=text, title=SEARCH_KEY), retrieved_at="")
    assert kept.text.index("Alpha") == text.index("Alpha")
    assert SEARCH_KEY not in f"{source} {kept} {library.passages(source.id)}"
    library.close()


def test_what_is_kept_as_json_stays_json() -> None:
    """The sign behind a backslash may be the first of a key: a tab and the rest of it."""
    register_secrets([SEARCH_KEY])
    said = json.dumps({"text": f"\t{SEARCH_KEY[1:]} {SEARCH_KEY}"})
    assert json.loads(mask_record(said)) == {"text": f"\t{SEARCH_KEY[1:]} …"}
    assert mask_record(f"no JSON: {SEARCH_KEY}") == "no JSON: …"


def test_words_and_paths_are_no_secrets_and_logs_hold_none(tmp_path: Path) -> None:
    register_secrets(["production", str(tmp_path), SEARCH_KEY])
    said = ("POST /mcp?k=%s in %s of %s", (SEARCH_KEY, "production", tmp_path))
    line = SafeLog().format(logging.makeLogRecord({"msg": said[0], "args": said[1]}))
    assert line == f"POST /mcp?k=… in production of {tmp_path}"
