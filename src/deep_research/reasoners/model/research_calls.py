"""Model calls of a researcher: choose actions, read pages, write a section."""

import asyncio
from collections.abc import Sequence
from itertools import zip_longest

from deep_research.concurrency import side_by_side
from deep_research.data import Action, Brief, ModelMessage, Passage, Section, SectionDraft, Turn, tool_calls_made
from deep_research.errors import ContextTooLong, LimitReached, ModelError
from deep_research.i18n.catalog import gap_from, phrase
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.reasoners.model import supervisor_turns as supervising
from deep_research.reasoners.model.answer_mapping import section_draft_of
from deep_research.reasoners.model.answer_schemas import ReadAnswer, SectionAnswer
from deep_research.reasoners.model.base import Thinker, told, told_plainly, user
from deep_research.reasoners.model.prompt_views import fenced, fenced_passage, stock
from deep_research.reasoners.model.research_turns import actions_of, leads_in, messages_of
from deep_research.reasoners.model.structured_calls import shrinking
from deep_research.text.token_count import estimate_tokens

_PARTS_IN_DEPTH = 4
_READ_TOKENS = 4_500
"""How much of a page is looked through for a section at once, except in depth: what has most of its words."""
_SAMPLED = 20
"""Calls that the reading of one page may take."""
_MOST = 12
"""Passages named of a page, and of each of its parts."""
_SHORT = 16
"""Passages of a page that no model chooses from, except in depth."""
_AT_ONCE = 4
"""Searches of a plan that are made together."""
_BATCH = 3
"""With so many calls in a turn a researcher has said what it needs, below the depth "deep"."""


class Reading(Thinker):
    """The thought of a researcher that opens a long page."""

    async def read_page(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> Sequence[str]:
        """See `ports.Reasoner.read_page`. The parts are read at the same time.

        Of a page that is longer than one part, the passages with the section's words are read, from all over the page: two
        parts where it is in another language, whose words say less; four in depth. Of a short page nearly all would be
        named: it goes to the writer as its words rank it.
        """
        ranked = await self._fallback.read_page(*told_plainly(section, brief), passages, library)
        if len(passages) <= _SHORT and self._depth != "deep":
            return list(ranked)[:_MOST]

        async def make() -> Sequence[str]:
            most = _PARTS_IN_DEPTH if self._depth == "deep" else 1 if _language_of(passages) == brief.language else 2
            budget = self._passage_tokens if self._depth == "deep" else min(self._passage_tokens, _READ_TOKENS)
            parts = _parts(passages, ranked, library, budget=budget, most=most)
            question = brief.question or brief.title
            named = await side_by_side(
                self._tried(question, section, part, (n, len(parts))) for n, part in enumerate(parts, 1)
            )
            failed = [answer for answer in named if isinstance(answer, ModelError | LimitReached)]
            if len(failed) == len(named):
                raise failed[0]
            for error in failed:
                self._on_gap(gap_from(f"reading: {section.title}", error, "part_unread"))
            # Each part names its best first; words rank nothing across languages, so the parts take turns.
            rows = zip_longest(*(answer for answer in named if isinstance(answer, list)))
            return list(dict.fromkeys(key for row in rows for key in row if key is not None))[: _MOST * 2]

        async def instead() -> Sequence[str]:
            return ranked

        return await self._or_else(f"reading: {section.title}", make(), instead)

    async def _tried(
        self, question: str, section: Section, part: dict[str, str], place: tuple[int, int]
    ) -> list[str] | ModelError | LimitReached:
        """A part that fails costs only itself."""
        try:
            return await self._relevant(question, section, part, place)
        except (ModelError, LimitReached) as error:
            return error

    async def _relevant(
        self, question: str, section: Section, part: dict[str, str], place: tuple[int, int]
    ) -> list[str]:
        """The ids of a part that answer; `place` is its number and that of all. Too long a part is read in halves."""
        text = self._render(
            "read_page",
            question=question,
            section=section,
            passages="\n".join(part.values()),
            part=place[0],
            parts=place[1],
            most=_MOST,
        )
        try:
            answer = await self._ask.structured("read", [user(text)], ReadAnswer, max_output_tokens=400)
        except ContextTooLong:
            if len(part) < 2:
                raise
            rows = list(part.items())
            halves = (dict(rows[: len(rows) // 2]), dict(rows[len(rows) // 2 :]))
            return [key for half in halves for key in await self._relevant(question, section, half, place)]
        return [key for key in (one.strip("[] ") for one in answer.relevant) if key in part][:_MOST]


def _has_batch(turns: Sequence[Turn], planned: Sequence[str]) -> bool:
    """Return whether a model has chosen a turn of several calls, and each of its calls has brought passages; the first
    turn may be that of the plan."""
    chosen = (turn for turn in turns if not {action.query for action in turn.actions} <= {*planned})
    fruitful = (t for t in chosen if all(o.passages for o in t.observations if o.action not in _silent(t)))
    return any(sum(action.counts for action in turn.actions) >= _BATCH for turn in fruitful)


def _silent(turn: Turn) -> set[str]:
    """Return the ids of the actions that look for nothing."""
    return {action.id for action in turn.actions if action.name in ("think", "research_complete")}


def _seen_in(turns: Sequence[Turn]) -> list[str]:
    """Return the passages that a researcher has seen."""
    return [key for turn in turns for seen in turn.observations for key in seen.passages]


def _language_of(passages: Sequence[Passage]) -> str:
    return detect(" ".join(passage.text for passage in passages[:_SAMPLED]))


def _parts(
    passages: Sequence[Passage], ranked: Sequence[str], library: Library, *, budget: int, most: int
) -> list[dict[str, str]]:
    """A page in at most so many parts of about `budget` tokens, in the order of its text; what does not fit goes by rank."""
    blocks = {p.id: fenced_passage(p, library) for p in passages}
    sizes = {key: estimate_tokens(block) for key, block in blocks.items()}
    kept, left = set[str](), most * budget
    for key in dict.fromkeys([*(key for key in ranked if key in blocks), *blocks]):
        left -= sizes[key]
        if left < 0 and kept:
            break
        kept.add(key)
    parts: list[dict[str, str]] = []
    room = 0
    for key, block in blocks.items():
        if key not in kept:
            continue
        if not parts or (sizes[key] > room and len(parts) < most):
            parts.append({})
            room = budget
        parts[-1][key] = block
        room -= sizes[key]
    return parts


class Researching(Thinker):
    """The thoughts of a researcher and of who delegates: what to do next, and writing a section."""

    async def next_actions(
        self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.next_actions`. The searches that the plan or a review names are made without asking.

        What a review asks for is narrow: a further attempt is written from what its searches bring, except in depth. A model
        that has made a batch of calls is asked again only where the sources name something decisive to look for.
        """
        planned = [query for query in section.queries if query not in section.searched]
        leads = await asyncio.to_thread(leads_in, turns, library)
        shallow = self._depth != "deep"
        if (
            shallow
            and turns
            and ((section.attempts > 1 and section.queries) or (_has_batch(turns, planned) and not leads))
        ):
            return []
        if not turns and planned:
            key = f"a{section.attempts}t0"
            return [Action(id=f"{key}c{n}", name="search", query=q) for n, q in enumerate(planned[:_AT_ONCE], 1)]
        task = self._render(
            "research",
            section=section,
            attempt=section.attempts,
            missing="; ".join(section.missing) or section.notes,
            searched=section.searched,
            earlier=section.content,
            places=self._places,
            outside=self._outside,
            mcp_prompt=self._mcp_prompt,
        )
        head = [self._system(brief.question or brief.title, brief.language, brief), user(task)]
        begun = any(turn.actions for turn in turns)
        used = tool_calls_made(turns)

        def messages(budget: int) -> list[ModelMessage]:
            left = self._max_tool_calls - used
            known = stock(library, _seen_in(turns))
            now = self._render("research_now", calls=left, leads=leads, stock=known, is_last=shallow)
            return [*head, *messages_of(turns, library, budget=budget), user(now)]

        async def make(budget: int) -> Sequence[Action]:
            # In a thread: while a page is stored, the library waits.
            answer = await self._ask.act("research", await asyncio.to_thread(messages, budget), self._tools)
            chosen = actions_of(answer, f"a{section.attempts}t{len(turns)}", self._outside)
            if begun or any(action.name in ("search", "recall", "read", "call_tool") for action in chosen):
                return chosen
            # Nothing was looked for yet: what the plan suggests is.
            return await self._fallback.next_actions(*told_plainly(section, brief), turns, library)

        async def stop() -> Sequence[Action]:
            return []

        return await self._or_else(
            f"research: {section.title}",
            shrinking(self._context_tokens // 2, make),
            lambda: self._fallback.next_actions(*told_plainly(section, brief), turns, library),
            stop if begun else None,
        )

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        task = self._render("supervise", units=self._max_units, rounds=self._max_rounds_of_delegations)
        head = [self._system(brief.question or brief.title, brief.language, brief), user(task)]
        begun = any(turn.actions for turn in turns)

        async def make(budget: int) -> Sequence[Action]:
            said = supervising.messages_of(turns, budget=budget)
            answer = await self._ask.act("research", [*head, *said], supervising.TOOLS)
            return supervising.delegations_of(answer, f"r{len(turns) + 1}", first=not begun)

        async def stop() -> Sequence[Action]:
            return []

        return await self._or_else(
            "supervision",
            shrinking(self._context_tokens // 2, make),
            lambda: self._fallback.delegate(brief, sections, turns, library),
            stop if begun else None,
        )

    async def write_section(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> SectionDraft:
        """See `ports.Reasoner.write_section`. Without passages there is nothing to write, and nothing is asked."""
        if not passages:
            return SectionDraft(content="")
        adds, is_note = bool(section.content) and self.writes_whole_report, self.writes_whole_report

        async def make(budget: int) -> SectionDraft:
            text = self._render(
                "write_section",
                section=section,
                others=[other for other in brief.sections if other.title != section.title],
                passages=fenced(passages, library, budget),
                earlier=section.content,
                is_note=is_note,
                missing="; ".join(section.missing) or section.notes,
                faults=section.faults,
                output_format=brief.output_format,
                uniform=section.as_of,
                nothing=phrase("not_found_cell", brief.language),
                words=self._length(
                    "addition" if adds else "section",
                    brief.language,
                    sections=len(brief.sections),
                    more=bool(section.content and section.missing),
                ),
                subsections=self._depth == "deep",
            )
            system = self._system(brief.question or brief.title, brief.language, brief)
            answer = await self._ask.structured("write", [system, told(text, brief)], SectionAnswer)
            return section_draft_of(answer, section.title)

        return await self._or_else(
            f"writing: {section.title}",
            shrinking(self._passage_tokens * (5 if section.shown else 4) // 4, make),
            lambda: self._fallback.write_section(*told_plainly(section, brief), passages, library),
        )
