"""What is kept or shown holds no terminal code, no hidden character and no key."""

import json

import pytest

from deep_research import safe_text as door
from deep_research.data import Gap, Usage
from deep_research.errors import ConfigError, Unreachable
from deep_research.safe_text import mask_known, register_secrets, safe_noun, safe_text, safe_values


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]8;;http://evil.example/\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("a\x9d52;c;Y2xpcA==\x9cb", "ab"),
        ("bell\x07 back\x08 del\x7f nul\x00", "bell back del nul"),
        ("left\u202eright\u2066x\u2069", "leftrightx"),
        ("tag\U000e0041 zero\u200b\ufeff", "tag zero"),
        ("half\udfff sign", "half sign"),
        ("one\r\ntwo\u2028three\x85four", "one\ntwo\nthree\nfour"),
        ("nai\u0308ve \u0646\u200c\u0645 \U0001f469\u200d\U0001f52c", "nai\u0308ve \u0646\u200c\u0645 \U0001f469\u200d\U0001f52c"),
        ("\x1b" * 100 + "\x1b]0;" * 100 + "x", "x" * 0),
    ],
)  # fmt: skip
def test_what_controls_or_hides_is_gone(text: str, safe: str) -> None:
    cleaned = safe_text(text)
    assert not any(sign in cleaned for sign in "\x1b\x07\x9b\x9d\u202e\u200b\udfff")
    if safe:
        assert cleaned == safe


def test_json_data_is_safe_and_of_a_size_that_other_programs_hold() -> None:
    deep = json.loads("[" * 500 + "]" * 500)
    value = {"a": ["\x1b[1mx", 10**30, -(10**30), float("nan"), float("inf"), True, None, 1.5], "b": deep}
    safe = safe_values(value)
    assert safe["a"] == ["x", 2**53, -(2**53), None, None, True, None, 1.5]
    json.dumps(safe, allow_nan=False)
    assert Usage(prompt_tokens=10**30, completion_tokens=-5) == Usage(prompt_tokens=10**9, completion_tokens=0)


def test_nouns_are_safe_in_every_text() -> None:
    gap = Gap(what="a\x1b]0;x\x07b", why="\u202ewhy", source="s")
    assert safe_noun(gap) == Gap(what="ab", why="why", source="s")
    plain = Gap(what="a", why="b")
    assert safe_noun(plain) is plain


def test_known_keys_are_masked_in_every_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "_secrets", set())
    register_secrets(["key/with+signs", "short", "https://address.example/path"])
    assert mask_known("key/with+signs key%2Fwith%2Bsigns short https://address.example/path") == (
        "… … short https://address.example/path"
    )
    assert Unreachable("It said: key/with+signs\x1b[2J", url="x").message == "It said: …"
    assert str(ConfigError("key/with+signs")) == "…"


def test_a_secret_that_could_be_a_word_is_masked_in_what_is_shown_and_left_in_sources() -> None:
    register_secrets(["correcthorse"])
    assert "correcthorse" not in safe_text("the key correcthorse")
    assert mask_known("a text of correcthorse") == "a text of correcthorse"
