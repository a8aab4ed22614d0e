"""Model calls through the journal, and what they cost against a run's budget."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from deep_research.data import ModelAnswer, ModelRequest, Role, Usage
from deep_research.errors import LimitReached, ModelSetupError, Refused
from deep_research.i18n.catalog import phrase
from deep_research.ports import Journal
from deep_research.providers.langchain_model import show_call
from deep_research.report.ledger import LOST, LostCall, PaidCall, paid_calls
from deep_research.run_context.telemetry import span
from deep_research.safe_text import mask_known, safe_noun
from deep_research.settings import Settings
from deep_research.text.token_count import estimate_tokens

if TYPE_CHECKING:
    from deep_research.providers.model_client import CallRecord, ModelClient

_SHARES: dict[Role, float] = {"research": 0.4, "read": 0.4, "review": 0.55, "write": 0.65, "judge": 0.7, "report": 0.95}
"""Up to which share of a budget each kind of work may spend. Where it is tight, sections are written
rather than reviewed; the rest is for the report, and for its check when it is written."""
_USUAL_ANSWER = 700  # tokens of a usual answer


class _OpenCall:
    """A model call in progress: its attempts, and its answer, stored on arrival."""

    def __init__(self, role: Role, keep: Callable[[str], None]) -> None:
        self._role: Role = role
        self._keep, self._begun = keep, time.monotonic()
        self.attempts: list[CallRecord] = []
        self.paid: PaidCall | None = None

    def note(self, record: "CallRecord") -> None:
        """Remember an attempt, and keep its answer where it is the first good one."""
        self.attempts.append(record)
        if record.answer is not None and self.paid is None:
            self.paid = PaidCall(
                role=self._role,
                answer=safe_noun(record.answer),
                cost_usd=record.cost_usd,
                seconds=round(time.monotonic() - self._begun, 3),
                model=f"{record.model} ({record.provider})",
            )
            self._keep(self.paid.model_dump_json())


_OPEN_CALL: ContextVar[_OpenCall | None] = ContextVar("open_call", default=None)
"""The call that is being made, of which each task has its own."""


def note_attempt(record: "CallRecord") -> None:
    """Remember an attempt; the client calls it after each."""
    if (opened := _OPEN_CALL.get()) is not None:
        opened.note(record)


class PaidCalls:
    """Model calls through the journal, each made once and stored before use."""

    def __init__(self, client: "ModelClient", journal: Journal, settings: Settings) -> None:
        self._client = client
        self._journal = journal
        self._settings = settings
        answered, lost = paid_calls(journal)
        self._purse = Purse(settings)
        for usage, cost in [*((c.answer.usage, c.cost_usd) for c in answered), *((c.usage, c.cost_usd) for c in lost)]:
            self._purse.pay(usage, cost)

    async def complete(self, request: ModelRequest, role: Role) -> ModelAnswer:
        """Return the answer. Raises LimitReached on a spent budget, and client errors."""
        most = self._settings.output_tokens(role)
        request = request.model_copy(update={"max_output_tokens": min(request.max_output_tokens, most)})
        request = safe_noun(request, safe=mask_known)
        models = [model.model for model in self._client.models_of(role)]
        asked = json.dumps(
            {"role": role, "models": models, "request": request.model_dump(mode="json")}, ensure_ascii=False
        )

        async def make() -> str:
            about = {"gen_ai__request__model": models[0], "deep_research__role": role}
            async with self._purse.holding(self._expected(request, role), role):
                with span(f"chat {models[0]}", gen_ai__operation__name="chat", **about) as traced:
                    paid = await self._asked(request, role, lambda answer: self._journal.keep("model", asked, answer))
                    if traced is not None:
                        traced.set_attribute("gen_ai.response.model", paid.answer.model or "")
                        traced.set_attribute("gen_ai.usage.input_tokens", paid.answer.usage.prompt_tokens)
                        traced.set_attribute("gen_ai.usage.output_tokens", paid.answer.usage.completion_tokens)
            self._purse.pay(paid.answer.usage, paid.cost_usd)
            return paid.model_dump_json()

        text, _ = await self._journal.call("model", asked, make)
        return PaidCall.model_validate_json(text).answer

    async def _asked(self, request: ModelRequest, role: Role, keep: Callable[[str], None]) -> PaidCall:
        """Ask the client, with its answer given to `keep` before anything is made of it.

        Attempts that failed on the way are paid for as well. Where a model has answered in this run, a request that is
        not accepted is its step's matter alone: it raises Refused.
        """
        opened = _OpenCall(role, keep)
        within = _OPEN_CALL.set(opened)
        try:
            model = self._client.models_of(role)[0]
            await show_call(request, role, model, lambda: self._client.complete(request, role=role))
        except ModelSetupError as error:
            if error.reason != "bad_request" or not self._journal.count("model"):
                raise
            about = {name: getattr(error, name) for name in ("provider", "model", "status", "request_id", "reason")}
            raise Refused(error.message, **about) from error
        finally:
            _OPEN_CALL.reset(within)
            await self._keep(opened.attempts)
        if opened.paid is None:
            raise AssertionError("the client accounts for each answer")
        return opened.paid

    async def _keep(self, attempts: "Sequence[CallRecord]") -> None:
        for record in attempts:
            if not (record.error and record.usage.prompt_tokens):
                continue
            self._purse.pay(record.usage, record.cost_usd)
            call = LostCall(role=record.role, usage=record.usage, cost_usd=record.cost_usd)

            async def known(text: str = call.model_dump_json()) -> str:
                return text

            await self._journal.call(LOST, f"{record.model} {time.time_ns()}", known)

    def _expected(self, request: ModelRequest, role: Role) -> "Spent":
        """About what a call will cost, for what is in flight."""
        prompt = sum(estimate_tokens(message.text) for message in request.messages)
        sent_along = [tool.model_dump() for tool in request.tools] + [request.schema_] * (request.schema_ is not None)
        prompt += estimate_tokens(json.dumps(sent_along)) if sent_along else 0
        usage = Usage(prompt_tokens=prompt, completion_tokens=min(request.max_output_tokens, _USUAL_ANSWER))
        cost = self._client.models_of(role)[0].family.cost_usd(usage)
        tokens = prompt + usage.completion_tokens
        return Spent(tokens, max(cost or 0.0, self._purse.told_usd(tokens)))


class Spent(NamedTuple):
    """Tokens and US dollars."""

    tokens: int
    usd: float


class Purse:
    """What a run has spent and has in flight; each kind of work may spend a share."""

    def __init__(self, settings: Settings) -> None:
        self._usd, self._tokens = settings.budget_usd, settings.budget_tokens
        self._spent = self._told = Spent(0, 0.0)
        self._in_flight = Spent(0, 0.0)
        self._call_ended = asyncio.Event()
        self._shares = dict(_SHARES)

    def pay(self, usage: Usage, cost_usd: float | None) -> None:
        paid = Spent(usage.prompt_tokens + usage.completion_tokens, cost_usd or 0.0)
        self._spent = _plus(self._spent, paid)
        if usage.cost_usd is not None:
            self._told = _plus(self._told, paid)

    def told_usd(self, tokens: int) -> float:
        """Return the cost of `tokens` at the prices servers reported; 0.0 if none."""
        return self._told.usd * tokens / max(1, self._told.tokens)

    @asynccontextmanager
    async def holding(self, expected: Spent, role: Role) -> AsyncIterator[None]:
        """Reserve `expected` during a call. Raises LimitReached beyond the role's share.

        Where it is not allowed only because of what other calls may cost, it waits for what they really do.
        """
        if role == "report":
            self._shares["judge"] = 1.0
        alone = _plus(self._spent, expected)
        while self._excess(_plus(alone, self._in_flight), role) and not self._excess(alone, role):
            self._call_ended.clear()
            await self._call_ended.wait()
            alone = _plus(self._spent, expected)
        if refused := self._excess(alone, role):
            raise refused
        self._in_flight = _plus(self._in_flight, expected)
        try:
            yield
        finally:
            self._in_flight = Spent(self._in_flight.tokens - expected.tokens, self._in_flight.usd - expected.usd)
            self._call_ended.set()

    def _excess(self, then: Spent, role: Role) -> LimitReached | None:
        share = self._shares[role]
        if self._usd is not None and then.usd > self._usd * share:
            return _spent("usd", self._spent.usd, self._usd)
        if self._tokens is not None and then.tokens > self._tokens * share:
            return _spent("tokens", self._spent.tokens, self._tokens)
        return None


def _plus(one: Spent, other: Spent) -> Spent:
    return Spent(one.tokens + other.tokens, one.usd + other.usd)


def _spent(kind: str, used: float, limit: float) -> LimitReached:
    error = LimitReached("", kind=kind, used=used, limit=limit)
    return replace(error, message=phrase(f"budget_{kind}", "en", **error.amounts))
