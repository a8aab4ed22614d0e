"""The date of a page is one that it states as its own: in its head, and that of its last change at its end."""

import pytest

from deep_research.text.standing import read_footer, read_standing


@pytest.mark.parametrize(
    ("foot", "date"),
    [
        ("© 2020\nLast updated 2024-05-31 00:35:55 UTC", "2024-05-31"),
        ("Last updated on October 07, 2026.", "2026-10-07"),
        ("最后更新：2023年5月6日", "2023-05-06"),
        ("最終更新日 2020/04/05", "2020-04-05"),
        ("It was updated in 2019 by 3 people on 4 May 2019.", ""),
    ],
)
def test_footers(foot: str, date: str) -> None:
    assert read_footer(foot) == date


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ("# Fees\n\n- Status: Final\n- Date: 2024-03-01\n\n## Summary\n\nA fee.\n", "2024-03-01"),
        ("# Fees\n\n| Status | Final |\n| Date | 2024-03-01 |\n\nA fee.\n", "2024-03-01"),
        ("# Hard forks\n\n| | Testnet | Mainnet |\n| Date | 2025-06-10 | 2025-07-17 |\n", ""),
        ("# Winch\n\nIt pulls.\n\n```\nDate: Wed, 18 Dec 2019\n```\n", ""),
        ("# Anchor\n\nUpdated: 2009-04-05 the chain, later the shackle.\n", ""),
        ("# Crane\n\nA letter:\n\n    Date: 4 March 2014\n\n> Date: 4 March 2014\n", ""),
    ],
)
def test_a_date_of_a_row_a_section_a_quotation_or_a_sentence_is_not_that_of_the_page(head: str, date: str) -> None:
    assert read_standing(head).date == date
