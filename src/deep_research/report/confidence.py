"""How far a key finding can be relied on, computed from what it rests on: never from what its writer thinks of it."""

from collections.abc import Collection, Sequence
from datetime import date
from functools import reduce
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from deep_research.data import Claim, Confidence, Section, Source
from deep_research.ports import Library
from deep_research.protocol.registered_domain import registered_domain
from deep_research.search.source_standing import dated_source
from deep_research.text.near_duplicates import Sketch, are_near_duplicates, share_a_paragraph, sketch, stretches
from deep_research.text.standing import NOT_CURRENT, UNDECIDED
from deep_research.verification.drafts import parse_draft

_OLD_DAYS = 3 * 365
"""From this age on the newest source of a finding is called old."""
_SECONDARY = frozenset({"hackernews", "stackexchange", "wikipedia"})
_SECONDARY_SITES = (
    "wikipedia.org", "stackoverflow.com", "stackexchange.com", "reddit.com", "quora.com", "news.ycombinator.com",
    "zhihu.com", "baike.baidu.com", "namu.wiki", "medium.com",
)  # fmt: skip
_COMPARED_CHARS, _SEARCHED_CHARS = 4_000, 200_000
"""So much of a document tells whether it is a copy of another; in so much of it a copied paragraph is looked for, where
it is not known which passages count.
"""


def with_confidence(
    claims: Sequence[Claim], sections: Sequence[Section], disputed: Collection[str], library: Library, today: date
) -> list[Claim]:
    """Return the claims; those that are key findings of their section and stand have a confidence.

    `disputed` are the ids of passages that contradict others.
    """
    key = {
        (s.title, found.text)
        for s in sections
        for finding in s.key_findings
        for found in parse_draft(finding).sentences
    }
    return [
        claim.model_copy(update={"confidence": confidence_of(claim, disputed, library, today)})
        if claim.stands and claim.kind == "fact" and (claim.section, claim.text) in key
        else claim
        for claim in claims
    ]


def confidence_of(claim: Claim, disputed: Collection[str], library: Library, today: date) -> Confidence:
    """Return the confidence in a fact and its reasons: how many independent sources say it, whether they know it at first
    hand, their standing, the age of the newest, and whether others contradict it.

    High asks for two independent sources that are in force, dated and not old, one of them primary; low is what rests on
    nothing in force or on one secondary source, or is contradicted. Documents of one registered domain are one source, and
    so are those of which one says it in words of the other; encyclopedias and forums are secondary.
    """
    keys = list(dict.fromkeys(passage.partition("p")[0] for passage in claim.passages))
    sources = [source for key in keys if (source := library.source(key)) is not None]
    told = [dated_source(library, source.id) for source in sources]
    independent = _independent(sources, library, claim.passages)
    newest = max((d.date for d in told), default="")
    weak = bool(told) and all(d.standing.status in NOT_CURRENT | UNDECIDED for d in told)
    contradicted = bool(set(claim.passages) & set(disputed))
    reasons = ["several_sources" if independent > 1 else "one_source"]
    reasons += ["not_in_force"] * weak + ["contradicted_elsewhere"] * contradicted
    second_hand = bool(sources) and all(_is_secondary(source) for source in sources)
    reasons += ["second_hand"] * second_hand
    old = bool(newest) and (today - _day(newest)).days > _OLD_DAYS
    reasons += ["undated"] * (not newest) + ["old_sources"] * old
    level: Literal["high", "medium", "low"] = "medium"
    if weak or contradicted or (second_hand and independent < 2):
        level = "low"
    elif independent > 1 and newest and not old and not second_hand:
        level = "high"
    return Confidence(level=level, reasons=tuple(reasons), values={"sources": str(independent), "date": newest})


def _is_secondary(source: Source) -> bool:
    """Return whether a source tells what others have found: an encyclopedia, or people who talk about it."""
    host = (urlsplit(source.url).hostname or "").casefold()
    return source.origin in _SECONDARY or any(host == site or host.endswith(f".{site}") for site in _SECONDARY_SITES)


class _Told(NamedTuple):
    """One origin of a finding: the domains and texts that count as one."""

    domains: frozenset[str]
    wholes: tuple[Sketch, ...]
    said: tuple[frozenset[int], ...]

    def joined(self, other: "_Told") -> "_Told":
        """Return both as one."""
        return _Told(self.domains | other.domains, self.wholes + other.wholes, self.said + other.said)

    def is_also(self, other: "_Told") -> bool:
        """Return whether both have a domain, a text or a paragraph in common."""
        return (
            bool(self.domains & other.domains)
            or any(are_near_duplicates(one, two) for one in self.wholes for two in other.wholes)
            or any(share_a_paragraph(one, two) for one in self.said for two in other.said)
        )


def _independent(sources: Sequence[Source], library: Library, passages: Sequence[str] = ()) -> int:
    """Count the sources that are of different owners and not copied from each other.

    Paragraphs are compared in the `passages` that say it; of a source without any, in all its text.
    """
    origins: list[_Told] = []
    for source in sources:
        snapshot = library.snapshot(source.id)
        if snapshot is None:
            continue
        cited = [key for key in passages if key.partition("p")[0] == source.id]
        found = [passage.text for key in cited if (passage := library.passage(key)) is not None]
        host = urlsplit(source.url).hostname
        told = _Told(
            frozenset({registered_domain(host) if host else source.key}),
            (sketch(snapshot.text[:_COMPARED_CHARS]),),
            tuple(map(stretches, found or [snapshot.text[:_SEARCHED_CHARS]])),
        )
        same = [origin for origin in origins if origin.is_also(told)]
        origins = [origin for origin in origins if origin not in same]
        origins.append(reduce(_Told.joined, same, told))
    return len(origins)


def _day(written: str) -> date:
    """Return an ISO date, also one without a day or month, as its first day."""
    year, month, day = (*written.split("-"), "1", "1")[:3]
    return date(int(year), int(month), int(day))
