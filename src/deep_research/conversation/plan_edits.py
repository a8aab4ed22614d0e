"""What the user says about a plan that was shown: yes, no, changes as commands or as an edited outline, or a wish.

Commands stand one on a line or between semicolons: `drop 2`, `add: Title — what to look for`, `rename 2: Title`,
`move 3 1`, `focus 2: point, point`, `describe 2: text`, `title: …`, `objective: …`, in English, Chinese and Korean.
Numbers are those of the plan as it was shown, also after an earlier command of the same answer.
"""

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from deep_research.conversation.plan_outline import MAX_TEXT, MAX_TITLE, clipped, from_outline, is_outline, section_of
from deep_research.conversation.replies import confirms, rejects
from deep_research.data import Brief, Section
from deep_research.i18n.catalog import phrase

_N = r"(?:第|section\s+|no\.?\s*|#)?\s*(?P<n>\d{1,2}|last|最后|마지막)\s*(?:节|章|个|项|번(?:째)?|절)?"
_SPLIT = re.compile(r"[\n;；]+")
_NUMBER = re.compile(r"\d{1,2}|last|最后|마지막")
_DETAIL = re.compile(r"\s+[-–—]{1,2}\s+|\s*——\s*|\s*[:：]\s*")
_POINTS = re.compile(r"\s*[,，、|]\s*")


def _pattern(before: str, after: str = "", *, tail: str) -> re.Pattern[str]:
    """A verb before its number, or (Korean and Chinese) after it."""
    number_first = rf"|(?:把)?{_N}(?:을|를|은|는)?\s*(?:{after}){tail.replace('?P<', '?P<b_')}" if after else ""
    number_first = number_first.replace("(?P<n>", "(?P<b_n>")
    return re.compile(rf"(?:(?:{before})\s*{_N}{tail}{number_first})\s*[.。]?", re.IGNORECASE)


_DROP = re.compile(
    r"(?:drop|delete|remove|cut|删除|删掉|删去|去掉|移除|삭제|제거)\s*(?:sections?|第|#)?\s*(?P<list>(?:\d{1,2}|last|最后|마지막)"
    r"(?:\s*(?:,|，|、|and|和|및|\s)\s*(?:#|第)?\d{1,2})*)\s*(?:节|章|个|项|번(?:째)?)?"
    r"|(?:把)?(?:第)?(?P<list2>\d{1,2}(?:\s*(?:,|，|、|和|과|와)\s*\d{1,2})*|마지막|最后)\s*(?:节|章|个|项|번(?:째)?|절)?(?:을|를)?\s*"
    r"(?:删除|删掉|去掉|삭제|제거|빼)(?:해|해줘|해 줘|해 ?주세요|하기|기|줘|주세요|하세요)?",
    re.IGNORECASE,
)
_ADD = re.compile(
    r"(?:add|append|insert|添加|增加|新增|加上|추가)(?:\s*(?:a\s+)?section|一节|하기)?\s*[:：]\s*(?P<text>.*)",
    re.IGNORECASE,
)
_TEXT = r"\s*[:：]\s*(?P<text>.*)"
_RENAME = _pattern(
    "rename|retitle|重命名|改名|改标题|이름(?:\\s*변경)?|제목\\s*변경",
    "重命名(?:为)?|改名(?:为)?|이름\\s*변경",
    tail=_TEXT,
)
_FOCUS = _pattern("focus|points?|queries|重点|关注|焦点|초점|중점", "重点|초점|중점", tail=_TEXT)
_DESCRIBE = _pattern("describe|description|描述|说明|설명", "描述|说明|설명", tail=_TEXT)
_MOVE = re.compile(
    r"(?:move|移动|移|이동)\s*(?:第|section\s+|#)?(?P<n>\d{1,2})\s*(?:节|번)?\s*(?:to|->|→|到|至|,|을|를)?\s*(?:第|#)?(?P<to>\d{1,2})\s*(?:位|节|번|으로|로)?"
    r"|(?:把)?(?:第)?(?P<b_n>\d{1,2})\s*(?:节|번)?(?:을|를)?\s*(?:移到|移动到|移至|->|→)\s*(?:第)?(?P<b_to>\d{1,2})\s*(?:位|节)?"
    r"|(?P<c_n>\d{1,2})번?(?:을|를)?\s*(?P<c_to>\d{1,2})번?(?:으로|로)?\s*이동(?:해|해줘|해 줘|해주세요)?",
    re.IGNORECASE,
)
_TITLE = re.compile(r"(?:title|标题|제목)\s*[:：]\s*(?P<text>.*)", re.IGNORECASE)
_OBJECTIVE = re.compile(r"(?:objective|goal|目标|목표)\s*[:：]\s*(?P<text>.*)", re.IGNORECASE)


class PlanAnswer(NamedTuple):
    """What an answer to a shown plan means.

    `brief` is the plan after it (the same unless `edited`); `problems` say in the user's language what could
    not be done; `wish` is free text for whoever plans.
    """

    kind: Literal["confirmed", "rejected", "edited", "wish"]
    brief: Brief
    problems: tuple[str, ...] = ()
    wish: str = ""


def read_plan_answer(answer: str, brief: Brief, *, max_sections: int = 7) -> PlanAnswer:
    """Return what `answer` means for the plan `brief`; changes that cannot be made are told, the others are made."""
    if is_outline(answer):
        return _from_outline(answer, brief, max_sections)
    commands = [part.strip() for part in _SPLIT.split(answer) if part.strip()]
    if any(_command(part) for part in commands):
        return _apply(commands, brief, max_sections)
    if rejects(answer):
        return PlanAnswer("rejected", brief)
    if confirms(answer):
        return PlanAnswer("confirmed", brief)
    return PlanAnswer("wish", brief, wish=answer.strip())


def _from_outline(answer: str, brief: Brief, max_sections: int) -> PlanAnswer:
    edited = from_outline(answer, brief)
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

    def place(self, number: str) -> int:
        """Return where the section of a number stands. Raises ValueError (what to tell the user)."""
        shown = len(self.brief.sections)
        wanted = int(number) if number.isdigit() else shown
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

    def drop(self, numbers: Sequence[str]) -> None:
        """Take sections out; one stays at least."""
        places = {self.place(number) for number in numbers}
        if len(places) >= len(self.rows):
            raise ValueError(self.say("plan_last_section"))
        self.rows = [row for place, row in enumerate(self.rows) if place not in places]

    def finished(self) -> Brief:
        """Return the plan as it is now."""
        return self.brief.model_copy(update={"sections": tuple(section for _, section in self.rows)})


def _apply(commands: Sequence[str], brief: Brief, max_sections: int) -> PlanAnswer:
    draft = _Draft(brief, max_sections)
    problems: list[str] = []
    for text in commands:
        found = _command(text)
        try:
            if found is None:
                raise ValueError(draft.say("plan_not_understood"))
            carry_out, match = found
            carry_out(draft, match)
        except ValueError as problem:
            problems.append(f"“{text[:80]}”: {problem}")
    return PlanAnswer("edited", draft.finished(), tuple(problems))


def _drop(draft: _Draft, match: re.Match[str]) -> None:
    draft.drop(_NUMBER.findall((match["list"] or match["list2"]).casefold()))


def _add(draft: _Draft, match: re.Match[str]) -> None:
    title, *detail = _DETAIL.split(match["text"].strip(), maxsplit=1)
    description = detail[0] if detail else ""
    draft.put(len(draft.rows), section_of(title, description, [f"{title} {description}".strip()]))


def _rename(draft: _Draft, match: re.Match[str]) -> None:
    number, text = _named(match, "n"), clipped(_named(match, "text"), MAX_TITLE)
    place = draft.place(number)
    before = draft.rows[place][1]
    # The old name is no longer what the section is about; the new one is searched for.
    queries = tuple(dict.fromkeys(text if query == before.title else query for query in (text, *before.queries)))
    draft.put(place, before.model_copy(update={"title": text, "subject": "", "queries": queries}))


def _focus(draft: _Draft, match: re.Match[str]) -> None:
    place = draft.place(_named(match, "n"))
    points = [point for point in _POINTS.split(_named(match, "text").strip()) if point]
    if not points:
        raise ValueError(draft.say("plan_empty_text"))
    before = draft.rows[place][1]
    draft.put(place, section_of(before.title, "; ".join(points), points, before))


def _describe(draft: _Draft, match: re.Match[str]) -> None:
    place = draft.place(_named(match, "n"))
    text = clipped(_named(match, "text"), MAX_TEXT)
    if not text:
        raise ValueError(draft.say("plan_empty_text"))
    draft.put(place, draft.rows[place][1].model_copy(update={"description": text}))


def _move(draft: _Draft, match: re.Match[str]) -> None:
    number = next(match[name] for name in ("n", "b_n", "c_n") if match[name])
    target = int(next(match[name] for name in ("to", "b_to", "c_to") if match[name]))
    place = draft.place(number)
    if not 1 <= target <= len(draft.rows):
        raise ValueError(draft.say("plan_no_place", number=target, count=len(draft.rows)))
    draft.rows.insert(target - 1, draft.rows.pop(place))


def _head(field: str, length: int) -> "Callable[[_Draft, re.Match[str]], None]":
    def change(draft: _Draft, match: re.Match[str]) -> None:
        text = clipped(match["text"], length)
        if not text:
            raise ValueError(draft.say("plan_empty_text"))
        draft.brief = draft.brief.model_copy(update={field: text})

    return change


def _named(match: re.Match[str], name: str) -> str:
    """A group of either order of words."""
    return match[name] if match[name] is not None else match[f"b_{name}"]


_COMMANDS: tuple[tuple[re.Pattern[str], Callable[[_Draft, re.Match[str]], None]], ...] = (
    (_DROP, _drop), (_ADD, _add), (_RENAME, _rename), (_FOCUS, _focus), (_DESCRIBE, _describe), (_MOVE, _move),
    (_TITLE, _head("title", MAX_TITLE)), (_OBJECTIVE, _head("objective", MAX_TEXT)),
)  # fmt: skip


def _command(text: str) -> "tuple[Callable[[_Draft, re.Match[str]], None], re.Match[str]] | None":
    """Return what a line of an answer tells to do, or None."""
    for pattern, carry_out in _COMMANDS:
        if match := pattern.fullmatch(text) or pattern.fullmatch(text.rstrip(" .。!！")):
            return carry_out, match
    return None
