"""Lists that are quoted whole."""

import pytest

from deep_research.data import Brief, Section
from deep_research.reasoners.extractive.excerpts import listings
from deep_research.reasoners.extractive.section_writing import write_section
from tests.reasoners.libraries import all_passages, library

REASONS = """The pump has to be cleaned on a regular basis for several reasons:

1. To get rid of the salt that sea water leaves behind.
2. To keep the seals from drying out. They are made of rubber.
3. To protect the crew against fumes."""


def test_a_list_is_found_with_the_sentence_that_leads_on_to_it() -> None:
    (found,) = listings(f"Pumps are old. {REASONS}\n\nThat is all.")
    assert found.lead == "The pump has to be cleaned on a regular basis for several reasons:"
    assert found.items == (
        "To get rid of the salt that sea water leaves behind.",
        "To keep the seals from drying out.",
        "To protect the crew against fumes.",
    )


def test_a_list_in_chinese_is_found() -> None:
    (found,) = listings("水泵必须定期清洗，原因有以下几个方面：\n\n- 清除海水留下的盐分。\n- 防止密封圈变干。")
    assert found.items == ("清除海水留下的盐分。", "防止密封圈变干。")


@pytest.mark.parametrize(
    "text",
    [
        "See the examples of the pump in these chapters:\n\n- The first one.\n- The second one.",
        "It has to be cleaned for several good reasons:\n\n- To get rid of salt.\n- To keep it dry.",
        "The pump is started and stopped with two switches:\n\n- start(int speed);\n- stop(bool now);",
        "The pump has to be cleaned for one reason only:\n\n- To get rid of the salt.",
        "The pump has to be cleaned on a regular basis.\n\n- To get rid of salt.\n- To keep it dry.",
        "The pump has a great many parts that wear out:\n\n"
        + "\n".join(f"- The part of number {n}." for n in range(12)),
        "pump parts:\n\n- The first one.\n- The second one.",
    ],
)
def test_what_cannot_be_quoted_whole_is_not(text: str) -> None:
    assert not list(listings(text))


def test_a_section_quotes_the_list_with_its_lead_and_every_item_cites() -> None:
    kept = library(Cleaning=f"# Cleaning the pump\n\n{REASONS}\n\nThe pump is cleaned with warm water every week.")
    section = Section(title="Cleaning", queries=("why is the pump cleaned",))
    brief = Brief(title="Why is the pump cleaned?", objective="x", sections=(section,))
    content = write_section(section, brief, all_passages(kept), kept).content
    lines = [line for line in content.splitlines() if line.startswith("- ")]
    assert len(lines) == 3
    assert "for several reasons: [s1p1]\n\n- To get rid" in content
    assert all(line.endswith(" [s1p1]") for line in lines)
