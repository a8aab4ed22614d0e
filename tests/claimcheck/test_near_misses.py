"""Near misses: the same statement with another value, and values that belong to something else."""

import pytest

from deep_research.claimcheck.near_misses import (
    amounts,
    has_other_name,
    has_other_value,
    misattributed,
    same_statement,
    unknown_subject,
    without,
)
from deep_research.text.names import names
from deep_research.text.quantities import quantities

# A text, its amounts, and the numbers that count kinds.
AMOUNTS = [
    ("CodeBreaK 100 had 124 patients", ["124"]),
    ("phase 2 and grade 3 and 4 mg", ["2", "3", "4 mg"]),
    ("Phase 3-trials of Class 4", ["3"]),
    ("stages 2 and table 5", ["2", "5"]),
    ("Python 3.11 has 5 features", ["5"]),
]


@pytest.mark.parametrize(("text", "counted"), AMOUNTS)
def test_numbers_of_names_are_no_amounts(text: str, counted: list[str]) -> None:
    assert [text[q.start : q.end] for q in amounts(text)] == counted


# Claim, the stretches that differ, lines, and the line that says the same but for them.
SAME = [
    (
        "The plant was built in 1990.",
        [(23, 27)],
        ["The plant was built in 1991.", "The river is long."],
        "The plant was built in 1991.",
    ),
    ("Built 1990.", [(6, 10)], ["Built 1991."], ""),
    ("The plant was built in 1990.", [], [], ""),
    ("The old plant was built here.", [(4, 7)], ["The new plant was built here."], "The new plant was built here."),
    (
        "The plant was built in 1990 by men from Rome.",
        [(23, 27)],
        ["The plant was built in 1991.", "The plant was built in 1991 by men from Rome."],
        "The plant was built in 1991 by men from Rome.",
    ),
]


@pytest.mark.parametrize(("claim", "differing", "lines", "expected"), SAME)
def test_the_same_statement_apart_from_what_differs(
    claim: str, differing: list[tuple[int, int]], lines: list[str], expected: str
) -> None:
    assert same_statement(claim, differing, lines) == expected


# Claim, lines, and the value that belongs to something else with the line that shows it and the name it lacks.
VALUES = [
    (
        "The A100 has 80 GB of memory.",
        ["The H100 has 80 GB of memory.", "The A100 has 40 GB of memory."],
        ("80 GB", "The A100 has 40 GB of memory.", ""),
    ),
    (
        "The A100 has 80 GB of memory.",
        ["The H100 has 80 GB of memory.", "The A100 weighs 40 GB, they say, in a cage of steel with old men."],
        ("80 GB", "The A100 weighs 40 GB, they say, in a cage of steel with old men.", "A100"),
    ),
    (
        "The A100 has 40 GB and the H100 has 80 GB of memory.",
        ["The A100 has 80 GB of memory.", "The H100 has 40 GB of memory."],
        ("40 GB", "The A100 has 80 GB of memory.", "A100"),
    ),
    (
        "The A100 and the H100 have 40 GB and 80 GB of memory, respectively.",
        ["The A100 has 80 GB of memory.", "The H100 has 40 GB of memory."],
        None,
    ),
    (
        "The old bridge was built in 1894 by hand.",
        ["The old bridge was built in 5 days by hand.", "In 1894 a fire was seen."],
        None,
    ),
    (
        "Merck had 30% and Pfizer had 40% of sales, while Roche had 50%.",
        ["Merck had 40% of sales.", "Pfizer had 30% of sales.", "Roche had 50% of sales."],
        None,
    ),
    (
        "We saw Merck sell 30 tons.",
        ["We saw Pfizer sell 30 tons.", "We saw Merck sell 500 tons."],
        ("30 tons", "We saw Merck sell 500 tons.", "Merck"),
    ),
    (
        "It sold 30 tons more than Pfizer, but 40 tons fewer than Roche.",
        ["It sold 30 tons more than Roche.", "It sold 40 tons fewer than Pfizer."],
        ("30 tons", "It sold 40 tons fewer than Pfizer.", "Pfizer"),
    ),
    ("It is 30 tons.", ["Pfizer is 30 tons."], None),
]


@pytest.mark.parametrize(("claim", "lines", "expected"), VALUES)
def test_a_value_that_the_evidence_has_of_something_else(
    claim: str, lines: list[str], expected: tuple[str, str, str] | None
) -> None:
    found = misattributed(claim, lines)
    assert (found and (found.number, found.line, found.name)) == expected


# Claim, lines, what they are about, and the first word where it may be another name.
SUBJECTS = [
    ("Adagrasib is a covalent inhibitor.", ["Sotorasib is a covalent inhibitor."], "", "Adagrasib"),
    ("The Adagrasib is a covalent inhibitor.", ["Sotorasib is a covalent inhibitor."], "", "Adagrasib"),
    ("Adagrasib is a nice dog.", ["Sotorasib is a covalent inhibitor."], "", ""),
    ("Binding is a covalent inhibitor.", ["Bindings are covalent; an inhibitor."], "", ""),
    ("Ax is a covalent inhibitor.", ["Sotorasib is a covalent inhibitor."], "", ""),
]


@pytest.mark.parametrize(("claim", "lines", "about", "expected"), SUBJECTS)
def test_a_first_word_that_the_evidence_does_not_know(claim: str, lines: list[str], about: str, expected: str) -> None:
    assert unknown_subject(claim, lines, about) == expected


OTHER_VALUES = [
    ("It took 5 days.", "It took 4 days.", True),
    ("It took 4 days.", "It took 4 days.", False),
    ("It took 4 hours.", "It took 4 days.", True),
    ("It took 5 tons.", "It took 4 days.", False),
    ("It took long.", "It took 4 days.", False),
    ("It took 2 weeks and 4 days.", "It took 4 days.", True),
]


@pytest.mark.parametrize(("rival", "claim", "expected"), OTHER_VALUES)
def test_a_rival_has_another_value_of_the_same_dimension(rival: str, claim: str, expected: bool) -> None:
    assert has_other_value(rival, claim, quantities(claim)) == expected


OTHER_NAMES = [
    ("We saw Merck.", "We saw Pfizer.", True),
    ("We saw H100.", "We saw Pfizer.", False),
    ("We saw H100.", "We saw A100.", True),
    ("We saw Pfizer.", "We saw Pfizer.", False),
    ("We saw it.", "We saw Pfizer.", False),
]


@pytest.mark.parametrize(("rival", "claim", "expected"), OTHER_NAMES)
def test_a_rival_has_another_name_of_the_same_make(rival: str, claim: str, expected: bool) -> None:
    assert has_other_name(rival, claim, names(claim)) == expected


def test_stretches_are_taken_out_in_any_order() -> None:
    assert without("abcdef", [(1, 2), (4, 5)]) == without("abcdef", [(4, 5), (1, 2)]) == "a cd f"
    assert without("abcdef", []) == "abcdef"
