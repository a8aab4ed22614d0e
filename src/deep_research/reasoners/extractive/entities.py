"""Entities that answer a list question: names enumerated, headed or titled in the documents found.

Three kinds of evidence are counted: an enumeration right after the wanted noun ("… index types:
B-tree, Hash, GiST and GIN"), headings below a heading about the target, and titles of documents
about the question ("Sotorasib: …"). A name that several documents use weighs more.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import log

from deep_research.data import DiscoveredItem, Discovery, Heading, Passage
from deep_research.ports import Library
from deep_research.reasoners.extractive.relevance import coverage, relevant_sources, term_worth
from deep_research.text.language import CJK, detect
from deep_research.text.sentences import sentences
from deep_research.text.tokens import STOP_WORDS, content_terms

MAX_ENTITIES = 12
_LEAD = re.compile(
    r"(?:\b(?P<example>such as|for example(?: with| by)?|e\.g\.|for instance|including|namely|(?:the )?following)\b|\b(?:includes?|are|offers?|provides?"
    r"|supports?)\b[^:,.]{0,40}?:?|(?P<colon>:))\s+(?P<list>[^.;:]{3,400})"
    r"|(?:包括|包含|分为|例如|比如|主要有|如|：)(?P<zh>[^。；：]{3,200})|(?P<ko>[^.:]{3,200}?)\s등",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*[、，]\s*|(?<=[\u4e00-\u9fff\w])\s*(?:和|以及|及|与)\s*(?=[\u4e00-\u9fffA-Za-z])|(?<=[\uac00-\ud7afA-Za-z])(?:와|과)\s"
)
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(?:\d+(?:\.\d+)*[.)]?|[A-Z]\.\d+(?:\.\d+)*\.?|[IVX]+\.)\s+",
    re.IGNORECASE,
)
_TITLE_HEAD = re.compile(r"\s*[:：]\s*|\s+[—–]\s+|\s*[(（]|\s+in\s+|，")
_SOURCE_LINE = re.compile(r"^(?:source|published|references?|来源|发表|出处|출처|발행|出典)\s*[:：]", re.IGNORECASE)
_AFTER_HEAD = re.compile(r"\s(?:to|for|of|in|on|that|which|with|from|by|against|used|using|available)\s", re.IGNORECASE)
_WAYS = frozenset(
    content_terms("ways methods techniques approaches strategies optimisation optimization options solutions measures")
)
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


def discover(target: str, question: str, passages: Sequence[Passage], library: Library, *, language: str) -> Discovery:
    """Return the entities that answer `target` ("index types"), best first; none when the passages name none.

    `language` is the reader's: names in a third language are left out.
    """
    asked = frozenset(content_terms(question))
    pool: dict[str, _Candidate] = defaultdict(_Candidate)
    for found in _evidence(target, question, passages, library):
        if (cleaned := _clean(found.name, asked)) and _readable(cleaned, language):
            candidate = pool[_key(cleaned, asked)]
            candidate.names[cleaned] += found.weight
            candidate.score += found.weight
            candidate.kinds.add(found.kind)
            candidate.passages.append(found.passage)
    said = [(p.source, frozenset(content_terms(f"{p.heading} {p.text}"))) for p in passages]
    for candidate in pool.values():
        wanted = frozenset(content_terms(candidate.name))
        sources = len({source for source, terms in said if wanted <= terms})
        candidate.score *= len(candidate.kinds) * (0.5 + log(sources + 1))
    return _discovery(sorted(pool.values(), key=lambda c: -c.score), target, len(passages))


def _discovery(ranked: list[_Candidate], target: str, seen: int) -> Discovery:
    top = ranked[0].score if ranked else 0.0
    kept = [c for c in ranked if c.score >= 0.12 * top][:MAX_ENTITIES]
    items = tuple(
        DiscoveredItem(
            name=_capitalised(candidate.name),
            category=target,
            priority="high" if index < 5 else "medium",
            passages=tuple(dict.fromkeys(candidate.passages))[:6],
        )
        for index, candidate in enumerate(kept)
    )
    return Discovery(entities=items, categories=(target,) if items else (), search_coverage=f"{seen} passages")


def _capitalised(name: str) -> str:
    """A heading's form of a common noun ("Speculative decoding"); names keep their own letters."""
    return name[:1].upper() + name[1:] if re.fullmatch(r"[a-z]+(?:[ -][a-z]+)*", name) else name


@dataclass(frozen=True)
class _Found:
    """One piece of evidence that a name answers."""

    name: str
    kind: str
    weight: float
    passage: str


def _evidence(target: str, question: str, passages: Sequence[Passage], library: Library) -> Iterator[_Found]:
    worth = term_worth(question)
    head = _head(target)
    wanted = frozenset(content_terms(target))
    for rank, passage in enumerate(passages):
        weight = 1.0 / (1.0 + 0.1 * rank)
        for name in _enumerated(passage, worth, head):
            yield _Found(name, "enumeration", 2.0 * weight, passage.id)
        for name in _headed(passage, wanted, library):
            yield _Found(name, "heading", 1.5 * weight, passage.id)
    yield from _titled(question, passages, library)


def _head(target: str) -> frozenset[str]:
    """The noun a target names ("index types" → index, type; "ways to make …" → any word for a way)."""
    terms = content_terms(_AFTER_HEAD.split(target)[0])[-2:] or content_terms(target)[-2:]
    return _WAYS if set(terms) & _WAYS else frozenset(terms)


def _enumerated(passage: Passage, worth: dict[str, float], head: frozenset[str]) -> Iterator[str]:
    for span in sentences(passage.text):
        text = " ".join(passage.text[span.start : span.end].split())
        about = frozenset(content_terms(f"{text} {passage.heading}"))
        if _SOURCE_LINE.match(text) or coverage(worth, about) < 0.5:
            continue
        for match in _LEAD.finditer(text):
            # The noun that is asked for stands right before the enumeration.
            # (or, before examples, anywhere earlier in the sentence).
            reach = 400 if match["example"] or match["colon"] else 45
            before = content_terms(text[max(0, match.start() - reach) : match.start() + 12])
            parts = [p for p in _CUT.split(match["list"] or match["zh"] or match["ko"]) if p.strip()]
            if len(parts) >= 3 and head & set(before):
                yield from parts


def _headed(passage: Passage, wanted: frozenset[str], library: Library) -> Iterator[str]:
    snapshot = library.snapshot(passage.source)
    for index, heading in enumerate(snapshot.headings if snapshot else ()):
        if wanted and wanted <= frozenset(content_terms(heading.title)) and snapshot is not None:
            children = list(_children(snapshot.headings, index))
            if 3 <= len(children) <= 20:
                yield from (child.title for child in children)


def _children(heads: tuple[Heading, ...], index: int) -> Iterator[Heading]:
    below: int | None = None
    for heading in heads[index + 1 :]:
        if heading.level <= heads[index].level:
            return
        below = heading.level if below is None else below
        if heading.level == below:
            yield heading


def _titled(question: str, passages: Sequence[Passage], library: Library) -> Iterator[_Found]:
    """Titles of the documents about the question: their head, or the names they list after a colon."""
    language, asked = detect(question), frozenset(content_terms(question))
    first = {p.source: p.id for p in reversed(passages)}
    for key, score in relevant_sources(question, passages, library).items():
        source = library.source(key)
        if source is None:
            continue
        weight = 1.2 * score * (1.0 if detect(source.title, default=language) == language else 0.4)
        title = _NUMBERING.sub("", source.title)
        head, _, tail = title.partition("：" if "：" in title else ":")
        listed = [p for p in _CUT.split(tail) if re.search(r"[A-Z0-9]", p)]
        if len(listed) >= 3:
            for name in listed:
                yield _Found(name, "title", 1.2 * weight, first[key])
        parts = _CUT.split(_TITLE_HEAD.split(head)[0])
        # "Indexes and ORDER BY" is about the target, not a list of its members.
        if all(_clean(part, asked) for part in parts):
            yield from (_Found(part, "title", weight, first[key]) for part in parts)


def _clean(name: str, asked: frozenset[str]) -> str:
    text = _NUMBERING.sub("", " ".join(name.split())).strip(" .,;:：“”\"'`*()（）[]的等")
    text = re.sub(
        r"^(?:and|or|the|extension|both|either|with|while|although|whereas)\s+", "", text, flags=re.IGNORECASE
    )
    terms = content_terms(text)
    too_long = len(text.split()) > 4 or len(text) > 40
    if not terms or too_long or _BAD_START.match(text) or set(terms) <= asked:
        return ""
    if re.fullmatch(r"[\d\W]+", text) or all(
        word in _GENERIC or word in STOP_WORDS for word in text.casefold().split()
    ):
        return ""
    # Most of the words of the question again, plus one: a document about the whole, not one of its members.
    return "" if len(terms) > 1 and len(set(terms) & asked) > 0.5 * len(terms) else text


def _readable(name: str, language: str) -> bool:
    """Names in the question's language or in Latin letters; a name is not said again in a third language."""
    return re.search(f"[{CJK}]", name) is None or detect(name) == language


def _key(name: str, asked: frozenset[str]) -> str:
    """Names are the same when what is left without the question's own words is ("B-Tree Indexes", "B-tree")."""
    own = [t for t in content_terms(name) if t not in asked]
    return re.sub(r"[\W_]+", "", "".join(own))
