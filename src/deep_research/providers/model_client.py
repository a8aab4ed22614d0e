"""Calls of models by role, with limits, retries, fallbacks and accounting around them; how long those of a run usually take
is kept, so that one that takes far longer is seen.
"""

import asyncio
import random
import statistics
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol

from deep_research.concurrency import SYSTEM_CLOCK, Clock, noting_answers
from deep_research.data import ModelAnswer, ModelRequest, Role, Usage
from deep_research.errors import ConfigError, MalformedOutput, ModelError, ModelRateLimited, ProviderDown, ResearchError
from deep_research.providers.answer_parsing import prompt_tokens
from deep_research.providers.model_families import Family
from deep_research.providers.provider_limits import Gate, Policy, gate_of, policy_for
from deep_research.providers.token_stream import streaming_to

_HEAD = 100
"""The time before the first token, in tokens: what a call costs that writes nothing."""
_LEAST_CALLS = 4
"""Answered calls from which there is something usual."""
_WRITTEN: Mapping[Role, int] = MappingProxyType(
    {"research": 300, "read": 150, "write": 900, "judge": 500, "review": 400, "report": 900}
)
"""Tokens of a long answer of each role, until the run has seen some."""
_HEDGE_FACTOR = 2.5
_HEDGED_SHARE, _HEDGED_AT_FIRST = 0.1, 2
"""Hedged calls there may be: a share of the answered ones, and some at the beginning."""
_LOOK_SECONDS = 0.5
"""How often it is looked whether there is something usual by now."""
_UP, _QUICK_PAUSE = 2, 0.25
"""After so many answers to other calls a server is up: what fails there is this call, and pauses help it little."""
_DOWN = 3
"""After so many calls in a row that failed with all their attempts each further one has a single attempt."""
_SILENT = 3
"""After so many attempts in a row without any answer in their time the model is down: each further one would wait as long."""
_DEAD_SECONDS = 10.0
"""How long a provider is tried that has not answered once in this process."""
_OUT_SECONDS, _LIMITED_SECONDS, _UNUSABLE_SECONDS = 60.0, 30.0, 600.0
"""How long a model is not asked that is down, that limits the rate, or that cannot be used as it is set up."""
_WITH_FALLBACK = {ProviderDown: 3, ModelRateLimited: 2}
"""Attempts where another model stands ready."""
HEDGED = "Hedged"
"""The error of an attempt that was not needed: another one beside it was answered first."""


class UsualTimes:
    """Times of the answered calls of one run."""

    def __init__(self) -> None:
        self._per_token: deque[float] = deque(maxlen=64)
        self._written: defaultdict[Role, deque[int]] = defaultdict(lambda: deque(maxlen=16))

    def note(self, role: Role, written: int, seconds: float) -> None:
        """Take in an answer of so many tokens that took so long."""
        self._per_token.append(seconds / (_HEAD + written))
        self._written[role].append(written)

    def expected(self, role: Role) -> float | None:
        """Return the seconds of a long answer of that role at the usual speed; None while too few are known."""
        if len(self._per_token) < _LEAST_CALLS:
            return None
        written = max(self._written[role], default=_WRITTEN[role])
        return statistics.median(self._per_token) * (_HEAD + written)


class OpenModel(Protocol):
    """A language model behind one provider's wire protocol, with the facts about its family."""

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
    """One attempt: what it cost (None: price unknown), how long it took, and its error's class ("" when it was good).

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
Account = Callable[[CallRecord], None]


@dataclass(frozen=True)
class Patience:
    """How long is waited: seconds for one answer, and for one call with all its attempts and pauses.

    A call is hedged, which is to say made a second time beside the first, when it takes `hedge_factor` times as long as
    usual for what it writes (0: never), and no less than `hedge_seconds`.
    """

    answer_seconds: float = 300.0
    call_seconds: float = 900.0
    hedge_factor: float = 0.0
    hedge_seconds: float = 1.5

    @classmethod
    def for_silence(cls, seconds: float, *, hedges: bool = False) -> "Patience":
        """Return the patience with a model that may be silent for `seconds`: never less than that silence."""
        factor = _HEDGE_FACTOR if hedges else 0.0
        return cls(max(cls.answer_seconds, 2 * seconds), max(cls.call_seconds, 5 * seconds), factor)


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
        patience: Patience = _USUAL,
        clock: Clock = SYSTEM_CLOCK,
        gates: Mapping[str, Gate] | None = None,
        jitter: Callable[[], float] = random.random,
        task: Callable[[], str] = lambda: "",
    ) -> None:
        """`models`: the first is asked, the others stand in for it, in order; `roles` puts another one first.

        `gates` by provider (default: those of the process); `jitter` draws from 0 to 1 to spread retries; `task` names
        what the call that is being made belongs to: where all attempts for one task have failed beside others that were
        answered, its next call does not wait long either.
        """
        if not models:
            raise ConfigError("no model is given", setting="model_name")
        self._models = tuple(models)
        self._roles = dict(roles or {})
        self._account = account
        self._on_outage = on_outage
        self._patience = patience
        self._clock = clock
        self._gates = gates
        self._jitter = jitter
        self._answered = self._hedged = self._failed_in_a_row = self._silent_in_a_row = 0
        self._usual, self._usable = UsualTimes(), set[str]()
        self._task, self._failing_tasks = task, set[str]()

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
        """Ask one model as often as the policy of each error allows; one that is known to be down is not asked."""
        gate = self._gate(model.provider)
        await gate.learn()
        if message := gate.outage(model.model):
            self._on_outage(model, message)
            raise _outage(model, message)
        failed, answered, begun = 0, self._answered, self._clock.monotonic()
        while True:
            try:
                answer = await self._ask(model, request, role, deadline)
            except (ModelError, ConfigError) as error:
                failed += 1
                others = self._answered - answered
                self._silent_in_a_row += isinstance(error, ProviderDown) and error.reason == "timeout"
                is_up = others >= _UP or self._task() in self._failing_tasks
                policy = _policy(error, has_fallback=has_fallback)
                pause = self._pause(policy, error, failed, others=others, is_up=is_up)
                dead = isinstance(error, ProviderDown) and not gate.has_answered
                until = min(deadline, begun + _DEAD_SECONDS) if dead or has_fallback else deadline
                if pause is None or gate.was_out(model.model) or self._clock.monotonic() + pause > until:
                    self._failed_in_a_row += isinstance(error, ProviderDown)
                    if isinstance(error, ProviderDown) and is_up and (task := self._task()):
                        self._failing_tasks.add(task)
                    if not others and (known := self._give_up(model, error, gate, has_fallback=has_fallback)):
                        raise known from error
                    raise
            else:
                self._failed_in_a_row = self._silent_in_a_row = 0
                self._failing_tasks.discard(self._task())
                return answer
            if pause:
                await self._clock.sleep(pause)
            if self._silent_in_a_row >= _SILENT and (message := gate.outage(model.model)):
                raise _outage(model, message)

    def _give_up(
        self, model: OpenModel, error: ResearchError, gate: Gate, *, has_fallback: bool
    ) -> ProviderDown | None:
        """Note that a model is not to be asked for a while, where its failures show it; return the error that says so."""
        seconds = 0.0
        if isinstance(error, ProviderDown):
            down = self._failed_in_a_row >= _DOWN or self._silent_in_a_row >= _SILENT
            seconds = _OUT_SECONDS if has_fallback or not gate.has_answered or down else 0.0
        elif has_fallback and isinstance(error, ModelRateLimited):
            seconds = max(_LIMITED_SECONDS, error.retry_after or 0.0)
        elif has_fallback and isinstance(error, ConfigError):
            unusable = policy_for(error).action == "fall_back" and error.reason != "bad_request"
            seconds = _UNUSABLE_SECONDS if unusable else 0.0
        elif has_fallback and isinstance(error, MalformedOutput) and model.model not in self._usable:
            seconds = _UNUSABLE_SECONDS
        if not seconds:
            return None
        gate.note_outage(model.model, error.message, seconds)
        self._on_outage(model, error.message)
        return _outage(model, error.message) if isinstance(error, ProviderDown) else None

    def _pause(self, policy: Policy, error: ResearchError, failed: int, *, others: int, is_up: bool) -> float | None:
        """Seconds until the next attempt, or None when there is to be none.

        `others` are the calls that were answered since this one was begun; `is_up` says whether the server answers others.
        """
        if policy.action not in ("retry", "wait") or failed >= policy.attempts:
            return None
        if isinstance(error, ModelError) and error.retry_after is not None:
            return error.retry_after
        if isinstance(error, ProviderDown) and self._failed_in_a_row >= _DOWN:
            return None
        if (
            isinstance(error, ProviderDown)
            and error.reason == "timeout"
            and self._silent_in_a_row >= _SILENT
            and not others
        ):
            return None
        most = _QUICK_PAUSE if isinstance(error, ProviderDown) and is_up else policy.most_seconds
        grown = min(most, policy.first_seconds * 2 ** (failed - 1))
        return grown * (0.5 + self._jitter() / 2)

    async def _ask(self, model: OpenModel, request: ModelRequest, role: Role, deadline: float) -> ModelAnswer:
        """Return the answer of one attempt, or of a second one beside it when the first takes far too long."""
        if not self._patience.hedge_factor:
            return await self._attempt(model, request, role, deadline, asyncio.Event())
        sent = asyncio.Event()
        tasks = [asyncio.ensure_future(self._attempt(model, request, role, deadline, sent))]
        begun = self._clock.monotonic()
        try:
            if await self._is_slow(tasks[0], sent, model, role):
                self._hedged += 1
                with streaming_to(None):  # only one of them is shown
                    tasks.append(asyncio.ensure_future(self._attempt(model, request, role, deadline, asyncio.Event())))
            return await _first_answer(tasks)
        finally:
            await self._end_others(tasks, model, request, role, begun)

    async def _is_slow(
        self, first: "asyncio.Task[ModelAnswer]", sent: asyncio.Event, model: OpenModel, role: Role
    ) -> bool:
        """Wait until an attempt is done, or takes so long from its sending on that it is hedged."""
        sending = asyncio.ensure_future(sent.wait())
        await asyncio.wait({first, sending}, return_when=asyncio.FIRST_COMPLETED)
        sending.cancel()
        begun = self._clock.monotonic()
        while not first.done():
            expected = self._usual.expected(role)
            left = _LOOK_SECONDS
            if expected is not None:
                patience = max(self._patience.hedge_seconds, self._patience.hedge_factor * expected)
                left = patience - (self._clock.monotonic() - begun)
                if left <= 0:
                    return self._may_hedge(model)
            await asyncio.wait({first}, timeout=max(0.01, left))
        return False

    def _may_hedge(self, model: OpenModel) -> bool:
        """Return whether one more request is in proportion, and there is room for it at the provider."""
        gate = self._gate(model.provider)
        in_proportion = self._hedged < _HEDGED_AT_FIRST + _HEDGED_SHARE * self._answered
        return in_proportion and gate.in_flight + 1 <= gate.allowed

    async def _end_others(
        self,
        tasks: "Sequence[asyncio.Task[ModelAnswer]]",
        model: OpenModel,
        request: ModelRequest,
        role: Role,
        begun: float,
    ) -> None:
        """Cancel what is still under way, and account for the attempt whose answer is not used."""
        ended = [task for task in tasks if task.cancel()]
        if ended:
            await asyncio.wait(ended)
        answered = [task.result() for task in tasks if not task.cancelled() and task.exception() is None]
        if len(tasks) > 1 and answered:
            unused = [answer.usage for answer in answered[1:]]
            cancelled = [Usage(prompt_tokens=prompt_tokens(request)) for task in ended if task.cancelled()]
            for usage in (*unused, *cancelled):
                self._record(role, model, usage, begun, HEDGED)

    async def _attempt(
        self, model: OpenModel, request: ModelRequest, role: Role, deadline: float, sent: asyncio.Event
    ) -> ModelAnswer:
        """One attempt within the limits of the provider, accounted for; `sent` is set when it is let through."""
        gate = self._gate(model.provider)
        async with gate.slot(prompt_tokens(request), until=deadline) as started:
            sent.set()
            try:
                # As soon as it is there: it is paid for.
                record = _once(partial(self._record_answer, role, model, started))
                with noting_answers(ModelAnswer, record):
                    answer = await self._in_time(model, request)
                record(answer)  # of a model that has no wire of ours
            except ResearchError as error:
                self._record(
                    role, model, error.usage if isinstance(error, ModelError) else None, started, type(error).__name__
                )
                if isinstance(error, ModelRateLimited):
                    gate.limited(started=started, seconds=error.retry_after or 0.0)
                raise
            gate.answered(model.model)
            self._answered += 1
            self._usable.add(model.model)
            self._usual.note(role, answer.usage.completion_tokens, self._clock.monotonic() - started)
            return answer

    def _record_answer(self, role: Role, model: OpenModel, started: float, answer: ModelAnswer) -> None:
        self._record(role, model, answer.usage, started, "", answer)

    async def _in_time(self, model: OpenModel, request: ModelRequest) -> ModelAnswer:
        limit = self._patience.answer_seconds
        try:
            async with asyncio.timeout(limit):
                return await model.complete(request)
        except TimeoutError as error:
            message = f"{model.provider} ({model.model}) gave no answer within {limit:g} s."
            raise ProviderDown(message, provider=model.provider, model=model.model, reason="timeout") from error

    def _record(
        self,
        role: Role,
        model: OpenModel,
        usage: object,
        started: float,
        error: str,
        answer: ModelAnswer | None = None,
    ) -> None:
        used = usage if isinstance(usage, Usage) else Usage()
        cost = model.family.cost_usd(used)
        seconds = self._clock.monotonic() - started
        self._account(CallRecord(role, model.provider, model.model, used, cost, seconds, error, answer))

    def _gate(self, provider: str) -> Gate:
        if self._gates is not None and provider in self._gates:
            return self._gates[provider]
        return gate_of(provider)


def _once(record: Callable[[ModelAnswer], object]) -> Callable[[ModelAnswer], None]:
    """Return `record` so that it is told of one answer only."""
    is_recorded = False

    def record_first(answer: ModelAnswer) -> None:
        nonlocal is_recorded
        if not is_recorded:
            is_recorded = True
            record(answer)

    return record_first


def _policy(error: ResearchError, *, has_fallback: bool) -> Policy:
    """Return what follows an error; with another model at hand there are fewer attempts."""
    policy = policy_for(error)
    most = next((count for kind, count in _WITH_FALLBACK.items() if has_fallback and isinstance(error, kind)), 0)
    return policy._replace(attempts=min(policy.attempts, most)) if most else policy


def _outage(model: OpenModel, message: str) -> ProviderDown:
    return ProviderDown(message, provider=model.provider, model=model.model, reason="outage")


async def _first_answer(tasks: "Sequence[asyncio.Task[ModelAnswer]]") -> ModelAnswer:
    """Return the first answer of attempts side by side. Raises the error of the first one when all have failed."""
    pending = set(tasks)
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task in done and task.exception() is None:
                return task.result()
    return tasks[0].result()
