"""Model calls of the research: moves and notes, delegations, reviews of notes."""

from collections.abc import Sequence

from claimcheck.language import language_name
from deep_research.data import Action, Brief, ModelMessage, Move, Review, Section, SectionReview, Turn, calls_left
from deep_research.data.noun import copy_fields
from deep_research.errors import LimitReached, MalformedOutput, ModelError
from deep_research.i18n.catalog import gap_from
from deep_research.ports import Library
from deep_research.reasoners.model.answers import ReviewAnswer, SectionReviewAnswer
from deep_research.reasoners.model.base import ModelReasonerBase, brief_text, or_fallback, system, user
from deep_research.reasoners.model.conversation import actions_of, messages_of, supervisor_tools
from deep_research.text.prompt_fencing import clean, clean_own
from deep_research.text.token_count import estimate_tokens, take_within_budget

_MOST_QUERIES = 4
_NOT_JUDGED = 0
"""The score of notes that no model has reviewed."""
_NO_NOTES_CHARS = 200
"""An answer without calls that is shorter is no notes but a remark."""


class Researching(ModelReasonerBase):
    """The thoughts of researchers, of their supervisor and of their reviewer."""

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        """Move as `ports.Reasoner` says; text without calls is the notes.

        Where another model writes the notes, it is not.
        """
        if self._goes_unanswered(section, "research"):
            return await self._fallback.next_move(section, brief, turns, library)
        calls = self._calls(section)
        left = calls_left(turns, calls).calls
        separate = "write_max_tokens" in self._settings.model_fields_set or self.info.models.get(
            "write"
        ) != self.info.models.get("research")

        task = self._task(section, brief)

        async def make(budget: int) -> Move:
            room = budget - self._beside(task)
            messages = [*task, *messages_of(turns, library, budget=room, calls=calls)]
            if left <= 0 and separate:
                return Move()
            if left <= 0:
                messages.append(self._asked_for_notes(section))
            answer = await self._ask.act("research", messages, self._tools)
            actions = actions_of(answer, f"r{section.attempts}.{len(turns)}", self._tools) if left > 0 else ()
            is_notes = not (actions or separate) and len(answer.text) >= _NO_NOTES_CHARS
            return Move(actions=actions, text=answer.text if is_notes else "")

        try:
            return await self._within_window(self._room("write"), make)
        except (LimitReached, ModelError) as error:
            self._on_gap(gap_from(section.title, error, "without_model"))
            self._note_silence(section.title, error, is_first=not turns)
            if any(seen.passages for turn in turns for seen in turn.observations):
                return Move()  # its notes are asked for, which a budget may still allow
            return await self._fallback.next_move(section, brief, turns, library)

    @or_fallback()
    async def take_notes(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> str:
        """Take notes as `ports.Reasoner` says, as the last turn of the conversation."""
        if self._goes_unanswered(section, "write"):
            return await self._fallback.take_notes(section, brief, turns, library)

        task = [*self._task(section, brief), self._asked_for_notes(section)]

        async def make(budget: int) -> str:
            room = budget - self._beside(task)
            seen = messages_of(turns, library, budget=room, calls=self._calls(section))
            messages = [*task[:-1], *seen, task[-1]]
            return (await self._ask.act("write", messages, ())).text

        return await self._within_window(self._room("write"), make)

    def _asked_for_notes(self, section: Section) -> ModelMessage:
        return user(self._render("notes", is_whole=section.is_whole, most_words=self._note_words))

    @or_fallback("supervision")
    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        units, rounds = self._settings.max_concurrent_research_units, self._settings.max_researcher_iterations
        standing = self._render("supervise", units=units, rounds=rounds)
        outline = "\n".join(f"- {s.title}: {s.description}" for s in brief.sections)
        asked = f"The question: {clean(brief.question or brief.title)}\n\n{brief_text(brief)}\n\nSections:\n{outline}"
        remarks = [user("\n".join(brief.remarks))] if brief.remarks else []

        async def make(budget: int) -> Sequence[Action]:
            messages = [system(standing), user(asked), *remarks, *messages_of(turns, library, budget=budget)]
            answer = await self._ask.act("research", messages, supervisor_tools())
            if not turns and not answer.tool_calls:  # a research cannot end before it has begun
                raise MalformedOutput("The supervisor delegated nothing.", text=answer.text)
            return actions_of(answer, f"d{len(turns)}", supervisor_tools())

        return await self._within_window(self._window // 2, make)

    async def review_section(self, section: Section, brief: Brief, voices: str = "") -> SectionReview:
        async def make(budget: int) -> SectionReview:
            prompt = self._render(
                "review_section",
                question=clean(brief.question or brief.title),
                section=trimmed(section, budget),
                attempt=max(1, section.attempts),
                attempts=self._settings.max_review_iterations + 1,
                searched=section.searched,
                sources=self._places,
                failed=section.failed,
                voices=voices,
            )
            asked = [user(f"{prompt}\n\nWrite in {language_name(brief.language)}.")]
            return section_review_of(await self._ask.structured("review", asked, SectionReviewAnswer), section.title)

        async def unreviewed() -> SectionReview:
            return SectionReview(title=section.title, status="sufficient" if section.content else "missing")

        if self._goes_unanswered(section, "review"):
            return await unreviewed()
        return await self._or_else(f"review: {section.title}", self._within_window(self._window // 2, make), unreviewed)

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        async def make(budget: int) -> Review:
            each = budget // max(1, len(sections))
            prompt = self._render(
                "review",
                question=clean(brief.question or brief.title),
                parts=brief.parts,
                sections=[trimmed(section, each) for section in sections],
            )
            asked = [user(f"{prompt}\n\nWrite in {language_name(brief.language)}.")]
            return review_of(await self._ask.structured("review", asked, ReviewAnswer))

        async def unreviewed() -> Review:
            return Review(is_sufficient=True, overall_score=_NOT_JUDGED)

        return await self._or_else("review", self._within_window(self._window * 2 // 3, make), unreviewed)


def trimmed(section: Section, budget: int) -> Section:
    """Return the section with its notes cut to `budget` tokens in whole lines.

    The notes say where they were cut.
    """
    text = clean_own(section.content)
    if estimate_tokens(text) > budget:
        text = "\n".join(
            [*take_within_budget(((line, line) for line in text.split("\n")), budget), "(cut here for length)"]
        )
    return section.model_copy(update={"content": text})


def section_review_of(answer: SectionReviewAnswer, title: str) -> SectionReview:
    """Return a section's review; it is retried if new searches are named for gaps."""
    missing, queries = tuple(answer.missing[:_MOST_QUERIES]), tuple(answer.queries[:_MOST_QUERIES])
    return copy_fields(
        SectionReview,
        answer,
        title=title,
        notes=answer.notes or "; ".join(missing),
        retry=answer.status != "sufficient" and bool(queries),
        missing=missing,
        queries=queries,
    )


def review_of(answer: ReviewAnswer) -> Review:
    """Return the review of all sections; one that suffices sends nothing back."""
    retry = () if answer.is_sufficient else tuple(answer.sections_to_retry)
    rows = (section_review_of(row, row.title) for row in answer.section_coverage)
    coverage = tuple(row.model_copy(update={"retry": row.title in retry}) for row in rows)
    return copy_fields(Review, answer, section_coverage=coverage, sections_to_retry=retry)
