"""The reasoner without a model: searches, ranks and shows places, writes nothing."""

import asyncio
from collections.abc import Mapping, Sequence

from claimcheck.language import detect
from claimcheck.text.cleaning import shorten
from deep_research.data import (
    LIBRARY,
    Action,
    Assignment,
    Brief,
    Claim,
    Decision,
    Disagreement,
    Discovery,
    Findings,
    Move,
    Passage,
    PlanEdit,
    Problem,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Review,
    Revision,
    Section,
    SectionReview,
    Template,
    Term,
    Turn,
)
from deep_research.finding import front_door
from deep_research.finding.finder import is_foreign, rank_places, show_places
from deep_research.finding.notes import write_notes, write_report
from deep_research.finding.places import PartPlaces
from deep_research.finding.question import Part, analyze_question, read_question
from deep_research.finding.words import COMMON
from deep_research.ports import Library, Ranker

_TITLE = 120


class FinderReasoner:
    """Implements `ports.Reasoner` without a model, in the same graph; returns places."""

    reads_conversation, unanswered = False, ()

    def __init__(self, ranker: Ranker | None = None) -> None:
        """`ranker` puts the places in order, in place of the features."""
        self.info = ReasonerInfo(kind="finder", ranker=ranker.name if ranker is not None else "")
        self._ranker = ranker

    async def decide(
        self, question: Question, *, rounds: int, terms: Sequence[Term] = (), template: Template | None = None
    ) -> Decision:
        """See `ports.Reasoner.decide`."""
        return front_door.decide(question, rounds=rounds, terms=terms, template=template)

    async def analyze(self, question: Question) -> QueryAnalysis:
        """See `ports.Reasoner.analyze`."""
        return analyze_question(question.text, question.language)

    async def discover_actions(
        self, question: Question, analysis: QueryAnalysis, turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Search for the question as it is, once."""
        return () if turns else (Action(id="d1", name="search", query=_query(question.text)),)

    async def entities(
        self, question: Question, analysis: QueryAnalysis, passages: Sequence[Passage], library: Library
    ) -> Discovery:
        """Name nothing: which of the names found answer the question nobody has judged."""
        return Discovery()

    async def plan(
        self,
        question: Question,
        analysis: QueryAnalysis,
        decision: Decision,
        discovery: Discovery | None,
        passages: Sequence[Passage],
        library: Library,
    ) -> Brief:
        """Make a section of each part of the question."""
        text, language = decision.refined_question or question.text, question.language
        asked = read_question(text, language)
        sections = {
            part.text: Section(title=shorten(part.text, _TITLE), description=part.text, queries=_queries(part))
            for part in asked.parts
        } or {text: Section(title=shorten(text, _TITLE), description=text, queries=(_query(text),))}
        return Brief(
            title=shorten(question.text, _TITLE),
            objective=shorten(text, _TITLE),
            question=text,
            assumptions=decision.assumptions,
            terms=decision.terms,
            language=language,
            output_format=analysis.output_format,
            sections=tuple(sections.values()),
            parts=tuple(sections),
        )

    async def read_plan_edits(self, answer: str, brief: Brief) -> Sequence[PlanEdit]:
        """Read nothing beyond what code has understood: the user is asked back."""
        return ()

    async def next_move(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> Move:
        """Search once, and again for new remarks of the user; then return the notes.

        Where what the run has read was looked through before, new searches are made only if no passage has all words.
        """
        made = {action.query for turn in turns for action in turn.actions if action.source != LIBRARY}
        wanted = [
            "\n".join(map(_query, section.queries or (section.title,))),
            *(said for turn in turns for said in turn.remarks),
        ]
        new = [query for query in dict.fromkeys(wanted) if query.strip() and query not in made]
        seen = _seen(turns)
        if new and not made and seen:
            found = await self._find(section, brief, library, seen)
            new = [] if all(part.is_covered for part in found) else new
        if new:
            prefix = f"a{section.attempts}t{len(turns)}"
            return Move(actions=tuple(Action(id=f"{prefix}q{n}", name="search", query=q) for n, q in enumerate(new, 1)))
        return Move(text=await self.take_notes(section, brief, turns, library))

    async def take_notes(self, section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> str:
        """Return the places for a section in the sources that its searches found."""
        found = await self._find(section, brief, library, _seen(turns))
        return "\n\n".join(write_notes(part, brief.language, library) for part in found)

    async def delegate(
        self, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library
    ) -> Sequence[Action]:
        """Delegate all sections that are pending, once."""
        pending = [section.title for section in sections if section.status == "pending"]
        if turns or not pending:
            return (Action(id=f"r{len(turns) + 1}done", name="research_complete"),)
        return tuple(
            Action(id=f"r1d{number}", name="conduct_research", query=title, source=title)
            for number, title in enumerate(pending, 1)
        )

    async def review_section(self, section: Section, brief: Brief, voices: str = "") -> SectionReview:
        """Ask for nothing more: another search for the same words finds the same."""
        return SectionReview(title=section.title, status="sufficient")

    async def review(self, brief: Brief, sections: Sequence[Section]) -> Review:
        """See `review_section`."""
        each = tuple([await self.review_section(section, brief) for section in sections])
        return Review(is_sufficient=True, overall_score=0, section_coverage=each)

    async def write(self, assignment: Assignment, turns: Sequence[Turn], library: Library) -> Move:
        """Return the places of all sections as a report, by parts and by document."""
        brief = assignment.brief
        each = [await self._find(section, brief, library, section.passages) for section in assignment.sections]
        found = [part for parts in each for part in parts]
        spoken = detect(brief.question or brief.title, default=brief.language)
        told = {"is_cut": read_question(assignment.question.text, brief.language).is_cut}
        told["is_foreign"] = is_foreign(found, spoken, library)
        return Move(text=write_report(brief.title, found, brief.language, library, **told))

    async def _find(self, section: Section, brief: Brief, library: Library, seen: Sequence[str]) -> list[PartPlaces]:
        """Return places per part of a section in the sources of `seen`; none without any."""
        parts = parts_of(section, brief)
        if not seen:
            return [
                PartPlaces(text=part.text, words=tuple(w.text for w in part.words), is_complete=False) for part in parts
            ]
        return [await self._find_part(part, brief.language, library, seen) for part in parts]

    async def _find_part(self, part: Part, language: str, library: Library, seen: Sequence[str]) -> PartPlaces:
        sources = tuple(dict.fromkeys(key.partition("p")[0] for key in seen))
        spoken = detect(part.text, default=language)
        ranked = await asyncio.to_thread(rank_places, part, spoken, library, sources)
        if self._ranker is not None and ranked.places:
            ranked = ranked.reordered((await self._ranker.rank(part.text, ranked.texts)).scores)
        return await asyncio.to_thread(show_places, ranked, library, sources)

    async def judge(
        self, claims: Sequence[Claim], flags: Mapping[str, Sequence[str]], library: Library, question: str
    ) -> Findings:
        """Judge nothing."""
        return Findings()

    async def examine(self, assignment: Assignment, text: str, turns: Sequence[Turn], library: Library) -> Move:
        """Find nothing wrong: nobody has read the report."""
        return Move(findings=Findings())

    async def compare(self, first: str, second: str, library: Library, question: str) -> Sequence[Disagreement]:
        """Compare nothing."""
        return ()

    async def revise(
        self,
        assignment: Assignment,
        turns: Sequence[Turn],
        text: str,
        rounds: Sequence[Revision],
        problems: Sequence[Problem],
        looked: Sequence[Turn],
        library: Library,
    ) -> Move:
        """Change nothing: what is shown stands in the documents."""
        return Move()

    async def reread(self, assignment: Assignment, text: str) -> str:
        """Change nothing."""
        return text


def parts_of(section: Section, brief: Brief) -> tuple[Part, ...]:
    """Return the question parts of a section; all for a whole-question section.

    A section that the user added is read by itself.
    """
    own = section.description or section.title
    for part in read_question(brief.question, brief.language).parts:
        if part.text == own:
            return (part,)
    own = brief.question if brief.question and section.title == brief.title else own
    return read_question(own, brief.language).parts or (Part(own, ()),)


def _seen(turns: Sequence[Turn]) -> list[str]:
    return [key for turn in turns for observation in turn.observations for key in observation.passages]


def _queries(part: Part) -> tuple[str, ...]:
    """Return a part's searches: as asked, by its words, and per thing it compares."""
    context = [word.text for word in part.context]
    words = [word.text for word in part.words if word.worth > COMMON]
    wanted = [" ".join([part.text, *context]), " ".join([*words, *context]), *part.things]
    return tuple(dict.fromkeys(_query(query) for query in wanted if query))


def _query(text: str) -> str:
    """Return a text as one query on one line."""
    return " ".join(text.split())[:1_000]
