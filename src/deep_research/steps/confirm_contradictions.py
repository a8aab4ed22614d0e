"""Contradictions between sources: what a reasoner proposes is shown only where each side is checked evidence."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.data import Claim, Contradiction, Side
from deep_research.ports import Library
from deep_research.search.source_standing import dated_source
from deep_research.steps.check_claims import check_draft
from deep_research.steps.check_sentences import PENDING
from deep_research.text.cleaning import fold
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import cite_ids
from deep_research.verification.conclusions import is_unfounded
from deep_research.verification.drafts import parse_draft
from deep_research.verification.numbers import quantities

_MOST = 8
_TOPIC_CHARS = 80


class Confirmed(NamedTuple):
    """Contradictions whose sides are supported, and the claims among the sides that no section makes."""

    contradictions: tuple[Contradiction, ...]
    claims: tuple[Claim, ...]


def pending_sides(proposed: Sequence[Contradiction], claims: Sequence[Claim]) -> str:
    """Return those sides of proposed contradictions that are statements of sections still to be judged, as a draft."""
    repeated = (_known(side, claims) for contradiction in proposed for side in contradiction.sides)
    pending = dict.fromkeys((c.text, c.passages) for c in repeated if c is not None and c.verdict == PENDING)
    return "\n\n".join(f"{text} {cite_ids(passages)}" for text, passages in pending)


async def confirm(
    proposed: Sequence[Contradiction], claims: Sequence[Claim], library: Library, *, judged: Sequence[Claim] = ()
) -> Confirmed:
    """Return what stands of proposed contradictions; `judged` are sides that were judged by themselves (`pending_sides`).

    A side stands where it is a supported claim, or a sentence that its passages support by the mechanical checks;
    at least two sides of different sources must be left.
    """
    kept: list[Contradiction] = []
    new: dict[str, Claim] = {}
    for contradiction in proposed:
        sides = await _sides(contradiction, (*claims, *judged), library)
        if len(sides) < 2:
            continue
        new |= {c.id: c for c in sides if c not in claims}
        shown = tuple(Side(statement=c.text, passages=c.passages) for c in sides)
        prevails = await asyncio.to_thread(_prevails, contradiction.prevails, sides, library)
        kept.append(Contradiction(topic=_topic(contradiction.topic, sides), sides=shown, prevails=prevails))
    unique = list({frozenset(side.statement for side in c.sides): c for c in kept}.values())[:_MOST]
    said = {(side.statement, side.passages) for c in unique for side in c.sides}
    return Confirmed(tuple(unique), tuple(c for c in new.values() if (c.text, c.passages) in said))


async def _sides(contradiction: Contradiction, claims: Sequence[Claim], library: Library) -> list[Claim]:
    """Return the claims behind the sides that stand, of one source each that no other side cites."""
    found: list[Claim] = []
    sources: set[str] = set()
    for side in contradiction.sides:
        claim = _known(side, claims) or await _checked(side, library)
        own = {p.split("p")[0] for p in claim.passages} if claim is not None else set()
        if claim is not None and own and not own & sources:
            found.append(claim)
            sources |= own
    return found


def _known(side: Side, claims: Sequence[Claim]) -> Claim | None:
    """Return the supported claim that a side repeats, on at least one of its passages."""
    texts = {fold(s.text) for s in parse_draft(side.statement).sentences} | {fold(side.statement)}
    return next(
        (c for c in claims if c.stands and fold(c.text) in texts and set(c.passages) & set(side.passages)), None
    )


async def _checked(side: Side, library: Library) -> Claim | None:
    """Check a side that no section says, as one sentence that its passages carry; None where it is not."""
    known = [key for key in side.passages if await asyncio.to_thread(library.passage, key) is not None]
    if not known:
        return None
    checked = await check_draft(f"{fold(side.statement)} {cite_ids(known)}", section="", library=library)
    (claim, *others) = checked.claims or (None,)
    if claim is None or others or not claim.stands or not set(claim.passages) <= set(known):
        return None
    return claim


def _prevails(said: str, sides: Sequence[Claim], library: Library) -> str:
    """Return which side holds and why, as our own conclusion, where it brings in nothing that the sides do not rest on."""
    passages = [p for claim in sides for key in claim.passages if (p := library.passage(key)) is not None]
    titles = [source.title for p in passages if (source := library.source(p.source)) is not None]
    dates = [dated_source(library, p.source).date for p in passages]
    ground = [*(f"{p.heading}\n{p.text}" for p in passages), *titles, *dates, *(claim.text for claim in sides)]
    text = fold(said)
    return "" if not text or is_unfounded(text, ground) is not None else text


def _topic(topic: str, sides: Sequence[Claim]) -> str:
    """Return the topic where it says nothing of its own (no number, and words that the sides have), else ""."""
    text, said = fold(topic), {term for claim in sides for term in content_terms(claim.text)}
    terms = set(content_terms(text))
    grounded = bool(terms) and 2 * len(terms & said) >= len(terms)
    return text if grounded and len(text) <= _TOPIC_CHARS and not quantities(text) else ""
