"""Model calls after the research: judge claims, review sections, write what stands around them."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from deep_research.data import (
    Brief,
    Claim,
    Composition,
    ModelMessage,
    QueryAnalysis,
    Question,
    Review,
    Section,
    SectionReview,
    Verdict,
)
from deep_research.errors import ContextTooLong, LimitReached, MalformedOutput, ModelError
from deep_research.i18n.catalog import phrase, verdict_of
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.reasoners.model.answer_mapping import composition_of, review_of, section_review_of
from deep_research.reasoners.model.answer_schemas import (
    ComposeAnswer,
    FailureAnswer,
    JudgeAnswer,
    ReviewAnswer,
    RewriteAnswer,
    SectionReviewAnswer,
)
from deep_research.reasoners.model.base import Thinker, told, user
from deep_research.reasoners.model.prompt_views import cited, cited_most, for_review, numbered, stock
from deep_research.reasoners.model.research_turns import remarked
from deep_research.reasoners.model.structured_calls import fitted
from deep_research.reasoners.model.text_lengths import is_too_short, length_in, within_length
from deep_research.search.source_standing import uniform_standing
from deep_research.text.quoted_words import still_said
from deep_research.text.sentences import sentences
from deep_research.text.token_count import estimate_tokens
from deep_research.text.tokens import content_terms


class _Judged(NamedTuple):
    """What a judge says of statements, by their numbers from 1: the failures, which were judged, and the first words of the
    sentence that carries one."""

    failures: dict[int, FailureAnswer]
    checked: frozenset[int]
    carriers: dict[int, str]


class Judging(Thinker):
    """The thoughts of the check: does a passage support a claim, and what would it support."""

    async def judge(self, claims: Sequence[Claim], library: Library, question: str = "") -> Sequence[Verdict]:
        """See `ports.Reasoner.judge`. Raises ModelError: the check step then leaves the claims unverified."""
        judged = await self._judged(claims, library, question)
        for number, failure in judged.failures.items():
            claim = claims[number - 1]
            self._proposed[claim.text, claim.passages] = failure.instead

        def verdict(number: int) -> Verdict:
            if (failure := judged.failures.get(number)) is not None:
                return Verdict(kind=failure.verdict, reason=failure.reason[:200], by_model=True)
            if number not in judged.checked:
                return verdict_of("unverified", "no_verdict")
            carrier = _sentence_with(judged.carriers.get(number, ""), claims[number - 1], library)
            return Verdict(kind="supported", reason="", by_model=True, carrier=carrier)

        return [verdict(number) for number in range(1, len(claims) + 1)]

    async def _judged(self, claims: Sequence[Claim], library: Library, question: str) -> _Judged:
        """Return what a judge says of the claims; in halves where they are too long, be it for the model to read or, of many
        statements, to answer whole.

        An answer that says it judged fewer statements than there are speaks for none of those it does not name.
        """
        shown = cited(claims, library)
        prompt = self._render(
            "judge",
            date=self._date,
            question=question,
            passages="\n".join(shown.values()),
            claims=numbered(claims),
            is_foreign=_language_of(c.text for c in claims) != _language_of(_texts_of(shown, library)),
        )
        try:
            answer = await self._ask.structured("judge", [user(prompt)], JudgeAnswer, max_output_tokens=_JUDGE_TOKENS)
        except (ContextTooLong, MalformedOutput) as error:
            if len(claims) < (2 if isinstance(error, ContextTooLong) else _MANY):
                raise
        else:
            named = {f.number: f for f in answer.failures if 1 <= f.number <= len(claims)}
            whole = answer.checked >= len(claims)
            carriers = {c.number: c.words for c in answer.carriers}
            return _Judged(named, frozenset(range(1, len(claims) + 1) if whole else named), carriers)
        half = len(claims) // 2
        first = await self._judged(claims[:half], library, question)
        second = await self._judged(claims[half:], library, question)
        return _Judged(
            first.failures | {n + half: f for n, f in second.failures.items()},
            first.checked | {n + half for n in second.checked},
            first.carriers | {n + half: words for n, words in second.carriers.items()},
        )

    async def rewrite(self, claims: Sequence[Claim], library: Library, question: str = "") -> Sequence[str]:
        """See `ports.Reasoner.rewrite`. What the judge proposed is not asked for again.

        Raises ModelError: the check step then cuts the claims.
        """
        texts = {c: self._proposed[c.text, c.passages] for c in claims if (c.text, c.passages) in self._proposed}
        left = [claim for claim in claims if claim not in texts]
        if left:
            shown = "\n".join(cited(left, library).values())
            prompt = self._render("rewrite", date=self._date, question=question, passages=shown, claims=numbered(left))
            answer = await self._ask.structured("judge", [user(prompt)], RewriteAnswer, max_output_tokens=3000)
            given = {s.number: s for s in answer.statements}
            for number, claim in enumerate(left, 1):
                said = given.get(number)
                texts[claim] = "" if said is None else claim.text if said.as_it_stands else said.text
        return [texts[claim] for claim in claims]


def _language_of(texts: Iterable[str]) -> str:
    return detect(" ".join(texts)[:_SAMPLE])


def _texts_of(ids: Iterable[str], library: Library) -> list[str]:
    return [passage.text for key in ids if (passage := library.passage(key)) is not None]


def _sentence_with(words: str, claim: Claim, library: Library) -> str:
    """Return the sentence of a passage of the claim that begins with, or has, these words; "" where none does."""
    parts = words.strip(' .…"“”').split()
    if len(parts) < _FEW_WORDS:
        return ""
    wanted = re.compile(r"\s+".join(map(re.escape, parts)))
    for text in _texts_of(claim.passages, library):
        if found := wanted.search(text):
            said = (text[s.start : s.end] for s in sentences(text) if s.start <= found.start() < s.end)
            return " ".join(next(said, "").split())
    return ""


_R = TypeVar("_R")
_SAMPLE = 4_000
"""Characters by which the language of many texts is told."""
_FEW_WORDS = 3
"""Words by which a sentence can be told from others."""
_MANY = 40
"""Statements of which an answer may be malformed because it has become too long."""
_JUDGE_TOKENS = 8_192
"""The most that the failures among the statements of a report may take."""
_REPORT_TOKENS = 12_000
"""The most that a report may take; its sections get half of it at least."""
_REPORT_OUTPUT = 16_000
"""The longest answer that holds a report: as JSON, with ids, and where a character may be a token, it is longer than what it says."""
_PASSAGE_TOKENS = 22_000
"""How much of what the sections cite the writer of the report sees."""
_NOT_JUDGED = 5
"""The score of a report that no model has reviewed."""
_LAST_SEARCHES = 5
"""Searches of each section, the last ones, of which a limit may name those made for it."""
_ALIKE = 0.6
"""From this share of their words on, two facts that are missing are one."""


class Reporting(Thinker):
    """The thoughts at the end: do the sections suffice, and what stands around them."""

    async def review_section(
        self, section: Section, brief: Brief, claims: Sequence[Claim], library: Library
    ) -> SectionReview:
        prompt = self._render(
            "review_section",
            section=section,
            is_note=self.writes_whole_report,
            written=for_review(section, claims, library),
            attempt=max(1, section.attempts),
            attempts=self._attempts,
            searched=section.searched,
            places=self._places,
            stock=await asyncio.to_thread(
                stock, library, section.shown, f"{section.title} {' '.join(section.searched)}"
            ),
            failed=section.failed,
        )
        messages = [self._system(brief.question or brief.title, brief.language, brief), told(prompt, brief)]

        async def think() -> SectionReview:
            answer = await self._ask.structured("review", messages, SectionReviewAnswer, max_output_tokens=1000)
            return section_review_of(answer, section.title)

        async def enough() -> SectionReview:
            return SectionReview(title=section.title, status="sufficient")

        async def unreviewed() -> SectionReview:
            # Rules that go by words say nothing of what a model wrote: it is not sent out again for them.
            return await (
                enough() if section.content else self._fallback.review_section(section, brief, claims, library)
            )

        return await self._or_else(f"review: {section.title}", think(), unreviewed, enough)

    async def review(
        self, brief: Brief, sections: Sequence[Section], claims: Sequence[Claim], library: Library
    ) -> Review:
        """See `ports.Reasoner.review`. It begins as composing does, so that providers' caches hit."""
        rows = [for_review(section, claims, library) for section in sections]

        async def make(shown: Sequence[dict[str, str]]) -> ReviewAnswer:
            messages = self._sections_shown("review", brief, shown, parts=brief.parts, rows=rows)
            return await self._ask.structured("review", messages, ReviewAnswer, max_output_tokens=2500)

        async def think() -> Review:
            return review_of(await self._fitted(brief, sections, make))

        async def enough() -> Review:
            return Review(is_sufficient=True, overall_score=_NOT_JUDGED)

        async def unreviewed() -> Review:
            judged = await self._fallback.review(brief, sections, claims, library)
            written = {section.title for section in sections if section.content}
            rows = tuple(row for row in judged.section_coverage if row.title not in written)
            retry = tuple(title for title in judged.sections_to_retry if title not in written)
            update = {"section_coverage": rows, "sections_to_retry": retry, "is_sufficient": not retry}
            return judged.model_copy(update=update | {"overall_score": _NOT_JUDGED})

        return await self._or_else("review", think(), unreviewed, enough)

    async def compose(
        self,
        question: Question,
        analysis: QueryAnalysis,
        brief: Brief,
        sections: Sequence[Section],
        claims: Sequence[Claim],
        library: Library,
    ) -> Composition:
        """See `ports.Reasoner.compose`: the report in one go, with the sections as notes.

        Where the report is long, or the budget or the model's output short, the sections stay and only what stands around
        them is written.
        """
        values = await self._about_report(question, analysis, brief, sections, claims, library)

        async def make(
            shown: Sequence[dict[str, str]], more: Sequence[ModelMessage] = (), *, is_whole: bool
        ) -> ComposeAnswer:
            room = min(_PASSAGE_TOKENS, self._context_tokens // 3) if is_whole else 0
            passages = await asyncio.to_thread(cited_most, claims, library, room)
            messages = self._sections_shown("compose", brief, shown, **values, passages=passages, is_long=not is_whole)
            return await self._ask.structured(
                "report", [*messages, *more], ComposeAnswer, max_output_tokens=_REPORT_OUTPUT
            )

        async def write(more: Sequence[ModelMessage] = ()) -> ComposeAnswer:
            if self.writes_whole_report:
                try:
                    return await self._fitted(brief, sections, lambda shown: make(shown, more, is_whole=True))
                except LimitReached:  # what stands around the sections costs less
                    pass
            return await self._fitted(brief, sections, lambda shown: make(shown, more, is_whole=False))

        async def think() -> Composition:
            texts = "\n\n".join(s.content for s in sections if s.content)
            if not texts:
                return Composition()
            depth, language = self._depth, brief.language
            answer = await write()
            if is_too_short(answer.answer, "answer", depth, language, of=texts):
                note = user(self._render("compose_again", length=self._length("answer", language)))
                try:
                    again = await write([note])
                except (ModelError, LimitReached):  # the short answer is better than none
                    again = answer
                answer = max(answer, again, key=lambda made: length_in(made.answer, language))
            abstract = within_length(answer.answer, "answer", depth, language)
            conclusion = within_length(answer.conclusion, "conclusion", depth, language)
            return composition_of(answer).model_copy(update={"abstract": abstract, "conclusion": conclusion})

        return await self._or_else(
            "report",
            think(),
            lambda: self._fallback.compose(question, analysis, brief, sections, claims, library),
        )

    async def _about_report(
        self,
        question: Question,
        analysis: QueryAnalysis,
        brief: Brief,
        sections: Sequence[Section],
        claims: Sequence[Claim],
        library: Library,
    ) -> dict[str, object]:
        """Return what the prompt of the report says beside the sections and their passages."""
        language = brief.language
        sources = dict.fromkeys(key.split("p")[0] for c in claims if c.stands for key in c.passages)
        return {
            "parts": analysis.parts or (question.text,),
            "wants_advice": analysis.wants_advice,
            "output_format": analysis.output_format,
            "doubts": [f"{s.title}: {fault}" for s in sections for fault in s.faults if still_said(fault, s.content)],
            "missing": _distinct_facts(fact for s in sections for fact in s.missing),
            "searched": list(dict.fromkeys(query for s in sections for query in s.searched[-_LAST_SEARCHES:])),
            "background": self._background,
            "nothing": phrase("not_found_cell", language),
            "uniform": await asyncio.to_thread(uniform_standing, library, tuple(sources)) if sources else "",
            "is_agreed": brief.is_agreed,
            "is_judged": not self.writes_whole_report,
            "answer_length": self._length("answer", language),
            "body_length": self._length("body", language),
            "total_length": self._length("total", language),
            "conclusion_length": self._length("conclusion", language),
        }

    def _sections_shown(
        self, prompt: str, brief: Brief, shown: Sequence[dict[str, str]], **values: object
    ) -> list[ModelMessage]:
        """A conversation that begins with the texts of all sections."""
        system = self._system(brief.question or brief.title, brief.language, brief)
        remarks = [user(remarked(brief.remarks))] if brief.remarks else []
        return [system, *remarks, user(self._render(prompt, title=brief.title, sections=shown, **values))]

    async def _fitted(
        self, brief: Brief, sections: Sequence[Section], make: Callable[[Sequence[dict[str, str]]], Awaitable[_R]]
    ) -> _R:
        """`make` with the sections that have a text, trimmed where they are too long together."""
        written = [s for s in sections if s.content]
        system = self._system(brief.question or brief.title, brief.language, brief)
        used = estimate_tokens(system.text) + min(_PASSAGE_TOKENS, self._context_tokens // 3)
        room = max(_REPORT_TOKENS // 2, self._context_tokens - used - 2 * _REPORT_TOKENS)

        async def shown(texts: Sequence[str]) -> _R:
            return await make([{"title": s.title, "content": t} for s, t in zip(written, texts, strict=True)])

        return await fitted([s.content for s in written], room, shown)


def _distinct_facts(facts: Iterable[str]) -> list[str]:
    """Return the facts that are missing, each once: sections word the same one in nearly the same words."""
    kept: dict[str, frozenset[str]] = {}
    for fact in facts:
        terms = frozenset(content_terms(fact))
        if not any(len(terms & other) >= _ALIKE * len(terms | other) for other in kept.values()):
            kept.setdefault(fact, terms)
    return list(kept)
