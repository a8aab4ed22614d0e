"""Read changes to a plan out of what the user wrote ("drop 2", "please remove the section about costs", 去掉第二节).

Commands stand one on a line or between semicolons, in any language of the lexica (`plan`). A section is named by its
number as it was shown, by its place ("the second section", 最后一节), or by words of its title.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from deep_research.data import Brief, PlanChange, PlanEdit
from deep_research.i18n.catalog import join_list, phrase
from deep_research.i18n.lexicon import any_of, any_word, entry, languages, words
from deep_research.text.tokens import content_terms

LAST = 99
"""The number that stands for the last section, or the last place."""
_CHANGES: tuple[PlanChange, ...] = ("title", "objective", "rename", "move", "focus", "describe", "add", "drop")
"""In the order in which they are tried: what says more comes first."""
_LINES = re.compile(r"[\n;；]+")
_DETAIL = re.compile(r"\s+[-–—]{1,2}\s+|\s*——\s*|\s*[:：]\s*")
_QUOTES = "\"'“”‘’「」『』《》"
_GROUPS = {
    "<section>": r"(?P<section>.+?)",
    "<text>": r"(?P<text>.*?)",
    "<to>": r"(?P<to>.+?)",
    "<number>": r"(?P<section>\d{1,2})",
}


class NotUnderstood(ValueError):
    """Raised for a text that is no change, or that names no section of the plan; the message is for the user."""


class _Template(NamedTuple):
    language: str
    change: PlanChange
    pattern: re.Pattern[str]


@cache
def _templates() -> tuple[_Template, ...]:
    """Return the ways of saying a change, of all languages."""
    found: list[_Template] = []
    for change in _CHANGES:
        for language in languages():
            for text in words(f"plan.{change}", language):
                filled = re.sub("<[a-z]+>", lambda match: _GROUPS[match[0]], text)
                found.append(_Template(language, change, re.compile(filled, re.IGNORECASE)))
    return tuple(found)


@cache
def _pattern(name: str, language: str = "") -> re.Pattern[str]:
    return re.compile(any_word(f"plan.{name}_patterns", language), re.IGNORECASE)


def lines_of(answer: str) -> list[str]:
    """Return the commands of an answer as they were written."""
    return [part.strip() for part in _LINES.split(answer) if part.strip()]


def read_edits(line: str, brief: Brief) -> list[PlanEdit]:
    """Return the changes that a line asks for. Raises NotUnderstood when it asks for none, or for no section of `brief`."""
    parts = _apart(line)
    if len(parts) > 1:
        try:
            return [_read_one(part, brief) for part in parts]
        except NotUnderstood:
            pass  # "costs and risks" is one thing
    return [_read_one(line, brief)]


def _apart(line: str) -> list[str]:
    """Return the parts of a line that each begin like a command of their own; the line alone where it does not."""
    starts = [0]
    joints = list(_pattern("joint").finditer(line))
    until = [*(joint.start() for joint in joints[1:]), len(line)]
    for joint, end in zip(joints, until, strict=False):
        piece = line[joint.end() : end]
        if piece.strip() and next(_matches(piece), None):
            starts.append(joint.end())
    before = {joint.end(): joint.start() for joint in joints}
    ends = [before[start] for start in starts[1:]] + [len(line)]
    parts = [line[start:end] for start, end in zip(starts, ends, strict=True)]
    return parts if next(_matches(parts[0]), None) else [line]


def _read_one(line: str, brief: Brief) -> PlanEdit:
    problem = ""
    for template, match in _matches(line):
        try:
            return _edit_of(template, match, brief)
        except NotUnderstood as error:
            problem = problem or str(error)
    raise NotUnderstood(problem or phrase("plan_not_understood", brief.language))


def _matches(line: str) -> Iterator[tuple[_Template, re.Match[str]]]:
    """Yield the templates that a line fits, as it was written before what is left of it without politeness."""
    whole = line.strip().lstrip("/")
    for text in dict.fromkeys([whole, whole.rstrip(" .。!！?？"), _plain(whole)]):
        for template in _templates():
            if match := template.pattern.fullmatch(text):
                yield template, match


def _plain(line: str) -> str:
    """Return a line without the words that only make it polite."""
    before = ""
    while before != line:
        before, line = line, _pattern("polite").sub("", line.strip(" .。!！?？"))
    return line


def _edit_of(template: _Template, match: re.Match[str], brief: Brief) -> PlanEdit:
    groups: dict[str, Any] = match.groupdict()
    text = (groups.get("text") or "").strip().strip(_QUOTES)
    if template.change == "add":
        title, *detail = _DETAIL.split(text, maxsplit=1)
        return PlanEdit(change="add", text=_named(title, template.language), detail=detail[0] if detail else "")
    sections = _sections(groups["section"], brief, template.language) if "section" in groups else ()
    if template.change != "drop" and len(sections) > 1:
        raise NotUnderstood(phrase("plan_not_understood", brief.language))
    to = section_numbers(groups["to"], template.language) if "to" in groups else [0]
    if len(to) != 1:
        raise NotUnderstood(phrase("plan_not_understood", brief.language))
    return PlanEdit(change=template.change, sections=sections, text=text, to=to[0])


def _sections(said: str, brief: Brief, language: str) -> tuple[int, ...]:
    """Return the numbers of the sections that a text names. Raises NotUnderstood for none, or for several by one name."""
    if numbers := section_numbers(said, language):
        return tuple(numbers)
    name = _named(said, language)
    found = _called(name, brief)
    if not name or len(found) != 1:
        titles = [brief.sections[number - 1].title for number in found] or [s.title for s in brief.sections]
        listed = join_list(titles, brief.language)
        kind = "plan_several_named" if found else "plan_none_named"
        raise NotUnderstood(phrase(kind, brief.language, name=name or said, titles=listed))
    return tuple(found)


def section_numbers(said: str, language: str) -> list[int]:
    """Return the numbers in a text that is nothing but numbers of sections ("the second section", "2, 3"), else none."""
    text = said.casefold().strip()
    ordinals: dict[str, int] = {name: number for code in languages() for name, number in _ordinals(code).items()}
    spaced = any_of(name for name in ordinals if name.isascii())
    text = _pattern("number_affix", language).sub(" ", text)
    text = re.sub(
        rf"\b{spaced}\b|{any_of(n for n in ordinals if not n.isascii())}", lambda m: f" {ordinals[m[0]]} ", text
    )
    text = _pattern("number_affix", language).sub(" ", text)
    between = rf"(\d{{1,2}})\s*{_pattern('range', language).pattern}\s*(\d{{1,2}})"
    text = re.sub(between, lambda m: " ".join(map(str, range(int(m[1]), int(m[2]) + 1))), text)
    return [int(number) for number in re.findall(r"\d+", text)] if re.fullmatch(r"[\d\s,，、]+", text) else []


def _ordinals(language: str) -> dict[str, int]:
    return entry("plan.ordinals", language) or {}


def _named(said: str, language: str) -> str:
    """Return a name without the words around it ("the section about costs")."""
    before = ""
    while before != said:
        before, said = said, _pattern("name_affix", language).sub("", said.strip(f" .。{_QUOTES}"))
    return said


def _called(name: str, brief: Brief) -> list[int]:
    """Return the numbers of the sections with a name: by title, by words of the title, by words of what they ask."""
    wanted = set(content_terms(name))
    titles = [section.title for section in brief.sections]
    asked = ["\n".join([s.title, s.description, *s.queries]) for s in brief.sections]
    exact = [number for number, title in enumerate(titles, 1) if title.casefold() == name.casefold()]
    return exact or _holding(wanted, titles) or _holding(wanted, asked)


def _holding(wanted: set[str], texts: Sequence[str]) -> list[int]:
    return [n for n, text in enumerate(texts, 1) if wanted and wanted <= set(content_terms(text))]
