"""Delegating without a model: every section of the plan, then the weak ones once more, then it is done."""

from collections.abc import Sequence

from deep_research.data import Action, Brief, Claim, Section, Turn, Verdict
from deep_research.ports import Library
from deep_research.reasoners.extractive.reviewing import review
from deep_research.text.drafts import parse_draft


def delegate(brief: Brief, sections: Sequence[Section], turns: Sequence[Turn], library: Library) -> list[Action]:
    """Return the delegations of the next round; research_complete when nothing is pending or weak."""
    topics = {s.title: s.title for s in sections if s.status == "pending"} or _weak(brief, sections, library)
    prefix = f"r{len(turns) + 1}"
    if not topics:
        return [Action(id=f"{prefix}done", name="research_complete")]
    return [
        Action(id=f"{prefix}d{i}", name="conduct_research", query=topic, source=title)
        for i, (title, topic) in enumerate(topics.items(), 1)
    ]


def _weak(brief: Brief, sections: Sequence[Section], library: Library) -> dict[str, str]:
    """The sections that its review sends back, with what is missing."""
    begun = [s for s in sections if s.attempts]
    judged = review(brief, begun, [claim for s in begun for claim in _claims(s)], library)
    notes = {row.title: row.notes for row in judged.section_coverage}
    return {title: notes[title] or title for title in judged.sections_to_retry}


def _claims(section: Section) -> list[Claim]:
    """A finished section holds checked sentences only: those that cite are its supported claims."""
    checked = Verdict(kind="supported", reason="")
    return [
        Claim(id=f"c{i}", section=section.title, text=said.text, passages=said.passages, verdict=checked)
        for i, said in enumerate(parse_draft(section.content).sentences)
        if said.passages
    ]
