"""A doubt whose words were put right is settled."""

import pytest
from deep_research.text.quoted_words import still_said


@pytest.mark.parametrize(
    ("remark", "stands"),
    [
        ("“the engine never stops” goes too far", True),
        ("“the engine … never stops”", True),
        ("“the engine always starts” goes too far", False),
        ("The order of the two steps misleads.", True),
    ],
)
def test_a_remark_is_open_while_the_words_that_it_quotes_stand(remark: str, stands: bool) -> None:
    assert still_said(remark, "- As a rule the engine **never stops**. [s1p1]") is stands
