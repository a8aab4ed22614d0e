"""Names and identifiers: what counts as one, and in which forms it is found again."""

import pytest

from deep_research.text.names import Name, is_ordinary, names, names_occur


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sotorasib targets KRAS G12C, as Canon and colleagues showed.", ["KRAS", "G12C", "Canon"]),
        ("In May 2017, Starbucks announced stores in Jamaica.", ["Starbucks", "Jamaica"]),
        ("Police were called.", []),
        ("Low-carbon Denmark exports power.", ["Denmark"]),
        ("However, the results were good.", []),
        ("Python 3.11 and Llama 3 are fast.", ["Python 3.11", "Llama 3"]),
        ("We use GPT-4o's API in LangGraph with asyncio.gather.", ["GPT-4o", "API", "LangGraph", "asyncio.gather"]),
        ("She studied at the University of California.", ["University of California"]),
        ("该模型使用 Transformer 架构，发表于《自然》，由 OpenAI 提出。", ["Transformer", "自然", "OpenAI"]),
        ("이 논문은 KRAS G12C를 다룬다.", ["KRAS", "G12C"]),
        ("He reads Monday's Guardian.", ["Guardian"]),
        ("He read the New Yorker Monday.", ["New Yorker"]),
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
        ("It was Ada Holm.", "Holm, Ada did it"),
        ("It was Per Lund.", "Lund, Per (1984) did it"),
        ("发表于《自然》。", "《自然》杂志"),
        ("ATTACH 的多个数据库", "multiple ATTACHed databases"),
    ],
)
def test_forms_that_are_the_same_name(claim: str, evidence: str) -> None:
    assert names_occur(claim, evidence).ok


@pytest.mark.parametrize(
    ("claim", "evidence", "missing"),
    [
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
    ],
)
def test_forms_that_are_another_name(claim: str, evidence: str, missing: str) -> None:
    found = names_occur(claim, evidence)
    assert [n.text for n in found.missing] == [missing]


def test_a_verb_at_the_beginning_is_no_name_before_an_identifier() -> None:
    assert [n.text for n in names("Raising autovacuum_freeze_max_age makes pg_xact grow.")] == [
        "autovacuum_freeze_max_age", "pg_xact",
    ]  # fmt: skip


# A name that must match character by character has a "!" behind it; «» is what stands in the text where that differs.
FOUND = [
    ("New York City is big.", ["New York City"]),
    ("He moved from New York to Los Angeles.", ["New York", "Los Angeles"]),
    ("A visit to New\xa0York.", ["New\xa0York"]),
    ("University of California at Berkeley", ["University of California", "Berkeley"]),
    ("Ludwig van Beethoven wrote it.", ["Ludwig van Beethoven"]),
    ("Of Mice", ["Mice"]),
    ("the Journal of Clinical Oncology", ["Journal of Clinical Oncology"]),
    ("It is from the University of 5 towns.", ["University"]),
    ("In 2020 Monday Tuesday", []),
    ("It was in May.", []),
    ("On Monday Merck agreed.", ["Merck"]),
    ("Today Merck and Pfizer agreed.", ["Merck", "Pfizer"]),
    ("However Merck agreed.", ["Merck"]),
    ("According to Merck, it works.", ["Merck"]),
    ("Merck agreed.", []),
    ("Merck's drug works.", []),
    ("KRAS's role", ["KRAS! «KRAS's»"]),
    ("The FDA's rule", ["FDA! «FDA's»"]),
    ("the FDAs", ["FDA! «FDAs»"]),
    ("The CPUs and GPUs of NVIDIA", ["CPU! «CPUs»", "GPU! «GPUs»", "NVIDIA!"]),
    ("an API", ["API!"]),
    ("We saw Merck However.", ["Merck"]),
    ("The Merck Several studies", ["Merck"]),
    ("Raising max_age makes it slow.", ["max_age!"]),
    ("Using KRAS inhibitors", ["KRAS!"]),
    ("We are Using KRAS", ["KRAS!"]),
    ("Using Merck data", ["Merck"]),
    ("See Table 2 for it.", []),
    ("Type 2 diabetes and Phase 3 trials", []),
    ("Python 3.11 works.", []),
    ("Python 3 is", ["Python 3!"]),
    ("Windows 11, too", ["Windows 11!"]),
    ("Llama 3 and Llama 3.1.", ["Llama 3!", "Llama 3.1!"]),
    ("Chapter 12 of", []),
    ("Psalm 119 says", []),
    ("CodeBreaK 100 was", ["CodeBreaK 100!"]),
    ("KEYNOTE-189 and KEYNOTE 189 were", ["KEYNOTE-189!", "KEYNOTE 189!"]),
    ("CodeBreaK 1000 was", ["CodeBreaK!"]),
    ("GPT 4 is", ["GPT 4!"]),
    ("AlphaFold 2's success", ["AlphaFold!"]),
    ("Apollo 11 landed", []),
    ("Boeing 747 is", []),
    ("Wir nutzen das Haus der Kulturen in Berlin und KRAS.", ["KRAS!"]),
    ("Die Katze von Schrödinger ist in der Kiste und nicht im Garten.", []),
    (
        "《自然》和《科学》发表了 OpenAI 的《GPT-4 报告》",
        ["自然! «《自然》»", "科学! «《科学》»", "OpenAI!", "GPT-4 报告! «《GPT-4 报告》»"],
    ),
    ("『해리 포터』를 읽었다", ["해리 포터! «『해리 포터』»"]),
    ("〈Nature〉 论文", ["Nature! «〈Nature〉»"]),
    ("研究者使用 Transformer。", ["Transformer"]),
    ("X is", []),
    ("Plan B works", ["Plan B"]),
    ("Vitamin C helps", ["Vitamin C"]),
    ("Class A drugs", []),
    ("I am here, I think", []),
    ("e.g. Merck", []),
    ("It has 5 GB and 3 MHz or 4 kW.", []),
    ("The 1980s and 2x and 5-fold", []),
    (
        "asyncio.gather, os.path and snake_case and camelCase",
        ["asyncio.gather!", "os.path!", "snake_case!", "camelCase!"],
    ),
    ("vLLM and mRNA", ["vLLM!", "mRNA!"]),
    ("AT&T's C++ and C# code", ["AT&T! «AT&T's»", "C++", "C#"]),
    ("β-blockers and α-Synuclein", []),
    ("The European Union and Member States", ["European Union", "Member States"]),
    ('"Merck" is', []),
    ("- Merck\n- Pfizer is", ["Merck"]),
    ("one: Merck; two: Pfizer", []),
    ("Is it? Merck. No! Pfizer’s", []),
    ("Merck (Pfizer) [Roche]", ["Pfizer", "Roche"]),
    ("(Merck) agreed", []),
    ("US Congress and UK", ["Congress", "UK!"]),
    ("iPhone 15 Pro Max", ["iPhone!", "Pro Max"]),
    ("HTTP/2 and IPv6", ["HTTP/2!", "IPv6!"]),
    ("Sars-CoV-2", ["Sars-CoV-2!"]),
    ("DNA RNA Merck KRAS Pfizer", ["DNA!", "RNA!", "Merck", "KRAS!", "Pfizer"]),
    ("Merck KRAS of Berlin", ["Merck", "KRAS!", "Berlin"]),
    ("We use KRAS of Berlin.", ["KRAS!", "Berlin"]),
    ("Bank of England of the Year", ["Bank of England", "Year"]),
    ("We use Bank of Merck the end", ["Bank of Merck"]),
    ("2024 Olympics in Paris", ["Olympics", "Paris"]),
    ("April Merck", ["Merck"]),
    ("OK then", []),
    ("IT and It", []),
    ("We met O'Brien and Jean-Luc Picard.", ["O'Brien", "Jean-Luc Picard"]),
    ("We asked Merck, Pfizer and Roche.", ["Merck", "Pfizer", "Roche"]),
    ("We saw Merck  Pfizer.", ["Merck", "Pfizer"]),
    ("We asked Merck's and Pfizer’s people.", ["Merck «Merck's»", "Pfizer «Pfizer’s»"]),
    ("We asked the Merck of.", ["Merck"]),
    ("We asked Merck of Germany's", ["Merck of Germany «Merck of Germany's»"]),
    ("We met de Gaulle", ["Gaulle"]),
    (
        "In Rio de Janeiro, Leonardo da Vinci and Vasco da Gama met",
        ["Rio de Janeiro", "Leonardo da Vinci", "Vasco da Gama"],
    ),
    ("We use the Merck and AND gates", ["Merck"]),
    ("We saw First Merck Second", ["Merck"]),
    ("We saw Phase Two Merck Level", ["Merck"]),
    ("We use it in Europe’s Merck 5", ["Europe’s Merck 5!"]),
    ("We use “Merck” here", ["Merck"]),
    ("We use Merck1 and MercK", ["Merck1!", "MercK!"]),
    ("We use RAG 200 and RAG 2000.", ["RAG 200!", "RAG!"]),
    ("We use RAG 20 tools and RAG 20.5 tools", ["RAG!", "RAG!"]),
    ("We use BERT Base 12 and more", ["BERT!", "Base 12!"]),
    ("Here Ubuntu 22.04 LTS and Windows 11 are", ["Ubuntu", "LTS!", "Windows 11!"]),
    ("Merck 3 is old.", ["Merck 3!"]),
    ("Merck 3 tools are old.", []),
    ("MERCK agreed.", ["MERCK!"]),
    ("It has 5kg and 12Mbps. It has KB", []),
    ("In X-ray units", ["X-ray"]),
    ("Adding KRAS, Added KRAS and Wing KRAS", ["KRAS!", "Added", "KRAS!", "Wing", "KRAS!"]),
    ("Raising Merck in Europe", ["Raising Merck", "Europe"]),
    ("그는 KRAS와 NVIDIA H100을 썼다. Merck는 좋다.", ["KRAS!", "NVIDIA!", "H100!"]),
    ("我们用KRAS G12C。Merck很好", ["KRAS!", "G12C!"]),
    ("Das Modell GPT-4 von OpenAI ist besser als die Modelle von Google.", ["GPT-4!", "OpenAI!"]),
    ("* Merck agreed with Pfizer", ["Pfizer"]),
    ("1. Merck agreed", []),
    ("| Merck | Pfizer |", []),
    ("«Merck» agreed", []),
    ("Yes; Merck agreed", []),
    ("Yes – Merck agreed", ["Merck"]),
    ("Yes: Merck agreed", []),
    ("• Merck agreed", []),
    ("《Merck》 agreed with 《》", ["Merck! «《Merck》»"]),
    ("It has 1st and 2nd and 3rd and 5x and ~5 and <5mg-based", []),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_names_are_found_whole_and_with_their_place(text: str, expected: list[str]) -> None:
    def shown(name: Name) -> str:
        there = text[name.start : name.end]
        return name.text + ("!" if name.strict else "") + ("" if there == name.text else f" «{there}»")

    assert [shown(name) for name in names(text)] == expected


OCCUR = [
    ("The socket of macOS is one.", "On Mac OS a socket is used.", True),
    ("FreeDesktop menus are shown.", "The Free Desktop menu specification.", True),
    ("OpenDesktop menus are shown.", "The Free Desktop menu specification.", False),
    ("We use RAG.", "retrieval-augmented generation ", True),
    ("We use RAG.", "rags and rage", True),
    ("We use RAG.", "red and green", True),
    ("We use R.A.G. here", "retrieval augmented generation", False),
    ("We use AI.", "artificial intelligence", False),
    ("We use the NLRI.", "national library of research in India", True),
    ("We use the NLRI.", "national library and the research institute", True),
    ("We use the USA.", "the United States of America", True),
    ("We use ABCDEFGH.", "a b c d e f g h", False),
    ("We use K8S.", "key eight s", False),
    ("We use API", "Advanced programming interface", True),
    ("In United States of America", "the USA", True),
    ("It was Marie Curie.", "In 1903 the prize went to Marie Salomea Curie for her work.", True),
    ("In United States of America", "the US", False),
    ("In United States", "U.S.", False),
    ("In General Motors Company", "GMC", True),
    ("In General Motors Company", "gmx", False),
    ("It was Marie Curie.", "Curie did it", True),
    ("It was Marie Curie.", "Dr. Curie did it", True),
    ("It was Marie Curie.", "Professor Curie did it", True),
    ("It was Marie Curie.", "Pierre Curie did it", False),
    ("It was Marie Curie.", "Marie did it", False),
    ("It was Marie Curie.", "marie and curie", True),
    ("It was Marie Curie.", "Marie Skłodowska Curie", True),
    ("It was Marie Curie.", "However Curie did it. Pierre Curie too.", True),
    ("It was Marie Curie.", "Curies", False),
    ("In American cities.", "cities of America", True),
    ("In German cities", "Germany", True),
    ("In French cities", "France", False),
    ("In Chinese cities", "China", False),
    ("In Europe.", "European cities", True),
    ("In Europe.", "Eurovision songs", False),
    ("In Japan", "Japanese", True),
    ("In Peru", "Peruvian", False),
    ("In California", "Californication", False),
    ("We use GPT-4.", "GPT 4", True),
    ("We use GPT-4.", "GPT4", True),
    ("We use GPT-4.", "GPT–4", True),
    ("We use GPT-4.", "GPT_4", True),
    ("We use GPT-4.", "GPT-4.5", False),
    ("We use GPT-4.", "GPT-4o", False),
    ("We use GPT-4.", "GPT-4's", True),
    ("We use GPT-4.", "XGPT-4", False),
    ("We use GPT-4.", "3.GPT-4", False),
    ("We use Llama 3", "Llama 3.1", False),
    ("We use Llama 3", "Llama 3", True),
    ("We use Llama 3", "Llama-3", True),
    ("We use C++", "c++", True),
    ("We use C++", "C", False),
    ("We use C#", "C++", False),
    ("发表于《自然》。", "《自 然》杂志", True),
    ("发表于《自然 杂志》。", "自然杂志", True),
    ("발표는 『해리 포터』", "해리포터", True),
    ("We use µTorrent X1", "μtorrent x1", True),
    ("Here Merck & Co", "Merck and Co", True),
    ("We use 《...》", "nothing", True),
    ("It is by van der Berg.", "Berg", True),
    ("It is by Ludwig van Beethoven", "Beethoven", True),
    ("It is by Ludwig van Beethoven", "Mr. Beethoven", True),
    ("It is by Ludwig van Beethoven", "president Beethoven", True),
    ("It is by Ludwig van Beethoven", "Karl van Beethoven", False),
    ("It is by Ludwig van Beethoven", "Karl Beethoven", False),
    ("In Paris", "paris", True),
    ("In Paris", "comparison", False),
    ("In Vitamin C.", "vitamin D", False),
    ("We met Mark.", "they went to the market", False),
    ("It came from Belgium.", "the Belgian coast", True),
    ("In Vitamin C.", "vitamin C", True),
    ("We use Plan B", "plan A", False),
    ("Of Hepatitis B", "hepatitis", False),
    ("We met John F. Kennedy", "John Kennedy", True),
    ("We met John F. Kennedy", "John F. Kennedy", True),
    ("We use C++", "C and D", False),
    ("It is by Marie Curie", "Pierre de Curie", False),
    ("It is in Los Angeles", "los Angeles Times", True),
    ("Side-steps the GIL", "which allows it to side-step the GIL", True),
    ("Low-level API", "an API for loops", True),
    ("Process pools suit CPU-heavy code", "process pools for work that keeps the CPU busy", True),
    ("Process pools suit GPU-heavy code", "process pools for work that keeps the CPU busy", False),
    ("SARS-CoV-2 spreads", "SARS spreads", False),
    ("TNF-alpha levels rose after treatment", "After treatment with the drug, TNF-beta levels rose.", False),
    ("Crizotinib shrinks ALK-positive tumours", "Crizotinib shrinks a tumour that is ALK-negative.", False),
    ("Process pools suit CPU-heavy code", "The CPU is busy: process pools suit code that is not CPU-light.", False),
]


@pytest.mark.parametrize(("claim", "evidence", "ok"), OCCUR)
def test_a_name_stands_in_a_text_or_another_one_does(claim: str, evidence: str, ok: bool) -> None:
    agreement = names_occur(claim, evidence)
    assert agreement.ok == ok
    assert bool(agreement.missing) != ok
    assert agreement.found == len(names(claim)) - len(agreement.missing)


@pytest.mark.parametrize("word", ["Monday", "However", "MAY", "twelve", "Table", "The", "version"])
def test_words_of_every_sentence_are_ordinary(word: str) -> None:
    assert is_ordinary(word)


@pytest.mark.parametrize("word", ["Merck", "Sotorasib", "Python"])
def test_other_words_may_be_names(word: str) -> None:
    assert not is_ordinary(word)
