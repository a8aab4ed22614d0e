"""Quotations in a text, and verbatim search for a span in another text."""

import re
from typing import NamedTuple

from rapidfuzz import fuzz

from claimcheck.language import CJK
from claimcheck.lexicon import compile_on_use
from claimcheck.text.kept_readings import keep_readings
from claimcheck.text.tokens import FULL_WIDTH


class Quotation(NamedTuple):
    """The text between quotation marks at `text[start:end]`, marks excluded."""

    text: str
    start: int
    end: int


_QUOTED = compile_on_use(
    r"“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』|‹([^‹›]+)›"
    rf"|(?:(?<![\w\"])|(?<=[{CJK}]))\"(?=\S)([^\"\n]+?)(?<=\S)\"(?=[{CJK}]|(?!\w))"
)
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++)?(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…+|\.{3,}|⋯+)\s*")
_FOLDS = {
    ord(c): plain
    for plain, written in {
        "'": "‘’‚‛′`´",
        '"': "“”„‟″«»「」『』‹›",
        "-": "‐‑‒–—−－",
        "": "\u200b\u200c\u200d\ufeff\u00ad*_",
    }.items()
    for c in written
} | FULL_WIDTH
_PLAIN = compile_on_use(r"[^\x80-\U0010ffff*_]*")
"""A text of which no character goes or becomes another length: most of what is ever compared."""
_DECIMAL = re.compile(r"\d[.,]\d")
_EDGES = " \t\n.,;:!?。，；：！？、"
_COMMENT = re.compile(r"^[ \t]*(?:#+|//+)[ \t]+", re.MULTILINE)
"""What a line of a comment in code begins with: its sentences go on over several lines."""
_MOST_COMPARED = 50_000_000
"""Characters of a quotation times those of a text that they are compared with, in about a second."""
_NEAR = 80
"""From this similarity (0–100) on a quotation counts as nearly right."""


def quotations(text: str) -> list[Quotation]:
    """Return the quotations of `text` in order: “…”, "…", 「」, 『』, «» and „“."""
    # No group stands within another: the one that matched is the last.
    found = ((match, match.lastindex or 0) for match in _QUOTED.finditer(text))
    return [Quotation(match[group], *match.span(group)) for match, group in found]


def missing_quotations(claim: str, evidence: str) -> list[Quotation]:
    """Return what `claim` quotes and `evidence` has not word for word.

    Ignored are white space, case, the form of quotes and dashes, the closing punctuation inside the
    marks, letters in brackets, and the signs before the lines of a comment in code; the parts around an
    ellipsis must follow each other.
    """
    texts = dict.fromkeys((evidence, _COMMENT.sub("", evidence)))
    claim = claim.replace("\\|", "|")  # in a cell of a table a bar is written so
    return [q for q in quotations(claim) if not any(stands_in(q.text, text) for text in texts)]


def stands_nearly_in(quoted: str, evidence: str) -> bool:
    """Return whether a quotation stands, with few changes, in a text not too long."""
    if not evidence.strip() or len(quoted) * len(evidence) > _MOST_COMPARED:
        return False
    return fuzz.partial_ratio(_squeeze(quoted), _squeeze(evidence)) >= _NEAR


def stands_in(quoted: str, evidence: str) -> bool:
    """Return whether `evidence` has a quotation verbatim, as in `missing_quotations`."""
    position = 0
    squeezed = _squeeze(evidence)
    for part in _ELLIPSIS.split(re.sub(r"\[(\w{1,3})\]", r"\1", quoted)):
        wanted = _squeeze(part.strip(_EDGES))
        found = _find(squeezed, wanted, position)
        if found < 0:
            return False
        position = found + len(wanted)
    return True


def _find(text: str, wanted: str, position: int = 0) -> int:
    """Return where `wanted` stands in `text` as whole words, or -1."""
    while (found := text.find(wanted, position)) >= 0:
        end = found + len(wanted)
        if not (_cuts_word(text, found) or _cuts_word(text, end)):
            return found
        position = found + 1
    return -1


def _cuts_word(text: str, border: int) -> bool:
    """Tell whether a border lies inside a Latin word or a number: 2.5 is not 5."""
    if not 0 < border < len(text):
        return False
    if _DECIMAL.match(text, border - 1) or _DECIMAL.match(text, border - 2):
        return True
    return all(c.isalnum() and not re.match(f"[{CJK}]", c) for c in (text[border - 1], text[border]))


def find_verbatim(sentence: str, text: str) -> tuple[int, int] | None:
    """Return the offsets of `sentence` in `text`, or None.

    White space, quotes, dashes and case are folded.
    """
    wanted = _squeeze(sentence.strip())
    if not wanted or wanted not in _squeeze(text):  # most are asked for in vain: offsets are dear
        return None
    squeezed, offsets = _squeezed(text)
    found = _find(squeezed, wanted)
    return (offsets[found], offsets[found + len(wanted) - 1] + 1) if found >= 0 else None


def _squeeze(text: str) -> str:
    return _squeeze_plain(text) if _PLAIN.fullmatch(text) else _squeezed(text)[0]


@keep_readings(1024)
def _squeeze_plain(text: str) -> str:
    return " ".join(text.lower().replace("`", "'").split())


@keep_readings(256)
def _squeezed(text: str) -> tuple[str, list[int]]:
    """Return `text` with single spaces, and each character's original offset."""
    kept: list[str] = []
    offsets: list[int] = []
    for offset, char in enumerate(text):
        # Characters that become several (ß) keep their own form, so that offsets stay true.
        folded = " " if char.isspace() else char.translate(_FOLDS)
        folded = folded.lower() if len(folded.lower()) <= 1 else folded
        if folded and (folded != " " or (kept and kept[-1] != " ")):
            kept.append(folded)
            offsets.append(offset)
    drop = {space.start() for space in _CJK_SPACE.finditer("".join(kept))}
    left = [i for i in range(len(kept)) if i not in drop]
    return "".join(kept[i] for i in left), [offsets[i] for i in left]


_UNSPACED = "\u2e80-\u2fdf\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff，。；：！？、"
_CJK_SPACE = re.compile(rf"(?<=[{_UNSPACED}]) | (?=[{_UNSPACED}])")
