"""The base of wired models: ask a server in the manner its refusals have taught."""

from collections import Counter
from contextlib import nullcontext
from typing import Any, NamedTuple

from deep_research.concurrency import on_wires
from deep_research.data import ModelAnswer, ModelRequest, Usage
from deep_research.errors import ContextTooLong, MalformedOutput, ResearchError
from deep_research.providers.answer_parsing import Heard, prompt_tokens, understood
from deep_research.providers.http_wire import HttpWire, WireFailure, check_length, most_bytes
from deep_research.providers.model_families import Family
from deep_research.providers.provider_failures import (
    BAD_REQUEST,
    About,
    error_body,
    is_no_such_path,
    meaning_of,
    translate,
)
from deep_research.providers.server_manner import TOOL_MESSAGES, CutPrompts, Manner, has_part, learnt_from, plainest
from deep_research.providers.token_stream import call_on_wires, pass_on, streaming_to
from deep_research.providers.tools_in_text import tools_in_text

CUT = "cut"
"""The reason of a ContextTooLong that no server has said."""
_FAILED_WITH_TOOLS, _FAILED_WITH_ROLE = 2, 4
"""After so many server errors where tools were sent, and no answer yet, it is tried whether they are the reason; and
standing instructions have no role of their own any more.
"""


class Sent(NamedTuple):
    """A request as it is sent: its body and the beginning of its path."""

    body: dict[str, Any]
    path: str


class WiredModel:
    """A chat model behind a wire (`OpenModel`); made once per run."""

    def __init__(self, wire: HttpWire, about: About, family: Family, *, thinking: bool = False) -> None:
        """`thinking` lets a model that can think before it answers do so."""
        self.provider = about.provider
        self.model = about.model
        self.address = about.base_url
        self.family = family
        self._wire = wire
        self._about = about
        self._thinking = thinking
        self._manner = Manner()
        self._cut_prompts = CutPrompts()
        self._ended: Counter[tuple[str, int]] = Counter()
        """How often requests with a parameter, or with the role of a system, ended in which status."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer; see `OpenModel.complete`.

        A prompt that the server would cut without a word is not sent.
        """
        if self._manner.cut and (used := prompt_tokens(request)) > self._manner.cut:
            raise self._cut(used, self._manner.cut)
        return await call_on_wires(lambda: self._complete(request))

    async def _complete(self, request: ModelRequest) -> ModelAnswer:
        """Ask, and ask in another manner as long as each refusal changes what is sent."""
        guess: Manner | None = None
        refusal: WireFailure | None = None
        if self._has_only_failed("role", _FAILED_WITH_ROLE):
            self._manner = self._manner.refusing(frozenset({"role"}))
        while True:
            manner = guess or self._manner
            sent = self._sent(request, manner)
            try:
                answer = await self._answered(request, sent, manner)
            except WireFailure as failure:
                if made := await self._salvaged(failure, request):
                    return made
                if refusal is not None:
                    kept = refusal if failure.status in (400, 422) else failure
                    raise translate(kept, self._about) from failure
                if self._learn(failure, sent) and self._sent(request, self._manner) != sent:
                    continue
                guess, refusal = self._guess(failure, sent), failure
                if guess is None:
                    raise self._translated(failure, request) from failure
            except MalformedOutput as error:
                if error.reason == "thinking":
                    room = max(2 * self._manner.room, self.family.thinking_tokens)
                    self._manner = self._manner._replace(room=room)
                raise
            else:
                if guess is not None:  # it proves nothing against what was taken before
                    never_taken = (name for name in guess.refused if not self._ended[name, 200])
                    self._manner = self._manner.refusing(frozenset(never_taken))
                return answer

    def _sent(self, request: ModelRequest, manner: Manner) -> Sent:
        has_calls = any(message.tool_calls for message in request.messages)
        refused = {"tools"} if request.tools else {"tools", TOOL_MESSAGES} if has_calls else set[str]()
        asked = tools_in_text(request) if manner.refused & refused else request
        return Sent(self._body(asked, manner), self._wire.paths[manner.path])

    async def _answered(self, request: ModelRequest, sent: Sent, manner: Manner) -> ModelAnswer:
        """Return the answer, with the prompt's length if probably cut.

        Raises ContextTooLong where the prompt was surely cut.
        """
        in_text = bool(request.tools) and "tools" in manner.refused
        named = [name for name in (*sent.body, "role", TOOL_MESSAGES) if has_part(sent.body, name)]
        try:
            with streaming_to(None) if in_text else nullcontext():  # calls are not for the reader
                heard = await self._ask(sent)
        except WireFailure as failure:
            self._ended.update((name, 0 if failure.reason else failure.status) for name in named)
            raise
        self._ended.update((name, 200) for name in named)
        try:
            check_length(heard.length, most_bytes(sent.body))
        except WireFailure as failure:
            failure.usage = heard.usage
            raise
        choice = sent.body.get("tool_choice")  # of one tool: the answer is asked for as its call
        forced = isinstance(choice, dict) and choice.get("type") in ("function", "tool")
        answer = await understood(heard, request, self._about, forced=forced)
        if in_text and not answer.tool_calls:
            await pass_on(answer.text)
        used = prompt_tokens(request)
        reading = self._cut_prompts.note(request.messages, used, answer.usage)
        if most := reading.window:
            window, cut = self._manner.window or most, self._manner.cut or most
            self._manner = self._manner._replace(window=min(window, most), cut=min(cut, most))
            raise self._cut(used, most, answer.usage)
        return answer.model_copy(update={"sent_tokens": used}) if reading.is_cut else answer

    def _cut(self, used: int, window: int, usage: Usage | None = None) -> ContextTooLong:
        message = f"{self.provider} ({self.model}) reads {window} tokens of a prompt, and cuts one of about {used} without a word."
        fields: dict[str, Any] = {"provider": self.provider, "model": self.model, "usage": usage}
        return ContextTooLong(message, reason=CUT, used=used, window=window, **fields)

    def _learn(self, failure: WireFailure, sent: Sent) -> bool:
        """Take in what a refusal teaches; return whether it may be asked again."""
        paths = self._wire.paths
        if is_no_such_path(failure) and len(paths) > 1 and sent.path == paths[self._manner.path]:
            path = (self._manner.path + 1) % len(paths)
            self._manner = self._manner._replace(path=path)
            return bool(path)
        learnt = learnt_from(failure, sent.body, self._manner, self.provider)
        # A parameter that was taken before is not refused by a server error; roles and tools are by a longer conversation.
        taken = any(
            self._ended[name, 200] for name in learnt.refused - self._manner.refused - {"role", "tools", TOOL_MESSAGES}
        )
        if failure.status < 500 or not taken:
            self._manner = learnt
        return True

    def _guess(self, failure: WireFailure, sent: Sent) -> Manner | None:
        """Return a manner to try where a refusal's words tell nothing; kept if it works."""
        meaning = meaning_of(failure, error_body(failure.body), self.provider)[0]
        if meaning is BAD_REQUEST:
            plain = plainest(sent.body, self._manner)
        elif failure.status == 500 and self._has_only_failed("tools", _FAILED_WITH_TOOLS):
            plain = self._manner.refusing(frozenset({"tools"}))
        elif failure.reason == "garbled" and "stream" in sent.body:
            plain = self._manner.refusing(frozenset({"stream"}))
        else:
            return None
        return plain if plain != self._manner else None

    def _has_only_failed(self, name: str, times: int) -> bool:
        return self._ended[name, 500] >= times and not self._ended[name, 200]

    def _translated(self, failure: WireFailure, request: ModelRequest) -> ResearchError:
        """Return the error that a failure means; add window and length if too long.

        The window is the one learnt before, the length an estimate.
        """
        error = translate(failure, self._about)
        if isinstance(error, ContextTooLong):
            error.window, error.used = error.window or self._manner.window or None, error.used or prompt_tokens(request)
        return error

    async def close(self) -> None:
        """Let go of connections."""
        await on_wires(self._wire.close())

    def _body(self, request: ModelRequest, manner: Manner) -> dict[str, Any]:
        """Return what is sent for a request."""
        raise NotImplementedError

    async def _ask(self, sent: Sent) -> Heard:
        """Send the request and read the answer. Raises WireFailure."""
        raise NotImplementedError

    async def _salvaged(self, failure: WireFailure, request: ModelRequest) -> ModelAnswer | None:
        """Return the answer that a failure carries, or None."""
        return None
