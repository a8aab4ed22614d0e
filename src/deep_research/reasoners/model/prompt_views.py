"""Passages, claims and sections as a prompt shows them."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from deep_research.data import AskedClaim, Claim, Passage, Section, Source
from deep_research.i18n.catalog import phrase
from deep_research.ports import Library
from deep_research.search.source_standing import dated_source
from deep_research.text.cleaning import shorten
from deep_research.text.prompt_fencing import attribute, fence
from deep_research.text.token_count import take_within_budget
from deep_research.text.tokens import content_terms
from deep_research.verification.verify import TELLING


def fenced(passages: Sequence[Passage], library: Library, budget: int) -> str:
    """Return passages, best first, as far as `budget` tokens reach."""
    return "\n".join(blocks(passages, library, budget).values())


def blocks(passages: Sequence[Passage], library: Library, budget: int) -> dict[str, str]:
    """Return the same by id."""
    return dict(
        take_within_budget((((p.id, block), block) for p in passages if (block := fenced_passage(p, library))), budget)
    )


def fenced_passage(passage: Passage, library: Library) -> str:
    """Return one passage between its delimiters."""
    source = library.source(passage.source)
    told = dated_source(library, passage.source)
    standing = " by ".join(part for part in (told.standing.status, told.standing.by) if part)
    title, version = source.title if source else "", told.standing.version
    return fence(passage, title=title, published=told.date or None, standing=standing, version=version)


def cited(claims: Sequence[Claim], library: Library) -> dict[str, str]:
    """Return the passages that claims cite, fenced, by id."""
    ids = dict.fromkeys(key for claim in claims for key in claim.passages)
    return {key: fenced_passage(p, library) for key in ids if (p := library.passage(key)) is not None}


def cited_most(claims: Sequence[Claim], library: Library, budget: int) -> str:
    """Return the passages that standing claims cite, fenced, in the order of the claims; where they are more than `budget`
    tokens those that fewest claims cite are left out."""
    counts = Counter(key for claim in claims if claim.stands for key in claim.passages)
    passages = [p for key, _ in counts.most_common() if (p := library.passage(key)) is not None] if budget else []
    shown = blocks(passages, library, budget)
    return "\n".join(shown[key] for key in counts if key in shown)


_KINDS = {
    "advice": "ADVICE",
    "inference": "CONCLUSION",
    "computed": "CONCLUSION",
    "background": "BACKGROUND",
    "limit": "LIMIT",
}
_ROW = re.compile(r"\s\|\s")
_CODE = re.compile(r"`[^`]*`")


def numbered(claims: Sequence[Claim]) -> list[dict[str, str]]:
    """Return claims as a prompt lists them: kind, text, ids, what they stand under, what code noticed, and why it
    refused them."""
    return [
        {
            "kind": _kind_of(c),
            "text": c.text,
            "cited": "".join(f"[{key}]" for key in c.passages),
            "flag": "; ".join(
                [*(phrase(f"flag_{flag}", "en") for flag in c.flags if flag != "own_part"), *_thought(c)]
            ),
            "reason": c.verdict.reason,
            "refused": c.verdict.reason if TELLING & {*c.verdict.codes} else "",
            "lead": c.lead if isinstance(c, AskedClaim) else "",
        }
        for c in claims
    ]


def _thought(claim: Claim) -> list[str]:
    """Return what a statement ends with, where that is the writer's own."""
    thought = claim.thought if isinstance(claim, AskedClaim) else ""
    return [f"this part is the writer's own: “{thought}”"] * bool(thought)


def _kind_of(claim: Claim) -> str:
    kind = _KINDS.get(claim.kind, "FACT")
    is_row = _ROW.search(_CODE.sub("", claim.text)) is not None and claim.kind != "advice"
    return kind if not is_row else "CONCLUSION, ROW" if claim.kind == "inference" else "ROW"


def for_review(section: Section, claims: Sequence[Claim], library: Library) -> dict[str, object]:
    """Return what a reviewer is shown of a section and of what it rests on."""
    own = [c for c in claims if c.section == section.title]
    stands = sum(c.stands for c in own)
    pending = sum("judged_later" in c.verdict.codes for c in own)
    sources = [source for key in section.sources if (source := library.source(key)) is not None]
    dates = sorted(date for source in sources if (date := source.published))
    return {
        "title": section.title,
        "content": section.content or "(nothing was found)",
        "sites": _sites(sources),
        "newest": dates[-1] if dates else "",
        "oldest": dates[0] if dates else "",
        "missing": section.missing,
        "searched": section.searched,
        "attempt": max(1, section.attempts),
        "supported": stands - pending,
        "pending": pending,
        "cut": len(own) - stands,
    }


def _sites(sources: Sequence[Source]) -> list[str]:
    """Sources by site, with how many documents of each: several documents of one site are one voice."""
    counts = Counter(urlsplit(source.url).hostname or source.origin for source in sources)
    return [f"{attribute(site)} ({count})" for site, count in counts.most_common()]


def stock(library: Library, seen: Sequence[str], about: str = "") -> str:
    """Return what the run has found, by site: how many documents, their newest date, their versions; and some titles, those
    that have words of `about` first: they tell what kind of documents there are.

    What came in after the last passage `seen` is left out, so that a prompt is the same when a run that was interrupted
    asks again.
    """
    by_site: dict[str, list[Source]] = {}
    last = max((_number(key) for key in seen), default=0)
    for source in (source for source in library.sources() if _number(source.id) <= last):
        by_site.setdefault(urlsplit(source.url).hostname or source.origin, []).append(source)
    rows: list[str] = []
    for site, sources in sorted(by_site.items(), key=lambda item: -len(item[1]))[:_MOST_SITES]:
        told = [dated_source(library, source.id) for source in sources]
        newest = max((d.date for d in told), default="")
        versions = Counter(d.standing.version for d in told if d.standing.version)
        facts = [
            f"{len(sources)} document{'s' * (len(sources) > 1)}",
            f"newest date {newest}" if newest else "no dates",
        ]
        facts += [f"version {', '.join(version for version, _ in versions.most_common(3))}"] * bool(versions)
        rows.append(f"{attribute(site)}: {', '.join(facts)}")
    found = [source.title for sources in by_site.values() for source in sources if source.title]
    wanted = set(content_terms(about))
    found.sort(key=lambda title: -len(wanted & set(content_terms(title))))
    titles = list(dict.fromkeys(shorten(attribute(title), _TITLE_CHARS) for title in found))
    if titles:
        rows.append(f"among them, by title: {', '.join(f'“{title}”' for title in titles[:_MOST_TITLES])}")
    return "; ".join(rows)


def _number(key: str) -> int:
    """Return the number of the source of an id (`s7`, `s7p3`)."""
    digits = key.partition("p")[0].removeprefix("s")
    return int(digits) if digits.isdecimal() else 0


_MOST_SITES, _MOST_TITLES, _TITLE_CHARS = 12, 24, 48
_LENGTHS = {
    "brief": {
        "section": (80, 140),
        "addition": (20, 70),
        "body": (200, 420),
        "total": (400, 650),
        "answer": (60, 110),
        "conclusion": (20, 60),
    },
    "standard": {
        "section": (150, 420),
        "addition": (40, 220),
        "body": (1_000, 1_900),
        "total": (1_500, 2_400),
        "answer": (90, 150),
        "conclusion": (0, 80),
    },
    "deep": {
        "section": (500, 1100),
        "addition": (100, 400),
        "body": (5_000, 7_000),
        "total": (5_500, 8_500),
        "answer": (120, 150),
        "conclusion": (80, 220),
    },
}
"""Words by depth of report and kind of text; the body is all sections together."""
_NOTES = {"brief": 420, "standard": 2_500, "deep": 7_000}
"""Words of all sections together: of notes that a report is written from a few more than its body has."""
_CHARACTERS_PER_WORD = {"zh": 2.2, "ja": 2.8, "ko": 3.2}


class LengthRange(NamedTuple):
    """The least and the most that a text may have, in words or in characters."""

    least: int
    most: int
    in_characters: bool


def range_of(kind: str, depth: str, language: str) -> LengthRange:
    """Return how long a text around the sections is to be."""
    least, most = _LENGTHS[depth][kind]
    factor = _CHARACTERS_PER_WORD.get(language)
    if factor is None:
        return LengthRange(least, most, in_characters=False)
    return LengthRange(round(least * factor), round(most * factor), in_characters=True)


def length_of(kind: str, depth: str, language: str, *, sections: int = 1, more: bool = False) -> str:
    """Return how long a text is to be, in words, or in characters where a language sets no spaces or long words: one of so
    many `sections`; `more` where something is added to a text that has this length."""
    least, most = _LENGTHS[depth][kind]
    if kind == "section":
        most = min(most, max(least, _NOTES[depth] // max(1, sections) // 10 * 10))
        least = min(least, most * 2 // 3)
    most = most * 5 // 4 if more else most
    factor = _CHARACTERS_PER_WORD.get(language)
    if factor is None:
        return f"{least} to {most} words, ids, headings and code not counted"
    return f"{round(least * factor, -1):.0f} to {round(most * factor, -1):.0f} characters, ids and code not counted"
