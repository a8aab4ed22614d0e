"""Answers that lack fields, hold null or other types, or are damaged: only SourceError may come out of a parser."""

import inspect
import json
from importlib import import_module

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deep_research.errors import SourceError
from deep_research.sources import api_sources
from tests.sources.answers import answer, bodies, outcome

_ODD = [
    None, "", " ", 0, -1, 1.5, 10**30, True, [], {}, [None], {"a": None}, ["a", None, {"b": 1}], [[None]], [[2024, None, 3]],
    "x", "<b>x", "</p>", "&lt;", "http://[bad", "2024-13-45", "10.1234/abc", "\ud800",
]  # fmt: skip
_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(_ODD)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
_SETTINGS = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def _parsers(name: str) -> list:
    module = import_module(api_sources()[name].__module__)
    functions = inspect.getmembers(module, inspect.isfunction)
    own = [(label, function) for label, function in functions if function.__module__ == module.__name__]
    return [function for label, function in own if label.startswith("parse_")]


def _places(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from _places(part, (*path, step))


def _changed(value, path, new, *, drop: bool):
    if not path:
        return new
    step, *rest = path
    copy = dict(value) if isinstance(value, dict) else list(value)
    if drop and not rest:
        del copy[step]
    else:
        copy[step] = _changed(copy[step], rest, new, drop=drop)
    return copy


def _parse_all(name: str, body: bytes, status: int = 200) -> None:
    for parse in _parsers(name):
        result = outcome(parse, answer(body, status))
        assert not isinstance(result, SourceError) or result.message


OVER_HTTP = sorted(name for name, kind in api_sources().items() if kind.over_http)


@pytest.mark.parametrize("name", OVER_HTTP)
@_SETTINGS
@given(data=st.data())
def test_fields_that_are_missing_or_of_another_type(name, data):
    for body in bodies(name, "one").values():
        if body.lstrip()[:1] not in b"{[":
            continue
        value = json.loads(body)
        for _ in range(data.draw(st.integers(1, 3))):
            path = data.draw(st.sampled_from(list(_places(value))))
            value = _changed(value, path, data.draw(_VALUES), drop=data.draw(st.booleans()))
        _parse_all(name, json.dumps(value).encode())


@pytest.mark.parametrize("name", OVER_HTTP)
@_SETTINGS
@given(data=st.data())
def test_bytes_that_are_missing_or_others_and_anything_at_all(name, data):
    for body in bodies(name, "one").values():
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 300)))
        noise = data.draw(st.binary(max_size=5) | st.sampled_from([b"", b"<x/>", b"&nbsp;", b"\xff", b"</entry>"]))
        _parse_all(name, body[:start] + noise + body[end:], data.draw(st.sampled_from([200, 202, 301, 404, 500])))
    _parse_all(name, data.draw(st.binary(max_size=200) | _VALUES.map(lambda value: json.dumps(value).encode())))
