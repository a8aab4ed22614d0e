"""What every thought of a language model shares: its prompts, its system message, and who thinks when it cannot."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from deep_research.data import Brief, Gap, ModelMessage, ReasonerInfo, Section, ToolSpec
from deep_research.errors import LimitReached, ModelError
from deep_research.i18n.catalog import gap_from, phrase
from deep_research.i18n.language import language_name
from deep_research.ports import Reasoner
from deep_research.prompts import render
from deep_research.reasoners.model.prompt_views import length_of
from deep_research.reasoners.model.research_turns import remarked, tools
from deep_research.reasoners.model.structured_calls import Asker, Complete

_R = TypeVar("_R")
_WHOLE_REPORT = 7_000
"""Tokens that a report of usual length takes; with fewer the sections stay as they are."""


class Thinker:
    """Holds what the thoughts need; they are mixed in by `reasoner.ModelReasoner`."""

    works_ahead = True
    reads_conversation = True

    def __init__(
        self,
        complete: Complete,
        *,
        info: ReasonerInfo,
        fallback: Reasoner,
        places: Sequence[tuple[str, str]],
        date: str,
        max_context_tokens: int,
        compression_target_tokens: int,
        max_tool_calls: int,
        max_sections: int,
        max_clarification_rounds: int,
        max_research_units: int = 5,
        max_researcher_iterations: int = 6,
        retries: int = 2,
        opens_addresses: bool = False,
        outside: Sequence[ToolSpec] = (),
        mcp_prompt: str = "",
        on_gap: Callable[[Gap], object] = lambda _gap: None,
        prompt_folder: Path | None = None,
        depth: str = "standard",
        report_tokens: int = 16_000,
        background: str = "advice",
        max_review_iterations: int = 2,
    ) -> None:
        """`places` are (name, purpose) of what can be searched; `date` is today's, ISO 8601.

        `report_tokens` is how long the report may get in one call. `opens_addresses`: whether the tool `read` takes web addresses. `outside` are the tools of others,
        `mcp_prompt` what the user says about them.
        """
        self.info = info
        self._ask = Asker(complete, retries=retries)
        self._fallback = fallback
        self._places = [f"{name} ({purpose})" for name, purpose in places]
        self._tools = (*tools([name for name, _ in places], opens_addresses=opens_addresses), *outside)
        self._outside = tuple(spec.name for spec in outside)
        self._mcp_prompt = mcp_prompt
        self._date = date
        self._context_tokens = max_context_tokens
        self._passage_tokens = compression_target_tokens
        self._max_tool_calls = max_tool_calls
        self._max_sections = max_sections
        self._max_rounds = max_clarification_rounds
        self._max_units = max_research_units
        self._max_rounds_of_delegations = max_researcher_iterations
        self._on_gap = on_gap
        self._proposed: dict[tuple[str, tuple[str, ...]], str] = {}
        self._folder = prompt_folder
        self._depth = depth
        self._report_tokens = report_tokens
        self._background = background
        self._attempts = max_review_iterations + 1
        self.writes_whole_report = depth != "deep" and report_tokens >= _WHOLE_REPORT

    def _render(self, name: str, **values: Any) -> str:
        return render(name, folder=self._folder, **values)

    def _system(
        self, question: str, language: str, brief: Brief | None = None, parts: Sequence[str] = ()
    ) -> ModelMessage:
        text = self._render(
            "system",
            date=self._date,
            question=question,
            parts=brief.parts if brief else parts,
            language=language_name(language),
            style=phrase("writing_style", language),
            background=self._background,
            objective=brief.objective if brief else "",
            glossary=brief.glossary if brief else (),
            sections=brief.sections if brief else (),
        )
        return ModelMessage(role="system", text=text)

    def _length(self, kind: str, language: str, *, sections: int = 1, more: bool = False) -> str:
        return length_of(kind, self._depth, language, sections=sections, more=more)

    async def _or_else(
        self,
        step: str,
        think: Awaitable[_R],
        instead: Callable[[], Awaitable[_R]],
        at_ceiling: Callable[[], Awaitable[_R]] | None = None,
    ) -> _R:
        """Return the thought, or what the extractive reasoner thinks when there is no usable answer.

        `at_ceiling` is done instead when the budget is spent: what would only lead to more work.
        """
        try:
            return await think
        except LimitReached as error:
            self._on_gap(gap_from(step, error, "without_model"))
            return await (at_ceiling or instead)()
        except ModelError as error:
            self._on_gap(gap_from(step, error, "without_model"))
            return await instead()


def told_plainly(section: Section, brief: Brief) -> tuple[Section, Brief]:
    """A model's section for the extractive reasoner, which goes by words: what it is about stands in its title."""
    about = section.model_copy(update={"subject": section.subject or section.title})
    asked = f"{section.title} {' '.join(section.queries)}"
    return about, brief.model_copy(update={"title": asked, "question": asked})


def user(text: str) -> ModelMessage:
    """Return a message of the user's side."""
    return ModelMessage(role="user", text=text)


def told(text: str, brief: Brief) -> ModelMessage:
    """Return a message of the user's side, with what the user has remarked at its end: its beginning stays cached."""
    return user(f"{text}\n\n{remarked(brief.remarks)}" if brief.remarks else text)
