"""What tools answer, as sources: in the many shapes that servers give it, and never an error."""

import json
from typing import Any

import pytest

from deep_research.assembly.mcp_tools import read_answer
from deep_research.data import SearchResult
from deep_research.fetch.fetched_page import MAX_LINKS
from deep_research.mcp.tool_answers import MOST_CHARS, answer_of
from deep_research.mcp.tool_results import Call, sources_in

CALL = Call("hn", "search_stories", '{"query": "alpha"}')
STORY = {"title": "Alpha engine", "url": "https://alpha.test/", "points": 120, "text": "It turns at 3,000 rpm."}
WRITTEN = "# Alpha engine\n\n- points: 120\n\nIt turns at 3,000 rpm."


def _read(*content: Any, structured: Any = None) -> SearchResult:
    return sources_in(answer_of(content, structured), CALL)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    "answer",
    [
        {"structured": {"result": [STORY]}},
        {"structured": {"data": {"stories": [STORY]}}},
        {"structured": [STORY]},
        {"text": json.dumps([STORY])},
        {"text": json.dumps(STORY)},
    ],
)
def test_d7_entries_with_titles_become_sources_of_their_own(answer: dict[str, Any]) -> None:
    content = [_text(answer.pop("text"))] if "text" in answer else []
    (found,) = _read(*content, **answer).found
    assert (found.title, found.url, found.origin) == ("Alpha engine", "https://alpha.test/", "mcp:hn")
    assert found.document is not None
    assert found.document.text == WRITTEN
    assert found.location == 'https://alpha.test/ · hn: search_stories {"query": "alpha"}'


def test_d7_a_text_is_one_source_with_its_structure() -> None:
    (found,) = _read(_text("# Alpha\n\nIt is a **rotary** engine.\n\n- small\n- light\n")).found
    assert found.title == "Alpha"
    assert found.document is not None
    assert found.document.text == "# Alpha\n\nIt is a rotary engine.\n\n- small\n- light"
    assert [heading.title for heading in found.document.headings] == ["Alpha"]
    assert found.location == 'hn: search_stories {"query": "alpha"}'


def test_d7_markup_is_read_and_comments_belong_to_their_story() -> None:
    story = {
        **STORY,
        "text": "<p>One &amp; two.</p><p>Three.</p>",
        "children": [{"author": "kim", "text": "<p>I like it.</p>"}],
    }
    (found,) = _read(structured=story).found
    assert found.document is not None
    assert found.document.text.endswith("One & two.\n\nThree.\n\nkim: I like it.")


def test_d7_dates_and_authors_are_known() -> None:
    rows = [
        {**STORY, "created_at": "2024-05-01T08:00:00Z", "author": "rolf"},
        {**STORY, "title": "Beta", "time": 1_714_550_400, "authors": [{"name": "Anna Holm"}, "Kim Ro"]},
        {**STORY, "title": "Gamma", "date": "yesterday"},
    ]
    found = _read(structured={"result": rows}).found
    assert [(one.published, one.authors) for one in found] == [
        ("2024-05-01", ("rolf",)), ("2024-05-01", ("Anna Holm", "Kim Ro")), (None, ()),
    ]  # fmt: skip


def test_d7_the_same_entry_is_one_source_and_its_whole_text_another() -> None:
    again = _read(structured=[STORY, STORY, {**STORY, "text": "The whole text."}]).found
    assert len(again) == 2
    assert again[0].key == _read(structured=STORY).found[0].key


@pytest.mark.parametrize(
    "content",
    [
        [_text('{"error": "rate limited"}')],
        [_text('{"success": false, "message": "the index did not answer"}')],
        [_text("Error: could not reach the website")],
        [_text("错误：无法访问")],
        [_text("Please verify that you are a human. Complete the captcha to continue.")],
    ],
)
def test_d7_an_error_in_words_is_a_gap_and_never_a_source(content: list[dict[str, Any]]) -> None:
    result = _read(*content)
    assert result.found == ()
    assert [gap.source for gap in result.gaps] == ["mcp:hn"]
    assert "tells of a failure" in result.gaps[0].why


def test_d7_what_is_no_text_is_told() -> None:
    resource = {"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "A text."}}
    link = {"type": "resource_link", "uri": "https://alpha.test/more", "name": "More", "description": "of it"}
    blob = {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "AAAA"}}
    result = _read({"type": "image", "data": "AAAA"}, resource, {"type": "audio", "data": "AAAA"}, link, blob)
    assert [found.document.text for found in result.found if found.document] == [
        "A text.", "More · of it · https://alpha.test/more",
    ]  # fmt: skip
    assert result.found[1].url == "https://alpha.test/more"
    assert [gap.why for gap in result.gaps] == [
        "an image was not read.", "a sound was not read.", "a file was not read.",
    ]  # fmt: skip


def test_d7_answers_are_bounded() -> None:
    long = _read(_text("The engine turns. " * 100_000))
    assert len(long.found[0].document.text if long.found[0].document else "") <= MOST_CHARS
    assert [gap.why for gap in long.gaps] == ["what followed after 400,000 characters or 200 parts was not read."]
    many = _read(structured=[{**STORY, "title": f"Story {i}"} for i in range(70)])
    assert len(many.found) == 50
    assert [gap.why for gap in many.gaps] == ["of 70 entries the first 50 were read."]


def test_an_answer_names_so_many_addresses_and_those_once() -> None:
    text = " ".join(f"https://a.test/{n} https://a.test/{n}" for n in range(MAX_LINKS + 100))
    read = read_answer(answer_of([_text(text)]), "hn", "search_stories", "{}")
    assert len(read.named) == MAX_LINKS
    assert [found.document.text for found in read.result.found if found.document] == [text]
