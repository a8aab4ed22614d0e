"""Entities that answer a list question: names enumerated, headed or titled in the passages found.

Four kinds of evidence are counted: an enumeration in a sentence about the target ("… index types:
B-tree, Hash, GiST and GIN"), headings below a heading about the target, titles of documents about
the target, and list items that begin with a name.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deep_research.data import DiscoveredItem, Discovery, Heading, Passage
from deep_research.ports import Library
from deep_research.text.sentences import sentences
from deep_research.text.tokens import content_terms

MAX_ENTITIES = 12
_LEAD = re.compile(
    r"(?:\b(?:such as|including|includes?|namely|are|offers?|provides?|supports?|following)\b[^:,]{0,60}?:?|:)\s+(?P<list>[^.;:]{3,400})"
    r"|(?:包括|包含|有|如|例如|分为|：)(?P<zh>[^。；：]{3,200})",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*[、，]\s*|(?<=[\u4e00-\u9fff\w])(?:和|以及|及|与)(?=[\u4e00-\u9fffA-Z])"
)
_NUMBERING = re.compile(
    r"^(?:chapter|section|appendix|part)?\s*(?:[\dIVX]+(?:\.\d+)*[.)]?|[A-Z]\.(?:\d+\.?)*)\s+", re.IGNORECASE
)
_TITLE_END = re.compile(r"\s*[:：|(（]\s*|\s+[—–-]\s+")
_ITEM_NAME = re.compile(r"^(?P<name>[^.:：()（）]{2,40}?)\s*(?:[:：]|\s[—–-]\s|（|\()")
_GENERIC = frozenset(
    "introduction overview summary conclusion references abstract background results discussion methods notes note see also examples"
    " example description parameters usage syntax compatibility index contents table appendix preface history authors other others"
    " more none all many several various different following etc key findings result limitation limitations source published method"
    " 概述 简介 引言 总结 结论 参考文献 背景 结果 方法 局限 要点 개요 소개 결론 요약 배경 결과 방법 한계 참고문헌".split()
)
_BAD_START = re.compile(
    r"^(?:the|a|an|its|their|some|any|each|this|that|these|it|they|we|you|to|for|by|with|when|if|in|on|at|of|from|as|using|how|what|why|not|only|also|than|which|where)\b",
    re.IGNORECASE,
)


@dataclass
class _Candidate:
    """A name with the evidence for it."""

    names: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    score: float = 0.0
    kinds: set[str] = field(default_factory=set)
    passages: list[str] = field(default_factory=list)


def discover(target: str, question: str, passages: Sequence[Passage], library: Library) -> Discovery:
    """Return the entities that answer `target` ("index types"), best first; none when the passages name none."""
    wanted = frozenset(content_terms(target)) or frozenset(content_terms(question))
    asked = frozenset(content_terms(question))
    pool: dict[str, _Candidate] = defaultdict(_Candidate)
    for rank, passage in enumerate(passages):
        weight = 1.0 / (1.0 + 0.12 * rank)
        for name, kind, strength in _names(passage, wanted, library):
            if cleaned := _clean(name, asked):
                candidate = pool[_key(cleaned, asked)]
                candidate.names[cleaned] += weight * strength
                candidate.score += weight * strength
                candidate.kinds.add(kind)
                candidate.passages.append(passage.id)
    ranked = sorted(pool.values(), key=lambda c: -c.score * len(c.kinds))
    return _discovery(ranked, target, len(passages))


def _discovery(ranked: list[_Candidate], target: str, seen: int) -> Discovery:
    top = ranked[0].score * len(ranked[0].kinds) if ranked else 0.0
    kept = [c for c in ranked if c.score * len(c.kinds) >= 0.18 * top][:MAX_ENTITIES]
    items = tuple(
        DiscoveredItem(
            name=max(c.names, key=lambda n: (c.names[n], -len(n))),
            category=target,
            priority="high" if index < 5 else "medium",
            passages=tuple(dict.fromkeys(c.passages))[:6],
        )
        for index, c in enumerate(kept)
    )
    return Discovery(entities=items, categories=(target,) if items else (), search_coverage=f"{seen} passages")


def _names(passage: Passage, wanted: frozenset[str], library: Library) -> Iterator[tuple[str, str, float]]:
    yield from _enumerated(passage, wanted)
    yield from _items(passage, wanted)
    yield from _headed(passage, wanted, library)
    yield from _titled(passage, wanted, library)


def _enumerated(passage: Passage, wanted: frozenset[str]) -> Iterator[tuple[str, str, float]]:
    for span in sentences(passage.text):
        text = " ".join(passage.text[span.start : span.end].split())
        share = _share(wanted, frozenset(content_terms(text)))
        if share < 0.5:
            continue
        for match in _LEAD.finditer(text):
            parts = [p for p in _CUT.split(match.group("list") or match.group("zh")) if p.strip()]
            if len(parts) >= 3:
                yield from ((part, "enumeration", 2.5 * share) for part in parts)


def _items(passage: Passage, wanted: frozenset[str]) -> Iterator[tuple[str, str, float]]:
    about = frozenset(content_terms(f"{passage.heading} {passage.text[:200]}"))
    if _share(wanted, about) < 0.6:
        return
    for span in sentences(passage.text):
        if span.kind == "item" and (match := _ITEM_NAME.match(passage.text[span.start : span.end])):
            yield match.group("name"), "item", 0.8


def _headed(passage: Passage, wanted: frozenset[str], library: Library) -> Iterator[tuple[str, str, float]]:
    snapshot = library.snapshot(passage.source)
    source = library.source(passage.source)
    if snapshot is None or source is None:
        return
    heads = snapshot.headings
    for index, heading in enumerate(heads):
        if _share(wanted, frozenset(content_terms(heading.title))) >= 0.99:
            children = list(_children(heads, index))
            if 2 <= len(children) <= 20:
                yield from ((child.title, "heading", 2.0) for child in children)


def _children(heads: tuple[Heading, ...], index: int) -> Iterator[Heading]:
    parent = heads[index]
    below: int | None = None
    for heading in heads[index + 1 :]:
        if heading.level <= parent.level:
            return
        below = heading.level if below is None else below
        if heading.level == below:
            yield heading


def _titled(passage: Passage, wanted: frozenset[str], library: Library) -> Iterator[tuple[str, str, float]]:
    source = library.source(passage.source)
    if source is None:
        return
    share = _share(wanted, frozenset(content_terms(f"{passage.text} {source.title}")))
    name = _TITLE_END.split(source.title)[0]
    if share >= 0.6 and len(name.split()) <= 4:
        yield name, "title", 1.2 * share


def _share(wanted: frozenset[str], there: frozenset[str]) -> float:
    return len(wanted & there) / len(wanted) if wanted else 0.0


def _clean(name: str, asked: frozenset[str]) -> str:
    text = _NUMBERING.sub("", " ".join(name.split())).strip(" .,;:：“”\"'`*()（）[]的等")
    text = re.sub(r"^(?:and|or|the|extension|both|either)\s+", "", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*(?:等|등)$", "", text)
    terms = content_terms(text)
    too_long = len(text.split()) > 4 or len(text) > 40
    if not terms or too_long or _BAD_START.match(text) or text.casefold() in _GENERIC or set(terms) <= asked:
        return ""
    if not re.search(r"[A-Z0-9\u0370-\U0003134f-]", text) and len(text.split()) > 3:
        return ""
    return text


def _key(name: str, asked: frozenset[str]) -> str:
    """Names are the same when what is left without the question's own words is ("B-Tree Indexes", "B-tree")."""
    own = [t for t in content_terms(name) if t not in asked]
    return re.sub(r"[\W_]+", "", "".join(own))
