"""Note every query before it is sent; hold back copies of the user's documents.

A model that obeys an order in a page could copy what it has read in `--docs` into a search or an address. Names and
terms have to be searched, so what is held back is what nobody needs for that: long stretches, addresses of people,
keys and long numbers. All is compared without its spaces, signs and capitals.
"""

import asyncio
import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal
from urllib.parse import unquote_plus

from claimcheck.language import HAN, KANA, columns
from claimcheck.lexicon import compile_on_use
from claimcheck.text.cleaning import shorten
from claimcheck.text.normal_forms import normalized
from claimcheck.text.tokens import normalise
from deep_research.data import Gap, SentQuery
from deep_research.i18n.catalog import gap_of
from deep_research.run_context.context import RunContext

SENT = "query"
"""Under this name the journal keeps what was sent, and what was held back."""
_Why = Literal["", "words", "value"]
_OWN = ("documents", "opensearch", "postgres_index")
"""Places that are the user's own: what is asked there goes to nobody else."""
_WORDS, _COLUMNS = 8, 16
"""From this length on a stretch is held back: words, and columns where they are very short."""
_LONG_WORD, _WORD_LETTERS, _RUN = 8, 5, 16
"""Letters of a long word, and of the words in a run without spaces, which so many letters are."""
_BETWEEN = "\n"
"""Stands between what a document shows: no stretch goes over it."""
_MOST_CHARS = 4_000
"""No query is longer; what is, is held back unseen."""
_MOST_COMPARED = 3_000_000_000
"""Signs of documents, times the pieces searched for: what would take longer is held back unseen."""
_TOLD_CHARS = 120
_SYLLABLES = "\uac00", "\ud7af"
"""The first and the last of Korean."""
_AT_ONCE = 100_000
_UNIT = compile_on_use(rf"[{HAN}{KANA}]|[^\W_{HAN}{KANA}]+")
_ESCAPED = re.compile(r"\\(?:[bfnrt]|u00[01][0-9a-f])")
"""A line end or another blank as JSON writes it: its letter would join the word behind it."""
_PUBLIC_ID = re.compile(
    r"(?<![\w.])(?:10\.\d{4,9}/[^\s\"<>]+|\d\d(?:0[1-9]|1[0-2])\.\d{4,5}|97[89](?:[ -]?\d){10})(?!\d)"
)
"""DOI, arXiv and ISBN: long numbers that are there to be looked up."""
_VALUE = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"  # an e-mail address
    r"|(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}"  # a key, also an IBAN
    r"|(?<!\w)(?:(?:[0-9A-Z]{4,12}-){2,}[0-9A-Z]{4,12}|(?:[0-9a-f]{4,12}-){3,}[0-9a-f]{4,12})(?!\w)"  # one in groups
    r"|(?<![^\W_])\d(?:[\W_]{0,3}\d){7,}"
)
_LONGEST_KEY = 200
"""Characters of a key that is found where two pieces of a document meet."""
_DIGITS, _KEY = 8, 16
"""Digits of a number, letters and digits of a key, that are held back."""
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d-\d\d-\d\d(?!\d)")
_DATES = re.compile(r"(?:19|20)\d\d(?:\D(?:(?:19|20)\d\d|\d{1,2}))*|(?:\d{1,2}\D){2}(?:19|20)\d\d")


async def hold_back(ctx: RunContext, place: str, said: str) -> Gap | None:
    """Note a text about to be sent to a place; return a gap if held back, else None."""
    if place in _OWN:
        return None

    async def judge() -> str:
        why: _Why = await asyncio.to_thread(_repeated, ctx, said) if ctx.outside.docs else ""
        return SentQuery(place=place, query=said, held_back=why).model_dump_json()

    answer, _ = await ctx.journal.call(SENT, f"{place}\n{said}", judge)
    why = SentQuery.model_validate_json(answer).held_back
    if not why:
        return None
    return ctx.report_gap(gap_of(f"{place}: {shorten(said, _TOLD_CHARS)}", f"held_back_{why}", source=place))


def sent_queries(ctx: RunContext) -> tuple[SentQuery, ...]:
    """Return the queries sent or held back until now, each once.

    Pages that were opened are left out: they are sources or gaps.
    """
    noted = (SentQuery.model_validate_json(answer) for answer in ctx.journal.answers(SENT))
    return tuple(dict.fromkeys(query for query in noted if query.held_back or query.place != "pages"))


def _repeated(ctx: RunContext, said: str) -> _Why:
    """Return "words" or "value" for repeated document text, "" for none.

    The user's own words do not count.
    """
    asked = _joined(ctx.outside.asked)
    if _joined(said) in asked:
        return ""
    if len(said) > _MOST_CHARS:
        return "words"
    spelled = {said, unquote_plus(said)}
    spelled |= {normalized("NFKC", text) for text in spelled}
    spelled |= {_ESCAPED.sub(" ", text) for text in spelled}
    ids = {
        _joined(found[0]): set(_values(found[0].partition("/")[2])) for t in spelled for found in _PUBLIC_ID.finditer(t)
    }
    values = {value for text in spelled for value in _values(_PUBLIC_ID.sub(" ", text)) if value not in asked}
    stretches = {stretch for text in spelled for stretch in _stretches(text) if stretch not in asked}
    joined = {_joined(text) for text in spelled}
    keys = {p for text in joined for p in _parts(text, _KEY) if not (p.isdecimal() or p.isalpha() or p in asked)}
    if not (values or stretches or keys or any(ids.values())):
        return ""
    compared = 0
    for text, written in _documents(ctx):
        compared += (len(values) + len(stretches)) * len(text) + len(keys) * len(written)
        if compared > _MOST_COMPARED:
            return "words" if stretches else "value"
        # What only looks like a public number, and is not written so in the document, may carry another.
        carried = {value for known, inside in ids.items() if known not in text for value in inside}
        if any(value in text for value in values | carried) or any(key in written for key in keys):
            return "value"
        if any(stretch in text for stretch in stretches):
            return "words"
    return ""


def _documents(ctx: RunContext) -> Iterator[tuple[str, str]]:
    """Yield text and keys of each document read in the run, joined."""
    known = ctx.outside.joined_documents
    for source in ctx.library.sources():
        if source.origin != "documents":
            continue
        if source.id not in known and (snapshot := ctx.library.snapshot(source.id)) is not None:
            shown = (snapshot.text, source.title, source.location, *source.authors)
            known[source.id] = (_BETWEEN.join(map(_joined, shown)), _BETWEEN.join(_keys(snapshot.text)))
        yield known.get(source.id, ("", ""))


def _keys(text: str) -> Iterator[str]:
    """Yield the keys of a document as they are written there, joined."""
    for at in range(0, len(text), _AT_ONCE):
        for found in _VALUE.finditer(text, at, at + _AT_ONCE + _LONGEST_KEY):
            if not ((joined := _joined(found[0])).isdecimal() or joined.isalpha()):
                yield joined


def _joined(text: str) -> str:
    """Return the letters and digits of a text, joined.

    It works in pieces, because one step holds up all threads and takes memory.
    """
    pieces = (text[at : at + _AT_ONCE] for at in range(0, len(text), _AT_ONCE))
    return "".join("".join(_UNIT.findall(normalise(piece))) for piece in pieces)


def _values(text: str) -> Iterator[str]:
    """Yield e-mail addresses, and parts of keys and numbers long enough to hold back.

    In parts, because in an address or a list a number runs into what stands beside it.
    """
    for found in _VALUE.finditer(_DAY.sub(" ", text)):
        value, joined = found[0], _joined(found[0])
        if "@" in value:
            yield joined
        elif joined.isdecimal():
            if (len(joined) > _DIGITS or value == joined) and not _DATES.fullmatch(value):
                yield from _parts(joined, _DIGITS)
        else:
            parts = _parts(joined, min(_KEY, len(joined)))
            yield from (p for p in parts if any(s.isdigit() for s in p) and any(s.isalpha() for s in p))


def _parts(text: str, size: int) -> Iterator[str]:
    return (text[first : first + size] for first in range(len(text) - size + 1))


def _stretches(text: str) -> Iterator[str]:
    """Yield every stretch of a text that is just long enough to be held back."""
    units = _UNIT.findall(normalise(text))
    for first in range(len(units)):
        words = columns = 0.0
        for number, unit in enumerate(islice(units, first, None), first + 1):
            words += _words_in(unit)
            columns += len(unit) * (1 if unit.isascii() else 2)
            if words >= _WORDS and columns >= _COLUMNS:
                yield "".join(units[first:number])
                break


def _words_in(unit: str) -> float:
    """Return the number of words in a run of letters.

    Two characters of Chinese or Japanese are about one word.
    """
    if columns(unit[0]) == 1:
        return max(1.0, len(unit) / (_LONG_WORD if len(unit) < _RUN else _WORD_LETTERS))
    return max(1.0, len(unit) / 3) if _SYLLABLES[0] <= unit[0] <= _SYLLABLES[1] else 0.5
