"""A plan that a user is shown, and what is said about it: yes, no, or changes, as commands or as an edited outline.

Commands ("drop 2", "please remove the section about costs", 去掉第二节) stand one on a line or between semicolons, in any
language of the lexica (`plan`). A section is named by its number, by its place ("the second section", 最后一节), or by
words of its title. Numbers are those of the plan as it was shown, also after an earlier change of the same answer.
The outline is Markdown: `# title`, text below it: the objective; `## section`, text below it: its description;
`- point`: what to search for.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from deep_research.conversation.replies import confirms, rejects
from deep_research.data import Asked, Brief, PlanChange, PlanEdit, Section
from deep_research.i18n.catalog import join_list, phrase
from deep_research.i18n.lexicon import any_of, any_word, entry, languages, words
from deep_research.text.tokens import content_terms

MAX_TITLE, MAX_TEXT, MAX_QUERIES, _LONGEST_COMMANDS = 200, 1000, 6, 4_000
_HEADING = re.compile(r"^(#{1,6})(?:\s+|$)(?:\d{1,2}(?:[.)]\s+|、\s*))?(.*)$")
_POINT = re.compile(r"^\s*[-*•+]\s+(.*\S)")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def format_outline(brief: Brief) -> str:
    """Return a plan as an outline; `from_outline` reads it back."""
    blocks = [f"# {brief.title}", brief.objective]
    for section in brief.sections:
        points = "\n".join(f"- {query}" for query in section.queries)
        blocks += [f"## {section.title}", section.description, points]
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def format_numbered(brief: Brief) -> str:
    """Return a plan as it is shown with a question: title, objective, sections by number, points below."""
    lines = [brief.title, brief.objective, ""]
    for number, section in enumerate(brief.sections, 1):
        lines.append(f"{number}. {section.title}" + (f" — {section.description}" if section.description else ""))
        lines += [f"   - {query}" for query in section.queries]
    return "\n".join(lines)


def format_question(asked: Asked) -> str:
    """Return what a user is asked as one text, for those who show nothing else: the plan or the options with it."""
    if asked.brief is not None:
        return f"{format_numbered(asked.brief)}\n\n{asked.question}"
    return "\n".join([asked.question, *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])


def is_outline(text: str) -> bool:
    """Return whether a text is an outline: it begins with a heading, or has that of a section."""
    lines = [line for line in _COMMENT.sub("", _folded(text)).splitlines() if line.strip()]
    depths = [len(found[1]) if (found := _HEADING.match(line)) else 0 for line in lines]
    return any(depth > 1 for depth in depths) or depths[:1] == [1]


def parse_outline(text: str, brief: Brief) -> Brief:
    """Return `brief` as an edited outline says; what a section keeps its title for keeps its subject.

    Comments (`<!-- … -->`) are passed over. A missing title or objective stays as it was.
    """
    title, objective, sections = "", "", list[Section]()
    known = {section.title: section for section in brief.sections}
    for depth, name, lines in _parts(text):
        points = [found[1] for line in lines if (found := _POINT.match(line))]
        prose = " ".join(" ".join(line for line in lines if not _POINT.match(line)).split())
        if depth == 1 and not sections:
            title, objective = name, prose
        elif name:
            sections.append(section_of(name, prose, points, known.get(clip(name, MAX_TITLE))))
    return brief.model_copy(
        update={
            "title": clip(title, MAX_TITLE) or brief.title,
            "objective": clip(objective, MAX_TEXT) or brief.objective,
            "sections": tuple(sections),
        }
    )


def _parts(text: str) -> list[tuple[int, str, list[str]]]:
    """Headings with their depth and the lines below them."""
    parts: list[tuple[int, str, list[str]]] = []
    for line in _COMMENT.sub("", _folded(text)).splitlines():
        if found := _HEADING.match(line):
            parts.append((len(found[1]), found[2].strip().rstrip("#").rstrip(), []))
        elif parts:
            parts[-1][2].append(line)
    return parts


def section_of(title: str, description: str, points: list[str], before: Section | None = None) -> Section:
    """Return a section of a plan as the user wrote it; `before` is the one it replaces."""
    section = before or Section(title=clip(title, MAX_TITLE))
    queries = tuple(dict.fromkeys(clip(point, MAX_TITLE) for point in points if point.strip()))[:MAX_QUERIES]
    return section.model_copy(
        update={
            "title": clip(title, MAX_TITLE),
            "description": clip(description, MAX_TEXT),
            "queries": queries or (clip(title, MAX_TITLE),),
        }
    )


def clip(text: str, length: int) -> str:
    """Return `text` on one line, at most `length` characters."""
    return " ".join(text.split())[:length].rstrip()


LAST = 99
"""The number that stands for the last section, or the last place."""
_COMMANDS: tuple[PlanChange, ...] = ("title", "objective", "rename", "move", "focus", "describe", "add", "drop")
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
    for change in _COMMANDS:
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


_POINTS = re.compile(r"\s*[,，、|]\s*")


class PlanAnswer(NamedTuple):
    """What an answer to a shown plan means.

    `brief` is the plan after it (the same unless `edited`); `problems` say in the user's language what could not be
    done. `unclear` is an answer of which code understands nothing.
    """

    kind: Literal["confirmed", "rejected", "edited", "unclear"]
    brief: Brief
    problems: tuple[str, ...] = ()


def _folded(text: str) -> str:
    """Return a text with every run of blanks as one, so that no pattern reads a long one again and again."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def read_plan_answer(answer: str, brief: Brief, *, max_sections: int = 7) -> PlanAnswer:
    """Return what `answer` means for the plan `brief`; changes that cannot be made are told, the others are made."""
    answer = _folded(answer)
    if is_outline(answer):
        return _from_outline(answer, brief, max_sections)
    edits: list[PlanEdit] = []
    problems: list[str] = []
    for line in lines_of(answer) if len(answer) <= _LONGEST_COMMANDS else ():
        try:
            edits += [edit.model_copy(update={"said": line}) for edit in read_edits(line, brief)]
        except NotUnderstood as problem:
            problems.append(_problem(line, problem))
    if edits:
        made = apply_edits(brief, edits, max_sections=max_sections)
        return made._replace(problems=(*made.problems, *problems))
    if rejects(answer):
        return PlanAnswer("rejected", brief)
    if confirms(answer):
        return PlanAnswer("confirmed", brief)
    return PlanAnswer("unclear", brief, tuple(problems))


def apply_edits(brief: Brief, edits: Sequence[PlanEdit], *, max_sections: int) -> PlanAnswer:
    """Return the plan with the changes that can be made, and what could not be."""
    draft = _Draft(brief, max_sections)
    problems: list[str] = []
    for edit in edits:
        try:
            _CHANGES[edit.change](draft, edit)
        except ValueError as problem:
            problems.append(_problem(edit.said or edit.change, problem))
    return PlanAnswer("edited", draft.finished(), tuple(problems))


def _problem(said: str, problem: Exception) -> str:
    return f"“{said[:80]}”: {problem}"


def _from_outline(answer: str, brief: Brief, max_sections: int) -> PlanAnswer:
    edited = parse_outline(answer, brief)
    titles = [section.title for section in edited.sections]
    say = _Speaker(brief.language)
    if not titles:
        return PlanAnswer("edited", brief, (say("plan_no_sections"),))
    if repeated := next((title for title in titles if titles.count(title) > 1), ""):
        return PlanAnswer("edited", brief, (say("plan_same_title", title=repeated),))
    if len(titles) > max_sections:
        return PlanAnswer("edited", brief, (say("plan_too_many", count=len(titles), limit=max_sections),))
    return PlanAnswer("edited", edited)


class _Speaker:
    """Phrases in one language."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __call__(self, name: str, **values: object) -> str:
        return phrase(name, self._language, **values)


class _Draft:
    """A plan while it is changed: sections with the numbers they were shown under."""

    def __init__(self, brief: Brief, max_sections: int) -> None:
        self.brief, self.limit = brief, max_sections
        self.rows: list[tuple[int, Section]] = list(enumerate(brief.sections, 1))
        self.say = _Speaker(brief.language)

    def place(self, number: int) -> int:
        """Return where the section of a number stands. Raises ValueError (what to tell the user)."""
        shown = len(self.brief.sections)
        wanted = shown if number == LAST else number
        for place, (row, _) in enumerate(self.rows):
            if row == wanted:
                return place
        gone = 1 <= wanted <= shown
        raise ValueError(self.say("plan_section_gone" if gone else "plan_no_section", number=wanted, count=shown))

    def put(self, place: int, section: Section) -> None:
        """Replace the section at a place; no two may have one title."""
        taken = {s.title.casefold() for at, (_, s) in enumerate(self.rows) if at != place}
        if not section.title:
            raise ValueError(self.say("plan_empty_title"))
        if section.title.casefold() in taken:
            raise ValueError(self.say("plan_same_title", title=section.title))
        if place == len(self.rows):
            if len(self.rows) >= self.limit:
                raise ValueError(self.say("plan_too_many", count=len(self.rows) + 1, limit=self.limit))
            self.rows.append((0, section))
        else:
            self.rows[place] = (self.rows[place][0], section)

    def drop(self, numbers: Sequence[int]) -> None:
        """Take sections out; one stays at least."""
        places = {self.place(number) for number in numbers}
        if len(places) >= len(self.rows):
            raise ValueError(self.say("plan_last_section"))
        self.rows = [row for place, row in enumerate(self.rows) if place not in places]

    def finished(self) -> Brief:
        """Return the plan as it is now."""
        return self.brief.model_copy(update={"sections": tuple(section for _, section in self.rows)})


def _drop(draft: _Draft, edit: PlanEdit) -> None:
    draft.drop(edit.sections)


def _add(draft: _Draft, edit: PlanEdit) -> None:
    draft.put(len(draft.rows), section_of(edit.text, edit.detail, [f"{edit.text} {edit.detail}".strip()]))


def _rename(draft: _Draft, edit: PlanEdit) -> None:
    text, place = clip(edit.text, MAX_TITLE), _place(draft, edit)
    before = draft.rows[place][1]
    # The old name is no longer what the section is about; the new one is searched for.
    queries = tuple(dict.fromkeys(text if query == before.title else query for query in (text, *before.queries)))
    draft.put(place, before.model_copy(update={"title": text, "subject": "", "queries": queries}))


def _focus(draft: _Draft, edit: PlanEdit) -> None:
    place = _place(draft, edit)
    points = [point for point in _POINTS.split(_text(draft, edit, MAX_TEXT)) if point]
    before = draft.rows[place][1]
    draft.put(place, section_of(before.title, "; ".join(points), points, before))


def _describe(draft: _Draft, edit: PlanEdit) -> None:
    place, text = _place(draft, edit), _text(draft, edit, MAX_TEXT)
    draft.put(place, draft.rows[place][1].model_copy(update={"description": text}))


def _move(draft: _Draft, edit: PlanEdit) -> None:
    place, target = _place(draft, edit), len(draft.rows) if edit.to == LAST else edit.to
    if not 1 <= target <= len(draft.rows):
        raise ValueError(draft.say("plan_no_place", number=target, count=len(draft.rows)))
    draft.rows.insert(target - 1, draft.rows.pop(place))


def _title(draft: _Draft, edit: PlanEdit) -> None:
    draft.brief = draft.brief.model_copy(update={"title": _text(draft, edit, MAX_TITLE)})


def _objective(draft: _Draft, edit: PlanEdit) -> None:
    draft.brief = draft.brief.model_copy(update={"objective": _text(draft, edit, MAX_TEXT)})


def _place(draft: _Draft, edit: PlanEdit) -> int:
    return draft.place(edit.sections[0] if edit.sections else 0)


def _text(draft: _Draft, edit: PlanEdit, length: int) -> str:
    if not (text := clip(edit.text, length)):
        raise ValueError(draft.say("plan_empty_text"))
    return text


_CHANGES: dict[PlanChange, Callable[[_Draft, PlanEdit], None]] = {
    "drop": _drop, "add": _add, "rename": _rename, "focus": _focus, "describe": _describe, "move": _move,
    "title": _title, "objective": _objective,
}  # fmt: skip
