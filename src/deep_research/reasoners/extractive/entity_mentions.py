"""Where documents name things of the kind that a list question asks for, and which documents are relevant."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from deep_research.data import Heading, Passage
from deep_research.i18n.language import CJK, detect
from deep_research.ports import Library
from deep_research.reasoners.extractive.document_names import called
from deep_research.text.cleaning import plain_heading
from deep_research.text.question_terms import Unit, specific, units_for
from deep_research.text.question_terms import coverage as share
from deep_research.text.sentences import sentences
from deep_research.text.tokens import STOP_WORDS, content_terms

_NAME_LIKE = re.compile(r"(?<!^)\b\w*[A-Z0-9]\w*(?:-\w+)*")
_KEEP = 0.55
_TITLE_BONUS = 0.3


def term_worth(text: str) -> dict[str, float]:
    """Return the index terms of a question with their worth: names and identifiers count double."""
    worth = dict.fromkeys(content_terms(text), 1.0)
    for name in _NAME_LIKE.findall(text):
        worth.update(dict.fromkeys(content_terms(name), 2.0))
    return worth


def coverage(worth: dict[str, float], terms: frozenset[str]) -> float:
    """Return the share (0–1) of the worth that `terms` cover."""
    total = sum(worth.values())
    return sum(w for t, w in worth.items() if t in terms) / total if total else 0.0


def relevant_sources(text: str, passages: Sequence[Passage], library: Library) -> dict[str, float]:
    """Return the ids of the sources that cover at least about half of what the best one covers, best first."""
    worth = term_worth(text)
    said: dict[str, set[str]] = {}
    for passage in passages:
        said.setdefault(passage.source, set()).update(content_terms(f"{passage.heading} {passage.text}"))
    scores: dict[str, float] = {}
    for key, terms in said.items():
        source = library.source(key)
        title = frozenset(content_terms(source.title)) if source else frozenset[str]()
        scores[key] = coverage(worth, frozenset(terms) | title) + _TITLE_BONUS * coverage(worth, title)
    best = max(scores.values(), default=0.0)
    kept = {key: score for key, score in scores.items() if score >= _KEEP * best and score > 0}
    return dict(sorted(kept.items(), key=lambda item: -item[1]))


_LEAD = re.compile(
    r"(?:\b(?P<example>(?:such as|for example(?: with| by)?|for instance|including|namely|(?:the )?following)\b|e\.g\.,?)|\b(?:includes?|are|offers?|provides?"
    r"|supports?)\b[^:,.]{0,40}?:?|(?P<colon>:))\s+(?P<list>[^.;:]{3,400})"
    r"|(?:包括|包含|分为|例如|比如|主要有|如|：)(?P<zh>[^。；：]{3,200})|(?P<ko>[^.:]{3,200}?)\s등",
    re.IGNORECASE,
)
_CUT = re.compile(
    r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*[、，]\s*|(?<=[\u4e00-\u9fff\w])\s*(?:和|以及|及|与)\s*(?=[\u4e00-\u9fffA-Za-z])|(?<=[\uac00-\ud7afA-Za-z])(?:와|과)\s"
)
_TITLE_HEAD = re.compile(
    r"\s*[:：]\s*|\s+[—–]\s+|\s*[(（]|\s+in\s+|，|(?<=[a-z])\s+\d[\d.,]*\s?(?:mg|µg|mcg|g|kg|ml|l|%|mm|cm|nm|kW|MB|GB)\b"
)
"""What ends the name in a title: a mark, a place, a dose or size ("Semaglutide 2.4 mg for obesity")."""
_SOURCE_LINE = re.compile(r"^(?:source|published|references?|来源|发表|出处|출처|발행|出典)\s*[:：]", re.IGNORECASE)
_AFTER_HEAD = re.compile(r"\s(?:to|for|of|in|on|that|which|with|from|by|against|used|using|available)\s", re.IGNORECASE)
_WAYS = frozenset(
    content_terms("ways methods techniques approaches strategies optimisation optimization options solutions measures")
)
_CONTAINER = re.compile(
    r"(?:variety|kinds?|types?|forms?|number|lists?|range|sets?|famil(?:y|ies)|class(?:es)?|groups?|examples?|all|some|many|most|one|two|three)",
    re.I,
)
_MIN_PARTS, _MAX_PARTS, _ENTRIES = 3, 20, 2
_LABEL = 3
_SIGNAL = re.compile(
    r"errors?|warnings?|notices?|hints?|details?|notes?|info|debug|log|tips?|cautions?|important|examples?|usage|see|e\.g|i\.e|default|returns?|todo",
    re.IGNORECASE,
)
"""What stands before a colon in messages and remarks."""
_OWN_PAGE, _OPENING = 12, 12
"""Passages at the beginning of a document: where the page that is called lists what it has, and says what it is about."""
OWN_PAGE = "own page"
"""The kind of evidence that the page gives which the question calls by its name."""
_ABOUT, _NAMED_WITH = 0.5, 0.4
_NEAR, _ASIDE = 24, 40
_TRIAL = re.compile(
    r"\s*(?:\(.{0,20}\)\s*)?(?:trials?\b|stud(?:y|ies)\b|cohorts?\b|randomi[sz]ed\b|enrolled\b|시험|연구|试验|試驗|研究|試験"
    r"|(?:compared|included|tested|evaluated|recruited|assigned|followed|measured)\b[^.]{0,120}\b(?:patients|participants|adults|people|subjects|volunteers)\b)",
    re.IGNORECASE,
)
_TRIAL_WORDS = re.compile(r"trial|stud|试验|研究|시험|연구|試験", re.IGNORECASE)
_MUTATION = re.compile(r"[A-Z]\d{1,4}(?:[A-Z]|fs|\*)")
_MUTATION_WORDS = re.compile(r"mutation|variant|alteration|resist|突变|变异|耐药|변이|내성|変異", re.IGNORECASE)
_ENTRY = re.compile(
    rf"^(?:[-*•]\s+)?[\"“'`]?(?P<name>[\w{CJK}][^:：\n.;]{{0,40}}?)[\"”'`]?\s*(?:\([^)\n]{{1,30}}\))?\s*[:：]\s+(?=\S)",
    re.MULTILINE,
)
_CALLED = re.compile(
    r"^(?:The )?(?P<name>[\w][\w.+/-]*(?: [\w.+/-]+){0,3}?),?(?: \([^)]*\))?,? (?:is|are|was) (?:a|an|the|one of the)\b(?P<what>[^.;]{0,90})"
    rf"|^(?P<cjk>[\w{CJK}][\w{CJK} .+-]{{0,18}}?)(?:（[^）]*）|\([^)]*\))?(?:是|は|은 |는 )(?P<cjkwhat>[^。.;；]{{0,60}})"
)


@dataclass(frozen=True)
class Mention:
    """One piece of evidence that a name answers."""

    name: str
    kind: str
    weight: float
    passage: str


def mentions(target: str, question: str, passages: Sequence[Passage], library: Library) -> Iterator[Mention]:
    """Yield what the passages (best first) name of the kind `target`."""
    worth = term_worth(question)
    head, wanted = _head(target), frozenset(content_terms(target))
    own_pages = called(question, library.sources())
    for rank, passage in enumerate(passages):
        weight = 1.0 / (1.0 + 0.1 * rank)
        found = {
            "enumeration": (2.0, _enumerated(passage, worth, head, wanted)),
            "heading": (1.5, _headed(passage, wanted, head, worth, library)),
            "entry": (2.0, _defined(passage, wanted, head, library)),
            "called": (1.5, _called(passage, worth, head)),
            "table": (2.0, _tabled(passage) if wanted and wanted <= frozenset(content_terms(passage.heading)) else []),
        }
        for kind, (value, names) in found.items():
            yield from (Mention(name, kind, value * weight, passage.id) for name in names)
    for page in (p for key in sorted(own_pages) for p in library.passages(key)[:_OWN_PAGE]):
        yield from (Mention(name, OWN_PAGE, 3.0, page.id) for name in _tabled(page))
    yield from _titled(question, passages, library)


def is_of_another_kind(name: str, asked: str, passages: Sequence[Passage]) -> bool:
    """Whether the documents use `name` for what nobody asked for: a trial, or a change of one amino acid.

    Both stand in every list of a medical text, beside the drugs and genes they belong to.
    """
    if _MUTATION.fullmatch(name):
        return not _MUTATION_WORDS.search(asked)
    if _TRIAL_WORDS.search(asked):
        return False
    named = re.compile(re.escape(name), re.IGNORECASE)
    return any(_TRIAL.match(p.text, place.end()) for p in passages for place in named.finditer(p.text))


def _head(target: str) -> frozenset[str]:
    """Return the noun a target names ("index types" → index, type; "ways to make …" → any word for a way)."""
    terms = content_terms(_AFTER_HEAD.split(target)[0])[-2:] or content_terms(target)[-2:]
    return _WAYS if set(terms) & _WAYS else frozenset(terms)


def _says(head: frozenset[str], terms: Collection[str]) -> bool:
    """Whether terms hold the noun; of scripts without spaces all of its pairs of characters ("부작용" is no "작용제")."""
    spaced = frozenset(term for term in head if term.isascii())
    return bool(spaced.intersection(terms)) or (bool(head - spaced) and head - spaced <= set(terms))


def _enumerated(
    passage: Passage, worth: dict[str, float], head: frozenset[str], wanted: frozenset[str]
) -> Iterator[str]:
    for span in sentences(passage.text):
        text = " ".join(passage.text[span.start : span.end].split())
        about = frozenset(content_terms(f"{text} {passage.heading}"))
        if _SOURCE_LINE.match(text) or coverage(worth, about) < _ABOUT or (len(wanted) <= 2 and not wanted <= about):
            continue
        for match in _leads(text):
            parts = [p for p in _CUT.split(_inside(match["list"] or match["zh"] or match["ko"])) if p.strip()]
            if len(parts) >= _MIN_PARTS and _says(head, content_terms(_noun_beside(text, match))):
                yield from parts


def _leads(text: str) -> Iterator[re.Match[str]]:
    """All beginnings of an enumeration; one may stand inside what an earlier one took for its list."""
    place = 0
    while (match := _LEAD.search(text, place)) is not None:
        yield match
        inner = match.start("list" if match["list"] else "zh") if not match["ko"] else match.end()
        place = max(inner, place + 1)


def _inside(listed: str) -> str:
    """Return a list up to the parenthesis that was opened before it."""
    depth = 0
    for place, sign in enumerate(listed):
        depth += (sign in "(（") - (sign in ")）")
        if depth < 0:
            return listed[:place]
    return listed


def _noun_beside(text: str, match: re.Match[str]) -> str:
    """Where the noun that is asked for stands: right before the enumeration, before examples anywhere
    earlier in the sentence, and in Korean and Chinese after the word for "such as" ("X, Y 등의 약물")."""
    if match["ko"]:
        return text[match.end() : match.end() + 12]
    # "The side effects of the drugs are nausea, …" enumerates side effects; "a number of drugs" is drugs.
    before = text[: match.start()]
    whose = re.search(r"(\w+) (?:of|for|with|in|from)\b", before)
    if not (match["example"] or match["colon"]) and whose and not _CONTAINER.fullmatch(whose[1]):
        return before[: whose.end(1)]
    if text[: match.start()].endswith("("):
        return text[max(0, match.start() - _ASIDE) : match.start()]
    reach = 400 if match["example"] or match["colon"] else 45
    after = re.search("等(.{1,8})", match["zh"] or "")
    return text[max(0, match.start() - reach) : match.start() + 12] + (f" {after[1]}" if after else "")


def _defined(passage: Passage, wanted: frozenset[str], head: frozenset[str], library: Library) -> Iterator[str]:
    """Return the entries of a definition list below a heading that names the target, or that carry its noun."""
    named = wanted <= frozenset(content_terms(passage.heading))
    everywhere = _entries_by_heading(passage.source, library)
    # What stands before a colon under one heading after the other is a label ("Note"), no name.
    labels = Counter(name for own in everywhere.values() for name in set(own))
    labels.update({name: _LABEL for own in everywhere.values() for name in own if _SIGNAL.fullmatch(name)})
    listed = everywhere.get(passage.heading, []) if named else [m["name"] for m in _ENTRY.finditer(passage.text)]
    names = [name for name in listed if labels[name] < _LABEL]
    own = [name for name in names if _says(head, content_terms(name))]
    yield from (names if named else own if len(own) >= _ENTRIES else [])[:_MAX_PARTS]


def _entries_by_heading(source: str, library: Library) -> dict[str, list[str]]:
    """Return the entries of a document's definition lists by the heading they stand under, nested ones left out."""
    snapshot = library.snapshot(source)
    found: dict[str, list[str]] = {}
    for passage in library.passages(source):
        line = snapshot.text[: passage.start].rpartition("\n")[2] if snapshot else ""
        inside = bool(line) and line.isspace()
        entries = [m["name"] for m in _ENTRY.finditer(passage.text) if not (inside and m.start() == 0)]
        found.setdefault(passage.heading, []).extend(entries)
    return found


def _tabled(passage: Passage) -> list[str]:
    """Return the first column of the tables in a passage, without their heads."""
    rows = [
        line.split("|")[1].strip() for line in passage.text.splitlines() if line.startswith("|") and line.count("|") > 2
    ]
    rule = next((i for i, cell in enumerate(rows) if cell and not cell.strip("-: ")), -1)
    names = [cell for cell in rows[rule + 1 :] if cell]
    return names if _MIN_PARTS <= len(names) <= _MAX_PARTS else []


def _called(passage: Passage, worth: dict[str, float], head: frozenset[str]) -> Iterator[str]:
    for span in sentences(passage.text):
        text = " ".join(passage.text[span.start : span.end].split())
        if (match := _CALLED.match(text)) is None:
            continue
        what = frozenset(content_terms(match["what"] or match["cjkwhat"] or ""))
        if _says(head, what) and coverage(worth, what | frozenset(content_terms(passage.heading))) >= 0.4:
            yield match["name"] or match["cjk"]


def _headed(
    passage: Passage, wanted: frozenset[str], head: frozenset[str], worth: dict[str, float], library: Library
) -> Iterator[str]:
    """Return the headings below one that names the target, as far as the text uses them with its noun ("Hash indexes"):
    headings of a document about the target are as often aspects of it ("Side effects")."""
    snapshot = library.snapshot(passage.source)
    about = frozenset(content_terms(f"{passage.heading} {passage.text}"))
    if snapshot is None or coverage(worth, about) < _ABOUT:
        return
    yield from _kinds_in_headings(snapshot.headings, wanted)
    for index, heading in enumerate(snapshot.headings):
        if wanted and wanted <= frozenset(content_terms(heading.title)):
            children = [plain_heading(child.title) for child in _children(snapshot.headings, index)]
            if _MIN_PARTS <= len(children) <= _MAX_PARTS:
                yield from (name for name in children if _goes_with(name, head, snapshot.text))


def _kinds_in_headings(headings: Sequence[Heading], wanted: frozenset[str]) -> list[str]:
    """Return what stands before the target in the headings of one document, where several end with it ("Read Committed
    Isolation Level", "Serializable Isolation Level")."""
    titles = [plain_heading(heading.title).split() for heading in headings]
    found = [" ".join(words[:-tail]) for words in titles if (tail := _tail(words, wanted))]
    return found if len(found) >= _ENTRIES else []


def _tail(words: Sequence[str], wanted: frozenset[str]) -> int:
    """How many words at the end of a heading are the target, whole; 0 where it does not end with it."""
    for count in range(1, len(words)):
        if frozenset(content_terms(" ".join(words[-count:]))) == wanted:
            return count
    return 0


def _goes_with(name: str, head: frozenset[str], text: str) -> bool:
    """Whether the wanted noun is a part of the name or follows it in the text."""
    if _says(head, content_terms(name)):
        return True
    return any(_follows(text[m.end() : m.end() + _NEAR], head) for m in re.finditer(re.escape(name), text, re.I))


def _follows(after: str, head: frozenset[str]) -> bool:
    """Whether the noun comes next, past at most two words; a preposition or verb between makes another phrase."""
    for word in re.split(r"[\s-]+", after.split("\n", maxsplit=1)[0].strip())[:3]:
        if word.casefold() in STOP_WORDS:
            return False
        if _says(head, content_terms(word)):
            return True
    return False


def _children(heads: tuple[Heading, ...], index: int) -> Iterator[Heading]:
    below: int | None = None
    for heading in heads[index + 1 :]:
        if heading.level <= heads[index].level:
            return
        below = heading.level if below is None else below
        if heading.level == below:
            yield heading


def _titled(question: str, passages: Sequence[Passage], library: Library) -> Iterator[Mention]:
    """Titles of the documents about the question: their head, or the names they list after a colon."""
    language = detect(question)
    asked = units_for(question, language, passages)
    asked = specific(asked, [frozenset(content_terms(f"{p.heading} {p.text}")) for p in passages])
    first = {p.source: p.id for p in reversed(passages)}
    elsewhere = [text for p in passages for text in _sentences(p)]
    for key, score in relevant_sources(question, passages, library).items():
        source = library.source(key)
        if source is None:
            continue
        weight = 1.2 * score * (1.0 if detect(source.title, default=language) == language else 0.4)
        title = plain_heading(source.title)
        head, _, tail = title.partition("：" if "：" in title else ":")
        listed = [p for p in _CUT.split(tail) if re.search(r"[A-Z0-9]", p)]
        if len(listed) >= _MIN_PARTS:
            yield from (Mention(name, "title", 1.2 * weight, first[key]) for name in listed)
        parts = _CUT.split(_TITLE_HEAD.split(head)[0])
        said = [text for p in library.passages(key)[:_OPENING] for text in _sentences(p)] + elsewhere
        # "Indexes and ORDER BY" is about the target, not a list of its members; "Installing" is about neither.
        if all(_beside(part, said, asked) for part in parts):
            yield from (Mention(part, "title", weight, first[key]) for part in parts)


def _sentences(passage: Passage) -> Iterator[str]:
    return (passage.text[s.start : s.end] for s in sentences(passage.text))


def _beside(name: str, said: Sequence[str], asked: Sequence[Unit]) -> bool:
    """Whether a sentence names the thing as it is written in the title, together with much of what is asked."""
    named = (frozenset(content_terms(text)) for text in said if name in text)
    return any(share(asked, terms) >= _NAMED_WITH for terms in named)
