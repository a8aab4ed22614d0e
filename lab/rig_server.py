"""The rig's servers in their own process: a scripted model and a search engine.

    python lab/rig_server.py [--latency 0.25] [--speed 400] [--search-latency 0.15] [--reviewer strict] ...

Prints a line of JSON with the addresses: `model` (OpenAI-compatible) and `web`. The web answers like Tavily
(`POST /search`, `POST /extract`), like SearXNG (`GET /search?q=…`), like a custom retriever of gpt-researcher
(`GET /search?query=…`) and like Ollama's embeddings (`POST /api/embed`), and serves the pages themselves.
A line on standard input prints the figures so far as JSON. docs/measured.md says how another program is pointed at it.
"""

import argparse
import asyncio
import hashlib
import json
import random
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from tests.support.scripted_http import HttpRequest, HttpResponse, LoopbackServer, json_response
from tests.support.scripted_provider import RecordedCall, ScriptedProvider
from tests.support.scripted_replies import Call, Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

from rig_pages import PLAN, RESULTS, SyntheticWeb, searches_of

MORE_SECTIONS = searches_of({
    "Tidal barrages": ("sluice gates", "bulb turbines", "sediment", "fish passage"),
    "Ocean currents": ("moored turbines", "deep sea cables", "drag", "biofouling"),
})  # fmt: skip
_BEFORE = ("decide", "analyze", "entities", "plan")
_AFTER = ("review", "compose")
_DIMENSIONS = 64
_PROSE = "The sea gives electricity in several ways, and each has been tried at some places. " * 70
"""As long as a report of this program."""
_NEVER_CONTENT = 50
PLAIN = "You research a question and write a report"
"""The opening of a plain agent's instructions (rig_peer.py)."""


@dataclass(frozen=True)
class World:
    """How the outside behaves.

    `slow_share` of the model's calls take `slow_factor` times as long, drawn anew when a call is repeated. All calls
    about the section `failing` fail. A reviewer that is not `content` sends every section back each time.
    """

    latency: float = 0.25
    speed: float = 400.0
    search_latency: float = 0.15
    reviewer: str = "content"
    slow_share: float = 0.0
    slow_factor: float = 10.0
    seed: int = 0
    failing: str = ""
    sections: int = 5
    own_pages: bool = False


class Model:
    """The scripted model of the rig; it also answers in gpt-researcher's forms."""

    def __init__(self, world: World, plan: Mapping[str, Sequence[str]]) -> None:
        self._world, self._plan = world, plan
        retry = [title for title in plan for _ in range(_NEVER_CONTENT)] if world.reviewer == "strict" else ()
        self.researcher = ScriptedResearcher(sections=plan, sentences=9, retry=retry)
        self._seen: Counter[str] = Counter()

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request of whatever program."""
        if PLAIN in request["system"]:
            return self._slowed(self._searching(request), request)
        if (reply := self._open_deep_research(request)) is not None:
            return self._slowed(reply, request)
        known = step_of(request) or request["schema"] or request["tools"]
        reply = self.researcher(request) if known else self._other(request)
        is_of_one = step_of(request) in ("research", "notes", "review_section")
        if self._world.failing and is_of_one and self.researcher.section_of(request) == self._world.failing:
            return Reply(fault="server_error")
        return self._slowed(reply, request)

    def _slowed(self, reply: Reply, request: Request) -> Reply:
        world = self._world
        if not world.slow_share:
            return reply
        digest = hashlib.sha256(request["prompt"].encode()).hexdigest()
        self._seen[digest] += 1
        if random.Random(f"{world.seed} {digest} {self._seen[digest]}").random() >= world.slow_share:
            return reply
        speed = world.speed / world.slow_factor
        return replace(reply, latency_seconds=world.latency * world.slow_factor, tokens_per_second=speed)

    def _searching(self, request: Request) -> Reply:
        """Return a plain agent's next step: one section's searches, finally the report."""
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        if turn < len(self._plan):
            return Reply(tool_calls=tuple(Call("search", {"query": q}) for q in list(self._plan.values())[turn]))
        return Reply(text=_PROSE)

    def _open_deep_research(self, request: Request) -> Reply | None:
        """Return the answer to a call of open_deep_research; None where it is none."""
        asked, asks = f"{request['system']}\n{request['prompt']}", set((request["schema"] or {}).get("properties", ()))
        turn = sum(message["role"] == "assistant" for message in request["messages"])
        if asks == {"need_clarification", "question", "verification"}:
            return Reply(data={"need_clarification": False, "question": "", "verification": "I begin."})
        if asks == {"research_brief"}:
            return Reply(data={"research_brief": _PROSE[:400]})
        if asks == {"summary", "key_excerpts"}:
            return Reply(data={"summary": _PROSE[:800], "key_excerpts": _PROSE[:400]})
        if "ConductResearch" in request["tools"]:
            calls = (Call("ConductResearch", {"research_topic": title}) for title in self._plan)
            return Reply(tool_calls=tuple(calls) if not turn else (Call("ResearchComplete", {}),))
        if "tavily_search" in request["tools"]:
            queries = next((list(queries) for title, queries in self._plan.items() if title in asked), [])
            half = -(-len(queries) // 2)  # its instructions: think after each search
            turns = (("tavily_search", {"queries": queries[:half]}), ("think_tool", {"reflection": "More is needed."}),
                     ("tavily_search", {"queries": queries[half:]}))  # fmt: skip
            return Reply(tool_calls=tuple(Call(*call) for call in turns[turn : turn + 1]), text="Enough.")
        if "clean up these findings" in asked or "clean up the findings" in asked:
            return Reply(text=_PROSE[:1600])
        return Reply(text=_PROSE) if "well-structured answer to the overall research brief" in asked else None

    def _other(self, request: Request) -> Reply:
        prompt = f"{request['system']}\n{request['prompt']}"
        asked = prompt.lower()
        # Which section it is about hangs on all of the prompt, so that other prompts give other queries.
        queries = list(self._plan.values())[zlib.crc32(prompt.encode()) % len(self._plan)]
        if "in a detailed report" in asked:
            return Reply(text=_PROSE)
        if "agent_role_prompt" in asked:
            return Reply(data={"server": "Analyst", "agent_role_prompt": "Analyse."})
        if "query: <query>" in asked:
            return Reply(text="\n".join(f"Query: {query}\nGoal: What is known about {query}?" for query in queries))
        if "<insight>" in asked:
            said = "\n".join(f"Learning [https://sea.example/{n}]: {_PROSE[:200]}" for n in range(3))
            return Reply(text="\n".join([said, *(f"Question: How do {query} work?" for query in queries)]))
        if "'question: '" in asked:
            return Reply(text="\n".join(f"Question: How do {query} work?" for query in queries))
        if "json" in asked or "list of strings" in asked:
            return Reply(data=queries)
        return Reply(text=_PROSE)


@dataclass
class WebCall:
    """One request to the search engine: `about` is a section's title, or ""."""

    kind: str
    about: str
    started: float
    ended: float = 0.0
    pages: tuple[str, ...] = ()
    request: str = ""


@dataclass
class SearchEngine:
    """The search engine of the rig, a context manager.

    With `own_pages`, result addresses lead to the engine itself.
    """

    plan: Mapping[str, Sequence[str]]
    latency: float = 0.0
    own_pages: bool = False
    calls: list[WebCall] = field(default_factory=list, init=False)

    def __enter__(self) -> "SearchEngine":
        """Start listening."""
        self._server = LoopbackServer(self._handle)
        self._server.start()
        self.web = SyntheticWeb(self.plan, base=self.base_url) if self.own_pages else SyntheticWeb(self.plan)
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening."""
        self._server.close()

    @property
    def base_url(self) -> str:
        """Return the address of the engine."""
        return f"http://127.0.0.1:{self._server.port}"

    async def _handle(self, http: HttpRequest) -> HttpResponse:
        query = parse_qs(http.query)
        body = json.loads(http.body) if http.body else {}
        if http.path == "/api/embed":
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            return json_response(200, {"model": body.get("model", ""), "embeddings": [_embedding(t) for t in texts]})
        if http.method == "POST" and http.path == "/search":
            return await self._answer("search", body["query"], lambda: self._tavily_search(body), body)
        if http.method == "POST" and http.path == "/extract":
            return await self._answer("extract", " ".join(body["urls"][:1]), lambda: self._extract(body), body)
        if http.path == "/search" and "q" in query:
            return await self._answer("search", query["q"][0], lambda: self._searxng(query["q"][0]), query)
        if http.path == "/search":
            return await self._answer("search", query["query"][0], lambda: self._retrieved(query["query"][0]), query)
        return await self._answer("page", http.path, lambda: self._page(f"{self.base_url}{http.path}"), http.path)

    async def _answer(self, kind: str, words: str, make: Any, request: object) -> HttpResponse:
        call = WebCall(kind, self.web.section_of(words), time.monotonic(), request=json.dumps(request, sort_keys=True))
        self.calls.append(call)
        await asyncio.sleep(self.latency)
        answer, pages = make()
        call.pages, call.ended = tuple(pages), time.monotonic()
        return answer

    def _tavily_search(self, body: Mapping[str, Any]) -> tuple[HttpResponse, Iterable[str]]:
        found = self.web.search(body["query"], body.get("max_results", RESULTS))
        whole = bool(body.get("include_raw_content"))
        rows = [
            {
                "title": self.web.title(url),
                "url": url,
                "content": (self.web.text(url) or "")[:500],
                "score": round(0.9 - place / 10, 2),
                "raw_content": self.web.text(url) if whole else None,
            }
            for place, url in enumerate(found)
        ]
        answer = {"query": body["query"], "answer": None, "images": [], "results": rows, "response_time": 0.1}
        return json_response(200, answer), found if whole else ()

    def _extract(self, body: Mapping[str, Any]) -> tuple[HttpResponse, Iterable[str]]:
        read = {url: text for url in body["urls"] if (text := self.web.text(url)) is not None}
        failed = [{"url": url, "error": "not found"} for url in body["urls"] if url not in read]
        rows = [{"url": url, "raw_content": text, "images": []} for url, text in read.items()]
        return json_response(200, {"results": rows, "failed_results": failed, "response_time": 0.1}), read

    def _searxng(self, query: str) -> tuple[HttpResponse, Iterable[str]]:
        rows = [
            {"url": url, "title": self.web.title(url), "content": (self.web.text(url) or "")[:200], "score": 1.0}
            for url in self.web.search(query)
        ]
        return json_response(200, {"query": query, "results": rows, "infoboxes": [], "unresponsive_engines": []}), ()

    def _retrieved(self, query: str) -> tuple[HttpResponse, Iterable[str]]:
        found = self.web.nearest(query)
        rows = [(url, self.web.title(url), self.web.text(url)) for url in found]
        answer = [{"url": u, "href": u, "title": t, "raw_content": x, "body": x} for u, t, x in rows]
        return json_response(200, answer), found

    def _page(self, url: str) -> tuple[HttpResponse, Iterable[str]]:
        text = self.web.text(url)
        if text is None:
            return HttpResponse(404, b"", content_type="text/plain"), ()
        parts = [
            f"<h2>{escape(part.lstrip('# '))}</h2>" if part.startswith("#") else f"<p>{escape(part)}</p>"
            for part in text.split("\n\n")
        ]
        html = f"<html><head><title>{escape(self.web.title(url))}</title></head><body><main>{''.join(parts)}</main></body></html>"
        return HttpResponse(200, html.encode(), content_type="text/html; charset=utf-8"), (url,)


def _embedding(text: str) -> list[float]:
    """Return the embedding of a text: a bag of hashed words."""
    counts = [0.0] * _DIMENSIONS
    for word in text.lower().split():
        counts[zlib.crc32(word.encode()) % _DIMENSIONS] += 1.0
    length = sum(count * count for count in counts) ** 0.5 or 1.0
    return [count / length for count in counts]


def figures(model: ScriptedProvider, engine: SearchEngine, researcher: ScriptedResearcher) -> dict[str, Any]:
    """Return what was served so far."""
    answered = [call for call in model.calls if call.status == 200 and call.ended]
    steps: dict[str, list[int]] = {}
    for call in answered:
        row = steps.setdefault(step_of(call.request) or "other", [0, 0, 0, 0])
        for place, value in enumerate((1, call.counted.prompt, call.counted.cached, call.counted.completion)):
            row[place] += value
    sent = {page for call in engine.calls for page in call.pages}
    fetched = [page for call in engine.calls if call.kind != "search" for page in call.pages]
    with_results = {page for call in engine.calls if call.kind == "search" for page in call.pages}
    asked = Counter((call.kind, call.request) for call in engine.calls)
    return {
        "received": len(model.calls),
        "answered": len(answered),
        "asked_again": sum("does not fit" in call.request["messages"][-1]["text"] for call in answered),
        "prompt_tokens": model.prompt_tokens,
        "cached_tokens": model.cached_tokens,
        "without_cache": sum(not call.counted.cached for call in answered),
        "duplicates": model.duplicates,
        "web_calls": dict(Counter(call.kind for call in engine.calls)),
        "web_repeats": sum(count - 1 for count in asked.values()),
        "pages_repeated": len(fetched) - len(set(fetched) - with_results),
        "pages": len(sent),
        "critical_path": critical_path(answered, engine.calls, researcher),
        "steps": steps,
    }


def critical_path(calls: Sequence[RecordedCall], web: Sequence[WebCall], researcher: ScriptedResearcher) -> float:
    """Return seconds of the longest request chain: planning, slowest section, report."""
    groups: dict[str, list[tuple[float, float]]] = {}
    planned = max((call.ended for call in calls if step_of(call.request) in _BEFORE), default=0.0)
    for call in calls:
        step = step_of(call.request)
        group = "before" if step in _BEFORE else "after" if step in _AFTER else ""
        # What names no section and is not planning judges the report's own frame.
        group = group or researcher.section_of(call.request) or "after"
        groups.setdefault(group, []).append((call.started, call.ended))
    for asked in web:
        if asked.ended:
            group = "before" if asked.ended <= planned or not asked.about else asked.about
            groups.setdefault(group, []).append((asked.started, asked.ended))
    before, after = _chain(groups.pop("before", [])), _chain(groups.pop("after", []))
    return before + max((_chain(group) for group in groups.values()), default=0.0) + after


def _chain(spans: list[tuple[float, float]]) -> float:
    """The most seconds of calls that could have waited for each other."""
    best: list[tuple[float, float]] = []
    for start, end in sorted(spans, key=lambda span: span[1]):
        before = max((sum_ for ended, sum_ in best if ended <= start), default=0.0)
        best.append((end, before + end - start))
    return max((sum_ for _, sum_ in best), default=0.0)


def serve(world: World) -> None:
    """Run the servers: print the addresses, then the figures for each input line."""
    plan = dict([*PLAN.items(), *MORE_SECTIONS.items()][: world.sections])
    script = Model(world, plan)
    model = ScriptedProvider(
        script,
        latency_seconds=world.latency,
        tokens_per_second=world.speed,
        cache_block_tokens=128,
        cache_least_tokens=1024,
    )
    with model, SearchEngine(plan, world.search_latency, world.own_pages) as engine:
        print(json.dumps({"model": model.base_url, "web": engine.base_url}), flush=True)
        for _ in sys.stdin:
            print(json.dumps(figures(model, engine, script.researcher)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.25, help="seconds of every model call")
    parser.add_argument("--speed", type=float, default=400.0, help="tokens a second that are written; 0: at once")
    parser.add_argument("--search-latency", type=float, default=0.15, help="seconds of every request to the web")
    parser.add_argument("--reviewer", choices=("content", "strict"), default="content")
    parser.add_argument("--slow-share", type=float, default=0.0, help="share of the model's calls that are slow")
    parser.add_argument("--slow-factor", type=float, default=10.0, help="how much longer those take")
    parser.add_argument("--seed", type=int, default=0, help="which calls are slow")
    parser.add_argument("--failing", default="", help="title of a section whose model calls all fail")
    parser.add_argument("--sections", type=int, default=5, help="sections of the plan, at most 7")
    parser.add_argument("--own-pages", action="store_true", help="results lead to pages that it serves itself")
    serve(World(**vars(parser.parse_args())))


if __name__ == "__main__":
    main()
