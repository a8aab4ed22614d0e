"""What a writer adds of its own: conclusions, advice and general knowledge, held against what they rest on.

Whether a conclusion follows is for a judge to say. Code sees to it that it brings in nothing: no figure, date, name or
quotation that its premises (the cited passages, and the question) do not have. General knowledge without a source may
not have any figure, date or quotation at all.
"""

import re
from collections.abc import Sequence

from deep_research.claimcheck.numbers import numbers_agree
from deep_research.claimcheck.own_figures import is_example_day, is_part_of, is_small, written_quantities
from deep_research.data import Verdict
from deep_research.i18n.catalog import verdict_of
from deep_research.i18n.language import detect, is_cjk
from deep_research.i18n.lexicon import any_word, words
from deep_research.text.names import begins_sentence, has_short_options, names_occur
from deep_research.text.quantities import quantities
from deep_research.text.quotations import quotations, quotations_occur, unquoted
from deep_research.text.units import CALENDAR, Quantity

FOLLOWS = verdict_of("supported", "follows")
"""The verdict on a conclusion that no judge has judged: it brings in nothing of its own."""
BACKGROUND = verdict_of("unverified", "background")
"""The verdict on a statement of general knowledge: shown and marked, never as a fact."""


_FORMULA = re.compile("[×÷]")
"""What is between quotation marks and has such a sign is a formula of the writer's own, where a judge decides on it."""


def is_unfounded(
    claim: str, premises: Sequence[str], also: str = "", named: str = "", *, is_judged: bool = False
) -> Verdict | None:
    """Return why a conclusion may not stand: a figure, date, name or quotation that its premises lack; else None.

    `premises` are the texts it rests on with the titles of their sources; `also` is what was known before, such as the
    question. A name may also come from `named`: what the text around the conclusion rests on. Where it `is_judged` besides, a
    judge decides on small bare counts, and on the unit of a number that stands there without one.
    """
    if not premises:
        return verdict_of("unverified", "no_premises")
    ground = "\n".join([*premises, also])
    quoted = quotations_occur(without_code(claim) if is_judged else claim, ground).missing
    if wrong := next((q for q in quoted if not (is_judged and _FORMULA.search(q.text))), None):
        return verdict_of("unverified", "quotation_missing", quotation=wrong.text[:80])
    missing = numbers_agree(claim, ground, _figures_of(claim, is_judged=is_judged)).missing
    missing = [q for q in missing if not is_part_of(q, claim, ground)]
    if is_judged and missing:  # "60 seconds" of "wait_seconds: 60"
        bare = {q.value for q in quantities(ground) if not q.unit}
        missing = [q for q in missing if not is_small(q) and q.value not in bare]
    if missing:
        number = ", ".join(claim[q.start : q.end].strip() for q in missing[:3])
        return verdict_of("unverified", "number_missing", number=number)
    said = _with_plain_starts(claim) if is_judged else claim
    absent = missing_names(said, ground)
    if absent and named:  # `named` by itself first: it is the same for many conclusions, and read once
        absent = missing_names(said, named) and missing_names(said, f"{ground}\n{named}")
    if is_judged:  # words of the trade, which bring in nothing
        absent = [name for name in absent if not is_of_trade(name)]
    return verdict_of("unverified", "name_missing", name=", ".join(absent[:4])) if absent else None


def _with_plain_starts(text: str) -> str:
    """Return a text whose sentences and cells begin with a small letter: there it is mostly a verb ("Encrypt SSH keys"), no name."""
    return _FIRST.sub(lambda word: word[0].lower() if begins_sentence(text, word.start()) else word[0], text)


def _figures_of(text: str, *, is_judged: bool) -> list[Quantity]:
    """Return the figures of a conclusion; where a judge decides on it, without dates that are examples."""
    return [q for q in written_quantities(text) if not (is_judged and is_example_day(text, q))]


def left_to_judge(text: str, premises: Sequence[str], also: str, named: str, *, general: bool) -> str | None:
    """Return a conclusion that code would refuse for what it brings in, for a judge to decide on: that it cites nothing says whose it is.

    A figure stands as it is; a name is marked as general knowledge (†), where `general` knowledge may stand; what it quotes and no
    source says stands in single marks, as the writer's own wording. None for what no mark makes right: a date, a conclusion
    without premises.
    """
    refused = is_unfounded(text, premises, also, named, is_judged=True)
    if refused is not None and refused.codes == ("quotation_missing",):
        text = unquoted(text)
        refused = is_unfounded(text, premises, also, named, is_judged=True)
    if refused is not None and refused.codes == ("number_missing",):
        ground = "\n".join([*premises, also])
        missing = numbers_agree(text, ground, _figures_of(text, is_judged=True)).missing
        if any(q.unit in CALENDAR for q in missing):
            return None
        own = [text[q.start : q.end].strip() for q in missing if not is_small(q)]
        refused = is_unfounded(text, premises, "\n".join([also, *own]), named, is_judged=True)
    if refused is None:
        return text
    return with_general_mark(text) if general and refused.codes == ("name_missing",) else None


_FIRST = re.compile(r"(?<!\w)[A-Z](?=[a-z]+(?!\w))")
"""The first letter of a word with one capital."""
_TRADE = frozenset(words("names.trade", "en"))
"""Short forms that everybody in computing reads as words."""


def is_of_trade(name: str) -> bool:
    """Tell whether a name is a short form that everybody in computing reads as a word (HTTP, JSON): it brings nothing in."""
    return name in _TRADE


def missing_names(claim: str, ground: str) -> list[str]:
    """Return the names of a conclusion that `ground` lacks."""
    return [name.text for name in names_occur(claim, ground).missing] or _foreign_words(claim, ground)


def _foreign_words(claim: str, ground: str) -> list[str]:
    """Return the capitalised Latin words of a Chinese, Japanese or Korean conclusion that its ground lacks.

    In such a text they are names, wherever they stand.
    """
    if not is_cjk(detect(claim)):
        return []
    known = ground.casefold()
    return [word for word in re.findall(r"(?<![A-Za-z])[A-Z][A-Za-z]+", claim) if word.casefold() not in known]


def is_too_specific(text: str, known: str = "") -> Verdict | None:
    """Return why a statement without a source may not stand: it has a figure, a date or a quotation; else None.

    A number without a unit that stands in what is `known` (the question, the terms of the report) brings nothing in. A
    version behind the name of what it is of ("Python 3.14") is a name, and so is a level or format ("level 13"), and where the question
    names a release ("Django 3.2") any other bare "5.2"; what stands in code marks is a name too.
    """
    plain = _CODE.sub(lambda code: " " * len(code[0]), text)
    said = {q.value for q in quantities(known) if not q.unit} if known else set()
    new = (q for q in written_quantities(plain) if q.unit or q.value not in said)
    is_about_versions = _RELEASED.search(known) is not None
    if any(not _is_version(q, plain, is_about_versions) for q in new) or quotations(plain):
        return verdict_of("unverified", "background_specific")
    return None


def is_instruction(text: str) -> bool:
    """Tell whether a sentence of the writer's own says what to type: it has code in it."""
    return _CODE.search(text) is not None


def without_code(text: str) -> str:
    """Return a text without what stands in it as code."""
    return _CODE.sub(" ", text)


def with_open_values(code: str, known: str, said: str = "") -> str:
    """Return code with `<…>` in place of each value that what is `known` lacks; it is left for the reader to fill in.

    A value may be half of a known one, or another part, where what is `said` about the code tells so.
    """

    def opened(value: re.Match[str]) -> str:
        if re.search(rf"(?<![\w.]){re.escape(value[0])}(?![\w.])", known):
            return value[0]
        with_value = f"{said}\n{value[0]}"
        is_part = any(q.start > len(said) and is_part_of(q, with_value, known) for q in quantities(with_value))
        return value[0] if said and is_part else "<…>"

    return _VALUE.sub(opened, code)


_VALUE = re.compile(
    r"(?<=[\s='\"`])(?<!chmod )(?<!umask )(?<!-m )(?<!--mode[ =])"
    r"\d+(?:\.\d+)?(?:[A-Za-z%]{1,3}| (?:days?|hours?|minutes?|seconds?)|(?<=\d\d))(?=$|[\s'\",;)`])"
)
"""A number that stands by itself in a line to type, with a unit or of two digits and more: the value of an option or setting.
One digit is syntax (`sort -k 2`), and so is the mode of a file (`chmod 755`)."""


def open_instruction(text: str, known: str) -> str:
    """Return an instruction as general knowledge: marked, and without the values in its code that what is `known` lacks."""
    return with_general_mark(_CODE.sub(lambda code: with_open_values(code[0], known), text))


def with_general_mark(text: str) -> str:
    """Return a sentence with the mark of general knowledge at its end, before its full stop."""
    said = text.rstrip()
    if "†" in said[-3:]:
        return said
    stop = said[-1:] if said.endswith((".", "。", "!", "！", ";", "；", ":", "：")) else ""
    return f"{said.removesuffix(stop)} †{stop}"


def are_known_commands(lines: Sequence[str], grounds: Sequence[str]) -> bool:
    """Tell whether all options, qualified names and figures of some command lines stand in one of `grounds` each.

    Plain words and what the reader is to fill in (`<url>`) are free, and so are 0 and 1.
    """
    parts = [part for line in lines for part in _COMMAND_PART.findall(_TO_FILL_IN.sub(" ", line))]
    return all(
        any(part in ground or has_short_options(part.removeprefix("-"), ground) for ground in grounds) for part in parts
    )


def without_placeholders(text: str) -> str:
    """Return a text without what the reader is to fill in (`<version>`), and the 0 or 1 that is joined to it (`-1`)."""
    return _FILLED_IN.sub("", text)


def is_known_code(code: str, ground: str) -> bool:
    """Tell whether all that a piece of code calls, and its options and figures, stand in `ground`, or are made in it.

    Names of its own, strings and comments are free, and so are 0 and 1. Where it is a file of settings (`name: value`), which
    calls nothing, each of its words must stand there, but for what the reader is to fill in (`<name>`).
    """
    called = called_names(code)
    bare = bare_code(code)
    figures = set(_CODE_FIGURE.findall(bare))
    options = set(_CODE_OPTION.findall(bare))
    known = set(_CODE_NAME.findall(ground))
    if not called and not options:
        words = {word.casefold() for word in _CODE_WORD.findall(_TO_FILL_IN.sub(" ", bare))}
        sets = all(_SETTING.match(line) for line in bare.splitlines() if line.strip())
        return sets and bool(words) and all(part in ground.casefold() for part in words | figures)
    return called <= known and all(part in ground for part in figures | options)


def called_names(code: str) -> set[str]:
    """Return the names that a piece of code uses and does not make itself."""
    bare = bare_code(code)
    own = {name for pair in _CODE_MADE.findall(bare) for name in pair}
    return {name for name in (*_CODE_CALLED.findall(bare), *_CODE_LONG.findall(bare)) if name not in own}


def bare_code(code: str) -> str:
    """Return code without its fence, its strings and its comments."""
    return _CODE_FENCE.sub("", _CODE_FREE.sub(" ", code))


_CODE_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)
_CODE_FREE = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|(?:#|//).*$", re.MULTILINE)
_CODE_NAME = re.compile(r"[A-Za-z_]\w*")
_SETTING = re.compile(r"\s*[$%\w.-]+\s*[:=]")
_CODE_WORD = re.compile(r"[^\W\d_][\w-]+")
_CODE_CALLED = re.compile(r"(?:(?<=\.)[A-Za-z_]\w*|[A-Za-z_]\w*(?=\())")
_CODE_LONG = re.compile(r"(?<!\w)[A-Za-z]\w*_\w+")
"""A name of several words, which is nobody's plain word; `__name__` is the language's own."""
_CODE_MADE = re.compile(r"\b(?:def|class|function|as|for|import)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*=(?!=)")
_CODE_OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_CODE_FIGURE = re.compile(r"(?<![\w.])(?!(?:0|1)(?![\w.]))\d+(?:\.\d+)*")


def has_amounts(text: str, known: str = "") -> bool:
    """Tell whether a text holds an amount with a unit, or a quotation, that what is `known` lacks; versions and years are
    none."""
    amounts = [q for q in quantities(text) if q.unit not in ("", "ordinal", *CALENDAR)]
    return bool(quotations(text)) or bool(amounts and not numbers_agree(text, known, amounts).ok)


_TO_FILL_IN = re.compile(r"<[^<>\n]*>")
_FILLED_IN = re.compile(r"<[^<>\n]*>(?:[-_.:]?[01](?![\w.]))?")
_COMMAND_PART = re.compile(
    r"(?<![\w-])--?[A-Za-z][\w-]*|[A-Za-z_]\w*(?:[./:-]\w+)+|(?<![\w.])(?!(?:0|1)(?![\w.]))\d+(?:\.\d+)*"
)
_CODE = re.compile(r"`[^`\n]{1,300}`")
_NUMBERED_NAME = re.compile(rf"{any_word('numbers.name_before_patterns')}$", re.IGNORECASE)
_CONSTRAINT = re.compile(r"[(（]\s?[<>=≥≤]{1,2}$")
"""How the version that a package needs is given: name (>= 2)."""
_NUMBERED = re.compile(any_word("numbers.name_behind_patterns"), re.IGNORECASE)
_SINCE = re.compile(rf"{any_word('numbers.since_patterns')}$", re.IGNORECASE)
_SINCE_BEHIND = re.compile(any_word("numbers.since_behind_patterns"))
"""What stands before or behind a version whose name is told elsewhere ("removed in 3.14")."""
_NAMED_BEFORE = re.compile(r"(?:\b[A-Z][\w+]*|[A-Za-z]\w*[A-Z]\w*) ?$")


_RELEASED = re.compile(r"[A-Za-z][\w+#-]* v?\d+(?:\.\d+)+(?![\d.]*\s?%)")
"""A release of something that is named."""


def _is_version(quantity: Quantity, text: str, is_about_versions: bool) -> bool:
    written = text[quantity.start : quantity.end].strip()
    if re.fullmatch(r"\d+(?:\.\d+)*", written) is None:
        return False
    before, behind = text[: quantity.start].rstrip(), text[quantity.end :].lstrip()
    if _NUMBERED_NAME.search(before) or _CONSTRAINT.search(before) or _NUMBERED.match(behind):
        return True
    is_named = _NAMED_BEFORE.search(text[: quantity.start]) is not None
    if is_about_versions and not quantity.unit and ("." in written or is_named):
        return True
    if "." not in written:
        return False
    return bool(is_named or _SINCE.search(before) or _SINCE_BEHIND.match(behind))
