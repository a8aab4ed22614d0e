"""The thoughts of a researcher and of who delegates: what to do next, and writing a section."""

from collections.abc import Sequence

from deep_research.data import (
    Action,
    Brief,
    Passage,
    Section,
    SectionDraft,
    Turn,
)
from deep_research.ports import Library
from deep_research.reasoners.model import supervising
from deep_research.reasoners.model.answers import (
    SectionAnswer,
    SectionWork,
)
from deep_research.reasoners.model.ask import shrinking
from deep_research.reasoners.model.conversation import actions_of, messages_of
from deep_research.reasoners.model.nouns import section_draft_of
from deep_research.reasoners.model.showing import blocks
from deep_research.reasoners.model.thinker import Thinker, told, told_plainly, user


class Researching(Thinker):
    """The thoughts of a researcher and of who delegates: what to do next, and writing a section."""

    async def next_actions(
        self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """See `ports.Reasoner.next_actions`."""
        task = self._render(
            "research",
            section=section,
            notes=section.notes,
            places=self._places,
            calls=self._max_tool_calls,
            outside=self._outside,
            mcp_prompt=self._mcp_prompt,
        )
        head = [self._system(brief.question or brief.title, brief.language, brief), user(task)]
        begun = any(turn.actions for turn in turns)

        async def make(budget: int) -> Sequence[Action]:
            answer = await self._ask.act("research", [*head, *messages_of(turns, library, budget=budget)], self._tools)
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
        """See `ports.Reasoner.delegate`."""
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

        async def make(budget: int) -> SectionDraft:
            given = blocks(passages, library, budget)
            text = self._render(
                "write_section",
                section=section,
                passages="\n".join(given.values()),
                output_format=brief.output_format,
            )
            system = self._system(brief.question or brief.title, brief.language, brief)
            answer = await self._ask.structured(
                "write", [system, told(text, brief)], SectionAnswer, asked_as=SectionWork
            )
            self._written[section.title] = (system, given)
            return section_draft_of(answer, section.title)

        return await self._or_else(
            f"writing: {section.title}",
            shrinking(self._passage_tokens, make),
            lambda: self._fallback.write_section(*told_plainly(section, brief), passages, library),
        )
