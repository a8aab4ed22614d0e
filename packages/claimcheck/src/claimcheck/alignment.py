"""Align a claim word by word with the most similar span of the evidence.

Words of spaced scripts, numbers and runs of katakana are one token each, Han and hiragana characters one token each,
Korean words a stem and its particle. The alignment is that of the Levenshtein distance; what it leaves unequal are
regions: replaced, added or left away.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal, NamedTuple, cast

import Stemmer
from rapidfuzz.distance import Levenshtein

from claimcheck.language import HAN, HANGUL
from claimcheck.lexicon import compile_on_use, words
from claimcheck.text.tokens import STOP_WORDS, fold_diacritics, normalise, without_particle

Kind = Literal["word", "number", "han", "kana", "katakana", "hangul", "particle", "sign"]


class Token(NamedTuple):
    """A token at `text[start:end]`; `is_content` is true for words about the subject."""

    key: str
    kind: Kind
    start: int
    end: int
    is_content: bool


class Region(NamedTuple):
    """A difference: `claim[c_start:c_end]` for `evidence[e_start:e_end]`, in tokens."""

    e_start: int
    e_end: int
    c_start: int
    c_end: int


KATAKANA = "\u30a1-\u30fa\u30fc\uff66-\uff9f"
"""What names of foreign things are written in, in Japanese."""
_LATIN = "A-Za-zÀ-ɏͰ-ϿЀ-ӿ"
_TOKEN = compile_on_use(
    r"(?P<number>\d+(?:[.,]\d+)*)"
    rf"|(?P<word>[{_LATIN}](?:[{_LATIN}0-9_+#]|[-.'’&/](?=[{_LATIN}0-9]))*)"
    rf"|(?P<katakana>[{KATAKANA}]+(?:[\u30fb\uff1d=][{KATAKANA}]+)*)"
    rf"|(?P<hangul>[{HANGUL}]+)|(?P<han>[{HAN}\u3005\u3007])|(?P<kana>[\u3041-\u309f])|(?P<sign>[%\uff05\u2103$€£¥])"
)
_LETTER = re.compile(r"[a-z] [A-Z](?![\w.])")
"""A capital behind a word is a name ("Company A"), not an article."""
_LONGEST = 1500
"""Tokens of a claim or stretch that are looked at; a longer one is no sentence."""
_CANDIDATES = 3
_stem = Stemmer.Stemmer("english").stemWord
FUNCTION_SIGNS = frozenset("".join(words("alignment.function")))
"""Single Han characters and Hangul syllables that are no part of a name by themselves."""
_ROLES = tuple(sorted(words("alignment.roles", "ko"), key=len, reverse=True))
"""Korean particles that say a word's role, the longest first."""
_ALLOMORPHS = {other: first for first, other in (pair.split("/") for pair in words("alignment.allomorphs", "ko"))}
"""Korean particles by the form that stands for both: which one is written hangs on the sound before it."""


@lru_cache(maxsize=20_000)
def _word(written: str) -> tuple[str, bool]:
    """Return the key of a word in an alphabet, and whether it tells of the subject."""
    plain = fold_diacritics(normalise(written)).removesuffix("'s").removesuffix("’s")
    return _stem(plain), plain not in STOP_WORDS


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[Token, ...]:
    """Return the tokens of `text` in order; punctuation is none."""
    found: list[Token] = []
    for match in islice(_TOKEN.finditer(text), _LONGEST):
        kind, start, end, written = cast("Kind", match.lastgroup), match.start(), match.end(), match.group()
        key, is_content = normalise(written), kind == "katakana"
        if kind == "hangul":
            key, is_content = without_particle(written, _ROLES), True
        elif kind == "number":
            key, is_content = written.replace(",", ""), True
        elif kind == "word":
            is_letter = "A" <= written[0] <= "Z" and _LETTER.match(text, start - 2, end + 1)
            key, is_content = (written, True) if is_letter else _word(written)
        elif kind == "han":
            key, is_content = written, written not in FUNCTION_SIGNS
        particle = written[len(key) :] if kind == "hangul" else ""
        found.append(Token(key, kind, start, end - len(particle), is_content))
        if particle:
            found.append(Token(_ALLOMORPHS.get(particle, particle), "particle", end - len(particle), end, False))
    return tuple(found)


class Alignment:
    """A claim laid over one stretch of evidence."""

    def __init__(self, claim: str, line: str, place: int) -> None:
        self.claim, self.line, self.place = claim, line, place
        self.c, self.e = tokens_of(claim), tokens_of(line)
        self._opcodes = Levenshtein.opcodes([t.key for t in self.e], [t.key for t in self.c])

    @cached_property
    def regions(self) -> tuple[Region, ...]:
        """Where the two differ, in order; neighbouring differences are one."""
        found: list[Region] = []
        for step in self._opcodes:
            if step.tag == "equal":
                continue
            if found and found[-1].e_end == step.src_start and found[-1].c_end == step.dest_start:
                found[-1] = found[-1]._replace(e_end=step.src_end, c_end=step.dest_end)
            else:
                found.append(Region(step.src_start, step.src_end, step.dest_start, step.dest_end))
        return tuple(found)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The tokens of the evidence and of the claim that are equal, by index."""
        equal = (step for step in self._opcodes if step.tag == "equal")
        return tuple((s.src_start + i, s.dest_start + i) for s in equal for i in range(s.src_end - s.src_start))

    @cached_property
    def share(self) -> float:
        """Return the share of the claim's content tokens in the span in the same order."""
        total = sum(t.is_content for t in self.c)
        return sum(self.c[i].is_content for _, i in self.pairs) / total if total else 0.0

    def claim_text(self, region: Region) -> str:
        """Return what the claim has in a region."""
        return _text(self.claim, self.c, region.c_start, region.c_end)

    def line_text(self, region: Region) -> str:
        """Return what the evidence has in a region."""
        return _text(self.line, self.e, region.e_start, region.e_end)


def _text(text: str, tokens: Sequence[Token], start: int, end: int) -> str:
    return text[tokens[start].start : tokens[end - 1].end] if end > start else ""


@lru_cache(maxsize=4096)
def _contents(text: str) -> Counter[str]:
    """Count the content tokens of a text, which nothing changes."""
    return Counter(t.key for t in tokens_of(text) if t.is_content)


def align(claim: str, lines: Sequence[str]) -> list[Alignment]:
    """Return the alignments of `claim` with the lines most like it, best first."""
    wanted = _contents(claim)
    held = [sum(min(wanted[key], there[key]) for key in wanted.keys() & there) for there in map(_contents, lines)]
    order = sorted(range(len(lines)), key=lambda i: (-held[i], i))[:_CANDIDATES]
    found = [Alignment(claim, lines[i], i) for i in order if held[i]]
    found.sort(key=lambda a: (-a.share, sum(r.c_end - r.c_start for r in a.regions), a.place))
    return found
