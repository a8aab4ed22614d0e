"""A language model provider that says what a script tells it, over real HTTP.

`ScriptedProvider` is a local server that speaks OpenAI chat completions, Anthropic messages and
Ollama chat, whole and streaming, with tools, structured output, usage, a prompt cache and faults.
The vendors' own SDKs talk to it: give them `base_url`. docs/providers.md shows how to use it.
"""

import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Self

from tests.support import scripted_anthropic, scripted_ollama, scripted_openai
from tests.support.scripted_faults import HTTP_FAULTS, Failure, FaultPlan, changed, failure, plan
from tests.support.scripted_http import CutShort, HttpRequest, HttpResponse, LoopbackServer, half_of, json_response
from tests.support.scripted_openai import Counted
from tests.support.scripted_replies import (
    CHARS_PER_TOKEN,
    Reply,
    Request,
    Script,
    aimed,
    as_reply,
    count_tokens,
    default_reply,
    dumps,
)

_WIRES: dict[str, ModuleType] = {
    "/chat/completions": scripted_openai,
    "/messages": scripted_anthropic,
    "/api/chat": scripted_ollama,
}
_SECRET = ("authorization", "x-api-key", "api-key", "cookie")
_FOREVER = 3600.0
_ENDED = "script_ended"
UNLIMITED = "unlimited"
"""The fault of a reply that is as long as it is, whatever limit the request sets."""


@dataclass
class RecordedCall:
    """One request and what became of it; times are `time.monotonic()`, headers come without secrets.

    `sent` is when the last of a usable answer was given to the wire, 0 where it was not; `port` is the client's.
    """

    number: int
    path: str
    headers: Mapping[str, str]
    request: Request
    digest: str
    started: float
    ended: float = 0.0
    sent: float = 0.0
    port: int = 0
    status: int = 200
    fault: str = ""
    reply: Reply | None = None
    counted: Counted = field(default_factory=lambda: Counted(0, 0, 0))

    def note_sent(self) -> None:
        """Write down that the answer was sent."""
        self.sent = time.monotonic()

    @property
    def answered(self) -> bool:
        """Whether a usable answer was sent."""
        return self.status == 200 and not self.fault


@dataclass
class ScriptedProvider:
    """A scripted language model behind real wires; use it as a context manager.

    `script` is a function from a request (see `Request`) to a reply, a sequence of replies, or None
    (an instance of the schema asked for). A reply is text, JSON data or a `Reply`. A prompt longer
    than `context_limit` tokens gets the vendor's error; of one longer than `reads` the rest is cut without a word, and
    Ollama's /api/show names that as the model's own context. A key other than `key` (when set) is refused.
    `told` is what OpenAI's wire tells of the use of each call besides tokens, such as its `cost`.
    A shared prefix is cached in blocks of `cache_block_tokens`, from `cache_least_tokens` on (OpenAI: 128 and 1,024).
    """

    script: Script = None
    latency_seconds: float = 0.0
    tokens_per_second: float = 0.0
    context_limit: int = 0
    reads: int = 0
    key: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    retry_after_seconds: float = 1.0
    models: Sequence[str] = ("scripted",)
    cache_block_tokens: int = 16
    cache_least_tokens: int = 0
    calls: list[RecordedCall] = field(default_factory=list, init=False)
    peak_in_flight: int = field(default=0, init=False)
    _in_flight: int = field(default=0, init=False)
    _plan: FaultPlan | None = field(default=None, init=False)
    _seen: Counter[str] = field(default_factory=Counter, init=False)
    _blocks: set[str] = field(default_factory=set, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __post_init__(self) -> None:
        """Make the server; it listens once the context is entered."""
        self._queue: Iterator[Any] | None = None
        if self.script is not None and not callable(self.script):
            self._queue = iter(self.script)
        self._server = LoopbackServer(self._handle)

    def __enter__(self) -> Self:
        """Start listening."""
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening; what is still being answered is broken off."""
        self._server.close()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return self._server.port

    @property
    def base_url(self) -> str:
        """Return the address for any SDK: OpenAI's paths are served with and without /v1."""
        return f"http://127.0.0.1:{self._server.port}"

    def faults(self, rate: float, kinds: Sequence[str], *, seed: int = 0) -> Self:
        """Let a share of calls (0 to 1) go wrong in one of the ways `kinds`; the same calls for the same seed.

        Raises ValueError for a fault that there is not.
        """
        self._plan = plan(rate, kinds, seed)
        return self

    @property
    def duplicates(self) -> int:
        """Return how many requests repeat one that had already been answered when they came."""
        answered: dict[str, float] = {}
        repeated = 0
        for call in self.calls:
            repeated += call.started >= answered.get(call.digest, float("inf"))
            if call.answered and call.ended:
                answered.setdefault(call.digest, call.ended)
        return repeated

    @property
    def prompt_tokens(self) -> int:
        """Return the prompt tokens of all answered calls."""
        return sum(call.counted.prompt for call in self.calls if call.status == 200)

    @property
    def cached_tokens(self) -> int:
        """Return those prompt tokens that stood in a prefix which an earlier call had sent."""
        return sum(call.counted.cached for call in self.calls if call.status == 200)

    async def _handle(self, http: HttpRequest) -> HttpResponse:
        wire = next((module for path, module in _WIRES.items() if http.path.endswith(path)), None)
        if http.method == "GET" and http.path.endswith(("/models", "/api/tags")):
            return json_response(200, self._list_models())
        if self.reads and http.path.endswith("/api/show"):
            return json_response(200, {"model_info": {"general.architecture": "toy", "toy.context_length": self.reads}})
        if wire is None or http.method != "POST":
            return json_response(404, {"error": {"message": f"no such path: {http.path}", "type": "not_found"}})
        try:
            body = json.loads(http.body)
        except ValueError:
            return json_response(400, {"error": {"message": "the body is no JSON", "type": "invalid_request_error"}})
        call = self._record(http, wire, body)
        self._in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
        try:
            return await self._answer(call, wire, _key_of(http.headers))
        finally:
            self._in_flight -= 1
            call.ended = time.monotonic()

    def _list_models(self) -> dict[str, Any]:
        listed = [{"id": name, "name": name, "object": "model", "type": "model"} for name in self.models]
        return {"object": "list", "data": listed, "models": listed, "has_more": False}

    def _record(self, http: HttpRequest, wire: ModuleType, body: dict[str, Any]) -> RecordedCall:
        request: Request = wire.read(body)
        said = "\n".join(message["text"] for message in request["messages"])
        prompt = said if request["api"] != "anthropic" else f"{request['system']}\n{said}"
        request |= {"body": body, "number": len(self.calls) + 1, "prompt": prompt}
        digest = hashlib.sha256(dumps({k: v for k, v in body.items() if k != "stream"}).encode()).hexdigest()
        headers = {name: value for name, value in http.headers.items() if name not in _SECRET}
        call = RecordedCall(request["number"], http.path, headers, request, digest, time.monotonic(), port=http.port)
        with self._lock:
            self.calls.append(call)
        return call

    async def _answer(self, call: RecordedCall, wire: ModuleType, key: str) -> HttpResponse:
        request = call.request
        prompt = self._prompt_text(request)
        tokens = count_tokens(prompt)
        seen, self._seen[call.digest] = self._seen[call.digest], self._seen[call.digest] + 1
        fault = self._plan.draw(seen) if self._plan else ""
        if self.key and key != self.key:
            fault = "bad_key"
        elif self.context_limit and tokens > self.context_limit and request["api"] != "ollama":
            fault = "context_too_long"
        reply = Reply(fault=fault) if fault in HTTP_FAULTS else self._say(request, fault)
        call.reply, call.fault = reply, reply.fault
        if reply.fault == "timeout":
            await asyncio.sleep(_FOREVER)
        if reply.fault in (*HTTP_FAULTS, "not_json"):
            await asyncio.sleep(self._latency(reply))
            return self._failed(call, tokens)
        return await self._spoken(call, reply, wire, prompt)

    def _say(self, request: Request, fault: str) -> Reply:
        """What the script says, as the fault drawn (or the script's own) makes it."""
        if callable(self.script):
            reply = as_reply(self.script(request))
        elif self._queue is None:
            reply = default_reply(request)
        else:
            said = next(self._queue, None)
            reply = Reply(fault=_ENDED) if said is None else as_reply(said)
        told = aimed(changed(reply, fault or reply.fault), request)
        return told if reply.fault == UNLIMITED else _within(told, request["max_output_tokens"])

    def _failed(self, call: RecordedCall, tokens: int) -> HttpResponse:
        if call.fault == "not_json":
            call.status = 502
            return HttpResponse(502, b"<html><body>502 Bad Gateway</body></html>", content_type="text/html")
        limit = self.context_limit or max(1, tokens // 2)
        failed = failure(call.fault, call.request, tokens, limit, self.retry_after_seconds)
        call.status = failed.status
        return json_response(failed.status, failed.body, _waiting(failed, call.request["api"]))

    async def _spoken(self, call: RecordedCall, reply: Reply, wire: ModuleType, prompt: str) -> HttpResponse:
        if reply.fault == _ENDED:
            call.status = 400
            return json_response(400, {"error": {"message": "the script has no more replies", "type": "scripted"}})
        call.counted = counted = self._count(reply, call.request, prompt)
        if call.request["stream"]:
            kind = "application/x-ndjson" if wire is scripted_ollama else "text/event-stream"
            stream = self._stream(call, reply, wire, counted)
            return HttpResponse(200, stream, content_type=kind, on_sent=call.note_sent)
        speed = self._speed(reply)
        await asyncio.sleep(self._latency(reply) + (counted.completion / speed if speed else 0))
        response = json_response(200, wire.whole(reply, call.request, counted))
        if reply.fault in ("cut_stream", "error_in_stream"):
            raise half_of(response)
        return response._replace(on_sent=call.note_sent)

    async def _stream(
        self, call: RecordedCall, reply: Reply, wire: ModuleType, counted: Counted
    ) -> AsyncIterator[bytes]:
        """The events of a stream at the pace of the reply; a cut comes after half of them."""
        await asyncio.sleep(self._latency(reply))
        events = list(wire.pieces(reply, call.request, counted, CHARS_PER_TOKEN * 16))
        speed = self._speed(reply)
        pause = counted.completion / speed / len(events) if speed else 0
        for sent, event in enumerate(events):
            if reply.fault in ("cut_stream", "error_in_stream") and sent * 2 >= len(events):
                if reply.fault == "error_in_stream":
                    yield wire.error_event(failure("overloaded", call.request, 0, 0, 0).body)
                raise CutShort
            if pause:
                await asyncio.sleep(pause)
            yield event
        call.ended = time.monotonic()

    def _latency(self, reply: Reply) -> float:
        return self.latency_seconds if reply.latency_seconds is None else reply.latency_seconds

    def _speed(self, reply: Reply) -> float:
        return self.tokens_per_second if reply.tokens_per_second is None else reply.tokens_per_second

    def _prompt_text(self, request: Request) -> str:
        """The prompt in the order that vendors cache it: tools and schema stand before the messages."""
        body = request["body"]
        head = (body.get("tools") or "", body.get("system") or "", body.get("response_format") or "")
        return "\n".join(dumps(part) for part in (*head, *body.get("messages", ())) if part)

    def _count(self, reply: Reply, request: Request, prompt: str) -> Counted:
        tokens = count_tokens(prompt) if reply.prompt_tokens is None else reply.prompt_tokens
        cached = min(self._cached(request["model"], prompt), tokens)
        if request["api"] == "ollama":
            tokens = min(tokens, (request["body"].get("options") or {}).get("num_ctx", 4096))
        tokens = min(tokens, self.reads or tokens)
        return Counted(tokens, cached, reply.tokens(), count_tokens(reply.reasoning), self.told)

    def _cached(self, model: str, prompt: str) -> int:
        """The tokens of the longest prefix that an earlier call sent, in whole blocks, as vendors' caches count."""
        size = self.cache_block_tokens * CHARS_PER_TOKEN
        chain, known, growing = model, 0, True
        for at in range(0, len(prompt) - size + 1, size):
            chain = hashlib.sha256((chain + prompt[at : at + size]).encode()).hexdigest()
            growing = growing and chain in self._blocks
            known += growing
            self._blocks.add(chain)
        cached = known * self.cache_block_tokens
        return cached if cached >= self.cache_least_tokens else 0


def _within(reply: Reply, limit: int | None) -> Reply:
    """`reply` cut at the output limit of the request, as a real model is."""
    room = (limit or 0) * CHARS_PER_TOKEN
    if not room or reply.completion_tokens is not None or len(reply.spoken) <= room:
        return reply
    return replace(reply, text=reply.spoken[:room], data=None, finish_reason="length")


def _waiting(failed: Failure, api: str) -> dict[str, str]:
    if failed.retry_after is None:
        return {}
    headers = {"retry-after": f"{failed.retry_after:g}"}
    return headers if api == "anthropic" else headers | {"retry-after-ms": f"{failed.retry_after * 1000:g}"}


def _key_of(headers: Mapping[str, str]) -> str:
    return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
