"""Citations of passage ids, read in all forms that models write, and numbered.

The form that a writer is asked for is `[s1p2][s1p3]`. Models also write `[s1p2, s1p3]`, `[s1p2-p4]`, `(s1p2)`,
`【s1p2】`, `[^s1p2]`, `[source: s1p2]`, `[s1p2](#s1p2)`, `<sup>s1p2</sup>`, `s1p2` without brackets, and full-width
signs. Code is left as it stands, but for a code span that holds nothing but ids. Capitals are ids in square brackets
alone: S1P1 is the name of a receptor.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from claimcheck.lexicon import any_word
from claimcheck.text.tokens import FULL_WIDTH
from deep_research.text.code_spans import code_spans, is_within
from deep_research.text.rewritten_text import RewrittenText

MOST_IN_RANGE = 20
"""Ids that a range may stand for; of a longer one, its two ends are cited."""
_REACH = 200
"""Characters from an id within which the bracket around it opens and closes."""

_PLAIN = FULL_WIDTH | str.maketrans("【】〔〕〖〗、；，：", "[][][],;,:")
_ID = r"[sS]\d{1,7}[ ,.:_-]{0,2}[pP]\d{1,7}"
_PAGE = r"\s{0,2}[,;]\s{0,2}pp?\.\s?\d{1,5}(?:[-–]\d{1,5})?"
"""A page that a writer adds to an id: a passage has its own."""
_MORE = (
    rf"(?:\]\s{{0,2}}[-–—―~〜～]\s{{0,2}}\[{_ID}"
    r"|\s{0,2}[-–—―~〜～]\s{0,2}(?:(?:[sS]\d{1,7})?[pP]\d{1,7}|\d{1,7}(?![\w.]))"
    rf"|(?:\s{{0,2}}[,;&/·|+†]\s{{0,2}}|\s{{0,2}}{any_word('statement.citation_joints')}\s{{0,2}}|\s{{1,2}})"
    rf"(?:{_ID}|[pP]\d{{1,7}}(?!\w))|{_PAGE})"
)
_LIST = re.compile(rf"(?<![A-Za-z0-9]){_ID}(?:{_MORE})*(?![A-Za-z0-9])")
_ENTRY = re.compile(
    r"(?:(?P<range>[-–—―~〜～])\s*\[?)?(?:[sS](?P<source>\d{1,7}))?(?:[ ,.:_-]{0,2}[pP])?(?P<passage>(?<=[pP])\d{1,7}|(?<![sS])(?<!\d)\d{1,7})"
)
_SOURCES = re.compile(r"\[\^?\s{0,2}(s\d{1,7}(?:\s{0,2}[,;]\s{0,2}s\d{1,7})*)\s{0,2}\]")
"""Whole sources in place of passages: `[s7]`."""
_SOURCE_SIGN = re.compile(r"[sS](?=\d)")
_LABEL = re.compile(
    rf"(?:{any_word('statement.citation_patterns')}|ids?|refs?|\d{{1,3}}†)\s{{0,2}}[:.]?\s{{0,2}}$", re.IGNORECASE
)
_BARE_LABEL = re.compile(rf"(?<!\w){any_word('statement.citation_patterns')}\s{{0,2}}:\s{{0,2}}$", re.IGNORECASE)
_GONE = re.compile(r"(?<=[\[(（【［])\x00[\x00\s,;:，；：、]*|\s{0,2}[,;:，；：、]?\s{0,2}\x00[\x00\s,;]*")
_OPENING, _CLOSING = re.compile(r"[\[(]|[\])]"), re.compile(r"[\])]|[\[(]|\n")
_LINK = re.compile(r"\((?:[#./]|\w+:|[sS]\d)[^()\s]{0,200}\)|\(\)")
"""An address behind a bracket; words in parentheses are the writer's."""
_WRAPPING = (
    re.compile(r"<sup>\s{0,2}$|(?<!\w)\^$|(?<!\S)\*\*$", re.IGNORECASE),
    re.compile(r"\s{0,2}</sup>|\^|\*\*", re.IGNORECASE),
)
_TICKS = re.compile(r"(?<!`)`[\[(]?$"), re.compile(r"[\])]?`(?!`)")
_LINE_START = re.compile(r"(?:^|\n)[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?$")
_JOINT = re.compile(r"[ \t]*+[,;、，；]?[ \t]*")
_NUMBER = re.compile(r"(?<!\\)\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\](?![(:])")


class Citation(NamedTuple):
    """Adjacent ids at `text[start:end]`; `kept` is other text there, to be kept."""

    start: int
    end: int
    ids: tuple[str, ...]
    kept: str = ""


def cite_ids(ids: Sequence[str]) -> str:
    """Return ids in the form of reports: `[s7p3][s1p2]`."""
    return "".join(f"[{key}]" for key in ids)


def citations(text: str) -> list[Citation]:
    """Return the citations of `text` in order; those that stand side by side are one."""
    plain = text.translate(_PLAIN)
    spans = code_spans(text)
    whole = (m for m in _SOURCES.finditer(plain) if not (is_within(spans, m.start()) or _LINK.match(text, m.end())))
    sources = (Citation(m.start(), m.end(), tuple(re.findall(r"s\d+", m[1]))) for m in whole)
    return join_citations(text, sorted((*_lists(text, plain, spans), *sources)))


def without_ids(text: str) -> str:
    """Return quoted text without citations: a non-joiner parts each id."""
    plain = text.translate(_PLAIN)
    places = [found.end() for pattern in (_LIST, _SOURCES) for m in pattern.finditer(plain)
              for found in _SOURCE_SIGN.finditer(plain, m.start(), m.end())]  # fmt: skip
    for at in sorted({*places}, reverse=True):
        text = f"{text[:at]}\u200c{text[at:]}"
    return text


def join_citations(text: str, found: Iterable[Citation]) -> list[Citation]:
    """Return citations, adjacent ones or lists within one bracket joined as one."""
    groups: list[list[Citation]] = []
    end = 0
    for one in found:
        if groups and (one.start < end or (not one.kept and _JOINT.fullmatch(text, end, one.start))):
            groups[-1].append(one)
        else:
            groups.append([one])
        end = max(end, one.end)
    rows = ((group, dict.fromkeys(key for one in group for key in one.ids)) for group in groups)
    return [group[0]._replace(end=max(one.end for one in group), ids=tuple(ids)) for group, ids in rows]


def _lists(text: str, plain: str, code: Sequence[tuple[int, int]]) -> Iterator[Citation]:
    """Yield each list of ids with the brackets, labels and links that belong to it."""
    for match in _LIST.finditer(plain):
        start, end = match.span()
        if is_within(code, start):
            before, after = _TICKS[0].search(plain, max(0, start - 4), start), _TICKS[1].match(plain, end)
            if not (before and after):
                continue
            start, end = before.start(), after.end()
        if match[0][0] == "S":
            bracket = _bracket_around(plain, start, end)
            if bracket is None or plain[bracket[0]] != "[":
                continue
        yield _widened(text, plain, start, end)._replace(ids=_ids_of(match[0]))


def _ids_of(listed: str) -> tuple[str, ...]:
    """Return the ids of `s1p2, p3, s2p1-p4`; a range gives all between its ends."""
    ids: list[str] = []
    source, passage = "", 0
    for entry in _ENTRY.finditer(re.sub(_PAGE, "", listed)):
        last_source, last_passage = source, passage
        source, passage = str(int(entry["source"])) if entry["source"] else source, int(entry["passage"])
        if entry["range"] and source == last_source and last_passage < passage <= last_passage + MOST_IN_RANGE:
            ids += [f"s{source}p{number}" for number in range(last_passage + 1, passage)]
        ids.append(f"s{source}p{passage}")
    return tuple(dict.fromkeys(ids))


def _widened(text: str, plain: str, start: int, end: int) -> Citation:
    """Return the citation of an id list, with the brackets around it, if any."""
    bracket = _bracket_around(plain, start, end)
    if bracket is None:
        label = _BARE_LABEL.search(plain, max(0, start - 24), start)
        return _unwrapped(plain, label.start() if label else start, end)
    opening, closing = bracket
    before, after = _LABEL.sub("", plain[opening + 1 : start]), _LIST.sub("", plain[end:closing])
    if re.search(r"\w", before + after):  # something else stands in the bracket: it stays, and the ids come behind it
        return Citation(opening, closing + 1, (), _without_lists(text, plain, opening, closing + 1))
    start, end = opening - (plain[opening - 1 : opening] == "\\"), closing + 1
    if plain[closing] == "]":
        if link := _LINK.match(text, end):
            end = link.end()
        elif plain[end : end + 1] == ":" and _LINE_START.search(plain, max(0, start - 40), start):
            end += 1  # Markdown would read `[s1p2]: …` as the address of a link
    elif plain[opening - 1 : opening] == "]" and (link_text := plain.rfind("[", max(0, start - 300), start - 1)) >= 0:
        return Citation(link_text, end, (), text[link_text + 1 : start - 1])  # [words](s1p2)
    outer = _bracket_around(plain, start, end)
    if outer and not plain[end : outer[1]].strip() and not _LABEL.sub("", plain[outer[0] + 1 : start]).strip():
        start, end = outer[0], outer[1] + 1  # ([s1p2]), (see [s1p2])
    return _unwrapped(plain, start, end)


def _without_lists(text: str, plain: str, start: int, end: int) -> str:
    """Return what stands in a bracket besides ids."""
    parts: list[str] = []
    for match in _LIST.finditer(plain, start, end):
        parts += (text[start : match.start()], "\x00")
        start = match.end()
    return _GONE.sub("", "".join((*parts, text[start:end])))


def _bracket_around(plain: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the opening and closing offset of the bracket around a list, or None."""
    depth = 0
    for sign in reversed(list(_OPENING.finditer(plain, max(0, plain.rfind("\n", 0, start), start - _REACH), start))):
        if sign[0] in "])":
            depth += 1
        elif depth:
            depth -= 1
        else:
            break
    else:
        return None
    opening = sign.start()
    depth = 0
    for other in _CLOSING.finditer(plain, end, end + _REACH):
        if other[0] == "\n":
            return None
        if other[0] in "[(":
            depth += 1
        elif depth:
            depth -= 1
        else:
            return (opening, other.start()) if other[0] == {"[": "]", "(": ")"}[sign[0]] else None
    return None


def _unwrapped(plain: str, start: int, end: int) -> Citation:
    """Return where a citation stands with the marks of raised type around it."""
    before, after = _WRAPPING[0].search(plain, max(0, start - 7), start), _WRAPPING[1].match(plain, end)
    return Citation(before.start(), after.end(), ()) if before and after else Citation(start, end, ())


def cited_ids(text: str) -> tuple[str, ...]:
    """Return the passage ids that a text cites, each once, in order."""
    return tuple(dict.fromkeys(key for citation in citations(text) for key in citation.ids))


def normalize_citations(text: str) -> str:
    """Return `text` with every citation as `[s1p2][s1p3]`, otherwise unchanged."""
    return RewrittenText(text, [(c.start, c.end, _spaced(c, text)) for c in citations(text)]).text


def _spaced(citation: Citation, text: str) -> str:
    """Return a citation in report form after its bracket's other text, with a space."""
    before = text[citation.start - 1 : citation.start]
    bare = text[citation.start : citation.start + 1].isalnum() and before.isalnum()
    return citation.kept + " " * (bare or citation.kept[-1:].isalnum()) + cite_ids(citation.ids)


def number_citations(
    text: str, number_of: Callable[[str], int | None], inserted: Mapping[int, str] | None = None
) -> RewrittenText:
    """Replace ids in `text` by reference numbers: `[s7p3][s1p2]` becomes `[3][1]`.

    An id without a number goes, a number stands once at a place. Other numbers in brackets (`a[0]`) are escaped, so
    that nothing but a citation looks like one. `inserted` are texts to put in at offsets of `text`, behind a citation.
    """
    code = code_spans(text)
    replaced: list[tuple[int, int, str]] = []
    for one in citations(text):
        numbers = dict.fromkeys(number for key in one.ids if (number := number_of(key)) is not None)
        new = one.kept + "".join(f"[{number}]" for number in numbers)
        space = not new and text[one.start - 1 : one.start] == " "
        replaced.append((one.start - space, one.end, new))
    replaced += [
        (other.start(), other.end(), rf"\[{other[1]}\]")
        for other in _NUMBER.finditer(text)
        if not is_within(code, other.start())
    ]
    replaced += [(offset, offset, new) for offset, new in (inserted or {}).items()]
    return RewrittenText(text, sorted(replaced, key=lambda span: (span[0], span[1])))
