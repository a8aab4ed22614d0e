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
