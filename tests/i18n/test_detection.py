"""Which language a question is in, where the words of several languages look alike."""

import pytest

from claimcheck.language import detect

ENGLISH = """When was vLLM released?|Who was Alan Turing?|Why was GPT-4o retired?|Where was CERN built?|Die casting vs machining
Des Moines housing market|Los Angeles rent prices|De novo protein design|What was new in Python 3.13?|Las Vegas hotels|El Nino forecast
per capita GDP|Van Gogh paintings|per se vs de facto|Was it a hoax?|KRAS G12C inhibitors"""
OTHERS = {
    "de": "Was kostet vLLM?|Was ist Speculative Decoding?|Wann wurde vLLM veröffentlicht?|Die besten LLM Frameworks",
    "fr": "Qu'est-ce que le RAG ?|Les meilleurs modèles de langage|Prix des loyers à Paris",
    "es": "¿Qué es RAG?|Los precios de alquiler en Madrid|¿Cuándo se publicó vLLM?",
    "it": "Come funziona il RAG?|Quali sono i migliori modelli?",
    "pt": "O que é RAG?|Preços das casas em Lisboa",
    "nl": "Hoe werkt een warmtepomp?|Wanneer werd vLLM uitgebracht?",
    "zh": "RAG 技术的最新进展有哪些？|KRAS G12C 靶点",
    "ko": "LLM 추론 최적화|RAG란 무엇인가?",
    "ja": "LLMの推論を速くする方法",
}


@pytest.mark.parametrize("question", ENGLISH.replace("\n", "|").split("|"))
def test_e3_an_english_question_with_a_word_of_another_language_is_english(question: str) -> None:
    assert detect(question) == "en"


@pytest.mark.parametrize(
    ("language", "question"), [(code, question) for code, told in OTHERS.items() for question in told.split("|")]
)
def test_e3_questions_in_other_languages_stay_in_theirs(language: str, question: str) -> None:
    assert detect(question) == language
