import json
import sys
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deep_research.providers.tools_in_text import calls_in
from deep_research.text.model_json import find_object, parse_object

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": "\\u00e9\\nx" // note\n}', {"a": "é\nx"}),
        ('{"a": "cut of', None),
        ('{"a"', None),
        ("{a: 1}", {"a": 1}),
        ('{"a": "he said "yes" and left"}', {"a": 'he said "yes" and left'}),
        ('{"a": ' * 5000 + "}", None),
    ],
)
def test_small_faults_are_repaired_and_open_ends_are_not(text: str, found: object) -> None:
    assert parse_object(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('Here it is: {"a": {"b": 2}} Hope it helps.', {"a": {"b": 2}}),
        ('I use {x} as a set. The answer:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ("a set {x, y} only", None),
    ],
)
def test_finds_the_object_between_words(text: str, found: object) -> None:
    assert find_object(text) == found


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4))
def test_valid_json_comes_back_as_it_was(value: dict[str, object]) -> None:
    assert parse_object(json.dumps(value)) == value
    assert find_object("x " + json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=5), VALUES, min_size=1, max_size=4), st.integers(1, 200))
def test_a_cut_end_never_makes_up_a_value(value: dict[str, object], cut: int) -> None:
    text = json.dumps(value)
    assert parse_object(text[: -min(cut, len(text) - 1)], complete=False) is None


@pytest.mark.parametrize("read", [parse_object, find_object, lambda text: calls_in(text, ())])
@pytest.mark.parametrize("text", ['{"a":' * 9000 + "1" + "}" * 9000, "]" * 999 + '[{"a":' * 400 + "1" + "}]" * 400])
def test_what_is_nested_too_deep_is_looked_at_once_and_never_tried(read: Callable[[str], object], text: str) -> None:
    made: Counter[str] = Counter()
    sys.setprofile(lambda _, event, __: made.update([event]))
    try:
        found = read(text)
    finally:
        sys.setprofile(None)
    assert found in (None, (text, []))
    assert made.total() < 200, made
