"""Verdict on a claim by quotations, numbers, names and support, without a model.

A claim that is a whole sentence of the evidence is supported at once. Otherwise every quotation, number,
date and name must be there, nothing may state the opposite, and the support score must reach its threshold.
"Contradicted" is said only where a sentence of the evidence makes the same statement with another value,
unit, name or sign; whatever else fails is unverified.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from claimcheck import near_misses
from claimcheck.alignment import Token, tokens_of
from claimcheck.alterations import contrasts, covered, find_alteration, is_limited, name_tokens
from claimcheck.language import CJK, detect, is_cjk
from claimcheck.near_misses import has_other_value, same_statement, without
from claimcheck.negation import conflict, negated
from claimcheck.numbers import as_written_in, missing_numbers
from claimcheck.support import Match, support
from claimcheck.text.cleaning import shorten
from claimcheck.text.error_text import is_error_text
from claimcheck.text.names import amounts, missing_names, name_index, names
from claimcheck.text.quantities import quantities
from claimcheck.text.quotations import find_verbatim, missing_quotations, stands_nearly_in
from claimcheck.text.sentences import blocks, sentences
from claimcheck.text.tokens import content_terms, normalise
from claimcheck.verdict import Verdict


class Evidence(NamedTuple):
    """A text that may support claims; `about` (titles) helps with names only."""

    text: str
    about: str = ""


VERBATIM = Verdict.of("supported", "verbatim")
_LONGEST_CLAIM = 4000
"""Characters of a claim; what is longer is no statement, and would take long to compare."""
_SHORT = 12
"""Up to so many sentences are a passage, in which one sentence carries a claim; more are a document, which may spread it."""
_TOLD = {True: (0.65, 0.5), False: (0.5, 0.25)}
"""Shares of the claim's terms, numbers apart, that all sentences and headings together and the best sentence
alone must have, whatever the score; for a passage and for a document."""
_LEAST_TERMS = 3
"""Terms of a claim that must be left when what its title gives is left out."""
_ANCHORS, _CHARS_PER_ANCHOR = 3, 22
"""Across languages a claim stands on its names and numbers alone: at least so many, and as many characters for each."""

_RESTATED = 0.75
"""Share of a claim's signs that must stand in the line."""
_LEAST_SIGNS = 5
_SHOWN = 160


def verify(claim: str, evidence: Sequence[Evidence]) -> Verdict:
    """Judge `claim` against texts that it cites together."""
    texts = [e for e in evidence if e.text.strip()]
    if not texts:
        return Verdict.of("unverified", "no_evidence")
    if any(is_sentence_of(claim, e.text) for e in texts):
        return VERBATIM
    laid_out = lay_out(texts)
    found = disproof(claim, *laid_out) or _measured(claim, *laid_out)
    rewritten = as_written_in(laid_out[0], claim)
    if found.kind == "supported" or rewritten == claim:
        return found
    again = disproof(rewritten, *laid_out) or _measured(rewritten, *laid_out)
    return again if again.kind == "supported" else found


def lay_out(evidence: Sequence[Evidence]) -> tuple[str, str, list[str]]:
    """Return all texts as one, what they are about, and their sentences."""
    whole = "\n".join(e.text for e in evidence)
    about = "\n".join(dict.fromkeys(e.about for e in evidence if e.about))
    return whole, about, [line for e in evidence for line in evidence_sentences(e.text)]


def disproof(claim: str, whole: str, about: str, lines: Sequence[str]) -> Verdict | None:
    """Return the verdict if code alone shows that `claim` is unsupported, else None."""
    refused = _refused_as_a_whole(claim, whole, about)
    return refused or _number_missing(claim, whole, about, lines) or _name_missing(claim, whole, about, lines)


@lru_cache(maxsize=1024)  # a passage is asked for once for each claim that cites it
def evidence_sentences(text: str) -> tuple[str, ...]:
    """Return a passage's sentences, table rows and other lines, white space folded."""
    spans = [(s.start, s.end) for s in sentences(text)]
    for block in blocks(text):
        if block.kind in ("table", "code", "heading"):
            start = block.start
            for line in text[block.start : block.end].split("\n"):
                spans.append((start, start + len(line)))
                start += len(line) + 1
    lines = [" ".join(text[start:end].split()) for start, end in sorted(spans)]
    return tuple(line for line in lines if re.search(r"\w", line))


_BEGINS = re.compile(r"(?:^|[.!?。！？；|\n•]|^\s*[-*+]|\n\s*(?:[-*+]|\d+[.)]))[\s\"'“”‘’「」『』()（）\[\]*_`#>-]*$")
_MOST_SIGNS = 200
"""Signs between the end of a sentence and the words of the next one that are looked at."""


def is_sentence_of(claim: str, text: str) -> bool:
    """Return whether `claim` is one or more whole sentences (or lines) of `text`."""
    found = find_verbatim(claim, text)  # half a sentence can say the opposite
    if found is None:
        return False
    before, after = text[: found[0]], text[found[1] :]
    begins = _BEGINS.search(before, max(0, len(before) - _MOST_SIGNS))
    ends = re.search(r"[.!?。！？；…][\"'”’」』）)\]]*$", text[: found[1]]) or re.match(
        r"[\"'”’」』）)\]*_`]*(?:[.!?。！？；|…]|[ \t]*(?:\n|$))", after
    )
    return bool(begins and ends and len(content_terms(claim)) > 1)


def _refused_as_a_whole(claim: str, whole: str, about: str) -> Verdict | None:
    """Return the verdict if a claim is too long, tells of an error or misquotes."""
    if len(claim) > _LONGEST_CLAIM:
        return Verdict.of("unverified", "claim_too_long")
    if is_error_text(claim, [whole]):
        return Verdict.of("unverified", "error_text")
    for quoted in missing_quotations(claim, there := f"{whole}\n{about}"):
        code = "quotation_changed" if stands_nearly_in(quoted.text, there) else "quotation_missing"
        return Verdict.of("unverified", code, quotation=_short(quoted.text))
    return None


def _number_missing(claim: str, whole: str, about: str, lines: Sequence[str]) -> Verdict | None:
    there = f"{whole}\n{about}"
    missing = missing_numbers(claim, there, amounts(claim))
    if not missing:
        number, line, name = near_misses.misattributed(claim, lines) or ("", "", "")
        if name:
            return Verdict.of("unverified", "number_of_other", number=number, name=name, sentence=_short(line))
        return Verdict.of("unverified", "number_elsewhere", number=number, sentence=_short(line)) if number else None
    number = ", ".join(claim[q.start : q.end].strip() for q in missing[:3])
    rival = same_statement(claim, [(q.start, q.end) for q in missing], lines)
    bare = {(q.value, q.bound) for q in quantities(rival or "") if not q.unit}  # "whose default, in seconds, is 60"
    if has_other_value(rival, claim, missing) and not any(q.unit and (q.value, q.bound) in bare for q in missing):
        return Verdict.of("contradicted", "number_rival", number=number, sentence=_short(rival))
    other = next((q for q in quantities(there) if q.value == missing[0].value), None)
    if other is not None:
        return Verdict.of("unverified", "number_unit", number=number, there=there[other.start : other.end].strip())
    return Verdict.of("unverified", "number_missing", number=number)


def _name_missing(claim: str, whole: str, about: str, lines: Sequence[str]) -> Verdict | None:
    missing = missing_names(claim, f"{about}\n{whole}")
    if not missing:
        subject = near_misses.unknown_subject(claim, lines, about)
        return Verdict.of("unverified", "name_missing", name=subject) if subject else None
    name = ", ".join(n.text for n in missing[:4])
    rival = same_statement(claim, [(n.start, n.end) for n in missing], lines)
    if near_misses.has_other_name(rival, claim, missing):
        return Verdict.of("contradicted", "name_rival", name=name, sentence=_short(rival))
    return Verdict.of("unverified", "name_missing", name=name)


def _measured(claim: str, whole: str, about: str, lines: Sequence[str]) -> Verdict:
    """Return the verdict by negation and support score, after the mechanical checks."""
    own, other = detect(claim), detect(whole)
    if is_cjk(own) != is_cjk(other) or (is_cjk(own) and own != other):  # in other scripts no words can be shared
        return _across_languages(claim, lines)
    measured = support(_without_known(claim, whole, about), lines, title=about)
    if measured.opposing is not None:
        line = lines[measured.opposing]
        kind = "contradicted" if same_statement(claim, [], [line]) else "unverified"
        return Verdict.of(kind, "opposite", sentence=_short(line))
    altered = _altered(claim, lines, about)
    supported = measured.supported and _is_told(claim, lines, about)
    if altered and (supported or altered.kind == "contradicted"):
        return altered
    if altered is None and not supported and _is_restated(claim, lines, about):
        return Verdict.of("supported", "restated")
    if supported:
        return Verdict.of("supported", "words_together", share=f"{measured.covered:.0%}")
    return Verdict.of("unverified", "low_support", share=f"{measured.covered:.0%}")


def _without_known(claim: str, whole: str, about: str) -> str:
    """Return `claim` without names that only `about` has: texts say "this proposal"."""
    if not about:
        return claim
    titled, said = name_index(about), name_index(whole)
    rest = without(claim, [(n.start, n.end) for n in names(claim) if titled.has(n) and not said.has(n)])
    return rest if len(content_terms(rest)) >= _LEAST_TERMS else claim


def _altered(claim: str, lines: Sequence[str], about: str) -> Verdict | None:
    """Return the verdict for a claim that repeats a line with a change, else None."""
    change = find_alteration(claim, lines, about)
    if change is None:
        return None
    code = {"scope": "scope_changed", "added": "added"}.get(change.what, "altered")
    kind = "contradicted" if change.is_conflict else "unverified"
    said, there = _short(change.said), _short(change.there)
    return Verdict.of(kind, code, said=said, there=there, sentence=_short(change.line))


def _is_told(claim: str, lines: Sequence[str], about: str) -> bool:
    """Tell whether enough of the claim, except numbers, is together in the evidence."""
    rest = without(claim, [(q.start, q.end) for q in quantities(claim)])
    in_all, in_one = _TOLD[len(lines) <= _SHORT]
    match = Match(rest, [*lines, about])
    alone = max(match.coverage((i,)) for i in range(len(lines)))
    return alone >= in_one and match.coverage(range(len(lines) + 1)) >= in_all


def _is_restated(claim: str, lines: Sequence[str], about: str = "") -> bool:
    """Return whether a CJK line restates `claim` in other words or another order.

    Almost all single signs of a claim must stand in one line, what does not must be ordinary words, and nothing may
    differ in number, name, sign, direction or order of names.
    """
    language = detect(claim)
    if not is_cjk(language):
        return False
    wanted = [t for t in tokens_of(claim) if t.is_content]
    return len(wanted) >= _LEAST_SIGNS and any(_says(claim, wanted, line, about, language) for line in lines)


def _says(claim: str, wanted: Sequence[Token], line: str, about: str, language: str) -> bool:
    there = f"{line}\n{about}"
    missing = [t for t in wanted if t.key[:2] not in there]
    if len(missing) > (1 - _RESTATED) * len(wanted) or {t.start for t in missing} - covered(claim):
        return False
    if missing_numbers(claim, there) or missing_names(claim, there) or conflict(claim, line):
        return False
    if is_limited(line, language) and not is_limited(claim, language):
        return False
    # What may be names, and numbers, follow each other in the line as in the claim.
    found = [line.find(claim[t.start : t.end]) for t in name_tokens(claim)]
    places = [place for place in found if place >= 0]
    return not _differs_in_direction(claim, line, language) and places == sorted(places)


def _differs_in_direction(claim: str, line: str, language: str) -> bool:
    """Tell whether claim and line have opposing words of one table row."""
    for sides in contrasts(language):
        mine, others = ([any(word in text for word in side) for side in sides] for text in (claim, line))
        if any(mine) and any(others) and mine != others:
            return True
    return False


def _across_languages(claim: str, lines: Sequence[str]) -> Verdict:
    """Return the verdict across languages, by names and numbers alone."""
    values = {(q.value, q.unit) for q in quantities(claim)}
    anchors = len({normalise(n.text) for n in names(claim)}) + len(values)
    dense = len(re.findall(rf"[{CJK}]|[^\W{CJK}]+", claim)) <= anchors * _CHARS_PER_ANCHOR
    there = next((x for x in lines if not (missing_numbers(claim, x) or missing_names(claim, x))), "")
    if not (values and anchors >= _ANCHORS and dense and there):
        return Verdict.of("unverified", "foreign_few")
    if conflict(claim, there) or bool(negated(normalise(claim))) != bool(negated(normalise(there))):
        return Verdict.of("unverified", "foreign_sign")
    return Verdict.of("supported", "foreign_agrees", count=str(anchors))


def _short(text: str) -> str:
    return shorten(text, _SHOWN)
