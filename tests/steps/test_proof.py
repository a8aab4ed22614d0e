"""“How this was checked” and the list of gaps, in the language of the report."""

from collections.abc import Sequence

import pytest

from deep_research.data import (
    Brief,
    Claim,
    Decision,
    Gap,
    Ledger,
    QueryAnalysis,
    Question,
    ReasonerInfo,
    Section,
    Verdict,
)
from deep_research.errors import LimitReached, ProviderDown
from deep_research.i18n.catalog import explain, gap_from, gap_of, name_subject, verdict_of
from deep_research.report.method_note import render_method_note
from deep_research.report.report_input import CheckedReport, ReportInput

ONE = ReasonerInfo(kind="model", provider="compatible", models={"write": "w-1", "judge": "w-1", "research": "w-1"})
ROLES = ReasonerInfo(kind="model", provider="compatible", models={"write": "w-1", "judge": "j-1"})
PAID = Ledger(model_calls=3, prompt_tokens=12_345, cached_tokens=6_000, completion_tokens=789, cost_usd=0.0123)
FREE = Ledger(model_calls=3, prompt_tokens=12_345)


def _claim(text: str, verdict: Verdict, **fields: object) -> Claim:
    return Claim(id=text, section="Tides", text=text, passages=("s1p1",), verdict=verdict, **fields)  # type: ignore[arg-type]


JUDGED = Verdict(kind="supported", reason="", by_model=True)
CLAIMS = (
    _claim("Tides rise.", JUDGED),
    _claim("Tides fall.", JUDGED, repair="passage"),
    _claim("Tides turn.", JUDGED, repair="rewritten"),
    _claim("Tides rest.", verdict_of("unverified", "not_judged", "error", error="HTTP 500")),
    _claim("Tides sing.", verdict_of("unverified", "number_missing", number="7 m")),
)


SHOWN = "Tides rise. [s1p1] Tides fall. [s1p1] Tides turn. [s1p1] Tides rest. [s1p1]"


def _note(
    language: str,
    reasoner: ReasonerInfo = ONE,
    ledger: Ledger = PAID,
    *,
    claims: Sequence[Claim] = CLAIMS,
    shown: str = SHOWN,
    verbatim: int = 1,
) -> str:
    given = ReportInput(
        question=Question(text="Tides", language=language),
        original="Tides",
        analysis=QueryAnalysis(query_type="general", output_format="prose"),
        decision=Decision(next_action="START_RESEARCH", confidence=1),
        brief=Brief(title="Tides", objective="Tides"),
        sections=(Section(title="Tides", content=shown),),
        claims=tuple(claims),
    )
    return render_method_note(CheckedReport(given, ledger, reasoner, claims=tuple(claims)), verbatim=verbatim)


def test_a_report_says_who_wrote_and_judged_and_what_became_of_the_statements() -> None:
    text = _note("en")
    assert "Researched, written and judged by w-1 (compatible)." in text
    assert "1 cut, 1 left unverified" in text
    assert "Tides sing" not in text  # why it was cut stands in the result
    assert "Left in the text although nobody could judge it: Not judged. HTTP 500\n\n- Tides rest." in text


def test_models_of_single_roles_are_named_with_what_they_did() -> None:
    assert "Models (compatible): w-1; j-1 (judge)." in _note("en", ROLES)


def test_what_did_not_happen_is_not_told() -> None:
    text = _note("en", claims=CLAIMS[:1], shown="", verbatim=0)
    for nothing in ("Word for word", "Given a better", "Reworded", "Left in the text", "Cut because"):
        assert nothing not in text


def test_a_price_that_nobody_knows_is_not_said() -> None:
    assert "dollars" not in _note("en", ledger=FREE)


def test_without_a_model_no_model_is_named() -> None:
    text = _note("en", ReasonerInfo(kind="extractive"), Ledger())
    assert "The model" not in text
    assert "tokens" not in text


@pytest.mark.parametrize("language", ["zh", "ko", "ja"])
def test_nothing_of_the_program_s_own_words_is_english_in_another_language(language: str) -> None:
    text = _note(language)
    for english in ("judged", "passage", "tokens written", "US dollars", "number:", "Not judged", "Cut because"):
        assert english not in text
    assert "HTTP 500" in text


BUDGET = LimitReached("spent", kind="usd", used=0.4, limit=0.5)


@pytest.mark.parametrize("language", ["zh", "ko", "ja"])
def test_gaps_speak_the_report_s_language_and_quote_others_in_a_frame(language: str) -> None:
    spent = explain(gap_from("plan", BUDGET, "without_model"), language)
    assert "0.5" in spent
    assert "0.4" in spent
    assert "budget" not in spent
    down = explain(gap_from("plan", ProviderDown("It does not answer."), "without_model"), language)
    assert "It does not answer." in down
    assert "without the model" not in down
    foreign = explain(Gap(what="tavily", why="HTTP 429 from the server of tavily, it asks to wait."), language)
    assert foreign.endswith("it asks to wait.")
    assert not foreign.startswith("HTTP")
    assert not name_subject(gap_of("writing: Tides", "section_empty"), language).startswith("writing")


def test_a_gap_in_english_is_what_its_data_says() -> None:
    gap = gap_from("plan", BUDGET, "without_model")
    assert explain(gap, "en") == gap.why
    assert name_subject(gap_of("plans: Tides", "section_empty"), "zh") == "plans: Tides"


def test_kinds_of_statements_are_counted_where_there_is_more_than_facts() -> None:
    own = _claim("So sail early.", JUDGED, kind="inference")
    computed = _claim("It rises 3 m in all.", JUDGED, kind="computed")
    assert "(5 facts, 1 computed, 1 of our own)" in _note("en", claims=(*CLAIMS, own, computed))
    assert "of our own" not in _note("en")
