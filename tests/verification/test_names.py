"""Names and identifiers: what counts as one, and in which forms it is found again."""

import pytest

from deep_research.verification.names import names, names_occur


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sotorasib targets KRAS G12C, as Canon and colleagues showed.", ["KRAS", "G12C", "Canon"]),
        ("In May 2017, Starbucks announced stores in Jamaica.", ["Starbucks", "Jamaica"]),
        ("Police were called.", []),
        ("However, the results were good.", []),
        ("Python 3.11 and Llama 3 are fast.", ["Python 3.11", "Llama 3"]),
        ("We use GPT-4o's API in LangGraph with asyncio.gather.", ["GPT-4o", "API", "LangGraph", "asyncio.gather"]),
        ("She studied at the University of California.", ["University of California"]),
        ("该模型使用 Transformer 架构，发表于《自然》，由 OpenAI 提出。", ["Transformer", "自然", "OpenAI"]),
        ("이 논문은 KRAS G12C를 다룬다.", ["KRAS", "G12C"]),
        ("It has 80 GB and runs at 5 GHz.", []),
    ],
)
def test_what_is_a_name(text: str, expected: list[str]) -> None:
    assert [n.text for n in names(text)] == expected


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("We saw KRAS G12C.", "the KRAS-G12C mutation"),
        ("We use GPT-4.", "GPT 4 was used"),
        ("We use GPT-4.", "GPT-4's answers"),
        ("Here RAG helps.", "retrieval-augmented generation helps"),
        ("Here Retrieval-Augmented Generation helps.", "RAG helps"),
        ("It was Marie Curie.", "Curie did it"),
        ("It was Curie.", "Marie Curie did it"),
        ("In American cities.", "cities of America"),
        ("It is in POSTGRESQL.", "PostgreSQL has it"),
        ("该方法使用LoRA微调。", "We use LoRA here"),
        ("发表于《自然》。", "《自然》杂志"),
    ],
)
def test_forms_that_are_the_same_name(claim: str, evidence: str) -> None:
    assert names_occur(claim, evidence).ok


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
        ("It was Marie Curie.", "Pierre Curie did it", "Marie Curie"),
        ("We use GPT-4.", "GPT-4o was used", "GPT-4"),
        ("We use Llama 3.", "Llama 3.1 was used", "Llama 3"),
        ("We saw KRAS G12C.", "KRAS G12D was seen", "G12C"),
        ("It runs on the H100.", "It runs on the A100", "H100"),
        ("该方法由 OpenAI 提出。", "该方法由 Google 提出。", "OpenAI"),
        ("발표자는 OpenAI이다.", "발표자는 Google이다.", "OpenAI"),
        ("发表于《科学》。", "发表于《自然》。", "科学"),
    ],
)
def test_forms_that_are_another_name(claim: str, evidence: str, missing: str) -> None:
    found = names_occur(claim, evidence)
    assert [n.text for n in found.missing] == [missing]


def test_a_verb_at_the_beginning_is_no_name_before_an_identifier() -> None:
    assert [n.text for n in names("Raising autovacuum_freeze_max_age makes pg_xact grow.")] == [
        "autovacuum_freeze_max_age", "pg_xact",
    ]  # fmt: skip
