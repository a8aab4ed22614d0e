"""The rig for another program: the same pages and the same scripted model, over HTTP.

    python benchmarks/rig_peer.py [--latency 0.25] [--speed 400]

Prints two addresses: an OpenAI-compatible model, and a search (`GET /search?query=…`, JSON with url and
raw_content) with embeddings as Ollama serves them (`POST /api/embed`). A line on standard input (Enter)
prints the figures of the model so far as JSON. docs/rig.md shows how gpt-researcher is pointed at it.
"""

import argparse
import asyncio
import json
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

sys.path.insert(0, str(Path(__file__).parent))

from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher, step_of

from rig import served
from rig_pages import PLAN, RESULTS, SyntheticWeb

_WEB = SyntheticWeb()
_DIMENSIONS = 64
_PROSE = "The sea gives electricity in several ways, and each has been tried at some places. " * 16


class Peer:
    """Answers like the scripted researcher where a step of ours is asked for, else in the forms gpt-researcher asks for:
    queries with goals, questions, learnings, JSON, prose.
    """

    def __init__(self) -> None:
        self.researcher = ScriptedResearcher(sections=PLAN, sentences=9)

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request of whatever program."""
        if step_of(request) or request["schema"] or request["tools"]:
            return self.researcher(request)
        prompt = f"{request['system']}\n{request['prompt']}"
        asked = prompt.lower()
        # Which section it is about hangs on all of the prompt, so that other prompts give other queries.
        queries = list(PLAN.values())[zlib.crc32(prompt.encode()) % len(PLAN)]
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


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """A search: the five pages of the planned query that shares most words with what is asked."""
        query = parse_qs(urlsplit(self.path).query).get("query", [""])[0].lower()
        planned = [q for queries in PLAN.values() for q in queries]
        nearest = max(planned, key=lambda q: len(set(q.split()) & set(query.split())))
        found = asyncio.run(_WEB.search(nearest, limit=RESULTS)).found
        pages = [(f, asyncio.run(_WEB.read(f)).text) for f in found]
        self._send([{"url": f.url, "href": f.url, "title": f.title, "raw_content": t, "body": t} for f, t in pages])

    def do_POST(self) -> None:
        """Embeddings: bags of hashed words."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        self._send({"model": body.get("model", ""), "embeddings": [_embedding(text) for text in texts]})

    def _send(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def _embedding(text: str) -> list[float]:
    counts = [0.0] * _DIMENSIONS
    for word in text.lower().split():
        counts[zlib.crc32(word.encode()) % _DIMENSIONS] += 1.0
    length = sum(count * count for count in counts) ** 0.5 or 1.0
    return [count / length for count in counts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=0.25)
    parser.add_argument("--speed", type=float, default=400.0)
    arguments = parser.parse_args()
    pages = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    peer = Peer()
    with ScriptedProvider(peer, latency_seconds=arguments.latency, tokens_per_second=arguments.speed) as model:
        print(f"model  {model.base_url}/v1")
        print(f"pages  http://127.0.0.1:{pages.server_port}", flush=True)
        for _ in sys.stdin:
            print(json.dumps(served(model, peer.researcher)), flush=True)


if __name__ == "__main__":
    main()
