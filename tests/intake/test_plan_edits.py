"""Contract row A6: what an answer to a shown plan means — yes, no, changes in three languages, an outline, or a wish."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.conversation.plan_edits import PlanAnswer, read_plan_answer
from deep_research.conversation.plan_outline import format_outline, parse_outline
from deep_research.data import Brief, Section
from deep_research_server.api_models import PlanInput, PlannedSection

NAMES = ("Alpha", "Beta", "Gamma", "Delta")


def _section(name: str) -> Section:
    return Section(title=name, subject=name, description=f"About {name}.", queries=(f"{name} speed", f"{name} weight"))


def _brief(language: str = "en") -> Brief:
    sections = tuple(_section(name) for name in NAMES)
    return Brief(title="Engines", objective="Compare them.", language=language, sections=sections)


def _read(answer: str, language: str = "en") -> PlanAnswer:
    return read_plan_answer(answer, _brief(language))


def _titles(said: PlanAnswer) -> list[str]:
    return [section.title for section in said.brief.sections]


def test_a6_a_plan_put_over_http_is_searched_for_by_its_focus() -> None:
    shown = _brief()
    put = PlanInput(
        sections=[PlannedSection(title="Alpha", queries=["Alpha speed", "Alpha weight"], focus=["my own point"])]
    )
    (section,) = parse_outline(format_outline(put.brief(shown)), shown).sections
    assert section.focus == ("my own point", "Alpha speed", "Alpha weight")


def test_a6_edited_searches_are_made_and_others_stay_as_planned() -> None:
    first, *others = (s.model_copy(update={"focus": (f"{s.title} focus",)}) for s in _brief().sections)
    brief = _brief().model_copy(update={"sections": (first, *others)})
    outline = format_outline(brief).replace("- Alpha weight", "- Alpha noise") + "\n## Costs\n- prices\n"
    sections = parse_outline(outline, brief).sections
    assert [s.focus for s in sections] == [("Alpha speed", "Alpha noise"), *(s.focus for s in others), ("prices",)]


@pytest.mark.parametrize(
    "answer",
    ["yes", "Yes.", "y", "ok", "OK, start", "looks good", "Go ahead!", "confirm", "LGTM", "Start with this plan", "",
     "确认", "好的，开始吧", "可以", "没问题", "就这样", "按此计划开始", "네", "확인", "좋아요", "시작해 주세요", "이 계획으로 시작"],
)  # fmt: skip
def test_a6_yes(answer: str) -> None:
    assert _read(answer).kind == "confirmed"


@pytest.mark.parametrize(
    "answer",
    ["no", "No, cancel.", "cancel", "stop", "reject", "never mind", "取消", "不要", "算了", "拒绝", "不，取消", "아니요", "취소",
     "취소해 주세요", "그만", "거부합니다"],
)  # fmt: skip
def test_a6_no(answer: str) -> None:
    assert _read(answer).kind == "rejected"


EDITS: list[tuple[str, list[str]]] = [
    ("drop 2", ["Alpha", "Gamma", "Delta"]),
    ("删除 2", ["Alpha", "Gamma", "Delta"]),
    ("삭제 2", ["Alpha", "Gamma", "Delta"]),
    ("add: Prices — what each costs", [*NAMES, "Prices"]),
    ("添加：价格 — 各自的价格", [*NAMES, "价格"]),
    ("추가: 가격 — 각각의 가격", [*NAMES, "가격"]),
    ("rename 2: Second", ["Alpha", "Second", "Gamma", "Delta"]),
    ("改名 2：第二种", ["Alpha", "第二种", "Gamma", "Delta"]),
    ("削除 2、3", ["Alpha", "Delta"]),
    ("move 3 1", ["Gamma", "Alpha", "Beta", "Delta"]),
    ("이동 3 1", ["Gamma", "Alpha", "Beta", "Delta"]),
    ("drop 1; drop 2\nmove 4 1；rename 3: Third", ["Delta", "Third"]),
]


@pytest.mark.parametrize(("answer", "titles"), EDITS)
def test_a6_sections_are_dropped_added_renamed_and_moved_by_the_numbers_shown(answer: str, titles: list[str]) -> None:
    said = _read(answer)
    assert (said.kind, said.problems) == ("edited", ())
    assert _titles(said) == titles


@pytest.mark.parametrize(
    "answer", ["focus 2: price, noise", "重点 2：price、noise", "초점 2: price, noise", "Focus 2: price，noise"]
)
def test_a6_focus_points_become_what_is_searched(answer: str) -> None:
    changed = _read(answer).brief.sections[1]
    assert (changed.title, changed.subject) == ("Beta", "Beta")
    assert changed.queries == ("price", "noise")
    assert changed.description == "price; noise"


def test_a6_an_added_section_is_searched_for_and_a_renamed_one_loses_its_old_subject() -> None:
    added = _read("add: Prices — what each costs").brief.sections[-1]
    assert (added.description, added.queries) == ("what each costs", ("Prices what each costs",))
    renamed = _read("rename 1: Second").brief.sections[0]
    assert renamed.subject == ""
    assert renamed.queries[0] == "Second"


def test_a6_title_objective_and_description_can_be_said() -> None:
    brief = _read("title: Motors\nobjective: Choose one.\ndescribe 1: How fast is it?").brief
    assert (brief.title, brief.objective, brief.sections[0].description) == ("Motors", "Choose one.", "How fast is it?")


BAD: list[tuple[str, str]] = [
    ("drop 9", "1 to 4"),
    ("move 1 7", "4 sections"),
    ("rename 1: Beta", "Beta"),
    ("add: gamma", "gamma"),
    ("rename 1:", "title"),
    ("drop 1, 2, 3, 4", "one section"),
    ("drop 1; rename 1: X", "dropped"),
    ("add: A\nadd: B\nadd: C\nadd: D", "at most 7"),
]


@pytest.mark.parametrize(("answer", "why"), BAD)
def test_a6_a_change_that_cannot_be_made_says_why_and_loses_nothing(answer: str, why: str) -> None:
    said = _read(answer)
    assert said.kind == "edited"
    assert len(said.problems) == 1
    assert why in said.problems[0]
    kept = {s.title: s for s in said.brief.sections}
    assert all(kept.get(name, _section(name)) == _section(name) for name in NAMES)


@pytest.mark.parametrize(
    "answer", ["focus on costs, please", "2", "drop Beta", "Why is there no section on noise?", "为什么没有噪声？"]
)
def test_a6_what_is_in_no_form_is_asked_back_and_changes_nothing(answer: str) -> None:
    said = _read(answer)
    assert (said.kind, said.brief, said.is_clear) == ("unclear", _brief(), False)
    assert said.problems == (f"“{answer}”: this is none of the forms named below.",)


@pytest.mark.parametrize("said", ["Engines", "# y -->", "<!-- x", "- x", "12. x", "\\# x", "Costs in C#"])
def test_a6_an_outline_that_was_not_changed_is_the_same_plan(said: str) -> None:
    first, *others = _brief().sections
    changed = first.model_copy(update={"title": f"{said} -->", "description": said, "queries": (said,)})
    brief = _brief().model_copy(update={"title": said, "objective": said, "sections": (changed, *others)})
    assert parse_outline(format_outline(brief), brief) == brief


def test_a6_an_edited_outline_is_the_plan() -> None:
    text = """<!-- how to edit -->
# Motors

Choose one.

## 1. Gamma
How fast is it?
It is a turbine.
- gamma rpm
* gamma fuel

## Prices
"""
    brief = _read(text).brief
    assert (brief.title, brief.objective) == ("Motors", "Choose one.")
    gamma, prices = brief.sections
    assert (gamma.title, gamma.subject) == ("Gamma", "Gamma")
    assert gamma.description == "How fast is it? It is a turbine."
    assert gamma.queries == ("gamma rpm", "gamma fuel")
    assert (prices.title, prices.queries) == ("Prices", ("Prices",))


@pytest.mark.parametrize(
    ("text", "why"),
    [("# T\n\n## A\n\n## A\n", "“A”"), ("# T\n" + "".join(f"## S{n}\n" for n in range(8)), "8 sections"), ("# T\n\n##\n", "no section")],
)  # fmt: skip
def test_a6_a_broken_outline_says_why_and_the_plan_stays(text: str, why: str) -> None:
    said = _read(text)
    assert why in said.problems[0]
    assert said.brief == _brief()


@given(st.text(max_size=200))
def test_a6_no_answer_breaks_a_plan(answer: str) -> None:
    said = read_plan_answer(answer, _brief())
    titles = [title.casefold() for title in _titles(said)]
    assert 1 <= len(titles) <= 7
    assert len(set(titles)) == len(titles)
    assert all(section.title and section.queries for section in said.brief.sections)
