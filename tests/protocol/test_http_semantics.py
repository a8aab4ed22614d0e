"""How long a server asks to wait."""

from datetime import UTC, datetime

import pytest

from deep_research.protocol.http_semantics import requested_wait

NOW = datetime(2024, 5, 6, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Mon, 06 May 2024 11:00:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 30)}, 30.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1, 1419704"}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Limit 9. Please try again in 9m38.016s. Need more?", 578.016),
        ("Please try again in 1h2m3s.", 3723),
        ("Please retry after 46 seconds.", 46),
        ("Try again in 2 hours, 3 minutes", 7_380),
        ("try again in 5 minutes", 300),
        ("Please try again in 6ms.", None),
        ("try again in 3 weeks", None),
        ("tried again in 5 minutes it fails", None),
    ],
)
def test_how_long_to_wait_in_words(said: str, seconds: float | None) -> None:
    assert requested_wait({}, NOW, said) == (seconds if seconds is None else pytest.approx(seconds))
    assert requested_wait({"retry-after": "2"}, NOW, said) == 2
