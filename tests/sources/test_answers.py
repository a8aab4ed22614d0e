"""Statuses, waits, dates and markup."""

import pytest

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.sources._api_answers import Declaration
from deep_research.text.dates import iso_date
from tests.sources.answers import answer


class Somewhere(Declaration):
    name = "somewhere"
    purpose = "Nothing."
    needs = "SOMEWHERE_KEY"


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (400, {}, SourceError), (403, {}, Blocked), (404, {}, NotFound), (408, {}, Unreachable), (429, {}, RateLimited),
        (403, {"retry-after": "3"}, RateLimited), (503, {}, Unreachable), (503, {"retry-after": "3"}, RateLimited), (301, {}, Unreadable),
    ],
)  # fmt: skip
def test_what_a_status_means(status, headers, kind):
    with pytest.raises(SourceError) as error:
        Somewhere.judge(answer({"detail": [{"msg": "why it was"}]}, status, headers, url="https://x.org/a?key=secret"))
    assert type(error.value) is kind
    assert "why it was" in error.value.message
    assert error.value.url == "https://x.org/a"
    assert error.value.status == status


def test_a_refusal_that_asks_to_wait_in_words_is_a_limit():
    said = {"error_message": "too many requests from this IP, more requests available in 30 seconds"}
    with pytest.raises(RateLimited, match="30 seconds"):
        Somewhere.judge(answer(said, 400))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"error": {"code": "maxlag", "info": "Waiting"}}, RateLimited), ({"code": "429"}, RateLimited),
        ({"error": {"type": "authentication_error"}}, Blocked), ({"error": {"code": "server_error"}}, Unreachable),
        ({"error": {"code": "odd", "message": "why it was"}}, SourceError), ({"code": 40100}, Unreachable),
    ],
)  # fmt: skip
def test_an_error_inside_an_answer_that_succeeds(said, kind):
    with pytest.raises(SourceError) as error:
        Somewhere.json_of(answer(said))
    assert type(error.value) is kind


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-05-06T07:08:09.000Z", "2024-05-06"), ("2024-05", "2024-05"), (2024, "2024"), ("20240506", "2024-05-06"),
        ("Mon, 06 May 2024 07:08:09 +0200", "2024-05-06"), ("May 1, 2023", "2023-05-01"), ("1998 Dec-1999 Jan", "1998-12"),
        ("2002 Spring", "2002"), (1714979289, "2024-05-06"), (1714979289000, "2024-05-06"), ([[2024, None]], "2024"),
        ([[None]], None), ("2024-02-31", "2024-02"), ("2 days ago", None), (True, None), (10**40, None), (float("nan"), None),
        ("2024年5月6日", "2024-05-06"),
    ],
)  # fmt: skip
def test_dates(value, day):
    assert iso_date(value) == day
