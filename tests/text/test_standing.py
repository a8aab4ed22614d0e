"""The date of a page's last change is read where pages have it: at their end."""

import pytest

from deep_research.text.standing import read_footer


@pytest.mark.parametrize(
    ("foot", "date"),
    [
        ("© 2020\nLast updated 2024-05-31 00:35:55 UTC", "2024-05-31"),
        ("Last updated on October 07, 2026.", "2026-10-07"),
        ("最后更新：2023年5月6日", "2023-05-06"),
        ("최종 수정: 2024년 3월 5일", "2024-03-05"),
        ("最終更新日 2020/04/05", "2020-04-05"),
        ("It was updated in 2019 by 3 people on 4 May 2019.", ""),
        ("Published 2024-01-02", ""),
    ],
)
def test_footers(foot: str, date: str) -> None:
    assert read_footer(foot) == date
