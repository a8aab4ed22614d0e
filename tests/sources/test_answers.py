"""Statuses, waits, dates and markup."""

import pytest

from deep_research.errors import Blocked, NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.sources import _record_documents
from deep_research.sources._api import attempts
from deep_research.sources._api_answers import Declaration, iso_date, json_of, judge, parse_xml
from tests.sources.answers import answer


class Somewhere(Declaration):
    name = "somewhere"
    purpose = "Nothing."
    needs = "SOMEWHERE_KEY"


@pytest.mark.parametrize(
    ("status", "headers", "kind"),
    [
        (400, {}, SourceError), (401, {}, Blocked), (402, {}, Blocked), (403, {}, Blocked), (404, {}, NotFound),
        (408, {}, Unreachable), (410, {}, NotFound), (422, {}, SourceError), (429, {}, RateLimited), (432, {}, Blocked),
        (500, {}, Unreachable), (503, {}, Unreachable), (503, {"retry-after": "3"}, RateLimited), (301, {}, Unreadable),
    ],
)  # fmt: skip
def test_what_a_status_means(status, headers, kind):
    with pytest.raises(SourceError) as error:
        judge(answer({"detail": [{"msg": "why it was"}]}, status, headers, url="https://x.org/a?key=secret"), Somewhere)
    assert type(error.value) is kind
    assert "why it was" in error.value.message
    assert error.value.url == "https://x.org/a"
    assert error.value.status == status


def test_a_success_passes():
    judge(answer({}), Somewhere)
    assert json_of(answer(b"\xef\xbb\xbf[1]"), Somewhere) == [1]


@pytest.mark.parametrize(
    ("body", "why"),
    [("", "empty"), ("<!DOCTYPE html><p>", "HTML page"), ('{"a": 1', "broken or cut off"), ("hello", "no JSON")],
)
def test_what_is_no_json(body, why):
    with pytest.raises(Unreadable, match=why):
        json_of(answer(body), Somewhere)


def test_what_is_no_xml():
    for body in ("", "text", "<html><body></body></html>", "<a><b>", "<a>&undefined;</a>"):
        with pytest.raises(Unreadable):
            parse_xml(answer(body), Somewhere)


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2024-05-06T07:08:09.000Z", "2024-05-06"), ("2024-05", "2024-05"), ("2024", "2024"), (2024, "2024"),
        ("20240506", "2024-05-06"), ("Mon, 06 May 2024 07:08:09 +0200", "2024-05-06"), ("May 1, 2023", "2023-05-01"),
        ("2024 Mar 5", "2024-03-05"), ("1998 Dec-1999 Jan", "1998-12"), ("1965 Aug", "1965-08"), ("2002 Spring", "2002"),
        ("2011/05/06 00:00", "2011-05-06"), (1714979289, "2024-05-06"), (1714979289000, "2024-05-06"),
        ([[2024, 5, 6]], "2024-05-06"), ([[2024, None]], "2024"), ([[None]], None), ([], None), ("2024-02-31", "2024-02"),
        ("2024-13-01", "2024"), ("2 days ago", None), ("", None), (None, None), (True, None), (10**40, None),
        (float("nan"), None), ("5 May", None), ("2024年5月6日", "2024-05-06"),
    ],
)  # fmt: skip
def test_dates(value, day):
    assert iso_date(value) == day


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("<strong>S</strong>parse", "Sparse"),
        ("x < 5 and y > 3", "x < 5 and y > 3"),
        ("10<sup>-3</sup> M CO<sub>2</sub>, Ca<sup>2+</sup>", "10^-3 M CO2, Ca2+"),
        ("&lt;i&gt;BRCA&lt;/i&gt;", "BRCA"),
        ("A &amp;amp; B", "A & B"),
        ("<!-- hidden -->Seen<script>x()</script>", "Seen"),
        ("<mml:math><mml:mi>x</mml:mi><mml:annotation>\\x</mml:annotation></mml:math>", "x"),
        ("one<br/>two", "one two"),
        ("List<String> of Map<K, V>", "List<String> of Map<K, V>"),
        ("zero\u200bwidth\u202e", "zerowidth"),
    ],
)
def test_markup_on_a_line(markup, text):
    assert _record_documents.line(markup) == text


def test_sections_and_paragraphs_of_markup():
    markup = "<h4>Aims</h4><p>One.</p><p>Two.</p><h4>Results:</h4>Three."
    assert _record_documents.sections(markup) == [("Aims", "One.\n\nTwo."), ("Results", "Three.")]
    assert _record_documents.paragraphs("<p>One.<p>Two<i>!</i>") == "One.\n\nTwo!"


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (
            "What are the methods of sparse retrieval in 2024?",
            ["methods sparse retrieval 2024", "methods sparse retrieval"],
        ),
        ('"sparse retrieval" methods of today and others', ['"sparse retrieval" methods of today and others']),
        ("what is it", ["what is it"]),
        ("KRAS G12C", ["KRAS G12C"]),
    ],
)
def test_keywords_for_apis_that_insist_on_every_word(query, asked):
    assert list(attempts(query, narrow=True, max_chars=100)) == asked
    assert next(attempts(query, narrow=False, max_chars=12)) in query
