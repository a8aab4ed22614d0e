"""Themes: what the passages found stand under, as titles of sections and as the owner of each passage."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from deep_research.data import Passage
from deep_research.i18n.language import detect
from deep_research.text.question_terms import Unit, coverage, passage_terms, specific, without_furniture
from deep_research.text.sentences import sentences
from deep_research.text.tokens import STOP_WORDS, content_terms

MAX_THEMES = 6
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(?:\d+(?:\.\d+)*[.)]?|[A-Z]\.\d+(?:\.\d+)*\.?|[IVX]+\.)\s+"
    r"|^第\s*[\d一二三四五六七八九十]+\s*[章节節编]\s*",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"^(?:introduction|overview|summary|conclusions?|references|abstract|background|results?(?: (?:on|in|of|for|with) .*)?|evaluation.*|experiments?.*|discussion|methods?|notes?|see also|examples?|descriptions?"
    r"|parameters|usage|syntax|compatibility|(?:table of )?contents|details|limitations?|key (?:points|findings|results|facts|ideas?)|why it matters|how it works|what it is"
    r"|glossary|index|changelog|release .*|what.s new.*|new features|source|the idea|evidence|design|history|acknowledge?ments?|further reading|outputs?|motivation"
    r"|synopsis|options?|name|files|environment|bugs|authors?|commands?|exit status|diagnostics|configuration|reporting bugs|git|preface|documentation|readme|faq"
    r"|migration to .*|changes.*|other .*|miscellaneous|general|advanced|basics|tips.*|additional .*|appendix.*|objects?|functions?|classes|values?|types?|warnings?|caution|important|tip|legal notices?|copyright.*|법적 공지|法律声明|法律通告|法的通知|法律に関する.*|이 책.*|책의 .*|本书.*|关于本书|conventions.*|book structure|who (?:this|should) .*|how to (?:read|use) this .*|keyword index|.*\bindex of\b.*|cross-?references?|target cross-?reference|books about .*|list of (?:pragmas|keywords|functions|documents)|site map|download.*|support|news|この本.*|本書.*|(?:the )?.* (?:development )?(?:group|team)|about .*"
    r"|概述|简介|引言|总结|结论|参考文献|背景|结果|方法|局限.*|要点|原理|意义|核心.*|主要.*|实验.*|应用.*|目录|前言|附录.*|说明|示例"
    r"|개요|소개|결론|요약|배경|결과|방법|한계.*|핵심.*|의의|주요.*|원리|목차|서문|부록.*|概要|はじめに|まとめ|目次|序文|付録.*)$",
    re.IGNORECASE,
)
_CODE_LIKE = re.compile(r"[(){}<>=_\\$|]|::|--")
_LONGEST, _SHORTEST = 80, 2
_NATIVE_ENOUGH = 3
_RELEVANT = 0.12
_SAYS = 0.25
_CALLED, _PAGE = 2.0, 2500
_MOSTLY, _NEARLY_ALL = 0.6, 0.85
"""From which share of the passages on a name, or a word, is that of the product and no theme."""
_FEW = 0.6
"""Passages that cover less than this share of what the best one covers make no theme."""


def plain_heading(title: str) -> str:
    """Return a heading without its number and marks."""
    return _NUMBERING.sub("", " ".join(title.split())).strip(" .:：¶#")


def is_telling(title: str) -> bool:
    """Whether a heading says by itself what stands below it: no "Notes", no signature, no fragment."""
    if not _SHORTEST <= len(title) <= _LONGEST or _GENERIC.match(title) or _CODE_LIKE.search(title):
        return False
    last = title.rsplit(maxsplit=1)[-1].casefold()
    return bool(content_terms(title)) and last not in STOP_WORDS | {"-", "—", "–"}


def theme_of(passage: Passage, title: str) -> str:
    """Return what a passage stands under: its deepest telling heading, or the title of its document."""
    for heading in reversed(passage.heading.split(" > ")):
        if is_telling(name := plain_heading(heading)):
            return name
    return plain_heading(title)


def themes(
    asked: Sequence[Unit],
    hits: Sequence[Passage],
    titles: Mapping[str, str],
    question: str,
    *,
    language: str,
    called: frozenset[str] = frozenset(),
) -> list[str]:
    """Return the themes of the passages that cover the question well, best first, none that says another again.

    `called` are the sources that the question calls by their name: what stands in them is what it asks for.
    """
    said = [passage_terms(p, titles.get(p.source, "")) for p in hits]
    asked = specific(asked, said)
    covered = [coverage(asked, terms) for terms in said]
    best = max(covered, default=0.0)
    common = _in_every(asked, said)
    density = _densities(asked, hits)
    scores: dict[str, float] = defaultdict(float)
    begins: dict[str, tuple[str, int]] = {}
    for rank, (passage, covers) in enumerate(zip(hits, covered, strict=True)):
        title = titles.get(passage.source, "")
        label = theme_of(passage, title)
        own_page = passage.source in called
        share = best if own_page else covers
        # A heading of words that every question uses is no theme: "Explain how …" is not about EXPLAIN.
        if (
            share < _FEW * best
            or not is_telling(label)
            or set(content_terms(label)) <= common
            or not content_terms(without_furniture(label, alone=True))
        ):
            continue
        # A heading that says itself what is asked is a better theme than one that merely has a passage below it.
        named = coverage(asked, frozenset(content_terms(label)))
        own = 1.0 if detect(label, default=language) == language else 0.5
        weight = own * share * (0.4 + named) * (0.25 + density[passage.id])
        # A page that is called explains first what it is about: there the beginning counts, not the rank.
        scores[label] += weight * (_CALLED / (5 + passage.start / _PAGE) if own_page else 1.0 / (5 + rank))
        if own_page:
            begins.setdefault(label, (passage.source, passage.start))
    chosen = _unlike(scores, frozenset(content_terms(question)))
    # What says itself that it is about the question comes first, then what merely stands under another heading.
    chosen.sort(key=lambda label: coverage(asked, frozenset(content_terms(label))) < _SAYS)
    chosen = _as_the_page_has_them(chosen, begins)
    native = [label for label in chosen if detect(label, default=language) == language]
    # Where the reader's own language gives a report, sections in others would only say the same again; most
    # readers of other languages read English, hardly any a third language.
    read = [label for label in chosen if label in native or detect(label) == "en"]
    return native if len(native) >= _NATIVE_ENOUGH else read or chosen


def _as_the_page_has_them(labels: list[str], begins: Mapping[str, tuple[str, int]]) -> list[str]:
    """Put the themes of a page that is called in its order, before the others."""
    own = sorted((label for label in labels if label in begins), key=lambda label: begins[label])
    return [*own, *(label for label in labels if label not in begins)]


def _in_every(asked: Sequence[Unit], said: Sequence[frozenset[str]]) -> frozenset[str]:
    """The terms of what nearly every passage names (the product), where there is more that is asked: no theme."""
    shares = [(u, sum(1 for terms in said if u.share(terms)) / max(1, len(said))) for u in asked]
    common = [u for u, share in shares if share >= (_MOSTLY if u.worth > 1.0 else _NEARLY_ALL)]
    return frozenset(t for u in common for way in u.ways for t in way) if len(common) < len(asked) else frozenset()


def _densities(asked: Sequence[Unit], passages: Sequence[Passage]) -> dict[str, float]:
    """How much of what is asked each passage's sentences name, on average; what few sentences name weighs more."""
    said = {p.id: [frozenset(content_terms(p.text[s.start : s.end])) for s in sentences(p.text)] for p in passages}
    every = [terms for own in said.values() for terms in own]
    present = [unit for unit in asked if any(unit.share(terms) for terms in every)]
    weighed = specific(present, every)
    return {
        key: sum(coverage(weighed, terms) for terms in own) / len(own) if own and weighed else 0.0
        for key, own in said.items()
    }


def _unlike(scores: Mapping[str, float], asked: frozenset[str]) -> list[str]:
    chosen: dict[str, frozenset[str]] = {}
    best = max(scores.values(), default=0.0)
    for label, score in sorted(scores.items(), key=lambda item: -item[1]):
        terms = frozenset(content_terms(label))
        own = terms - asked or terms
        alike = any(len(own & other) / min(len(own), len(other)) >= 0.6 for other in chosen.values() if own and other)
        if own and not alike and score >= _RELEVANT * best:
            chosen[label] = own
        if len(chosen) >= MAX_THEMES:
            break
    return list(chosen)


def owner(passage: Passage, title: str, names: Sequence[str], asked: frozenset[str]) -> str:
    """Return the one of the themes `names` that a passage belongs to; the first where none is nearer.

    Each passage has one owner, so that no sentence stands in two sections.
    """
    label = theme_of(passage, title)
    if label in names:
        return label
    terms = frozenset(content_terms(f"{passage.heading}\n{passage.text}"))
    return max(names, key=lambda name: _nearness(name, terms, asked), default="")


def _nearness(name: str, terms: frozenset[str], asked: frozenset[str]) -> float:
    own = frozenset(content_terms(name)) - asked
    return len(own & terms) / len(own) if own else 0.0
