"""Recorded answers of the APIs, where the folder of recordings is there."""

import re

import pytest
from lab import recordings

from deep_research.data import Document, Found
from deep_research.errors import SourceError
from tests.sources.answers import outcome

_BODIES = list(recordings.bodies(recordings.DEFAULT_FOLDER)) if recordings.DEFAULT_FOLDER.is_dir() else []
_MARKUP = re.compile(
    r"</?(?:jats:|mml:)?(?:p|i|b|em|sup|sub|title|sec|strong|span|h4)\b[^<>]*>|&(?:amp|lt|gt|quot|#\d+);"
)
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\ufeff]")
_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
# Answers of other calls of the same APIs, which are refused: they hold nothing that was searched for.
_REFUSED = {"rate_limit.json", "bibtex_transform.txt", "autocomplete.json", "linked_cpc_group.json"}
# Answers of models that cite no page: a widget had told them what they were asked.
_CITES_NOTHING = {"web_search_gpt5.json"}

pytestmark = pytest.mark.skipif(not _BODIES, reason="there are no recordings")


@pytest.mark.parametrize("entry", _BODIES, ids=lambda entry: f"{entry[0]}/{entry[1].name}")
def test_every_recorded_body_is_refused_or_read_and_what_is_read_is_clean(entry):
    api, body, response = entry
    row = recordings.read(api, body.name, response)
    failed = response.status >= 400 or "error" in body.name or body.name in _REFUSED | {"esummary_json.json"}
    assert bool(row.error) == failed, row
    if not failed and not re.search(r"empty|missing|not_found", body.name):
        assert row.hits or "weekend" in body.name or body.name in _CITES_NOTHING
    _, parse = recordings.parser_of(api, body.name)
    answer = outcome(parse, response)
    if isinstance(answer, SourceError):
        assert answer.message
        assert not re.search(r"\d+\.\d+\.\d+\.\d+", answer.message)
        return
    for one in answer if isinstance(answer, list) else [answer]:
        if isinstance(one, Found):
            assert one.key
            assert one.title == " ".join(one.title.split())
            assert not _MARKUP.search(one.title)
            assert one.published is None or _DATE.fullmatch(one.published)
            assert all(author.strip() for author in one.authors)
            _check_document(one.document, markup=api not in ("github", "hackernews", "exa", "tavily"))


def _check_document(document: Document | None, *, markup: bool) -> None:
    if document is None:
        return
    assert not _HIDDEN.search(document.text)
    assert not markup or not _MARKUP.search(document.text)
    for heading in document.headings:
        assert document.text[heading.start :].startswith("#")
