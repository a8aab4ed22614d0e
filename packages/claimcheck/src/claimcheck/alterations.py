"""Changes of names, numbers, units, roles, direction or scope in a copied claim.

The claim is laid over the stretch most like it. What stands in the place of something else is compared with it: a name
with a name, a number with a number, a word with its opposite; two that changed places are found by that as well. What
was merely reworded differs in more places, and in words that are no names; it is left to the support score.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from claimcheck.alignment import FUNCTION_SIGNS, KATAKANA, Alignment, Region, Token, align, tokens_of
from claimcheck.language import HAN, HANGUL, detect, is_cjk
from claimcheck.lexicon import any_of, compile_on_use, entry, table, words
from claimcheck.near_misses import ENDINGS, RESPECTIVELY
from claimcheck.negation import negated
from claimcheck.numbers import same
from claimcheck.text.measures import SCALES, Quantity, unit_at
from claimcheck.text.names import Name, NameIndex, begins_sentence, is_ordinary
from claimcheck.text.quantities import quantities
from claimcheck.text.tokens import normalise

What = Literal["number", "name", "opposite", "exchanged", "scope", "added"]


class Alteration(NamedTuple):
    """A change of the claim: `said` replaces `there` of the evidence ("" if added).

    `is_conflict` says that both cannot be true.
    """

    what: What
    said: str
    there: str
    line: str
    is_conflict: bool


_LEAST_SHARE = 0.5
"""Share of a claim's content that must stand in its stretch, in order or exchanged, before differences are told apart."""
_SAME_SHARE = 0.7
"""From this share on the stretch makes the same statement, and a difference is a conflict."""
_COPY_SHARE = 0.85
"""From this share on a claim is a copy, to which nothing may be added."""
_AS_MUCH_ALIKE = 0.1
"""Up to this difference of their shares two stretches are as much like a claim."""
_LIMIT, _NEAR = 4, 6
"""Words of a region that is no more than a limit, and how near behind it must stand what the claim repeats."""
_WORD_LENGTHS = range(2, 8)
_KATAKANA_RUN, _HANGUL_RUN = re.compile(f"[{KATAKANA}]+"), re.compile(f"[{HANGUL}]+")
_HAN_OR_KANA = compile_on_use(f"[{HAN}\u3041-\u309f\u3005]")
_NEUTRAL = frozenset(words("alignment.neutral"))
_COMMON = frozenset(words("alignment.common"))
_GRAMMAR = frozenset("".join(words("alignment.grammar")))
_SAME_COUNTERS = tuple(tuple(row.split()) for row in words("alignment.same_counters"))
_NUMERALS = {*table("numerals.digits"), *table("numerals.native")}
_NUMERALS |= {sign for sign in SCALES if len(sign) == 1 and not sign.isascii()}


def find_alteration(claim: str, lines: Sequence[str], about: str = "") -> Alteration | None:
    """Return what was changed in `claim` against the line most like it, or None.

    A line that is as much like it and differs in nothing acquits it. `about` (titles, headings) may name things.
    """
    language = detect(claim)
    found = align(claim, lines)
    first: Alteration | None = None
    for alignment in found:
        comparison = _Comparison(alignment, lines, about, language)
        alteration = next(comparison.exchanges(), None)
        if alignment.share >= found[0].share - _AS_MUCH_ALIKE:
            alteration = alteration or next(comparison.replacements(), None)
            if alteration is None and alignment.share >= _LEAST_SHARE:
                return None
        first = first or alteration
    return first


class _Comparison:
    """One alignment, and what else the evidence says."""

    def __init__(self, alignment: Alignment, lines: Sequence[str], about: str, language: str) -> None:
        self.a, self.language = alignment, language
        self.is_cjk = is_cjk(language)
        self.before = "\n".join([about, *lines[: alignment.place + 1]])
        self.whole = "\n".join([about, *lines])
        self.matched = sum(alignment.c[i].is_content for _, i in alignment.pairs)
        self.cover_c = covered(alignment.claim)
        self.cover_e = covered(alignment.line)
        self._listed: set[Region] = set()

    def replacements(self) -> Iterator[Alteration]:
        """Yield replacements first, then omissions and additions."""
        if self.a.share < _LEAST_SHARE:
            return
        for region in (r for r in self.a.regions if r not in self._listed):
            if region.e_start < region.e_end and region.c_start < region.c_end:
                yield from self._opposites(region)
                yield from self._numbers(region)
                yield from self._units(region)
                yield from self._names(region)
        for region in self.a.regions:
            yield from self._scope(region)
            yield from self._added(region)

    def _made(self, what: What, region: Region, there: str = "", *, is_conflict: bool = True) -> Alteration:
        """Return a change in a region; a conflict only if the rest of the claim agrees."""
        rest = len(_content(self.a.c)) - len(_content(self.a.c[region.c_start : region.c_end]))
        is_same = what == "exchanged" or self.matched >= max(_SAME_SHARE * rest, 1)
        there = there or self.a.line_text(region)
        return Alteration(what, self.a.claim_text(region), there.strip(), self.a.line, is_conflict and is_same)

    def _sides(self, region: Region) -> tuple[list[Token], list[Token]]:
        """Return a region's claim and evidence tokens without neutral ones at the ends."""
        return (_bare(self.a.c[region.c_start : region.c_end]), _bare(self.a.e[region.e_start : region.e_end]))

    def _is_pure(self, said: Sequence[Token], there: Sequence[Token]) -> bool:
        """Tell whether nothing that turns roles round stands on one side alone."""
        turning = set(words("alignment.roles", self.language) + words("alignment.coordinators", self.language))
        return [t.key for t in said if t.key in turning] == [t.key for t in there if t.key in turning]

    def exchanges(self) -> Iterator[Alteration]:
        """Yield two things that changed places."""
        sides = [(r, *self._sides(r)) for r in self.a.regions]
        for number, (one, said, there) in enumerate(sides):
            if not self._is_pure(said, there):
                continue
            for other, said_2, there_2 in sides[number + 1 :]:
                crossed = _keys(said) == _keys(there_2) and _keys(there) == _keys(said_2)
                held = self.matched + len(_content([*said, *said_2]))
                if not (crossed and _tells(said) and _tells(there) and held >= _LEAST_SHARE * len(_content(self.a.c))):
                    continue
                if self._are_listed(one, other):
                    self._listed |= {one, other}  # "A and B" is "B and A"
                else:
                    yield self._made("exchanged", one)

    def _are_listed(self, one: Region, other: Region) -> bool:
        """Tell whether only coordinators and joined names part two evidence regions."""
        between = self.a.line[self.a.e[one.e_end - 1].end : self.a.e[other.e_start].start]
        listing = any_of(words("alignment.coordinators", self.language))
        named = [t for t in self.a.e[one.e_end : other.e_start] if not re.fullmatch(listing, t.key)]
        return _are_names(named, self.a.line) or not re.search(r"\w", re.sub(listing, "", between))

    def _opposites(self, region: Region) -> Iterator[Alteration]:
        """Yield a word in the place of one that excludes it."""
        if len(negated(normalise(self.a.claim))) != len(negated(normalise(self.a.line))):
            return
        said, there = self._forms(region)
        for sides in contrasts(self.language):
            mine = [(i, w) for i, side in enumerate(sides) if (w := said & side)]
            others = [(i, w) for i, side in enumerate(sides) if (w := there & side)]
            if len(mine) == len(others) == 1 and mine[0][0] != others[0][0]:
                # Where roles are turned round as well, the opposite may say the same: "beat" and "lost to".
                yield self._made("opposite", region, is_conflict=not self._named(self._sides(region)[0]))
                return

    def _named(self, tokens: Sequence[Token]) -> list[Token]:
        """Return those tokens of the claim that are, or may be, names."""
        if self.is_cjk:
            return _uncovered(tokens, self.a.claim, self.cover_c)
        return [t for t in tokens if _are_names([t], self.a.claim)]

    def _forms(self, region: Region) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words on both sides of a region as the contrast table writes them."""
        if not self.is_cjk:
            return (
                frozenset(_written(self.a.claim, t) for t in self.a.c[region.c_start : region.c_end]),
                frozenset(_written(self.a.line, t) for t in self.a.e[region.e_start : region.e_end]),
            )
        known = _contrast_words(self.language)
        return (
            _words_over(self.a.claim, self.a.c, (region.c_start, region.c_end), known),
            _words_over(self.a.line, self.a.e, (region.e_start, region.e_end), known),
        )

    def _numbers(self, region: Region) -> Iterator[Alteration]:
        """Yield a number, or a numeral, in the place of another."""
        said, there = self._sides(region)
        if not said or not there:
            return
        mine = _over(quantities(self.a.claim), said)
        others = _over(quantities(self.a.line), there)
        rest = [t for t in (*said, *there) if t.kind == "word" and t.is_content]
        if mine and others and len(rest) < 2 and self._is_pure(said, there):
            if not any(same(q, o, self.a.line) for q in mine for o in others):
                yield self._made("number", region)
        elif all(t.key in _NUMERALS for t in (*said, *there)):
            yield self._made("number", region)

    def _names(self, region: Region) -> Iterator[Alteration]:
        """Yield a name in the place of another."""
        said, there = self._sides(region)
        if not self._is_pure(said, there):
            return
        mine, others = self.a.claim_text(region), self.a.line_text(region)
        if self.is_cjk:
            c_names = set(_uncovered(self.a.c, self.a.claim, self.cover_c)) & set(said)
            e_names = set(_uncovered(self.a.e, self.a.line, self.cover_e)) & set(there)
            if _is_most(c_names, said) and _is_most(e_names, there):
                yield self._made("name", region)
            return
        if _are_names(said, self.a.claim):
            name = Name(mine, 0, len(mine), strict=mine.isupper())
            if _are_names(there, self.a.line):
                if not NameIndex(mine).has(Name(others, 0, len(others), False)):
                    yield self._made("name", region)
            elif _content(there) and not NameIndex(self.before).has(name):
                yield self._made("name", region, is_conflict=False)

    def _units(self, region: Region) -> Iterator[Alteration]:
        """Yield another unit or counter behind the same number, or numeral."""
        before, unit, other = self.a.c[region.c_start - 1], self.a.c[region.c_start], self.a.e[region.e_start]
        counted = before.kind == "number" or (before.key in _NUMERALS and unit.kind == "han")
        close = 0 <= unit.start - before.end <= 1
        if not (counted and close and {unit.kind, other.kind} <= {"han", "katakana", "hangul"}):
            return
        mine, others = (text[t.start : t.start + 4] for text, t in ((self.a.claim, unit), (self.a.line, other)))
        is_same = any(mine.startswith(row) and others.startswith(row) for row in _SAME_COUNTERS)
        if not is_same and (unit_at(mine, 0)[0] or mine[0]) != (unit_at(others, 0)[0] or others[0]):
            yield self._made("number", region)

    def _scope(self, region: Region) -> Iterator[Alteration]:
        """Yield a limit left away, or a stronger word put in."""
        weak, strong = _marks("hedges", self.language), _marks("strong", self.language)
        there, said = self.a.line_text(region), self.a.claim_text(region)
        # What limits a number that the claim does not repeat says nothing of the rest.
        lost = next((mark for mark in weak.finditer(there) if not re.match(r"\s?\d", there[mark.end() :])), None)
        claim, line = self.a.claim.lower(), self.a.line.lower()
        # At the end of a Japanese or Korean line a limit may be that of another clause.
        at_end = self.language in ("ja", "ko") and region.e_end + 2 >= len(self.a.e)
        has_other = bool(weak.search(said)) or any(at_end or mark[0] not in line for mark in weak.finditer(claim))
        if lost and lost[0].lower() not in claim and not has_other and self._is_inside(region, at_end=at_end):
            yield self._made("scope", region, lost[0], is_conflict=False)
        gained = strong.search(said)
        if gained and not strong.search(self.whole):
            yield self._made("scope", region, is_conflict=False)

    def _is_inside(self, region: Region, *, at_end: bool) -> bool:
        """Tell whether what the claim repeats follows a short region, or it is `at_end`."""
        repeated = [i for i, _ in self.a.pairs if self.a.e[i].is_content]
        is_short = region.e_end - region.e_start <= _LIMIT * (3 if self.is_cjk else 1)
        goes_on = any(0 <= i - region.e_end < _NEAR for i in repeated)
        return is_short and (at_end or goes_on)

    def _added(self, region: Region) -> Iterator[Alteration]:
        """Yield additions absent from the evidence, where nothing was removed."""
        said, there = self._sides(region)
        if there or not _content(said) or RESPECTIVELY.search(self.a.claim):
            return
        new = [t for t in said if t.is_content and self._is_new(t)]
        if 2 * len(new) < len(_content(said)):
            return
        rest = len(_content(self.a.c)) - len(_content(said))
        agents = set(words("alignment.agents", self.language))
        by_agent = any(t.key in agents for t in self.a.c[region.c_start : region.c_end])
        # One sign alone is seldom a name: an agent's, and part of no ordinary word.
        enough = len(new) > 1 or new[0].kind != "han" or (by_agent and new[0].start not in self.cover_c)
        if enough and self.matched >= (_SAME_SHARE if self._named(new) else _COPY_SHARE) * rest:
            yield self._made("added", region, is_conflict=False)

    def _is_new(self, token: Token) -> bool:
        """Tell whether a token is absent from the evidence."""
        if token.kind == "han":  # it has it beside neither of its neighbours in the claim
            pairs = {self.a.claim[i : i + 2] for i in (token.start - 1, token.start)}
            return not any(pair in self.whole for pair in pairs if len(pair) == 2)
        if token.kind == "word":
            return token.key not in {t.key for t in tokens_of(self.whole)}
        return token.key[:2] not in self.whole


def _written(text: str, token: Token) -> str:
    return re.sub(r"['’]s?$", "", normalise(text[token.start : token.end]))


def _bare(tokens: Sequence[Token]) -> list[Token]:
    kept = [place for place, token in enumerate(tokens) if token.key not in _NEUTRAL]
    return list(tokens[kept[0] : kept[-1] + 1]) if kept else []


def _content(tokens: Sequence[Token]) -> list[Token]:
    return [t for t in tokens if t.is_content]


def _tells(tokens: Sequence[Token]) -> bool:
    """Tell whether tokens are more than grammar."""
    return any(t.is_content or (t.kind == "han" and t.key not in _GRAMMAR) for t in tokens)


def _keys(tokens: Sequence[Token]) -> list[str]:
    return [t.key for t in tokens]


def _over(found: Sequence[Quantity], tokens: Sequence[Token]) -> list[Quantity]:
    """Return the quantities whose number, not only their unit, overlaps the tokens."""
    numerals = [t for t in tokens if t.kind in ("number", "word", "hangul") or t.key in _NUMERALS]
    return [q for q in found if any(q.start <= t.start < q.end for t in numerals)]


@lru_cache(maxsize=16)
def contrasts(language: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """Return the rows of words that exclude each other."""
    rows = (entry("contrasts", language) or {}).values()
    return tuple(tuple(frozenset(word.replace("_", " ") for word in side.split()) for side in row) for row in rows)


@lru_cache(maxsize=16)
def _contrast_words(language: str) -> re.Pattern[str]:
    return re.compile(f"(?=({any_of({w for row in contrasts(language) for side in row for w in side})}))")


def _words_over(text: str, tokens: Sequence[Token], place: tuple[int, int], known: re.Pattern[str]) -> frozenset[str]:
    """Return the listed words that overlap a region's tokens."""
    start, end = tokens[place[0]].start, tokens[place[1] - 1].end
    over = (m[1] for m in known.finditer(text) if m.start() < end and m.end(1) > start)
    # A single character counts only where it fills the region or is a word (in Korean).
    return frozenset(w for w in over if len(w) > 1 or end - start <= 2 or re.match(f"[{HANGUL}]", w))


@lru_cache(maxsize=32)
def _marks(name: str, language: str) -> re.Pattern[str]:
    body = any_of(word.replace("_", " ") for word in words(f"alignment.{name}", language))
    return re.compile(body if is_cjk(language) else rf"\b{body}\b", re.IGNORECASE)


@lru_cache(maxsize=2048)
def covered(text: str) -> frozenset[int]:
    """Return the offsets in `text` covered by ordinary words of CJK languages."""
    # A run of katakana is one name or one word; of a Korean word its stem is enough.
    spans = [run.span() for run in _KATAKANA_RUN.finditer(text) if run[0] in _COMMON]
    runs = _HANGUL_RUN.finditer(text)
    spans += [run.span() for run in runs if any(run[0][:n] in _COMMON for n in range(len(run[0]) + 1))]
    places = (sign.start() for sign in _HAN_OR_KANA.finditer(text))
    spans += [(i, i + n) for i in places for n in _WORD_LENGTHS if text[i : i + n] in _COMMON]
    return frozenset(i for span in spans for i in range(*span))


def _uncovered(tokens: Sequence[Token], text: str, cover: frozenset[int]) -> list[Token]:
    """Return the tokens that may be of a name: no ordinary word lies over them."""
    # Han characters that are words of their own count beside another character, not alone.
    signs = {t.start for t in tokens if t.kind == "han" and t.key not in _GRAMMAR} - cover
    joined = {place for place in signs if signs & {place - 1, place + 1}}
    return [t for t in tokens if t.start in joined or _may_name(t, text, cover)]


def name_tokens(text: str) -> list[Token]:
    """Return the number and possible name tokens of a CJK text, in order."""
    tokens = tokens_of(text)
    numbers = [t for t in tokens if t.kind == "number"]
    return sorted([*_uncovered(tokens, text, covered(text)), *numbers], key=lambda t: t.start)


def is_limited(text: str, language: str) -> bool:
    """Return whether a text limits what it says: may, about, some."""
    return _marks("hedges", language).search(text) is not None


def _may_name(token: Token, text: str, cover: frozenset[int]) -> bool:
    """Tell whether a token by itself may be of a name."""
    if not token.is_content or token.kind == "number" or token.start in cover:
        return False
    if token.kind == "hangul":
        return len(token.key) > 1 and not set(token.key) <= FUNCTION_SIGNS
    return not text[token.start].islower()


def _is_most(names: Collection[Token], tokens: Sequence[Token]) -> bool:
    """Tell whether at least half of a region's telling tokens may belong to a name."""
    return bool(names) and 2 * len(names) >= len([t for t in tokens if _tells([t])])


def _are_names(tokens: Sequence[Token], text: str) -> bool:
    """Tell whether Latin tokens are all written as names."""
    return bool(tokens) and all(t.kind == "word" and t.is_content and _is_name(text, t) for t in tokens)


def _is_name(text: str, token: Token) -> bool:
    written = text[token.start : token.end]
    if is_ordinary(written):
        return False
    if any(c.isdigit() or c.isupper() for c in written[1:]):
        return True
    return written[0].isupper() and not (begins_sentence(text, token.start) and ENDINGS.search(written))
