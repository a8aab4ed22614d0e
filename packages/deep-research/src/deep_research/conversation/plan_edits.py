"""Answers to a shown plan: yes, no, an edited outline, or changes in plain forms.

The forms are `word numbers`, `word: text` and `word number: text` ("drop 2", "add: Costs", 改名 2：速度), one on a line or
between semicolons; the words stand in the lexica (`plan`). Whatever else is said, the reasoner reads. Numbers are
those of the plan as it was shown, also after an earlier change of the same answer.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple

from claimcheck.lexicon import any_of, words
from deep_research.conversation import plan_outline
from deep_research.conversation.plan_outline import MAX_TEXT, MAX_TITLE, clip, section_of
from deep_research.conversation.replies import confirms, rejects
from deep_research.data import MAX_SECTIONS, Brief, PlanChange, PlanEdit, Section
from deep_research.i18n.catalog import phrase

_LINES = re.compile(r"[\n;；]+")
_DETAIL = re.compile(r"(?<!\s)(?:\s+[-–—]{1,2}\s+|\s*(?:——|[:：])\s*)")
_POINTS = re.compile(r"(?:(?<!\s)\s++)?[,，、|]\s*")
_FORMS: dict[PlanChange, str] = {
    **dict.fromkeys(("drop", "move"), r"\s*+[:：]?\s*+(?P<numbers>\d{1,2}(?:[\s,，、]++\d{1,2})*)"),
    **dict.fromkeys(("rename", "focus", "describe"), r"\s*(?P<numbers>\d{1,2})\s*[:：]\s*(?P<text>.*)"),
    **dict.fromkeys(("add", "title", "objective"), r"\s*[:：]\s*(?P<text>.*)"),
}
"""What follows the word of a change: numbers of sections, the number of one and a text, or a text."""


@cache
def _forms() -> dict[PlanChange, re.Pattern[str]]:
    return {
        change: re.compile(rf"/?{any_of(words(f'plan.{change}'))}{rest}[.。!！]?", re.IGNORECASE)
        for change, rest in _FORMS.items()
    }


def read_edit(line: str) -> PlanEdit | None:
    """Return the change that a line requests in a known form; None in no such form."""
    for change, form in _forms().items():
        if not (match := form.fullmatch(line.strip())):
            continue
        said = match.groupdict()
        numbers = [int(number) for number in re.findall(r"\d+", said.get("numbers") or "")]
        text = (said.get("text") or "").strip()
        if change == "move":
            return (
                PlanEdit(change=change, sections=(numbers[0],), to=numbers[1], said=line) if len(numbers) == 2 else None
            )
        if change == "add":
            text, *detail = _DETAIL.split(text, maxsplit=1)
            return PlanEdit(change=change, text=text, detail="".join(detail), said=line)
        return PlanEdit(change=change, sections=tuple(numbers), text=text, said=line)
    return None


class PlanAnswer(NamedTuple):
    """What the user says to a plan.

    `brief` is the plan after it (the same unless `edited`); `problems` say in the user's language what could not be
    done. `is_clear` is false where code could not read all of the answer.
    """

    kind: Literal["confirmed", "rejected", "edited", "unclear"]
    brief: Brief
    problems: tuple[str, ...] = ()
    is_clear: bool = True


def read_plan_answer(answer: str, brief: Brief) -> PlanAnswer:
    """Return what `answer` means for the plan `brief`, with the possible changes."""
    answer = plan_outline.fold_blanks(answer)
    if plan_outline.is_outline(answer):
        return _from_outline(answer, brief)
    lines = [line.strip() for line in _LINES.split(answer) if line.strip()]
    read = {line: read_edit(line) for line in lines}
    edits = [edit for edit in read.values() if edit is not None]
    why = phrase("plan_not_understood", brief.language)
    unread = tuple(f"“{line[:80]}”: {why}" for line in lines if read[line] is None)
    if edits:
        made = apply_edits(brief, edits)
        return made._replace(problems=(*made.problems, *unread), is_clear=not unread)
    if rejects(answer):
        return PlanAnswer("rejected", brief)
    if confirms(answer):
        return PlanAnswer("confirmed", brief)
    return PlanAnswer("unclear", brief, unread[:1], is_clear=False)


def apply_edits(brief: Brief, edits: Sequence[PlanEdit]) -> PlanAnswer:
    """Return the plan with the changes that can be made, and what could not be."""
    draft = _Draft(brief)
    problems: list[str] = []
    for edit in edits:
        try:
            draft.make(edit)
        except ValueError as problem:
            problems.append(f"“{(edit.said or edit.change)[:80]}”: {problem}")
    return PlanAnswer("edited", draft.finished(), tuple(problems))


def _from_outline(answer: str, brief: Brief) -> PlanAnswer:
    edited = plan_outline.parse_outline(answer, brief)
    titles = [section.title for section in edited.sections]
    problem = ""
    if not titles:
        problem = phrase("plan_no_sections", brief.language)
    elif repeated := next((title for title in titles if titles.count(title) > 1), ""):
        problem = phrase("plan_same_title", brief.language, title=repeated)
    elif len(titles) > MAX_SECTIONS:
        problem = phrase("plan_too_many", brief.language, count=len(titles), limit=MAX_SECTIONS)
    return PlanAnswer("edited", brief if problem else edited, (problem,) if problem else ())


class _Draft:
    """A plan while it is changed: sections with the numbers they were shown under."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.rows: list[tuple[int, Section]] = list(enumerate(brief.sections, 1))

    def make(self, edit: PlanEdit) -> None:
        """Make a change. Raises ValueError, with a message for the user, if impossible."""
        match edit.change:
            case "drop":
                self._drop(edit.sections)
            case "add":
                query = f"{edit.text} {edit.detail}".strip()
                self._put(len(self.rows), section_of(edit.text, edit.detail, [query]))
            case "title":
                self.brief = self.brief.model_copy(update={"title": self._text(edit, MAX_TITLE)})
            case "objective":
                self.brief = self.brief.model_copy(update={"objective": self._text(edit, MAX_TEXT), "instruction": ""})
            case _:
                self._change_section(self._place(edit.sections[0] if edit.sections else 0), edit)

    def finished(self) -> Brief:
        return self.brief.model_copy(update={"sections": tuple(section for _, section in self.rows)})

    def _change_section(self, place: int, edit: PlanEdit) -> None:
        before = self.rows[place][1]
        match edit.change:
            case "rename":
                title = clip(edit.text, MAX_TITLE)
                # The old name is no longer what the section is about; the new one is searched for.
                queries = (title, *(title if query == before.title else query for query in before.queries))
                named = {"title": title, "subject": "", "queries": tuple(dict.fromkeys(queries))}
                self._put(place, before.model_copy(update=named))
            case "focus":
                points = [point for point in _POINTS.split(self._text(edit, MAX_TEXT)) if point]
                self._put(place, section_of(before.title, "; ".join(points), points, before))
            case "describe":
                self._put(place, before.model_copy(update={"description": self._text(edit, MAX_TEXT)}))
            case _:  # move
                if not 1 <= edit.to <= len(self.rows):
                    raise self._problem("plan_no_place", number=edit.to, count=len(self.rows))
                self.rows.insert(edit.to - 1, self.rows.pop(place))

    def _problem(self, name: str, **values: object) -> ValueError:
        return ValueError(phrase(name, self.brief.language, **values))

    def _text(self, edit: PlanEdit, length: int) -> str:
        if not (text := clip(edit.text, length)):
            raise self._problem("plan_empty_text")
        return text

    def _place(self, number: int) -> int:
        for place, (row, _) in enumerate(self.rows):
            if row == number:
                return place
        shown = len(self.brief.sections)
        gone = 1 <= number <= shown
        raise self._problem("plan_section_gone" if gone else "plan_no_section", number=number, count=shown)

    def _put(self, place: int, section: Section) -> None:
        """Replace the section at `place`, or append one; titles must be unique."""
        if not section.title:
            raise self._problem("plan_empty_title")
        if section.title.casefold() in {s.title.casefold() for at, (_, s) in enumerate(self.rows) if at != place}:
            raise self._problem("plan_same_title", title=section.title)
        if place == len(self.rows) >= MAX_SECTIONS:
            raise self._problem("plan_too_many", count=place + 1, limit=MAX_SECTIONS)
        self.rows[place : place + 1] = [(self.rows[place][0] if place < len(self.rows) else 0, section)]

    def _drop(self, numbers: Sequence[int]) -> None:
        places = {self._place(number) for number in numbers}
        if len(places) >= len(self.rows):
            raise self._problem("plan_last_section")
        self.rows = [row for place, row in enumerate(self.rows) if place not in places]
