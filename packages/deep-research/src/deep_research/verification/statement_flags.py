"""Flags for certain faults of statements; they guide a judge, change no text."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from claimcheck.claim_verdicts import Evidence, verify
from claimcheck.language import CJK, HANGUL, detect, is_cjk
from claimcheck.lexicon import compile_on_use
from claimcheck.text.names import Name, begins_sentence, missing_names, name_index
from claimcheck.text.quotations import quotations, stands_in, stands_nearly_in
from deep_research.data import Document, Verdict
from deep_research.i18n.catalog import verdict_of
from deep_research.text.code_spans import code_spans, is_within
from deep_research.text.passages import cut_passages
from deep_research.verification.figures import YEAR_PARTS, missing_figures

FlagKind = Literal["id", "quotation", "number", "date", "name"]
_WORDS, _CHARACTERS = 3, 6
"""From so many words, or characters of a script without spaces, a quotation is one of a source; less is a word that the
author takes up."""
_SINGLE_QUOTED = re.compile(r"‘((?:[^‘’\n]|’(?=\w)){8,400}?)’(?!\w)")
_WORD = compile_on_use(rf"[{CJK}]|[^\W{CJK}]+")
_SHOWN, _LONGEST = 120, 3_000
"""Characters of what is shown of a quotation, and of a statement that code looks through."""


class Flag(NamedTuple):
    """One thing not found: `quote` as in the statement, `said` as told to a judge.

    `is_sure` where nobody need look: an id that does not exist, a quotation that was changed.
    """

    kind: FlagKind
    quote: str
    said: str
    is_sure: bool = False


def flags_by_id(
    given: Iterable[tuple[str, str, list[str]]],
    texts: Mapping[str, str | None],
    question: str,
    known: Sequence[str],
    is_stopped: Callable[[], bool] = lambda: False,
) -> dict[str, list[Flag]]:
    """Return by id the flags of statements, `given` as id, text and keys of `texts`."""
    wanted = (one for one in given if not is_stopped())
    return {key: flags_of(said, {one: texts[one] for one in ids}, question, known) for key, said, ids in wanted}


def flags_of(
    statement: str, passages: Mapping[str, str | None], question: str = "", known: Sequence[str] = ()
) -> list[Flag]:
    """Return what of `statement` stands in none of its texts.

    `passages` holds what each passage it cites tells, with title, heading and date of its source; None for an id that
    does not exist. A statement that cites nothing is held against `known` alone (names that were looked up).
    """
    flags = [
        Flag("id", key, f"the passage {key} does not exist", True) for key, text in passages.items() if text is None
    ]
    cited = [text for text in passages.values() if text is not None]
    if (not cited and not known) or len(statement) > _LONGEST:
        return flags
    texts = [text for text in (*cited, *known, question) if text]
    where = f"the cited {'passages' if any('p' in key for key in passages) else 'sources'}" if cited else "the passages"
    for quote, is_near in _changed_quotations(statement, texts):
        shown = quote if len(quote) <= _SHOWN else f"{quote[:_SHOWN]}…"
        said = f"the quotation “{shown}” is not word for word in any of {where}"
        flags.append(Flag("quotation", quote, said, is_near))
    for figure in missing_figures(statement, texts):
        kind = "date" if figure.is_date else "number"
        instead = f"; there it is “{figure.there}”" if figure.there else ""
        flags.append(Flag(kind, figure.written, f"the {kind} {figure.written} is in none of {where}{instead}"))
    names = _missing_names(statement, texts)
    return flags + [Flag("name", name.text, f"the name {name.text} is in none of {where}") for name in names]


def _changed_quotations(statement: str, texts: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield quotations of several words in no text, and whether one nearly matches."""
    code = code_spans(statement)
    found = [(quoted.text, quoted.start) for quoted in quotations(statement)]
    found += [(quoted[1], quoted.start(1)) for quoted in _SINGLE_QUOTED.finditer(statement)]
    for quote, start in sorted(found, key=lambda one: one[1]):
        unspaced = len(re.findall(rf"[{CJK}]", quote))
        is_long = unspaced >= _CHARACTERS if unspaced else min(len(quote.split()), len(_WORD.findall(quote))) >= _WORDS
        if is_within(code, start) or not is_long:
            continue
        if any(_may_hold(text, quote) for text in texts) and not any(stands_in(quote, text) for text in texts):
            yield quote, any(stands_nearly_in(quote, text) for text in texts)


def _may_hold(text: str, quote: str) -> bool:
    """Tell whether a text is in a quotation's script: a translation is not verbatim."""
    if re.search(rf"[{HANGUL}]", quote):
        return re.search(rf"[{HANGUL}]", text) is not None
    return not re.search(rf"[{CJK}]", quote) or detect(text) == detect(quote)


def _missing_names(statement: str, texts: Sequence[str]) -> Iterator[Name]:
    """Yield the names in none of the texts; across languages, only identifiers."""
    whole = "\n".join(texts)
    language = detect(statement)
    is_own = any(is_cjk(detect(text)) == is_cjk(language) for text in texts)
    for name in missing_names(statement, whole):
        is_title = not name.text.isascii() and statement[name.start] in "《〈『"
        is_date = any(part.match(statement, name.start) for part in YEAR_PARTS.values())  # Q3 of 2021
        if is_title or is_date or not (is_own or (name.strict and name.text.isascii())):
            continue
        # The word that a sentence begins with has a capital whatever it is.
        first, _, rest = name.text.partition(" ")
        shorter = name._replace(text=rest, start=name.start + len(first) + 1)
        if not (rest and begins_sentence(statement, name.start) and name_index(whole).has(shorter)):
            yield name


def check_against_document(claim: str, text: str) -> Verdict:
    """Judge a claim against a document's text, cut into passages, without a model."""
    pieces = [Evidence(text[cut.start : cut.end], cut.heading) for cut in cut_passages(Document(text=text))]
    found = verify(claim, pieces)
    return verdict_of(found.kind, found.code, **found.values)
