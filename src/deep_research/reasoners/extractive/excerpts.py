"""Sentences worth quoting: found in passages, judged on their own merits, ranked against a wish.

A sentence that cannot stand alone ("It also …") is taken together with the one before it, or not at
all; code, questions, captions and fragments are never quoted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

from deep_research.data import Passage
from deep_research.text.language import CJK
from deep_research.text.sentences import Sentence, sentences
from deep_research.text.tokens import STOP_WORDS, content_terms

_CJK_CHAR = re.compile(f"[{CJK}]")
_ENDS = re.compile(r"[.!。！]+[\"'”’」』）)\]]*$")
_LEANS = re.compile(
    r"^(?:\W*)(?:it|its|they|their|them|this|these|those|that|such|he|she|his|her|here|there(?! (?:is|are) (?:two|three|several|many))"
    r"|however|but|so|thus|therefore|hence|then|also|and|or|moreover|furthermore|additionally|otherwise|instead|likewise"
    r"|similarly|consequently|nevertheless|for (?:example|instance)|in (?:this|that|these|such|addition|contrast|particular|other words|both)"
    r"|on the other hand|as (?:a result|described|mentioned|noted|shown|before|above|with)|the (?:following|above|former|latter|same|first|second|other)"
    r"|(?:for|with|by|in|of|to|from|on|after|before|under|since|because|unlike|like|at|when|if) (?:this|that|these|those|such|doing|it|they|them|both)"
    r"|doing (?:so|this|that)|one (?:of (?:these|those|them)|such)|some of (?:these|them)|all of (?:these|them)|each (?:of|one)|either|neither|now|first|second|next"
    r"|both|another|each of these|note that|again|finally|conversely|although this|because of this|if so|unlike (?:this|these|the))\b"
    r"|^(?:它|其|这|该|此|这些|那|但|但是|然而|因此|所以|于是|同时|此外|另外|例如|比如|并且|而且|而|也|从而|总之|不过|他们|她|他)"
    r"|^(?:이는|이를|이것|이러한|이런|이와|이들|그는|그것|그러나|하지만|따라서|그래서|그리고|또한|예를 들어|한편|그런데|반면|이 )"
    r"|^(?:これ|それ|この|その|しかし|また|そのため|したがって|例えば|たとえば|さらに|一方)",
    re.IGNORECASE,
)
_POINTS_AWAY = re.compile(
    r"\b(?:see (?:also|section|chapter|the|below|above|table|figure|\w+\(\))|as follows|the following|shown (?:below|above|in)|(?:above|below)[.,)]"
    r"|described (?:in|above|below|under|later)|this (?:section|chapter|page|document|tutorial|manual|appendix|example)|(?:in|from) (?:section|chapter)"
    r"|next section|previous section|(?:fig|figure|table|section|chapter|eq|appendix)\.? ?\d|for (?:more|further) (?:information|details)|refer to"
    r"|click|copyright|all rights reserved|changed in version|new in version|deprecated since|added in version|versionadded)\b"
    r"|^(?:source|published|authors?|来源|发表|作者|출처|발행|저자|出典)\s*[:：]|如下|见下|如上|参见|下表|上图|本节|本章|아래|위의 예|다음과 같|下記|以下の",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"\b(?:should|recommend\w*|best|prefer\w*|suit\w*|useful|when|whenever|only if|can (?:handle|be used)|supports|supported|support (?:for|only|the|any)|limit\w*|advantage\w*|disadvantage\w*"
    r"|cannot|trade-?off|instead of|rather than|typical\w*|common\w*|appropriate|ideal|effective|efficient\w*)\b"
    r"|适合|适用|建议|应当|局限|缺点|优点|优势|限制|可用于|권장|적합|한계|단점|장점|유용|適|限界|利点|欠点",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"^(?:the |an? )?(?:[\w.()/+-]+ ){1,4}(?:is|are) (?:an? |the |one |used|designed)|^.{1,30}(?:是一种|是一个|是由|는 |은 |とは)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"^(?:currently|presently|at present),? no\b|^no(?:ne)?\b", re.IGNORECASE)
_ORDERS = re.compile(
    r"^(?:returns?|skips?|replaces?|raises?|sets?|gets?|creates?|adds?|fix(?:es)?|makes?|calls?|prints?|tests?|checks?|removes?|reads?|writes?|opens?|closes?"
    r"|specif(?:y|ies)|converts?|registers?|defines?|implements?|contains?|represents?|indicates?|ensures?|lists?|shows?|displays?)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:deprecat\w+|removed|backported|bpo-\d+|gh-\d+|renamed|no longer|(?:is|are) now|now (?:accept|support|inherit|raise|return|take|use|rel|allow)\w*"
    r"|has been (?:added|fixed|changed|moved)|have been (?:added|fixed|changed|moved)|(?:contributed|implemented|written|patch|reported|maintained) (?:primarily )?by|PEP \d+ -)\b",
    re.IGNORECASE,
)
_CHANGE_NOTES = re.compile(
    r"\bwhat.s new\b|\bchange ?log\b|\brelease notes?\b|^(?:e\.\d+\.\s*)?release \d|\bhistory of changes\b|更新日志|변경 ?(?:이력|사항)",
    re.IGNORECASE,
)
_CONTENTS_LINE = re.compile(r"\d+(?:\.\d+)+\.?$")
_CODE = re.compile(r"[{}<>;=$\\]|::|->|\(\)|`|__|\w\(\w|\s{3,}|\|")
_SIGNATURE = re.compile(r"^[\w.]*[a-z]_\w*\s*[(:]|\w\([^)]*\) ?(?:returns|→|->|:)|^\w+\([^)]*\)\s", re.IGNORECASE)
_BRACKETED_NUMBER = re.compile(r"\[[\w, ;-]{1,12}\]|【")
_DEFINES = re.compile(
    r"\b(?:is|are|was|were) (?:a|an|the|one|designed|used|based|developed|known|most|best|suited|intended|particularly|especially)\b"
    r"|\b(?:provides?|allows?|enables?|supports?|offers?|introduc\w+|refers? to|means|consists? of|works? by|reduc\w+|improv\w+|achiev\w+)\b"
    r"|是(?:一种|一个|由|指|用于|基于)|指的是|用于|适合|适用于|能够|可以|提出|通过"
    r"|(?:이|은|는) .{0,30}(?:이다|입니다|한다|합니다)|위한|사용|제안|である|とは",
    re.IGNORECASE,
)


class About(NamedTuple):
    """What a passage stands under: the terms of its document's title, of its headings, and the title itself."""

    title_terms: frozenset[str]
    terms: frozenset[str]
    title: str

    @classmethod
    def of(cls, passage: Passage, title: str) -> "About":
        """Read title and headings."""
        own = frozenset(content_terms(title))
        return cls(own, own | frozenset(content_terms(passage.heading)), title)


class Excerpt(NamedTuple):
    """One to three consecutive sentences of one passage, white space folded, that read well alone."""

    sentences: tuple[str, ...]
    passage: Passage
    start: int
    terms: frozenset[str]
    score: float

    @property
    def text(self) -> str:
        """The whole excerpt."""
        return " ".join(self.sentences)

    @property
    def length(self) -> int:
        """Length in Latin characters; a CJK character counts as two and a half."""
        return reading_length(self.text)


@dataclass(frozen=True)
class Wish:
    """What is looked for.

    `weights` are index terms with their worth; `subject` the terms that must be named; `context` the
    terms that say in which sense ("index" for the subject "Hash"); `siblings` the subjects of other
    sections, whose sentences belong there; `advice` prefers sentences that say when to use something;
    `changes` says that news are wanted, which otherwise count little; `name` finds the subject's name and
    not a longer one that ends like it (GiST, not SP-GiST).
    """

    weights: dict[str, float]
    subject: frozenset[str] = frozenset()
    context: frozenset[str] = frozenset()
    siblings: tuple[frozenset[str], ...] = ()
    language: str = "en"
    advice: bool = False
    changes: bool = False
    name: re.Pattern[str] | None = None


def name_pattern(subject: str) -> re.Pattern[str] | None:
    """Return a pattern of a Latin name that stands by itself; None for other scripts."""
    words = subject.split()
    if not words or not subject.isascii():
        return None
    return re.compile(r"(?<![\w-])" + r"[\s-]+".join(re.escape(w) for w in words), re.IGNORECASE)


def weigh(*worths: tuple[str, float]) -> dict[str, float]:
    """Return the index terms of texts, each with the highest worth of a text it stands in."""
    weights: dict[str, float] = {}
    for text, worth in worths:
        for term in content_terms(text):
            weights[term] = max(weights.get(term, 0.0), worth)
    return weights


def reading_length(text: str) -> int:
    """Return the length of `text` in Latin characters' worth of reading."""
    return len(text) + int(1.5 * len(_CJK_CHAR.findall(text)))


def excerpts(passages: Sequence[Passage], wish: Wish, *, titles: dict[str, str] | None = None) -> list[Excerpt]:
    """Return the quotable excerpts of `passages` (best passage first), ranked by `wish`, best first.

    `titles` gives the title of each source id: a passage of a document about the subject need not
    name the subject in every sentence.
    """
    weights = _damped(wish, passages)
    found: list[Excerpt] = []
    for rank, passage in enumerate(passages):
        about = About.of(passage, (titles or {}).get(passage.source, ""))
        found.extend(_of_passage(passage, wish, weights, about, rank))
    return sorted(found, key=lambda e: (-e.score, e.passage.id, e.start))


def _damped(wish: Wish, passages: Sequence[Passage]) -> dict[str, float]:
    """Terms that stand in nearly every passage tell less."""
    frequency: Counter[str] = Counter()
    for passage in passages:
        frequency.update(set(content_terms(passage.text)))
    total = len(passages) + 1
    return {t: w * (0.3 + log(total / (1 + frequency[t]) + 1)) for t, w in wish.weights.items()}


def _of_passage(passage: Passage, wish: Wish, weights: dict[str, float], about: About, rank: int) -> Iterable[Excerpt]:
    spans = sentences(passage.text)
    texts = [" ".join(passage.text[s.start : s.end].split()) for s in spans]
    for index in range(len(spans)):
        first = _first_of_chain(texts, spans, index)
        if first is None:
            continue
        chosen = tuple(texts[first : index + 1])
        if not all(is_quotable(text) for text in chosen):
            continue
        terms = frozenset(t for text in chosen for t in content_terms(text))
        score = rate(chosen, terms, wish, weights, about)
        if score > 0:
            score *= 1.0 / (1.0 + 0.05 * rank)
            yield Excerpt(chosen, passage, spans[first].start, terms, score)


def leans(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood ("It also …")."""
    return bool(_LEANS.match(text))


def defines(subject: str, text: str) -> bool:
    """Whether a sentence begins with the subject and says what it is ("GPTQ is a one-shot method …")."""
    opening = set(content_terms(" ".join(text.split()[:7])))
    return bool(_IS_A.match(text)) and set(content_terms(subject)) <= opening


def _first_of_chain(texts: list[str], spans: list[Sentence], index: int) -> int | None:
    """The sentence from which this one can be understood: itself, or at most two before it."""
    first = index
    while leans(texts[first]):
        first -= 1
        if first < 0 or index - first > 2 or spans[first].kind != spans[index].kind:
            return None
    return first


def is_quotable(text: str) -> bool:
    """Whether a sentence is prose that may be quoted: whole, not code, not a question, not a pointer."""
    length = reading_length(text)
    if not 35 <= length <= 520 or not _ENDS.search(text) or _BRACKETED_NUMBER.search(text):
        return False
    if _POINTS_AWAY.search(text) or _CONTENTS_LINE.search(text) or _SIGNATURE.search(text):
        return False
    if text.count(",") > 12 or len(_CODE.findall(text)) > 2:
        return False
    letters = sum(c.isalpha() for c in text)
    return letters >= 0.6 * len(text.replace(" ", "")) and _has_grammar(text)


def _has_grammar(text: str) -> bool:
    """Latin prose has function words; a line of a table of contents has none."""
    if _CJK_CHAR.search(text):
        return True
    return sum(word in STOP_WORDS for word in text.casefold().split()) >= 2


def rate(chosen: tuple[str, ...], terms: frozenset[str], wish: Wish, weights: dict[str, float], about: About) -> float:
    """Return how well sentences with these terms serve `wish`, given what their document is `about`; 0: not at all."""
    text = " ".join(chosen)
    matched = sum(weight for term, weight in weights.items() if term in terms)
    implied = sum(weight for term, weight in weights.items() if term in about.terms and term not in terms)
    if matched == 0 and not implied:
        return 0.0
    score = (matched + 0.4 * implied) / (sqrt(len(terms)) + 3.0)
    score *= _fit(terms, text, wish, about)
    if _DEFINES.search(text):
        score *= 1.15
    if _ORDERS.match(text) or _DENIES.match(text):
        score *= 0.45
    if wish.advice and _ADVISES.search(text):
        score *= 1.25
    if not wish.changes:
        score *= (0.5 if _CHANGES.search(text) else 1.0) * (0.5 if _CHANGE_NOTES.search(about.title) else 1.0)
    # Several leaning sentences read worse than one that stands alone.
    return score * (1.0, 0.9, 0.75)[len(chosen) - 1]


def _fit(terms: frozenset[str], text: str, wish: Wish, about: About) -> float:
    """How well a sentence keeps to the subject, in the sense that is asked for."""
    fit = 1.0
    if wish.subject:
        named, headed = _names(wish, text), wish.subject <= about.terms
        if not (named or headed):
            return 0.25 if wish.subject & terms and len(wish.subject) > 1 else 0.0
        opens = _names(wish, " ".join(text.split()[:7]))
        fit *= 1.5 if opens else 1.0 if named else 0.8
        if opens and _IS_A.match(text):
            fit *= 1.4
        first = " ".join(text.split()[:3])
        if _names(wish, first):
            fit *= 1.25
        elif any(sibling and sibling <= set(content_terms(first)) for sibling in wish.siblings):
            fit *= 0.5
        fit *= 1.8 if wish.subject <= about.title_terms else 1.3 if headed else 1.0
    if wish.context:
        titled = bool(wish.subject) and wish.subject <= about.title_terms
        known = wish.context & (terms | about.terms)
        mostly = 3 * len(wish.context & about.terms) >= 2 * len(wish.context)
        fit *= 1.35 if mostly else 1.0 if known or titled else 0.3
    others = sum(bool(sibling) and sibling <= terms for sibling in wish.siblings)
    if not wish.subject:
        # A survey of all subjects likes the sentences that name many of them.
        return fit * (1.0, 1.0, 1.3, 1.8)[min(others, 3)]
    return fit * (1.0, 0.85, 0.6, 0.4)[min(others, 3)]


def _names(wish: Wish, text: str) -> bool:
    """Whether `text` names the subject: all its terms, and the name as a word of its own where it is Latin."""
    literal = bool(wish.name and wish.name.search(text))
    terms = wish.subject <= set(content_terms(text))
    return terms and (literal or wish.name is None or len(wish.subject) > 1)


def pick(
    ranked: Sequence[Excerpt], *, limit: int, budget: int, taken: Sequence[Excerpt] = (), per_source: int = 4
) -> list[Excerpt]:
    """Choose up to `limit` excerpts within `budget` characters: relevant, and unlike each other (MMR).

    Follows Carbonell and Goldstein, "The use of MMR", SIGIR 1998, with Jaccard similarity of terms;
    `per_source` bounds what one source may contribute.
    """
    chosen: list[Excerpt] = []
    pool = list(ranked[:200])
    used = 0
    sources: Counter[str] = Counter()
    while pool and len(chosen) < limit:
        best, best_value = None, 0.0
        for candidate in pool:
            likeness = max((_jaccard(candidate.terms, c.terms) for c in [*chosen, *taken]), default=0.0)
            if likeness > 0.6 or sources[candidate.passage.source] >= per_source:
                continue
            value = candidate.score * (1 - 0.8 * likeness) * (1 / (1 + 0.15 * sources[candidate.passage.source]))
            if value > best_value:
                best, best_value = candidate, value
        if best is None or (chosen and best_value < 0.33 * chosen[0].score):
            break
        pool = [c for c in pool if c is not best and not _overlaps(c, best)]
        if used + best.length > budget and chosen:
            continue
        chosen.append(best)
        used += best.length
        sources[best.passage.source] += 1
    return chosen


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    if not one or not other:
        return 0.0
    return len(one & other) / min(len(one), len(other)) * 0.5 + len(one & other) / len(one | other) * 0.5


def _overlaps(one: Excerpt, other: Excerpt) -> bool:
    return one.passage.id == other.passage.id and bool(set(one.sentences) & set(other.sentences))


def in_reading_order(chosen: Sequence[Excerpt]) -> list[list[Excerpt]]:
    """Group excerpts into paragraphs: one per source, the best source first, its excerpts as the text has them."""
    groups: dict[str, list[Excerpt]] = {}
    for excerpt in chosen:
        groups.setdefault(excerpt.passage.source, []).append(excerpt)
    return [sorted(group, key=lambda e: (e.passage.start, e.start)) for group in groups.values()]


def cited(excerpt: Excerpt) -> str:
    """Return the excerpt as draft Markdown: each sentence with the id of its passage."""
    return " ".join(f"{sentence} [{excerpt.passage.id}]" for sentence in excerpt.sentences)
