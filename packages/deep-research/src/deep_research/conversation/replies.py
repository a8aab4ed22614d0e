"""Meaning of a user's short answers, by the words of the lexica (`reply`)."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from typing import Literal

from claimcheck.lexicon import any_word

Remark = Literal["thanks", "leave", "help", "nothing_open"]
_REMARKS: tuple[Remark, ...] = ("thanks", "leave", "help")
_CLAUSES = re.compile(r"[,.;:!?。，、；：！？…~～\n]|\s[-–—]\s|\b(?:and|but|so)\b")
_TELLING_SIGNS = 3
_LONGEST = 2_000


@cache
def _pattern(*names: str) -> re.Pattern[str]:
    return re.compile("|".join(any_word(f"reply.{name}{kind}") for name in names for kind in ("", "_patterns")))


def _all_clauses(answer: str, *meanings: str) -> bool:
    """Return whether each clause, polite ones aside, has one of the meanings."""
    clauses = [
        _pattern("edge").sub("", part.strip(" \t\r\u3000\"'“”‘’()（）").casefold())
        for part in _CLAUSES.split(answer.replace("’", "'"))
    ]
    clauses = [clause for clause in clauses if clause]
    one = _pattern(*meanings).pattern  # or two in a row: "묻지 말고 시작해"
    meant = re.compile(rf"(?:{one})(?:(?:\s|(?<=[^\x00-\x7f]))(?:{one}))?")
    hits = [bool(meant.fullmatch(clause)) for clause in clauses]
    polite = [bool(_pattern("polite").fullmatch(clause)) for clause in clauses]
    return any(hits) and all(hit or nice for hit, nice in zip(hits, polite, strict=True))


def wants_to_skip(answer: str) -> bool:
    """Return whether a whole answer skips a clarification: "start now", or ""."""
    return not answer.strip() or _all_clauses(answer, "skip")


def says_nothing(answer: str) -> bool:
    """Return whether an answer to an open question says no more than yes or no."""
    return not answer.strip() or _all_clauses(answer, "skip", "yes", "decline")


def tells_to_start(message: str) -> bool:
    """Return whether a whole message says to start without asking, and names nothing."""
    said = message.strip()
    is_telling = " " in said or (not said.isascii() and len(said) >= _TELLING_SIGNS)
    return is_telling and _all_clauses(message, "skip")


@cache
def _start_behind() -> re.Pattern[str]:
    told = any_word("reply.start_behind_patterns")
    return re.compile(rf"(?P<rest>\S(?:.*\S)??)\s*+{told}[.!。！]*+", re.IGNORECASE | re.DOTALL)


def split_start(message: str) -> tuple[str, bool]:
    """Return a message without clauses that say to start unasked; whether it had any."""
    parts = re.split(f"({_CLAUSES.pattern})", message)
    kept = [
        clause + between
        for clause, between in zip_longest(parts[::2], parts[1::2], fillvalue="")
        if not tells_to_start(clause)
    ]
    rest = "".join(kept).strip(" \t\n,;:-–—，、；：")
    if rest and len(kept) < len(parts[::2]):
        return rest, True
    behind = None if tells_to_start(message) else _start_behind().fullmatch(message.strip()[:_LONGEST])
    return (behind["rest"], True) if behind else (message, False)


def confirms(answer: str) -> bool:
    """Return whether an answer to a shown plan means yes (as "" and "start" do)."""
    return wants_to_skip(answer) or _all_clauses(answer, "yes", "skip")


def rejects(answer: str) -> bool:
    """Return whether an answer to a shown plan means no: nothing is to be researched."""
    return _all_clauses(answer, "no", "decline")


def read_remark(line: str) -> Remark | None:
    """Return what a whole line without a topic means: thanks, farewell, or help."""
    if not line.strip():
        return None
    for kind in _REMARKS:
        if _all_clauses(line, kind):
            return kind
    return "nothing_open" if confirms(line) or rejects(line) else None


_LETTERS = re.compile(r"(?:option\s+)?[(（]?([A-Ja-j])[.)）]?", re.IGNORECASE)


@cache
def _numbers() -> re.Pattern[str]:
    prefix, suffix = any_word("reply.number_prefix_patterns"), any_word("reply.number_suffix_patterns")
    return re.compile(rf"{prefix}?\s*(\d{{1,2}})\s*(?:[.)）、]|{suffix})?", re.IGNORECASE)


@cache
def _between() -> re.Pattern[str]:
    return re.compile(rf"\s*(?:[,，、;；/+&]|{any_word('reply.joint_patterns')})\s*|\s+", re.IGNORECASE)


def pick_options(answer: str, options: Sequence[str]) -> str:
    """Return the options named ("2", "B)", "1, 3", "第2个", "2번"), else the answer."""
    said = answer.strip()
    rest, starts = split_start(said)
    if starts and said.startswith(rest):  # "B, just start"
        return pick_options(rest, options) + said[len(rest) :]
    whole = _numbers().fullmatch(said) or _LETTERS.fullmatch(said)
    parts = [said] if whole else [part for part in _between().split(said) if part]
    picked: list[str] = []
    for part in parts:
        number, letter = _numbers().fullmatch(part), _LETTERS.fullmatch(part)
        index = int(number[1]) - 1 if number else ord(letter[1].upper()) - ord("A") if letter else -1
        if not 0 <= index < len(options):
            return said
        picked.append(options[index])
    return "; ".join(dict.fromkeys(picked)) if picked else said
