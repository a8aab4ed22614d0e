"""Pages that give orders: nothing hidden is read, no fence is forged, no run obeys."""

import re

import pytest

from deep_research.assembly.page_access import document_of
from deep_research.data import Found
from deep_research.fetch.fetched_page import Page
from deep_research.text.prompt_fencing import attribute, clean
from tests.web.attacks import HIDDEN, HOST, ORDERS, VISIBLE
from tests.web.world import ALPHA, KINDS

FORGED = re.compile(
    r"[<＜‹〈⟨❮]\s*/?\s*(?:passage|question|message|conversation|section|system|tool_\w+|start_of_turn|end_of_turn)\b"
    r"|<\||\|>|\[/?INST\]|<</?SYS>>|</?s>|\[s\d+p\d+\]",
    re.IGNORECASE,
)
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]")


def _read(markup: str) -> str:
    html = f"<html><head><title>Alpha engine</title></head><body><h1>Alpha engine</h1><p>{ALPHA}</p><p>{KINDS}</p>{markup}</body></html>"
    page = Page(
        "http://a.test/", "http://a.test/", 200, "text/html", "utf-8", html.encode(), "2026-01-01T00:00:00+00:00"
    )
    return document_of(page, Found(key="a", title="Alpha engine", origin="searxng")).text


@pytest.mark.parametrize("way", HIDDEN)
def test_what_no_visitor_sees_is_not_read(way: str) -> None:
    for order in ORDERS.values():
        text = _read(HIDDEN[way](order))
        assert ALPHA in text
        assert HOST not in text
        assert "Omega" not in text
        assert not UNSEEN.search(text)


@pytest.mark.parametrize("way", VISIBLE)
def test_no_fence_is_forged(way: str) -> None:
    for order in ORDERS.values():
        text = _read(VISIBLE[way](order))
        assert ALPHA in text
        shown = clean(text)
        assert not FORGED.search(shown)
        assert not UNSEEN.search(shown)
        assert not set(attribute(text[-300:])) & set('"<>\n')
