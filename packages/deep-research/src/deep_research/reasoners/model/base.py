"""What all model calls of a reasoner share: prompts, window and the fallback."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from claimcheck.language import language_name
from deep_research.data import (
    LOOP_SECTIONS,
    MAX_SECTIONS,
    Brief,
    Gap,
    ModelMessage,
    ReasonerInfo,
    Role,
    Section,
    ToolSpec,
)
from deep_research.errors import ContextTooLong, LimitReached, ModelError, ProviderDown
from deep_research.i18n.catalog import gap_from
from deep_research.ports import Reasoner
from deep_research.prompts import render
from deep_research.reasoners.model.asking import REFUSED, Asker, Complete
from deep_research.reasoners.model.conversation import lookup_tools, research_tools
from deep_research.settings import Settings
from deep_research.text.prompt_fencing import attribute, clean
from deep_research.text.token_count import estimate_tokens

_R = TypeVar("_R")
_T = TypeVar("_T", bound=Callable[..., Awaitable[Any]])
_SHRINKS, _SHRINK, _LAST_SHRINK = 3, 0.1, 0.75
_LEAST = 256
"""Tokens of material, below which nothing more is cut."""
_NOTE_WORDS = 2_500
"""The most words of notes; their limit in tokens may allow fewer, with ids and formulas about three tokens a word."""


_PASSAGE_TOKENS = {"brief": 15_000, "standard": 40_000, "deep": 100_000}
"""How much of the passages that were read a writer is shown, by the depth of the report."""


@dataclass(frozen=True)
class Offered:
    """What a model may use: sources by name and purpose, addresses, outside tools."""

    places: Sequence[tuple[str, str]] = ()
    opens_addresses: bool = False
    outside: Sequence[ToolSpec] = ()


class ModelReasonerBase:
    """The prompts, limits and fallback of all thoughts, mixed into `ModelReasoner`."""

    reads_conversation = True

    def __init__(
        self,
        complete: Complete,
        settings: Settings,
        *,
        info: ReasonerInfo,
        fallback: Reasoner,
        offered: Offered,
        context_tokens: int,
        date: str,
        on_gap: Callable[[Gap], object] = lambda _gap: None,
        prompt_folder: Path | None = None,
    ) -> None:
        """Set up with today's `date` (ISO 8601); `fallback` thinks if the model fails.

        The model fails where it gives no usable answer.
        """
        self.info = info
        self._ask = Asker(complete, retries=settings.max_structured_output_retries, most=self._most)
        self._fallback = fallback
        self._places = [f"{name}: {purpose}" for name, purpose in offered.places]
        names = [name for name, _ in offered.places]
        opens = offered.opens_addresses
        self._lookups = (*lookup_tools(names, opens_addresses=opens), *offered.outside)
        self._tools = (*research_tools(names, opens_addresses=opens), *offered.outside)
        self._opens_addresses = opens
        self._tool_tokens = sum(estimate_tokens(tool.model_dump_json()) for tool in self._tools)
        self._settings = settings
        self._most_sections = LOOP_SECTIONS if settings.workflow == "loop" else MAX_SECTIONS
        self._window = context_tokens
        self._passage_tokens = min(_PASSAGE_TOKENS[settings.depth], context_tokens * 9 // 20)
        self._note_words = f"{min(_NOTE_WORDS, settings.output_tokens('write') * 5 // 16):,}"
        self._date = date
        self._on_gap = on_gap
        self.unanswered = dict[str, bool]()
        """Titles of sections at which the server failed; of those at whose first question, what follows would fail as well."""
        self._undecided = set[str]()
        """Questions to which no answer of intake fitted; they are not asked so again."""
        self._folder = prompt_folder

    def _render(self, name: str, **values: Any) -> str:
        return render(name, folder=self._folder, **values)

    def _most(self, role: Role) -> int:
        """Return how many tokens an answer may take."""
        return max(256, min(self._settings.output_tokens(role), self._window // 4))

    def _room(self, role: Role) -> int:
        """Return how many tokens a prompt may take beside an answer."""
        return self._window - self._most(role) - self._window // 10

    def _beside(self, messages: Sequence[ModelMessage]) -> int:
        """Return the tokens before a researcher's first turn: `messages` and the tools."""
        return self._tool_tokens + sum(estimate_tokens(message.text) for message in messages)

    async def _within_window(self, budget: int, make: Callable[[int], Awaitable[_R]]) -> _R:
        """Return `make(budget)`, in tokens; lower the budget for each too long prompt.

        The prompt becomes shorter by what is over the window that the server names, at least by 10 % (row D5); after
        three such retries by three quarters, before it is given up. Such a window is remembered. Raises ContextTooLong.
        """
        shares = iter((*(_SHRINK,) * _SHRINKS, _LAST_SHRINK))
        try:
            while True:
                try:
                    return await make(budget)
                except ContextTooLong as error:
                    if error is not REFUSED.get():
                        if (share := next(shares, None)) is None:
                            raise
                        REFUSED.set(error)
                        self._window = min(self._window, error.window or self._window)
                        over = 1 - error.window / error.used if error.window and error.used else 0.0
                        budget = min(budget, 4 * error.fits)
                        error.fits = int(error.fits * (1 - max(over, share)))
                    budget = budget * 19 // 20
                    # Where nothing is left to cut it is sent all the same: servers are not always right about their windows.
                    if budget < _LEAST:
                        REFUSED.set(None)
                        budget = 0
        finally:
            REFUSED.set(None)

    async def _or_else(self, step: str, think: Awaitable[_R], instead: Callable[[], Awaitable[_R]]) -> _R:
        """Await a thought; without a usable answer report a gap and do `instead`."""
        try:
            return await think
        except (LimitReached, ModelError) as error:
            self._note_silence(step, error)
            self._on_gap(gap_from(step, error, "without_model"))
            return await instead()

    def _note_silence(self, title: str, error: Exception, *, is_first: bool = False) -> None:
        if isinstance(error, ProviderDown):
            self.unanswered[title] = is_first

    def _goes_unanswered(self, section: Section, role: Role) -> bool:
        """Return whether a section's question would go to a server known to have failed.

        That is the one that failed at the section's first question.
        """
        return self.unanswered.get(section.title, False) and self.info.models.get(role) == self.info.models.get(
            "research"
        )

    def _calls(self, section: Section) -> int:
        """Return how many calls the researcher of a section may make."""
        return section.calls(self._settings.max_tool_calls_per_researcher)

    def _task(self, section: Section, brief: Brief) -> list[ModelMessage]:
        """Return the start of a researcher's conversation, the same in all its turns."""
        planned = next((s.queries for s in brief.sections if s.title == section.title), ())
        standing = self._render(
            "research",
            date=self._date,
            calls=self._calls(section),
            is_whole=section.is_whole,
            most_words=self._note_words,
            sources=self._places,
            opens_addresses=self._opens_addresses,
        )
        task = self._render(
            "task",
            question=clean(brief.question or brief.title),
            brief=brief_text(brief),
            sections=[
                f"{s.title}: {s.description}" if s.description else s.title
                for s in brief.sections
                if s.title != section.title
            ],
            section=section.model_copy(update={"queries": planned}),
            language=language_of(brief),
            template=self._settings.mcp_prompt,
        )
        return [system(standing), user(task)]


def or_fallback(step: str = "") -> Callable[[_T], _T]:
    """Use the fallback where a thought has no usable answer, and note a gap.

    The gap is of `step`, or of the section given.
    """

    def with_fallback(think: _T) -> _T:
        @wraps(think)
        async def thought(self: ModelReasonerBase, *args: Any, **named: Any) -> Any:
            instead = getattr(self._fallback, think.__name__)
            about = step or args[0].title
            return await self._or_else(about, think(self, *args, **named), lambda: instead(*args, **named))

        return cast(_T, thought)

    return with_fallback


def user(text: str) -> ModelMessage:
    """Return a message of the user's side."""
    return ModelMessage(role="user", text=text)


def system(text: str) -> ModelMessage:
    """Return the standing instruction of a conversation."""
    return ModelMessage(role="system", text=text)


def brief_text(brief: Brief) -> str:
    """Return the brief for a prompt: objective, scope, passages defining its names."""
    terms = (
        f'{attribute(one.term)}: <source title="{attribute(one.title)}">[{one.passage}] {clean(one.meaning)}</source>'
        for one in brief.terms
        if one.found
    )
    return "\n".join(filter(None, (brief.instruction or brief.objective, brief.scope, *terms)))


def language_of(brief: Brief) -> str:
    """Return the name of the language that is written in."""
    return language_name(brief.language)
