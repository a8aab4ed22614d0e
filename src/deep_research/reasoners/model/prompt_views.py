"""Passages, claims and sections as a prompt shows them."""

from collections.abc import Sequence

from deep_research.data import Claim, Passage, Section
from deep_research.ports import Library
from deep_research.text.prompt_fencing import fence
from deep_research.text.token_count import within


def fenced(passages: Sequence[Passage], library: Library, budget: int) -> str:
    """Passages, best first, as far as `budget` tokens reach."""
    return "\n".join(blocks(passages, library, budget).values())


def blocks(passages: Sequence[Passage], library: Library, budget: int) -> dict[str, str]:
    """The same by id."""
    return dict(within((((p.id, block), block) for p in passages if (block := fenced_passage(p, library))), budget))


def fenced_passage(passage: Passage, library: Library) -> str:
    """Return one passage between its delimiters."""
    source = library.source(passage.source)
    return fence(passage, title=source.title if source else "", published=source.published if source else None)


def cited(claims: Sequence[Claim], library: Library) -> dict[str, str]:
    """The passages that claims cite, fenced, by id."""
    ids = dict.fromkeys(key for claim in claims for key in claim.passages)
    return {key: fenced_passage(p, library) for key in ids if (p := library.passage(key)) is not None}


def numbered(claims: Sequence[Claim]) -> list[dict[str, str]]:
    """Return claims with their ids and what was said against them."""
    return [
        {"text": c.text, "cited": "".join(f"[{key}]" for key in c.passages), "reason": c.verdict.reason} for c in claims
    ]


def for_review(section: Section, claims: Sequence[Claim], library: Library) -> dict[str, object]:
    """Return what a reviewer is shown of a section and of what it rests on."""
    own = [c for c in claims if c.section == section.title]
    supported = sum(c.stands for c in own)
    dates = (source.published for key in section.sources if (source := library.source(key)) is not None)
    return {
        "title": section.title,
        "content": section.content or "(nothing was found)",
        "sources": len(section.sources),
        "newest": max((date for date in dates if date), default=""),
        "supported": supported,
        "cut": len(own) - supported,
    }
