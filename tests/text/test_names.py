"""Names and identifiers: what counts as one, and in which forms it is found again."""

import pytest

from claimcheck.text.names import Name, is_ordinary, missing_names, names

# A name that must match character by character has a "!" behind it; «» is what stands in the text where that differs.
FOUND = [
    ("Sotorasib targets KRAS G12C, as Canon and colleagues showed.", ["KRAS!", "G12C!", "Canon"]),
    (
        "We use GPT-4o's API in LangGraph with asyncio.gather.",
        ["GPT-4o! «GPT-4o's»", "API!", "LangGraph!", "asyncio.gather!"],
    ),
    ("이 논문은 KRAS G12C를 다룬다.", ["KRAS!", "G12C!"]),
    ("Raising autovacuum_freeze_max_age makes pg_xact grow.", ["autovacuum_freeze_max_age!", "pg_xact!"]),
    ("New York City is big.", ["New York City"]),
    ("Merck agreed.", []),
    ("Python 3.11 works.", []),
    ("CodeBreaK 1000 was", ["CodeBreaK 1000!"]),
    ("Die Katze von Schrödinger ist in der Kiste und nicht im Garten.", []),
    ("〈Nature〉 论文", ["Nature! «〈Nature〉»"]),
    ("The European Union and Member States", ["European Union", "Member States"]),
    ("We met O'Brien and Jean-Luc Picard.", ["O'Brien", "Jean-Luc Picard"]),
    ("We use RAG 200 and RAG 2000.", ["RAG 200!", "RAG!"]),
    ("As EIPs 4430 and RFC 9110 are", ["EIP 4430! «EIPs 4430»", "RFC 9110!"]),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_names_are_found_whole_and_with_their_place(text: str, expected: list[str]) -> None:
    def shown(name: Name) -> str:
        there = text[name.start : name.end]
        return name.text + ("!" if name.strict else "") + ("" if there == name.text else f" «{there}»")

    assert [shown(name) for name in names(text)] == expected


# A claim, a text, and the name of the claim that the text does not have, or nothing.
OCCUR = [
    ("We saw KRAS G12C.", "the KRAS-G12C mutation", ""),
    ("It was Curie.", "Marie Curie did it", ""),
    ("It was Ada Holm.", "Holm, Ada did it", ""),
    ("ATTACH 的多个数据库", "multiple ATTACHed databases", ""),
    ("It was Marie Curie.", "Pierre Curie did it", "Marie Curie"),
    ("The bank is in Montreal.", "The bank is in Montrose", "Montreal"),
    ("We use GPT-4.", "GPT-4o was used", "GPT-4"),
    ("We use Llama 3.", "Llama 3.1 was used", "Llama 3"),
    ("The socket of macOS is one.", "On Mac OS a socket is used.", ""),
    ("We use R.A.G. here", "retrieval augmented generation", "R.A.G"),
    ("In California", "Californication", "California"),
    ("We use C++", "C", "C++"),
    (
        "Process pools suit CPU-heavy code",
        "The CPU is busy: process pools suit code that is not CPU-light.",
        "CPU-heavy",
    ),
]


@pytest.mark.parametrize(("claim", "evidence", "missing"), OCCUR)
def test_a_name_stands_in_a_text_or_another_one_does(claim: str, evidence: str, missing: str) -> None:
    assert [name.text for name in missing_names(claim, evidence)] == [missing][: bool(missing)]


def test_words_of_every_sentence_are_ordinary_and_others_may_be_names() -> None:
    words = ("Monday", "However", "MAY", "twelve", "Table", "The", "version", "Merck", "Sotorasib", "Python")
    assert [word for word in words if not is_ordinary(word)] == ["Merck", "Sotorasib", "Python"]
