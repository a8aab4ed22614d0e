"""What the rows A1–A13 say, asserted for one reasoner."""

from functools import cache

import pytest

from deep_research.data import Decision
from deep_research.errors import Declined
from deep_research.events import Searched, Understood
from deep_research.settings import Settings
from deep_research.sources import strategies, strategy_sources
from deep_research.steps.intake import settle
from deep_research.templates import load_templates, template_folders
from tests.contract.scenes import COMPARE, ENGINES, Player, Scenes, answering
from tests.graph.harness import Shelf
from tests.intake.harness import Judgement, ask, assistant, question_of, start, user
from tests.intake.test_examples import COUNTERPARTS, TABLE
from tests.intake.test_templates import OWN

VAGUE = ask("Which aspect?", "speed", "weight", missing="aspect", confidence=0.3, refined_question="blockchain")


def a1(s: Scenes) -> None:
    d = s.decide(
        "KRAS G12C 靶点", start("KRAS G12C 靶点", "靶点验证", "药物", "临床进展", reasoning="明确", verification="…")
    )
    assert d.next_action == "START_RESEARCH"
    assert 0 <= d.confidence <= 1
    assert all((d.goal, d.research_focus, d.refined_question, d.verification))
    assert d.unknown_terms == ()
    (said,) = s.sections.of(Understood)
    assert said.verification


def a2(_: Scenes) -> None:
    def decided(
        confidence: float, goal: str = "g", focus: int = 3, unknown: str = "", assumed: str = "", **settings: float
    ) -> str:
        judged = Decision(
            next_action="NEED_CLARIFICATION", confidence=confidence, goal=goal, refined_question="q",
            research_focus=tuple("abcdef"[:focus]), unknown_terms=tuple(unknown.split()),
            assumptions=tuple(assumed.split()),
        )  # fmt: skip
        return settle(judged, question_of("q"), Settings(**settings), rounds=0).next_action

    starts, asks = "START_RESEARCH", "NEED_CLARIFICATION"
    assert decided(0.7) == starts
    assert decided(0.69) == asks
    assert decided(0.75, focus=1) == asks
    assert decided(0.75, goal="") == asks
    assert decided(0.75, unknown="X1") == asks
    assert decided(0.49, assumed="default") == asks
    assert decided(0.6) == asks
    assert decided(0.6, assumed="default") == starts
    assert decided(0.6, focus=1, assumed="default") == asks
    assert decided(0.9, focus=0, goal="") == starts
    assert decided(0.69, confidence_start=0.6) == starts
    assert decided(0.75, confidence_start=0.8) == asks
    assert decided(0.49, assumed="default", confidence_ask=0.4) == starts
    assert decided(0.8, confidence_never_ask=0.8, focus=0, goal="") == starts
    assert decided(0.75, focus=2, assumed="default") == starts
    assert decided(0.75, focus=2, focus_points_ask=3, assumed="default") == asks
    assert decided(0.75, focus=3, focus_points_start=4) == asks


def a3(s: Scenes) -> None:
    d = s.decide("癌症", ask("您想研究癌症的哪个方面？", "靶点", "治疗策略", missing="范围"))
    assert d.clarification is not None
    assert d.clarification.question.count("？") == 1
    assert len(d.clarification.options) >= 2
    assert d.clarification.missing_info
    several = ask("Which cancer? And which aspect?", "lung", "breast", missing="cancer and aspect")
    asked = s.decide("cancer", several).clarification
    assert asked is not None
    assert asked.question.count("?") == 1
    assert asked.missing_info


def a4(s: Scenes) -> None:
    answer, asked = answering("hm")
    with s.playing(Player({"blockchain": VAGUE})):
        ran = s.run("blockchain", answer=answer, docs=[], allow_clarification=True, places=[Shelf(a=ENGINES[0])])
    if s.has_model:  # it is never content: three rounds, then the best guess, and the report says which
        assert len(asked) == 3
        (assumed,) = ran.report.assumptions
        assert assumed.rstrip(".") in ran.report.report
    else:
        assert len(asked) == 1
    for word in ("直接开始研究", "just start", "바로 시작해"):
        answer, asked = answering(word)
        with s.playing(Player({"blockchain": VAGUE})):
            ran = s.run("blockchain", answer=answer, allow_clarification=True, places=[Shelf(a=ENGINES[0])])
        assert len(asked) == 1
        assert any("blockchain" in said for said in ran.report.assumptions)
        assert ("Assumed before anything was read: " if s.has_model else "*Assumptions: ") in ran.report.report


@cache
def a5(s: Scenes) -> None:
    unsure = start("STATUS6", confidence=0.6, next_action="VERIFY_TOPIC", unknown_terms=["STATUS6"])
    lost = s.decide("the gene STATUS6", unsure)
    assert lost.next_action == "NEED_CLARIFICATION"
    assert lost.clarification is not None
    assert "STATUS6" in lost.clarification.question
    known = Shelf(note="# STATUS6\n\nSTATUS6 is a gene of the tulip that makes its petals red in spring.")
    found = s.decide("the gene STATUS6", start("STATUS6", unknown_terms=["STATUS6"]), place=known)
    assert known.asked["STATUS6"] == 1
    assert found.next_action == "START_RESEARCH"
    assert any(term.found and "tulip" in term.meaning for term in found.terms)


def a6(s: Scenes) -> None:
    answer, asked = answering("drop 2", "add: Weight of engines", "yes")
    with s.playing(Player(edits=[{"change": "add", "text": "Weight of engines"}])):
        ran = s.run(COMPARE, answer=answer, confirm_plan=True)
    shown = [section.title for section in asked[0].brief.sections] if asked[0].brief else []
    *kept, added = [section.title for section in ran.report.sections]
    assert kept == [shown[0], *shown[2:]]
    assert "Weight of engines" in added
    answer, _ = answering("no")
    with s.playing(), pytest.raises(Declined):
        s.run(COMPARE, answer=answer, confirm_plan=True)
    assert s.sections.report.answered  # where nothing is to be confirmed nobody is asked: nobody is there
    if s.has_model:  # one that finds that much depends on it
        text, (answer, asked) = "Which engine should our ambulances have?", answering("no")
        with s.playing(Player({text: start(text, next_action="CONFIRM_PLAN")})), pytest.raises(Declined):
            s.run(text, answer=answer, allow_clarification=True)
        assert [section.title for section in asked[0].brief.sections] if asked[0].brief else False


def a7(s: Scenes) -> None:
    text = "write me a poem about autumn"
    judged = {**VAGUE, "next_action": "CANNOT_DO", "reasoning": "Nothing to find out."}
    assert s.decide(text, judged).next_action == "CANNOT_DO"
    with s.playing(Player({text: judged})), pytest.raises(Declined) as declined:
        s.run(text)
    assert len(declined.value.message) > 10
    assert s.decide("blockchain", VAGUE, allow_clarification=False).next_action == "START_RESEARCH"


@cache
def a8(s: Scenes) -> None:
    history = [user("KRAS G12C 抑制剂有哪些？"), assistant("…")]
    d = s.decide("那个靶点", start("KRAS G12C", assumptions=["那个靶点 = KRAS G12C"]), history=history)
    assert "KRAS G12C" in d.refined_question
    assert any("KRAS G12C" in said for said in d.assumptions)
    if not s.has_model:
        before = [user("How does sotorasib work?"), assistant("…")]
        assert "sotorasib" in s.decide("What about its side effects?", history=before).refined_question


def a9(s: Scenes) -> None:
    for text, (judgement, action) in TABLE.items():
        assert s.decide(text, judgement).next_action == action, text
    a5(s)  # STATUS6, XYZ123
    a8(s)  # the pointer that the conversation resolves


def a10(s: Scenes) -> None:
    folder = s.folder / "home" / "templates"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "engines.toml").write_text(OWN, "utf-8")
    found = load_templates(template_folders(s.folder / "home"))
    assert {"engine", "drug_target"} <= {template.name for template in found}
    asked = s.decide("engines", {**VAGUE, "options": [], "missing_info": "aspect"}, templates=found).clarification
    assert asked is not None
    assert {"power", "weight", "price"} <= set(asked.options)
    assert s.decide("engines", VAGUE).clarification != asked


def a11(_: Scenes) -> None:
    names = {"academic", "patents", "news", "code", "community", "general"}
    assert {*names, "auto"} <= set(strategies())
    assert len({strategy_sources(name) for name in names}) == len(names)
    first = {"academic": "arxiv", "patents": "patents_", "code": "github", "community": "hackernews"}
    for name, source in first.items():
        assert any(place.startswith(source) for place in strategy_sources(name)[:4]), name
    questions = {
        "Who holds patents on batteries?": "patents",
        "关于大模型推理的论文综述": "academic",
        "오픈소스 프레임워크 비교": "code",
    }
    for question, name in questions.items():
        assert strategy_sources("auto", question=question) == strategy_sources(name)


def a12(s: Scenes) -> None:
    question, points = "How loud are the Alpha engine and the Beta engine?", ("price", "noise at night", "service life")
    with s.playing(Player({question: start("Know the engines", *points, refined_question=question)})):
        ran = s.run(question)
    queries = {(event.section, event.query) for event in ran.of(Searched)}
    assert ("", question) in queries
    for point in points if s.has_model else ():
        ((section, query),) = {(at, query) for at, query in queries if query.endswith(point)}
        (made,) = [one for one in ran.report.sections if one.title == section]
        assert query in made.searched
    if s.has_model:  # what is found stands in the order of the points, and words of the question are a point as well
        outline = {"Service life": ["service life"], "History": ["engine history"], "Noise": ["noise at night"]}
        outline |= {"Loud engines": ["decibel"], "Price": ["Alpha engine price", "Beta engine price"]}
        judged = start("Know the engines", "Beta price", *points[1:], "loud", refined_question=question)
        with s.playing(Player({question: judged}, sections=outline, at_once=(1, 0))):
            ran = s.run(question)
        told = {one.title: one.searched for one in ran.report.sections}
        assert [*told] == ["Price", "History", "Noise", "Service life", "Loud engines"]
        assert told == {title: tuple(queries) for title, queries in outline.items()}


def a13(s: Scenes) -> None:
    vague: Judgement = {**VAGUE, "question": "What?", "refined_question": ""}
    clear = start("It", "a", "b", "c")
    for text, action in COUNTERPARTS.items():
        judged = vague if action == "NEED_CLARIFICATION" else {**clear, "refined_question": text}
        assert s.decide(text, judged).next_action == action, text
    for text in ("cancer", "암"):
        answer, asked = answering("just start")
        with s.playing(Player({text: vague})):
            s.run(text, answer=answer, allow_clarification=True)
        assert len(asked) == 1  # with documents, and not where the user said not to ask
        assert s.decide(text, vague, allow_clarification=False).next_action == "START_RESEARCH"
