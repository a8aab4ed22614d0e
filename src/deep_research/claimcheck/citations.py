"""Citations of passage ids in running text: `Sentence. [s7p3][s1p2]`.

Models slip: other brackets, several ids in one, ids before the full stop, numbers and addresses instead
of ids. What they mean is read; what cannot be meant (a number, an address) is taken out.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from deep_research.data import ClaimKind
from deep_research.i18n.lexicon import any_word
from deep_research.text.sentences import sentences

_NEAR = 3
"""How many ids of its neighbours a sentence without any may rest on."""
Cite = Callable[[Sequence[str]], str]
"""Renders the ids of one place as text: `[s7p3][s1p2]`, or `[3]`."""
Kind = Literal["prose", "item", "cell", "code"]


class CitedSentence(NamedTuple):
    """One sentence of a draft, without its citations, at `draft[start:end]` (with them).

    `passages` are the ids it cites, known or not (`s7` where only a source is named). `raw` still has
    the addresses and numbers that were typed instead of ids; `marks` are the offsets in it where ids stood. `near`
    are ids cited by its neighbours: the next sentences of the paragraph that cite, else those before, or the row. `context` says what a table cell is about;
    `role` says by what measure it is judged; a conclusion ("→ …") is one sentence however many full stops it has.
    """

    text: str
    passages: tuple[str, ...]
    start: int
    end: int
    kind: Kind
    raw: str
    near: tuple[str, ...] = ()
    context: str = ""
    role: ClaimKind = "fact"
    marks: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def cited_as(self, ids: Sequence[str]) -> str:
        """Return its text with those of its ids that are in `ids`, inside it where they stood there, else at its end."""
        parts: list[str] = []
        position, used = 0, set[str]()
        for offset, keys in self.marks if self.raw == self.text else ():
            kept = [key for key in keys if key in ids]
            if kept and offset and re.search(r"\w", self.raw[offset:]):
                parts += [self.raw[position:offset], f" {cite_ids(kept)}"]
                position = offset
                used.update(kept)
        ending = [key for offset, keys in self.marks if not re.search(r"\w", self.raw[offset:]) for key in keys]
        last = [key for key in ids if key not in used or key in ending]
        return "".join([*parts, self.text[position:], f" {cite_ids(last)}" if last else ""])


_ID = re.compile(r"(?<![A-Za-z0-9])s\d{1,7}(?:p\d{1,7})?(?![A-Za-z0-9])")
_GROUP = re.compile(
    r"\s{0,3}(?:\\?\[\^?|【|［|〔)(?P<square>[^\[\]【】［］〔〕\n]{0,160}?)(?:\\?\]|】|］|〕)(?:\((?P<link>[^()\s]{0,200})\))?"
    rf"|\s{{0,3}}[(（](?:{any_word('statement.citation_patterns')}[:：]?\s*)?"
    r"(?P<round>s\d+p\d+(?:\s*(?:[,;、，；&/]|and)\s*s\d+p\d+)*)\s*[)）]"
)
_NUMBERS = re.compile(r"\s{0,3}(?:(?<![\w`])|(?<=\s))[\[【]\s*\^?\d{1,3}(?:\s*[,;、–-]\s*\d{1,3})*\s*[\]】](?!\()")
_LINK = re.compile(r"\[([^\[\]]*)\]\(\s*<?(?:https?:|www\.|mailto:)[^()\s]*>?(?:\s+\"[^\"]*\")?\s*\)")
_BARE_URL = re.compile(
    r"\s{0,3}[(（<]?\b(?:https?://|www\.)[^\s<>()（）\]」。，、]*[^\s<>()（）\]」。，、.,;:!?][)）>]?"
)
_CODE_OR_URL = re.compile(rf"(`[^`\n]+`)|{_BARE_URL.pattern}")
"""An address in code is something to type."""
OPEN_MARK = re.compile(r"\s*\[open\]", re.IGNORECASE)
"""What a sentence ends with in a draft that says what the sources do not; a reader needs no mark for it."""
_GONE = "\x00"
_WORD_BEHIND = re.compile(r"\s*[\w`*“\"']")
_OTHER_NUMBER = re.compile(r"(?<!\\)\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\](?!\()")
_CODE_OR_NUMBER = re.compile(rf"^[ \t]*```.*?^[ \t]*```|`[^`\n]+`|{_OTHER_NUMBER.pattern}", re.DOTALL | re.MULTILINE)
_WIDE_STOPS = tuple("。！？；：，、）」』】…")
_FULL_STOP = re.compile(r"[.!?…。！？][\"'”’」』）)\]*_]*\s*$")


def claim_text(text: str, context: str) -> str:
    """Return what a sentence claims: its text, in a table cell after what the cell is about."""
    return f"{context}: {text}" if context else text


def cite_ids(ids: Sequence[str]) -> str:
    """Return ids in the form of drafts: `[s7p3][s1p2]`."""
    return "".join(f"[{key}]" for key in ids)


def render_citations(markdown: str, cite: Cite) -> str:
    """Replace every group of ids in `markdown` by what `cite` gives for it; neighbouring groups are one.

    Other bracketed numbers (`a[0]`) are escaped, so that nothing but a citation looks like one.
    """
    markdown = OPEN_MARK.sub("", markdown)
    parts: list[str] = []
    position = 0
    for start, end, ids in _joined(groups(markdown), markdown):
        parts.append(_escape(markdown[position:start]))
        rendered = cite(ids)
        parts.append(_gap(markdown, start) + rendered if rendered else "")
        position = end
    parts.append(_escape(markdown[position:]))
    return "".join(parts)


def _gap(markdown: str, start: int) -> str:
    """What stands before a citation: a blank line after code, whose fence takes no more text; nothing after 。"""
    before = markdown[start : start + 3]
    if not before[:1].isspace():
        return ""
    wide = markdown[:start].endswith(_WIDE_STOPS)
    return "\n\n" if before.startswith("\n\n") else "" if wide else " "


def _escape(text: str) -> str:
    """Return a text whose bracketed numbers are no citations; code is shown as it stands."""
    return _CODE_OR_NUMBER.sub(lambda found: found[0] if found[1] is None else rf"\[{found[1]}\]", text)


def groups(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield where groups of ids stand in `text`, with the white space before them, and their ids, in order."""
    for match in _GROUP.finditer(text):
        inside = match["square"] if match["square"] is not None else match["round"]
        if ids := tuple(dict.fromkeys(_ID.findall(inside))):
            yield match.start(), match.end(), ids


def _joined(
    groups: Iterator[tuple[int, int, tuple[str, ...]]], text: str
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    last: tuple[int, int, tuple[str, ...]] | None = None
    for start, end, ids in groups:
        if last is not None and not text[last[1] : start].strip(" ,;、"):
            last = (last[0], end, tuple(dict.fromkeys(last[2] + ids)))
            continue
        if last is not None:
            yield last
        last = (start, end, ids)
    if last is not None:
        yield last


def _site_of(address: re.Match[str]) -> str:
    """Return what stays of a bare address: its site where the sentence goes on behind it, for which it is a word."""
    if address[0].lstrip()[0] in "(（<" or not _WORD_BEHIND.match(address.string, address.end()):
        return _GONE
    site = urlsplit(address[0].strip() if "//" in address[0] else f"//{address[0].strip()}").netloc
    return address[0][: len(address[0]) - len(address[0].lstrip())] + site


def without_links(text: str) -> str:
    """Return `text` without addresses and bracketed numbers that stand where a citation would; link texts stay, and of an
    address within a sentence its site."""
    text = _LINK.sub(lambda link: _GONE if link[1].strip(" ^").isdigit() else link[1], text)
    text = _NUMBERS.sub(_GONE, _CODE_OR_URL.sub(lambda found: found[0] if found[1] else _site_of(found), text))
    # Brackets and commas that held nothing else go along; `run()` and `[]` of the text stay.
    text = re.sub(rf"\s{{0,3}}[(（\[]\s{{0,3}}{_GONE}\s{{0,3}}[)）\]]", _GONE, text)
    text = re.sub(rf"[,;、，\s]{{0,3}}{_GONE}(?=[,;、，\s{_GONE}]{{0,9}}(?:[.。]|$))", "", text)
    return text.replace(f" {_GONE} ", " ").replace(_GONE, "").strip()


def cut_cited(body: str, offset: int, kind: Kind) -> Iterator[CitedSentence]:
    """Yield the sentences of a stretch of flowing text with the citations inside or right after each.

    `offset` is where `body` begins in the draft.
    """
    clean, places, citations = lift(body)
    spans = _spans(clean, [at for at, _ids, _end in citations])
    cited = _assign(spans, citations)
    near: tuple[str, ...] = ()
    before = tuple(dict.fromkeys(key for _at, ids, _end in citations for key in ids))
    made: list[CitedSentence] = []
    for number in range(len(spans) - 1, -1, -1):
        start, end = spans[number]
        ids = tuple(dict.fromkeys(key for group in cited[number] for key in citations[group][1]))
        near = tuple(dict.fromkeys((*ids, *near)))[:_NEAR]
        last = max([places[end - 1] + 1, *(citations[group][2] for group in cited[number])])
        raw = clean[start:end]
        text = without_links(raw)
        marks = _marks([citations[group][:2] for group in cited[number]], start)
        made.append(
            CitedSentence(
                text, ids, offset + places[start], offset + last, kind, raw, ids or near or before[-_NEAR:], marks=marks
            )
        )
    yield from (sentence for sentence in reversed(made) if re.search(r"\w", sentence.text))


def _marks(citations: Sequence[tuple[int, tuple[str, ...]]], start: int) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the ids of a sentence by their offset in it; ids that stand together are one mark."""
    found: dict[int, tuple[str, ...]] = {}
    for at, ids in citations:
        offset = max(0, at - start)
        found[offset] = tuple(dict.fromkeys((*found.get(offset, ()), *ids)))
    return tuple(found.items())


def ids_in(text: str) -> list[str]:
    """Return the passage ids that a text cites, in order."""
    return [key for _, _, ids in groups(text) for key in ids]


def lift(body: str) -> tuple[str, list[int], list[tuple[int, tuple[str, ...], int]]]:
    """Return `body` without its groups of ids, the offset of each of its characters, and where each group stood
    (its place in the text without ids, its ids, the offset where it ends in `body`)."""
    clean: list[str] = []
    places: list[int] = []
    citations: list[tuple[int, tuple[str, ...], int]] = []
    position = 0
    for start, end, ids in [*groups(body), (len(body), len(body), ())]:
        clean += body[position:start]
        places += range(position, start)
        if ids:
            citations.append((len(clean), ids, end))
        position = end
    return "".join(clean), places, citations


def _spans(clean: str, borders: Sequence[int]) -> list[tuple[int, int]]:
    """Sentence borders, and every place where a citation follows a full stop or ends a line."""
    # A leading mark keeps the text from being taken for a list item or table; line breaks are spaces here.
    flat = "\u200b" + re.sub(r"\s", " ", clean)
    cuts = {max(0, sentence.end - 1) for sentence in sentences(flat)}
    for border in borders:
        if _FULL_STOP.search(clean[:border]) or clean[border : border + 1] == "\n":
            cuts.add(border)
    found: list[tuple[int, int]] = []
    start = 0
    for stop in sorted({*cuts, len(clean)}):
        a, b = start, stop
        while a < b and clean[a].isspace():
            a += 1
        while b > a and clean[b - 1].isspace():
            b -= 1
        if b > a:
            found.append((a, b))
            start = stop
    return _merge_marks(found, clean)


def _merge_marks(spans: list[tuple[int, int]], clean: str) -> list[tuple[int, int]]:
    """A stretch without letters or digits (a full stop left behind a citation) belongs to the sentence before."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and not re.search(r"\w", clean[start:end]):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _assign(spans: list[tuple[int, int]], citations: list[tuple[int, tuple[str, ...], int]]) -> list[list[int]]:
    """For each sentence, the numbers of the citations inside it or between it and the next."""
    cited: list[list[int]] = [[] for _ in spans]
    for number, (at, _ids, _end) in enumerate(citations):
        owner = max((i for i, (start, _stop) in enumerate(spans) if start < at), default=0)
        if spans:
            cited[owner].append(number)
    return cited
