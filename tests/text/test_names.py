"""Names and identifiers: what counts as one, and in which forms it is found again."""

import pytest

from claimcheck.text.names import Name, is_ordinary, missing_names, names

# A name that must match character by character has a "!" behind it; «» is what stands in the text where that differs.
FOUND = [
    ("Sotorasib targets KRAS G12C, as Canon and colleagues showed.", ["KRAS!", "G12C!", "Canon"]),
    ("Low-carbon Denmark exports power.", ["Denmark"]),
    (
        "We use GPT-4o's API in LangGraph with asyncio.gather.",
        ["GPT-4o! «GPT-4o's»", "API!", "LangGraph!", "asyncio.gather!"],
    ),
    ("이 논문은 KRAS G12C를 다룬다.", ["KRAS!", "G12C!"]),
    ("It has 80 GB and runs at 5 GHz.", []),
    ("Raising autovacuum_freeze_max_age makes pg_xact grow.", ["autovacuum_freeze_max_age!", "pg_xact!"]),
    ("New York City is big.", ["New York City"]),
    ("the Journal of Clinical Oncology", ["Journal of Clinical Oncology"]),
    ("It was in May.", []),
    ("Merck agreed.", []),
    ("an API", ["API!"]),
    ("Raising max_age makes it slow.", ["max_age!"]),
    ("Python 3.11 works.", []),
    ("Windows 11, too", ["Windows 11!"]),
    ("CodeBreaK 1000 was", ["CodeBreaK 1000!"]),
    ("Die Katze von Schrödinger ist in der Kiste und nicht im Garten.", []),
    ("〈Nature〉 论文", ["Nature! «〈Nature〉»"]),
    ("Class A drugs", []),
    ("vLLM and mRNA", ["vLLM!", "mRNA!"]),
    ("The European Union and Member States", ["European Union", "Member States"]),
    ("(Merck) agreed", []),
    ("DNA RNA Merck KRAS Pfizer", ["DNA!", "RNA!", "Merck", "KRAS!", "Pfizer"]),
    ("Bank of England of the Year", ["Bank of England", "Year"]),
    ("We met O'Brien and Jean-Luc Picard.", ["O'Brien", "Jean-Luc Picard"]),
    ("We met de Gaulle", ["Gaulle"]),
    ("We use the Merck and AND gates", ["Merck"]),
    ("We use RAG 200 and RAG 2000.", ["RAG 200!", "RAG!"]),
    ("As EIPs 4430 and RFC 9110 are", ["EIP 4430! «EIPs 4430»", "RFC 9110!"]),
    ("Here Ubuntu 22.04 LTS and Windows 11 are", ["Ubuntu", "LTS!", "Windows 11!"]),
    ("Adding KRAS, Added KRAS and Wing KRAS", ["KRAS!", "Added", "KRAS!", "Wing", "KRAS!"]),
    ("* Merck agreed with Pfizer", ["Pfizer"]),
    ("«Merck» agreed", []),
    ("It has 1st and 2nd and 3rd and 5x and ~5 and <5mg-based", []),
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
    ("Here RAG helps.", "retrieval-augmented generation helps", ""),
    ("It was Curie.", "Marie Curie did it", ""),
    ("It was Ada Holm.", "Holm, Ada did it", ""),
    ("ATTACH 的多个数据库", "multiple ATTACHed databases", ""),
    ("It was Marie Curie.", "Pierre Curie did it", "Marie Curie"),
    ("The bank is in Montreal.", "The bank is in Montrose", "Montreal"),
    ("Here RAG helps.", "graph retrieval augmented", "RAG"),
    ("We use GPT-4.", "GPT-4o was used", "GPT-4"),
    ("We use Llama 3.", "Llama 3.1 was used", "Llama 3"),
    ("We saw KRAS G12C.", "KRAS G12D was seen", "G12C"),
    ("It runs on the H100.", "It runs on the A100", "H100"),
    ("该方法由 OpenAI 提出。", "该方法由 Google 提出。", "OpenAI"),
    ("발표자는 OpenAI이다.", "발표자는 Google이다.", "OpenAI"),
    ("发表于《科学》。", "发表于《自然》。", "科学"),
    ("The socket of macOS is one.", "On Mac OS a socket is used.", ""),
    ("We use R.A.G. here", "retrieval augmented generation", "R.A.G"),
    ("We use the NLRI.", "national library of research in India", ""),
    ("In United States of America", "the USA", ""),
    ("It was Marie Curie.", "Curie did it", ""),
    ("It was Marie Curie.", "Curies", "Marie Curie"),
    ("In Europe.", "Eurovision songs", "Europe"),
    ("In California", "Californication", "California"),
    ("We use GPT-4.", "GPT-4.5", "GPT-4"),
    ("We use Llama 3", "Llama 3", ""),
    ("We use C++", "C", "C++"),
    ("Here Merck & Co", "Merck and Co", ""),
    ("It is by Ludwig van Beethoven", "president Beethoven", ""),
    ("In Paris", "paris", ""),
    ("We use Plan B", "plan A", "Plan B"),
    ("It is by Marie Curie", "Pierre de Curie", "Marie Curie"),
    ("Low-level API", "an API for loops", ""),
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
