"""Entities that answer a list question: names that the documents found mention as what is asked for.

A name weighs more the more kinds of evidence (see `mentions`) there are for it and the more documents
use it; what only looks like a name (a clause, a heading of every document, a word of the question) is
left out.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log

from deep_research.data import DiscoveredItem, Discovery, Passage, Source
from deep_research.i18n.catalog import join_list, phrase
from deep_research.i18n.language import CJK, detect
from deep_research.ports import Library
from deep_research.reasoners.extractive.entity_mentions import OWN_PAGE, is_of_another_kind, mentions
from deep_research.text.cleaning import plain_heading
from deep_research.text.sentences import sentences
from deep_research.text.tokens import STOP_WORDS, content_terms

MAX_ENTITIES = 12
_LISTED_ENOUGH = 3
_ENOUGH = 0.12
"""Names with less than this share of the best one's score are left out."""
_GENERIC = frozenset(
    "introduction overview summary conclusion references abstract background results discussion methods notes note see also examples"
    " example description parameters usage syntax compatibility index contents table appendix preface history authors other others"
    " more none all many several various different following etc findings result limitation limitations source published method types"
    " costs limits evidence mechanism mechanisms results evaluation design efficacy safety"
    " 概述 简介 引言 总结 结论 参考文献 背景 结果 方法 局限 要点 개요 소개 결론 요약 배경 결과 방법 한계 참고문헌".split()
)
_BAD_START = re.compile(
    r"^(?:the|a|an|its|their|some|any|each|this|that|these|it|they|we|you|to|for|by|with|when|if|in|on|at|of|from|as|using|how|what|why"
    r"|not|only|also|than|which|where|three|two|four|five|ways|making|other)\b",
    re.IGNORECASE,
)

_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|has|have|be|been|being|can|may|will|should|must|does|do|then|who|whose|than|because|see|into|such|both|most|more|least"
    r"|increasingly|usually|often|currently|simply|either|neither|own)\b|[=<>{}\\|$]|[.!?。！？]\s|며|하고|했|한다|됩니다|하는|된다|了|着",
    re.IGNORECASE,
)
_AS_WRITTEN = frozenset({"entry", "table", OWN_PAGE})
"""Names that lists and tables give are written as they stand there: "ort" is no heading."""
_PAIRS = ("()", "（）", "[]", "“”", "「」")


@dataclass
class _Candidate:
    """A name with the evidence for it."""

    names: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    score: float = 0.0
    kinds: set[str] = field(default_factory=set)
    passages: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The best attested spelling."""
        return max(self.names, key=lambda n: (self.names[n], -len(n)))


def discover(
    asked: Sequence[tuple[str, str]], passages: Sequence[Passage], library: Library, *, language: str
) -> Discovery:
    """Return the entities that answer, best first; none when the passages name none.

    `asked` holds pairs of a target ("index types") and its question, once in the reader's language and,
    where the documents are in another, once in theirs; `language` is the reader's: names in a third
    language are left out.
    """
    words = frozenset(term for pair in asked for text in pair for term in content_terms(text))
    wording = " ".join(text for pair in asked for text in pair)
    pool: dict[str, _Candidate] = defaultdict(_Candidate)
    for target, question in asked:
        for found in mentions(target, question, passages, library):
            if (cleaned := clean_name(found.name, words)) and _readable(cleaned, language):
                candidate = pool[_key(cleaned, words)]
                candidate.names[cleaned] += found.weight
                candidate.score += found.weight
                candidate.kinds.add(found.kind)
                candidate.passages.append(found.passage)
    said = [(p.source, frozenset(content_terms(f"{p.heading} {p.text}"))) for p in passages]
    for candidate in pool.values():
        wanted = frozenset(content_terms(candidate.name))
        sources = len({source for source, terms in said if wanted <= terms})
        candidate.score *= len(candidate.kinds) * (0.5 + log(sources + 1))
    whole = [p for key in dict.fromkeys(p.source for p in passages) for p in library.passages(key)]
    kept = [c for c in pool.values() if not is_of_another_kind(c.name, wording, whole)]
    ranked = sorted(_listed(kept), key=lambda c: -c.score)
    return _discovery(ranked, asked[0][0], len(passages), library, language)


def _listed(candidates: list[_Candidate]) -> list[_Candidate]:
    """Those that the page lists which the question calls by its name, where it lists enough; else without those
    that are only titles of documents, where the documents list or define enough others: a title beside a list
    ("CREATE INDEX" beside the index types) is about the things, not one of them."""
    own = [c for c in candidates if OWN_PAGE in c.kinds]
    if len(own) >= _LISTED_ENOUGH:
        return own
    listed = [c for c in candidates if c.kinds - {"title"}]
    return listed if len(listed) >= _LISTED_ENOUGH else candidates


def _discovery(ranked: list[_Candidate], target: str, seen: int, library: Library, language: str) -> Discovery:
    top = ranked[0].score if ranked else 0.0
    kept = [c for c in ranked if c.score >= _ENOUGH * top][:MAX_ENTITIES]
    items = tuple(
        DiscoveredItem(
            name=candidate.name if candidate.kinds <= _AS_WRITTEN else _capitalised(candidate.name),
            category=target,
            brief=_sentence_naming(candidate.name, candidate.passages, library),
            source=source.title if (source := _source_of(candidate.passages, library)) else "",
            urls=(source.url,) if source and source.url else (),
            priority="high" if index < 5 else "medium",
            passages=tuple(dict.fromkeys(candidate.passages))[:6],
        )
        for index, candidate in enumerate(kept)
    )
    names = join_list((item.name for item in items), language)
    return Discovery(
        entities=items,
        summary=phrase("entities_found", language, target=target, count=len(items), names=names) if items else "",
        categories=(target,) if items else (),
        search_coverage=phrase("passages_seen", language, count=seen),
    )


def _source_of(passages: Sequence[str], library: Library) -> Source | None:
    return library.source(passages[0].split("p")[0]) if passages else None


def _sentence_naming(name: str, passages: Sequence[str], library: Library) -> str:
    """Return the first sentence that names an entity, as it stands there; "" where only a heading does."""
    for key in passages:
        text = kept.text if (kept := library.passage(key)) is not None else ""
        for span in sentences(text):
            said = " ".join(text[span.start : span.end].split())
            if span.kind == "prose" and name.casefold() in said.casefold():
                return said
    return ""


def _capitalised(name: str) -> str:
    """Return a heading's form of a common noun ("Speculative decoding"); names keep their own letters."""
    return name[:1].upper() + name[1:] if re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", name) else name


def clean_name(name: str, asked: frozenset[str]) -> str:
    """Return a name without number, quotes and article; "" for what is none (a clause, a generic heading,
    nothing but words of the question `asked`)."""
    text = plain_heading(name).strip(" .,;:：“”\"'‘’`*的等")
    text = re.sub(
        r"^(?:and|or|the|extension|both|either|with|while|although|whereas)\s+", "", text, flags=re.IGNORECASE
    )
    text = re.sub(r"\s*\(\)$|\s*[(（][^()（）]*[)）]$", "", text).strip("()（）[] " if not _open(text) else " ")
    # What follows a preposition tells where, not what ("merge join in PostgreSQL").
    text = re.sub(r"(?<=\w)\s+(?:in|on|from|by)\s+.*$", "", text)
    terms = content_terms(text)
    too_long = len(text.split()) > 4 or len(text) > 40
    if not terms or too_long or _open(text) or _BAD_START.match(text) or _CLAUSE.search(text) or set(terms) <= asked:
        return ""
    if re.fullmatch(r"[\d\W]+", text) or all(
        word in _GENERIC or word in STOP_WORDS for word in text.casefold().split()
    ):
        return ""
    # Most of the words of the question again, plus one: a document about the whole, not one of its members.
    again = len(terms) > 1 and len(set(terms) & asked) > 0.5 * len(terms)
    return "" if again and not re.search(r"\d", text) else text


def _open(text: str) -> bool:
    """Whether a parenthesis or quotation is left open, as in a piece cut out of a sentence."""
    return any(text.count(pair[0]) != text.count(pair[1]) for pair in _PAIRS) or '"' in text


def _readable(name: str, language: str) -> bool:
    """Names in the question's language or in Latin letters; a name is not said again in a third language."""
    return re.search(f"[{CJK}]", name) is None or detect(name) == language


def _key(name: str, asked: frozenset[str]) -> str:
    """Names are the same when what is left without the question's own words is ("B-Tree Indexes", "B-tree")."""
    own = [t for t in content_terms(name) if t not in asked]
    return re.sub(r"[\W_]+", "", "".join(own))
