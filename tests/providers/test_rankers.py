"""Rankers over real wires: what they are sent, what their order does to an answer, and what is left where they fail."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deep_research.api import open_run, research
from deep_research.data import Ranking, Report
from deep_research.errors import ConfigError
from deep_research.providers.rankers import open_ranker
from tests.support.scripted_http import HttpRequest, HttpResponse, LoopbackServer, json_response

DOCS = {
    "pump": "# Pump\n\nThe pump moves water. The pump is checked for its speed of water in each spring.",
    "manual": "# Speed\n\nWater goes through the pump at 7 litres per second.",
    "history": "# History\n\nThe speed of the water pump was a subject of a debate in 1950.",
}
QUESTION = "What is the speed of the water pump?"
WANTED = "7 litres per second"


def worth(text: str) -> float:
    """Return what the scripted servers think of a text: only one of the documents holds the value."""
    return 0.9 if WANTED in text else 0.1


class Server:
    """Answers as Jina, Cohere, OpenAI and Ollama do, or as `fault` says, and keeps the requests."""

    def __init__(self, fault: Callable[[HttpRequest], HttpResponse | None] | None = None) -> None:
        self.requests: list[tuple[HttpRequest, dict[str, Any]]] = []
        self.fault = fault
        self.loopback = LoopbackServer(self.handle)
        self.loopback.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.loopback.port}"

    async def handle(self, request: HttpRequest) -> HttpResponse:
        body = json.loads(request.body)
        self.requests.append((request, body))
        if self.fault is not None and (answer := self.fault(request)) is not None:
            return answer
        if request.path == "/rerank":
            texts = body["documents"]
            order = sorted(range(len(texts)), key=lambda number: -worth(texts[number]))
            rows = [{"index": number, "relevance_score": worth(texts[number])} for number in order]
            return json_response(200, {"results": rows, "usage": {"total_tokens": 40}})
        if request.path == "/api/chat":
            found = re.search(r'id="(\d+)">[^<]*' + WANTED, body["messages"][-1]["content"])
            text = json.dumps({"best": [int(found[1]), 999]} if found else {"best": []})
            message = {"message": {"role": "assistant", "content": text}, "done": True, "prompt_eval_count": 40}
            return HttpResponse(200, json.dumps(message).encode() + b"\n")
        vectors = [[1.0, 0.0], *([worth(text), 1.0 - worth(text)] for text in body["input"][1:])]
        if request.path == "/api/embed":
            return json_response(200, {"embeddings": vectors, "prompt_eval_count": 40})
        data = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
        return json_response(200, {"data": data[::-1], "usage": {"prompt_tokens": 40}})


@pytest.fixture
def served() -> Iterator[Server]:
    server = Server()
    yield server
    server.loopback.close()


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    for name, text in DOCS.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def plain(docs: Path, tmp_path_factory: pytest.TempPathFactory) -> Report:
    """What is said without a ranker."""
    return research(QUESTION, docs=[docs], workflow="quick", home=tmp_path_factory.mktemp("home"))


FAULTS: dict[str, Callable[[HttpRequest], HttpResponse | None]] = {
    "bad key": lambda _: json_response(401, {"error": {"message": "no such key"}}),
    "asks to wait for an hour": lambda _: json_response(429, {"detail": "slow down"}, {"retry-after": "3600"}),
    "no JSON": lambda _: HttpResponse(200, b"<html>gateway</html>"),
    "too few": lambda _: json_response(200, {"results": [{"index": 0, "relevance_score": 1.0}]}),
}


def ask(docs: Path, server: Server, ranker: str) -> Report:
    return research(QUESTION, docs=[docs], workflow="quick", ranker=ranker, ranker_base_url=server.address)


def opening(report: Report) -> str:
    """Return the first quoted place: from its title, which stands in bold, to the next title or heading."""
    first = re.search(r"^\*\*.+?\*\*$(.*?)^(?:\*\*|## )", report.report, re.MULTILINE | re.DOTALL)
    return first[1] if first else ""


@pytest.mark.parametrize(
    ("ranker", "path", "model"),
    [
        ("compatible:own-embeddings", "/embeddings", "own-embeddings"),
        ("ollama", "/api/embed", "bge-m3"),
        ("jina", "/rerank", "jina-reranker-v2-base-multilingual"),
        ("cohere:rerank-v4", "/rerank", "rerank-v4"),
    ],
)
def test_the_order_of_a_ranker_decides_and_its_key_is_kept_nowhere(
    docs: Path, served: Server, ranker: str, path: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JINA_API_KEY", "jina-secret-of-a-test")
    report = ask(docs, served, ranker)
    assert WANTED in opening(report)
    ((request, body),) = served.requests
    assert (request.path, body["model"]) == (path, model)
    assert report.ledger.model_calls == 1
    assert report.ledger.prompt_tokens == 40
    assert report.reasoner.ranker == f"{model} ({ranker.partition(':')[0]})"
    assert request.headers.get("authorization") == ("Bearer jina-secret-of-a-test" if ranker == "jina" else None)
    assert "jina-secret" not in report.model_dump_json()


def test_a_language_model_ranks_and_a_replay_asks_no_server(docs: Path, served: Server) -> None:
    report = ask(docs, served, "model:ollama:qwen3")
    assert WANTED in opening(report)
    ((request, _),) = served.requests
    assert request.path == "/api/chat"
    assert report.ledger.model_calls == 1
    assert report.reasoner.kind == "finder"
    assert report.reasoner.ranker == "qwen3 (ollama)"
    served.loopback.close()
    assert asyncio.run(open_run(report.run_id).replay()).report == report.report
    assert len(served.requests) == 1


def test_without_one_another_block_is_first(plain: Report) -> None:
    assert WANTED not in opening(plain)
    assert plain.reasoner.ranker == ""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_ranker_that_fails_is_a_gap_and_the_own_order_stays(
    docs: Path, plain: Report, served: Server, fault: str
) -> None:
    served.fault = FAULTS[fault]
    report = ask(docs, served, "jina")
    assert opening(report) == opening(plain)
    (gap,) = [gap for gap in report.gaps if gap.what == "ranking"]
    assert "own order" in gap.why
    assert len(served.requests) <= 2
    assert report.reasoner.ranker == ""
    assert report.ledger.model_calls == 0


def test_texts_of_which_a_server_takes_fewer_at_once_are_asked_for_by_halves(served: Server) -> None:
    def refuses(request: HttpRequest) -> HttpResponse | None:
        too_many = len(json.loads(request.body)["input"]) > 11
        message = "batch size is invalid, it should not be larger than 10"
        return json_response(400, {"error": {"message": message}}) if too_many else None

    served.fault = refuses
    texts = [f"text {number}" for number in range(24)] + [f"text {WANTED}"]

    async def rank() -> Ranking:
        ranker = open_ranker("compatible:own", {}, base_url=served.address)
        try:
            return await ranker.rank(QUESTION, texts)
        finally:
            await ranker.close()

    scores = asyncio.run(rank()).scores
    assert len(scores) == len(texts)
    assert max(scores) == scores[-1]


@pytest.mark.parametrize("ranker", ["jinn", "model", "compatible", "jina"])
def test_what_cannot_be_a_ranker_is_refused_before_the_run(docs: Path, ranker: str) -> None:
    address = "" if ranker == "jina" else "http://127.0.0.1:9"
    with pytest.raises(ConfigError):
        research(QUESTION, docs=[docs], workflow="quick", ranker=ranker, ranker_base_url=address)
