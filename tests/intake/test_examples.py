"""Contract row A9: the example inputs of the design, with a model and without, and their English and Korean counterparts."""

import pytest

from deep_research.data import Decision
from tests.graph.harness import Shelf
from tests.intake.harness import Judge, Judgement, ask, finderly, start, with_model

START, ASK = "START_RESEARCH", "NEED_CLARIFICATION"
TOPIC = ask("请告诉我具体的研究主题是什么？", "某个靶点", "某种药物", "某项技术")
WHICH = ask("“那个”具体指什么？", "KRAS 抑制剂", "GLP-1 激动剂", missing="研究对象")
BROAD = ask("您想研究癌症的哪个方面？", "特定类型", "靶点", "治疗策略", missing="范围", confidence=0.4, goal="了解癌症")
AIM = ask("您希望了解什么？", "最新进展", "机制", "临床数据", missing="目标")

TABLE: dict[str, tuple[Judgement, str]] = {
    "KRAS G12C 靶点": (start("KRAS G12C 靶点研究", "靶点验证", "药物", "临床进展"), START),
    "帮我研究一下": (TOPIC, ASK),
    "那个新药": (WHICH, ASK),
    "GLP-1 激动剂最新进展": (start("GLP-1 激动剂的最新进展", "临床数据", "新药", "适应症"), START),
    "癌症治疗": (BROAD, ASK),
    "那个东西": (WHICH, ASK),
    "癌症": (BROAD, ASK),
    "药物": (BROAD, ASK),
    "了解一下": (AIM, ASK),
    "有什么信息": (AIM, ASK),
    "ADC 药物的 linker 设计": (start("ADC 药物的 linker 设计", "可裂解", "不可裂解", "稳定性"), START),
    "GLP-1 激动剂": (
        start("GLP-1 激动剂", "最新进展", "临床数据", confidence=0.75, assumptions=["关注最新进展"]),
        START,
    ),
    "PD-1 耐药机制": (start("PD-1 耐药机制", "机制分类", "生物标志物", "对策"), START),
}
COUNTERPARTS: dict[str, str] = {
    "KRAS G12C as a target": START,
    "help me research something": ASK,
    "that new drug": ASK,
    "latest progress of GLP-1 agonists": START,
    "cancer treatment": ASK,
    "that thing": ASK,
    "cancer": ASK,
    "drugs": ASK,
    "tell me about it": ASK,
    "what information is there?": ASK,
    "linker design of ADCs": START,
    "GLP-1 agonists": START,
    "PD-1 resistance mechanisms": START,
    "KRAS G12C 표적": START,
    "조사해 줘": ASK,
    "그 신약": ASK,
    "GLP-1 작용제의 최신 동향": START,
    "암 치료": ASK,
    "그것": ASK,
    "암": ASK,
    "약물": ASK,
    "좀 알려 줘": ASK,
    "ADC 약물의 링커 설계": START,
    "GLP-1 작용제": START,
    "PD-1 내성 기전": START,
}


def _assert_asks_well(decision: Decision) -> None:
    asked = decision.clarification
    assert asked is not None
    assert asked.question.rstrip().endswith(("?", "？", ".", "。"))
    assert asked.question.count("?") + asked.question.count("？") <= 1
    assert asked.options
    assert asked.missing_info


@pytest.mark.parametrize(("text", "term"), [("STATUS6 基因", "STATUS6"), ("XYZ123 유전자", "XYZ123")])
def test_a9_a_name_that_may_not_exist_is_looked_up_before_anything_is_asked(
    text: str, term: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unsure = start(text, confidence=0.6, next_action="VERIFY_TOPIC", unknown_terms=[term])
    shelf = Shelf(note="# A note\n\nNothing that has to do with any of it.")
    lost = with_model(monkeypatch, Judge({text: [unsure, unsure]}), text, shelf)
    assert shelf.asked[term] == 1
    without = finderly(text, shelf)
    for decision in (lost, without):
        assert decision.next_action == ASK
        _assert_asks_well(decision)
        assert decision.clarification is not None
        assert term in decision.clarification.question
