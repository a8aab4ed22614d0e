"""OpenAI's `/v1/chat/completions` and `/v1/responses`, for chat clients and SDKs.

A run that asks something answers with its question; the user's next message goes on from it, as in any conversation.
What is not known of OpenAI's requests is passed over.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import datetime
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi import Path as InPath
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from deep_research import api
from deep_research.api import Run
from deep_research.cli.progress_view import describe
from deep_research.data import Ledger, Message
from deep_research.errors import ConfigError
from deep_research.settings import load_settings
from deep_research_server.evidence_routes import web_address
from deep_research_server.fair_turns import FairStream, OwnersRoute, answered, in_turn, make_answer
from deep_research_server.http_context import Owner, Service
from deep_research_server.request_bodies import ListOf
from deep_research_server.run_service import RunService

MODELS: dict[str, dict[str, Any]] = {
    "deep-research": {},
    "deep-research-brief": {"depth": "brief"},
    "deep-research-deep": {"depth": "deep"},
    "deep-research-quick": {"workflow": "quick"},
}
"""The names that clients choose from, with the settings that each stands for."""
_MOST_CHARS = 20_000
_TOLD = frozenset({"understood", "planned", "searched", "section_written", "verified", "revised", "gap_found"})
router = APIRouter(prefix="/v1", tags=["openai"], route_class=OwnersRoute)
_ERROR = {"type": "object", "properties": {"error": {"type": "object"}}, "required": ["error"]}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": "An error in OpenAI's form", "content": {"application/json": {"schema": _ERROR}}}
    for status in (400, 401, 403, 404, 409, 413, 421, 422, 429, 503)
}
_PIECE, _HISTORY_CHARS = 400, 4_000
_RESPONSE_ID = r"^resp_[A-Za-z0-9][A-Za-z0-9._-]{0,79}$"
_ResponseId = Annotated[str, InPath(pattern=_RESPONSE_ID)]
_FORMS = {"text/event-stream": {}, "application/json": {}}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer, or server-sent events", "content": _FORMS}
}


class ContentPart(BaseModel):
    """A part of a message; only text is read."""

    type: str = Field("text", max_length=40)
    text: str = Field("", max_length=_MOST_CHARS)


class ChatMessage(BaseModel):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Annotated[ListOf[ContentPart], Field(max_length=100)] | None = None

    @property
    def text(self) -> str:
        """The message's text."""
        if isinstance(self.content, str):
            return self.content.strip()[:_MOST_CHARS]
        return "\n".join(part.text for part in self.content or ()).strip()[:_MOST_CHARS]


class StreamOptions(BaseModel):
    """What a stream should hold besides its text."""

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A request to `/v1/chat/completions`; the user's last message is the question."""

    model: str = Field("deep-research", max_length=120)
    messages: ListOf[ChatMessage] = Field(min_length=1, max_length=200)
    stream: bool = False
    stream_options: StreamOptions | None = None


class ResponseRequest(BaseModel):
    """A request to `/v1/responses`; `background` returns at once, to be polled later."""

    model: str = Field("deep-research", max_length=120)
    input: str | ListOf[ChatMessage] = Field(min_length=1, max_length=_MOST_CHARS)
    background: bool = False
    stream: bool = False
    previous_response_id: str | None = Field(None, pattern=_RESPONSE_ID)


def conversation(messages: list[ChatMessage]) -> tuple[str, list[Message]]:
    """Return the question (the user's last message) and the conversation before it."""
    said = [Message(role=m.role, text=m.text) for m in messages if m.role in ("user", "assistant") and m.text]
    while said and said[-1].role != "user":
        said.pop()
    return (said[-1].text, said[:-1]) if said else ("", [])


class _Outcome(NamedTuple):
    """The outcome of a run: text for the user, failure flag, source links, cost."""

    text: str
    failed: bool
    annotations: list[dict[str, Any]]
    ledger: Ledger


class _Asking(NamedTuple):
    """A run of a client's request with what it is found by."""

    service: RunService
    run: Run
    model: str
    created: int
    """When it began, in seconds since 1970."""

    async def wait(self, request: Request) -> _Outcome:
        """Wait for the run's outcome. Raises HTTPException if the client leaves first."""
        ended = asyncio.create_task(self.service.wait(self.run))
        gone = asyncio.create_task(_leaves(request.receive))
        try:
            with self.service.attend(self.run):
                await asyncio.wait([ended, gone], return_when=asyncio.FIRST_COMPLETED)
                if gone.done():
                    raise HTTPException(408, "The client has left.")
        finally:
            ended.cancel()
            gone.cancel()
        return await make_answer(self.outcome)

    async def progress(self) -> AsyncIterator[str | None]:
        """Yield progress lines, and the report while it is written; None when idle."""
        async with aclosing(self.service.watch(self.run)) as events:
            async for event in events:
                if event is None or event.kind == "report_piece":
                    yield event and event.text
                elif event.kind in _TOLD and (said := " ".join(describe(event).split())):
                    yield f"\n{said}\n" if event.kind == "verified" else f"{said}\n"

    def outcome(self) -> _Outcome:
        """Return what the run has come to."""
        record = self.run.record
        if self.run.has_report:
            report = self.run.report
            cited = ((r.title, address) for r in report.references if (address := web_address(r.url)))
            links = [{"url": url, "title": title, "start_index": 0, "end_index": 0} for title, url in cited]
            return _Outcome(report.report, False, links, report.ledger)
        cost = self.run.cost_so_far()
        if record.status == "waiting" and record.asked is not None:
            return _Outcome(api.format_question(record.asked), False, [], cost)
        return _Outcome(record.error or "The research was stopped.", record.status != "declined", [], cost)


async def _leaves(receive: Receive) -> None:
    """Wait until the client of a request, whose body was read, goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass


_COMES_BACK_SECONDS = 0.2


class _Awaited(Response):
    """A whole answer; its run is handed over when it was sent to who is still there."""

    def __init__(self, asking: _Asking, made: Response) -> None:
        super().__init__(made.body, made.status_code, media_type=made.media_type)
        self._asking = asking

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See Response."""
        body, gone = bytes(self.body), asyncio.create_task(_leaves(receive))
        try:
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": body[:-1], "more_body": True})
            # Before the last byte: who has it all may ask the same anew, which is another run. That nobody is there any
            # more is told by what was sent coming back.
            left, _ = await asyncio.wait([gone], timeout=_COMES_BACK_SECONDS)
            if not left:
                await self._asking.service.hand_over(self._asking.run)
            await send({"type": "http.response.body", "body": body[-1:]})
        finally:
            gone.cancel()


async def _begin(
    service: Service, owner: str, model: str, asked: tuple[str, list[Message]], is_awaited: bool, asked_by: Run | None
) -> _Asking:
    question, history = asked
    if model not in MODELS:
        raise ConfigError(f"There is no model {model!r}; there are: {', '.join(MODELS)}.", setting="model", value=model)
    if not question:
        raise ConfigError("The conversation holds no question of the user.", setting="messages")
    settings = await asyncio.to_thread(lambda: load_settings(**MODELS[model]))
    awaiting = {"history": history, "is_awaited": is_awaited}
    run = await service.go_on(owner, question, settings, asked_by=asked_by, **awaiting)
    if run is None:
        run, _ = await service.start(owner, question, settings, **awaiting)
    return await asyncio.to_thread(_asking, service, run, model)


@router.get("/models", responses=ERRORS)
async def list_models() -> dict[str, Any]:
    """List the names that can be asked."""
    made = [{"id": name, "object": "model", "created": 0, "owned_by": "deep-research"} for name in MODELS]
    return {"object": "list", "data": made}


@router.post("/chat/completions", responses={**ERRORS, **_STREAM}, response_class=JSONResponse)
async def complete_chat(asked: ChatRequest, request: Request, service: Service, owner: Owner) -> Response:
    """Research the user's last message; a `stream` begins with progress as reasoning."""
    asking = await _begin(service, owner, asked.model, conversation(asked.messages), is_awaited=True, asked_by=None)
    if asked.stream:
        usage = asked.stream_options is not None and asked.stream_options.include_usage
        return FairStream(_chat_chunks(asking, usage=usage))
    done = await asking.wait(request)
    if done.failed:
        error = {"message": done.text, "type": "server_error", "param": None, "code": "research_failed"}
        return _Awaited(asking, JSONResponse({"error": error}, status_code=503))
    links = [{"type": "url_citation", "url_citation": link} for link in done.annotations]
    message = {"role": "assistant", "content": done.text, "refusal": None, "annotations": links}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    told = {"choices": [choice], "usage": _chat_usage(done.ledger)}
    return _Awaited(asking, JSONResponse({**_chat_head(asking, "chat.completion"), **told}))


def _chat_head(asking: _Asking, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{asking.run.id}", "object": kind, "created": asking.created, "model": asking.model}


def _chat_usage(ledger: Ledger) -> dict[str, Any]:
    return {
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "total_tokens": ledger.prompt_tokens + ledger.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": ledger.cached_tokens},
    }


async def _chat_chunks(asking: _Asking, *, usage: bool) -> AsyncIterator[bytes]:
    head = _chat_head(asking, "chat.completion.chunk")

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return _data({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]})

    yield chunk({"role": "assistant", "content": ""})
    async for line in asking.progress():
        if line is None:
            yield b": still here\n\n"
        elif line:
            yield chunk({"reasoning_content": line})
    done = await make_answer(asking.outcome)
    for piece in _pieces(done.text):
        yield chunk({"content": piece})
    yield chunk({}, "stop")
    await asking.service.hand_over(asking.run)
    if usage:
        yield _data({**head, "choices": [], "usage": _chat_usage(done.ledger)})
    yield b"data: [DONE]\n\n"


@router.post("/responses", responses={**ERRORS, **_STREAM}, response_class=JSONResponse)
async def create_response(asked: ResponseRequest, request: Request, service: Service, owner: Owner) -> Response:
    """Research the input; `background` returns at once, `stream` sends events."""
    if isinstance(asked.input, str):
        question, history = asked.input.strip(), list[Message]()
    else:
        question, history = conversation(asked.input)
    before: Run | None = None
    if asked.previous_response_id:
        before = await service.open(owner, asked.previous_response_id.removeprefix("resp_"))
        history = [*await _said_before(service, owner, before), *history]
    is_awaited = asked.stream or not asked.background
    asking = await _begin(service, owner, asked.model, (question, history), is_awaited=is_awaited, asked_by=before)
    if asked.stream:
        return FairStream(_response_events(asking))
    if not is_awaited:
        return await _shown(asking, background=True)
    await asking.wait(request)
    return _Awaited(asking, await _shown(asking, background=False))


async def _said_before(service: Service, owner: str, run: Run) -> list[Message]:
    """Return the question and the answer of an earlier response as a conversation."""

    def look() -> list[Message]:
        said = [*run.record.history, Message(role="user", text=run.record.question)]
        if run.has_report:
            said.append(Message(role="assistant", text=run.report.report[:_HISTORY_CHARS]))
        elif run.record.asked is not None:
            said.append(Message(role="assistant", text=api.format_question(run.record.asked)))
        return said

    return await make_answer(look)


async def _asking_of(service: Service, owner: Owner, response_id: _ResponseId) -> _Asking:
    """Return the run of a response. Raises RunNotFound."""
    run = await service.open(owner, response_id.removeprefix("resp_"))
    return await asyncio.to_thread(_asking, service, run)


def _asking(service: RunService, run: Run, model: str = "") -> _Asking:
    """Return a run with the name that it was asked by, or would be."""
    record = run.record
    named = (n for n, v in MODELS.items() if v and all(record.settings.get(key) == value for key, value in v.items()))
    created = int(datetime.fromisoformat(record.created).timestamp())
    model = model or next(named, "deep-research")
    return _Asking(service, run, model, created)


_Response = Annotated[_Asking, Depends(_asking_of)]


@router.get("/responses/{response_id}", responses=ERRORS)
async def show_response(asking: _Response) -> Response:
    """Show a response as it stands."""
    return await _shown(asking, background=True)


@router.post("/responses/{response_id}/cancel", responses=ERRORS)
async def cancel_response(asking: _Response) -> Response:
    """Stop a response; its state is kept."""
    await asking.service.cancel(asking.run)
    return await _shown(asking, background=True)


@router.delete("/responses/{response_id}", responses=ERRORS)
async def delete_response(asking: _Response) -> dict[str, Any]:
    """Delete a response with its run."""
    await asking.service.delete(asking.run)
    return {"id": f"resp_{asking.run.id}", "object": "response", "deleted": True}


def _response(asking: _Asking, *, background: bool) -> dict[str, Any]:
    if asking.service.is_active(asking.run):
        return _response_body(asking, "in_progress", background=background)
    done = asking.outcome()
    stopped = asking.run.record.status == "stopped"
    status = "cancelled" if stopped else "failed" if done.failed else "completed"
    error = {"code": "server_error", "message": done.text} if status == "failed" else None
    links = [{"type": "url_citation", **link} for link in done.annotations]
    part = {"type": "output_text", "text": done.text, "annotations": links, "logprobs": []}
    message = {"id": f"msg_{asking.run.id}", "type": "message", "status": "completed", "role": "assistant"}
    usage = {
        "input_tokens": done.ledger.prompt_tokens,
        "input_tokens_details": {"cached_tokens": done.ledger.cached_tokens},
        "output_tokens": done.ledger.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": done.ledger.prompt_tokens + done.ledger.completion_tokens,
    }
    output = [{**message, "content": [part]}] if status == "completed" else []
    return _response_body(asking, status, background=background, output=output, error=error, usage=usage)


_shown = in_turn(_response, answered)


def _response_body(asking: _Asking, status: str, *, background: bool = False, **come: Any) -> dict[str, Any]:
    """Return a run's response object; `come` may be `output`, `error` and `usage`."""
    return {
        "id": f"resp_{asking.run.id}",
        "object": "response",
        "created_at": asking.created,
        "status": status,
        "background": background,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": asking.model,
        "output": [],
        "parallel_tool_calls": False,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": None,
        **come,
    }


async def _response_events(asking: _Asking) -> AsyncIterator[bytes]:
    numbers = count()

    def event(kind: str, **fields: Any) -> bytes:
        body = {"type": kind, "sequence_number": next(numbers), **fields}
        return b"event: %s\n%s" % (kind.encode(), _data(body))

    yield event("response.created", response=_response_body(asking, "in_progress"))
    yield event("response.in_progress", response=_response_body(asking, "in_progress"))
    async for line in asking.progress():
        if line is None:
            yield b": still here\n\n"
    final = await make_answer(_response, asking, background=False)
    if final["status"] != "completed":
        yield event("response.failed", response=final)
        return
    message = final["output"][0]
    place: dict[str, Any] = {"item_id": message["id"], "output_index": 0, "content_index": 0}
    part = message["content"][0]
    empty = {**part, "text": "", "annotations": []}
    opened = {**message, "status": "in_progress", "content": []}
    yield event("response.output_item.added", output_index=0, item=opened)
    yield event("response.content_part.added", **place, part=empty)
    for piece in _pieces(part["text"]):
        yield event("response.output_text.delta", **place, delta=piece, logprobs=[])
    yield event("response.output_text.done", **place, text=part["text"], logprobs=[])
    yield event("response.content_part.done", **place, part=part)
    yield event("response.output_item.done", output_index=0, item=message)
    await asking.service.hand_over(asking.run)
    yield event("response.completed", response=final)


def _pieces(text: str) -> list[str]:
    return [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]


def _data(body: dict[str, Any]) -> bytes:
    return b"data: %s\n\n" % json.dumps(body, ensure_ascii=False).encode()
