"""Call models by role, with limits, retries, fallbacks and accounting."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from deep_research.concurrency import SYSTEM_CLOCK, Clock, noting_answers
from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Role, Usage
from deep_research.errors import ConfigError, MalformedOutput, ModelError, ModelRateLimited, ProviderDown, ResearchError
from deep_research.providers.model_families import Family
from deep_research.providers.provider_limits import Gate, gate_of, policy_for
from deep_research.providers.token_stream import streaming_to

_DEAD_SECONDS = 10.0
"""How long a provider is tried that has not answered once in this process."""
_UNTOLD_SECONDS, _LONGEST_SECONDS = 10.0, 240.0
"""A longer pause is told before it begins; one that a server asks for beyond the second is an outage until then."""
_WITH_FALLBACK = 3
"""Attempts where another model stands ready."""
_AWAY = frozenset({"down", "connection", "rate"})
"""Reasons of a server that does not take requests at the moment; what it has begun to answer, and does not end, is paid for."""

_PROBE = ModelRequest(messages=(ModelMessage(role="user", text="Say OK."),), max_output_tokens=16)


class OpenModel(Protocol):
    """A language model behind a provider's wire protocol, with its family's facts."""

    provider: str
    model: str
    family: Family

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer; one attempt, no retries.

        Raises ContextTooLong, Refused, ProviderDown, ModelRateLimited, MalformedOutput, and ModelSetupError for a bad
        key or an unknown model.
        """
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class CallRecord(NamedTuple):
    """One attempt: cost (None: price unknown), duration and error class ("" if good).

    `answer` is that of a good attempt.
    """

    role: Role
    provider: str
    model: str
    usage: Usage
    cost_usd: float | None
    seconds: float
    error: str
    answer: ModelAnswer | None = None


OnOutage = Callable[[OpenModel, str], object]
"""Called with a model that does not answer, and why, when it is given up for a while."""
OnWait = Callable[[OpenModel, float, float], object]
"""Called with a model that is to be waited for: how many seconds it was so far, and after how many it is asked again."""
Account = Callable[[CallRecord], None]


@dataclass(frozen=True)
class Patience:
    """How many seconds to wait for an answer, a call, and a server that is away.

    A call has all its attempts and pauses; the server has answered before.
    """

    answer_seconds: float = 300.0
    call_seconds: float = 900.0
    away_seconds: float = _LONGEST_SECONDS

    @classmethod
    def for_silence(cls, seconds: float) -> "Patience":
        """Return the patience for a model silent up to `seconds`, never less than those.

        A server may be away for two of them.
        """
        return cls(max(cls.answer_seconds, 2 * seconds), max(cls.call_seconds, 5 * seconds), 2 * seconds)


_USUAL = Patience()


class ModelClient:
    """The models of a run: for each role the one to ask, and those to fall back to."""

    def __init__(
        self,
        models: Sequence[OpenModel],
        *,
        roles: Mapping[Role, OpenModel] | None = None,
        account: Account = lambda _: None,
        on_outage: OnOutage = lambda _model, _why: None,
        on_wait: OnWait = lambda _model, _waited, _most: None,
        patience: Patience = _USUAL,
        clock: Clock = SYSTEM_CLOCK,
        gates: Mapping[str, Gate] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Take the models to ask, in order of fallback; `roles` puts another one first.

        `gates` by provider (default: those of the process); `jitter` draws from 0 to 1 to spread retries.
        """
        if not models:
            raise ConfigError("no model is given", setting="model_name")
        self._models = tuple(models)
        self._roles = dict(roles or {})
        self._account = account
        self._on_outage, self._on_wait = on_outage, on_wait
        self._patience = patience
        self._clock = clock
        self._gates = gates or {}
        self._jitter = jitter

    async def complete(self, request: ModelRequest, *, role: Role) -> ModelAnswer:
        """Return the answer of the role's model, or of the first fallback that gives one.

        Raises the error of the last model asked: ContextTooLong and a bad key at once, the others when
        retries and fallbacks are used up.
        """
        asked = self.models_of(role)
        deadline = self._clock.monotonic() + self._patience.call_seconds
        for model in asked[:-1]:
            try:
                return await self._insist(model, request, role, deadline, has_fallback=True)
            except ResearchError as error:
                if policy_for(error).action == "stop":
                    raise
        return await self._insist(asked[-1], request, role, deadline)

    def models_of(self, role: Role) -> tuple[OpenModel, ...]:
        """Return the models asked for a role, in order."""
        first = self._roles.get(role, self._models[0])
        return (first, *(model for model in self._models if model is not first))

    async def close(self) -> None:
        """Let go of all connections."""
        for model in {id(model): model for model in (*self._models, *self._roles.values())}.values():
            await model.close()

    async def _insist(
        self, model: OpenModel, request: ModelRequest, role: Role, deadline: float, *, has_fallback: bool = False
    ) -> ModelAnswer:
        """Ask one model as often as each error's policy allows; skip one known as down."""
        gate = self._gate(model.provider)
        await gate.learn()
        failed, begun, away, probed = 0, self._clock.monotonic(), 0.0, False
        while True:
            if message := gate.outage(model.model):
                self._on_outage(model, message)
                raise _outage(model, message)
            try:
                return await self._attempt(model, request, role, deadline)
            except (ModelError, ConfigError) as error:
                failed += 1
                since = gate.away_since(model.model)
                away = away or since
                pause = self._pause(error, failed, most=_WITH_FALLBACK if has_fallback else failed + 1)
                if pause and _is_500(error) and since != away:
                    pause = min(pause, self._grown(error, 1))  # it answers others: it need not be spared
                if pause is None and since == away and not has_fallback and model.model in gate.answered:
                    pause = self._pause_while_away(error, failed, since)
                    if pause and not probed and _is_500(error):
                        probed = True
                        if await self._answers_another(model, role, deadline):
                            raise  # this request alone fails
                dead = isinstance(error, ProviderDown) and not gate.answered
                until = min(deadline, begun + _DEAD_SECONDS) if dead or has_fallback else deadline
                ends = pause is None or gate.was_out(model.model) or self._clock.monotonic() + pause > until
                is_silent = isinstance(error, ProviderDown) and error.reason == "timeout"
                at_once = ends and (has_fallback or not gate.answered)
                if (ends or is_silent) and self._breaks(model, error, gate, has_fallback=has_fallback, at_once=at_once):
                    raise _outage(model, error.message) from error
                if ends or pause is None:
                    raise
            if pause > _UNTOLD_SECONDS:
                waited = self._clock.monotonic() - since
                self._on_wait(model, waited, waited + pause)
            if pause:
                await self._clock.sleep(pause)

    def _breaks(
        self, model: OpenModel, error: ModelError | ConfigError, gate: Gate, *, has_fallback: bool, at_once: bool
    ) -> bool:
        """Note a failure of a model; return whether it is not asked any more for a while."""
        seconds = error.retry_after or 0.0 if isinstance(error, ModelError) else 0.0
        is_long = seconds > _LONGEST_SECONDS
        counts = isinstance(error, ProviderDown) or is_long
        if has_fallback and isinstance(error, ModelRateLimited | ConfigError):
            counts = error.reason != "bad_request" and policy_for(error).action != "stop"
        elif has_fallback and isinstance(error, MalformedOutput):
            counts = model.model not in gate.answered
        if not counts or not gate.note_failure(model.model, error.message, at_once=at_once or is_long, seconds=seconds):
            return False
        self._on_outage(model, error.message)
        return True

    def _pause(self, error: ResearchError, failed: int, *, most: int) -> float | None:
        """Return the seconds until the next of `most` attempts, or None for no further."""
        policy = policy_for(error)
        if policy.action not in ("retry", "wait") or failed >= min(policy.attempts, most):
            return None
        if isinstance(error, ModelError) and error.retry_after is not None:
            return error.retry_after if error.retry_after <= _LONGEST_SECONDS else None
        return self._grown(error, failed)

    def _pause_while_away(self, error: ResearchError, failed: int, since: float) -> float | None:
        """Return the seconds until an absent server is asked again; None to give up."""
        if not isinstance(error, ProviderDown | ModelRateLimited) or error.reason not in _AWAY:
            return None
        pause = max(self._grown(error, failed), error.retry_after or 0.0)
        return pause if self._clock.monotonic() - since + pause <= self._patience.away_seconds else None

    async def _answers_another(self, model: OpenModel, role: Role, deadline: float) -> bool:
        """Return whether a server that fails with 500 answers a small request."""
        gate, usage, started = self._gate(model.provider), Usage(), self._clock.monotonic()
        try:
            async with gate.slot(until=deadline):
                with streaming_to(None), noting_answers(ModelAnswer, lambda _: None):
                    usage = (await self._in_time(model, _PROBE)).usage
        except (ProviderDown, ModelRateLimited):
            return False
        except ResearchError:
            pass  # it was understood
        self._record(role, model, usage, started, "Probe")
        gate.note_answer(model.model)
        return True

    def _grown(self, error: ResearchError, failed: int) -> float:
        policy = policy_for(error)
        grown = min(policy.most_seconds, policy.first_seconds * 2 ** min(failed - 1, 16))
        return grown * (0.5 + self._jitter() / 2)

    async def _attempt(self, model: OpenModel, request: ModelRequest, role: Role, deadline: float) -> ModelAnswer:
        """Make one attempt within the limits of the provider, accounted for."""
        gate, paid = self._gate(model.provider), list[ModelAnswer]()
        async with gate.slot(until=deadline) as started:

            def record(answer: ModelAnswer) -> None:
                """Account for an answer as soon as it is there, once: it is paid for."""
                if not paid:
                    paid.append(answer)
                    self._record(role, model, answer.usage, started, "", answer)

            try:
                with noting_answers(ModelAnswer, record):
                    answer = await self._in_time(model, request)
                record(answer)  # of a model that has no wire of ours
            except ResearchError as error:
                usage = error.usage if isinstance(error, ModelError) else None
                self._record(role, model, usage, started, type(error).__name__)
                # A longer pause is that of a quota, which each model has of its own.
                if isinstance(error, ModelRateLimited) and (error.retry_after or 0.0) <= _LONGEST_SECONDS:
                    gate.pause(error.retry_after or 0.0)
                raise
            gate.note_answer(model.model)
            return answer

    async def _in_time(self, model: OpenModel, request: ModelRequest) -> ModelAnswer:
        limit = self._patience.answer_seconds
        try:
            async with asyncio.timeout(limit):
                return await model.complete(request)
        except TimeoutError as error:
            message = f"{model.provider} ({model.model}) gave no answer within {limit:g} s."
            raise ProviderDown(message, provider=model.provider, model=model.model, reason="timeout") from error

    def _record(
        self, role: Role, model: OpenModel, usage: object, started: float, error: str, answer: ModelAnswer | None = None
    ) -> None:
        used = usage if isinstance(usage, Usage) else Usage()
        cost = model.family.cost_usd(used)
        seconds = self._clock.monotonic() - started
        self._account(CallRecord(role, model.provider, model.model, used, cost, seconds, error, answer))

    def _gate(self, provider: str) -> Gate:
        return self._gates.get(provider) or gate_of(provider)


def _is_500(error: ResearchError) -> bool:
    return isinstance(error, ProviderDown) and error.status == 500


def _outage(model: OpenModel, message: str) -> ProviderDown:
    return ProviderDown(message, provider=model.provider, model=model.model, reason="outage")
