"""Reasoning that models write into their answers, told apart from what they say."""

import re

_NAMES = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"^[ \t]*<({_NAMES})>", re.IGNORECASE | re.MULTILINE)
_CLOSE = re.compile(rf"(?<!`)</(?:{_NAMES})>(?!`)", re.IGNORECASE)
_LONE_CLOSE = re.compile(rf"</(?:{_NAMES})>[ \t]*(?:\n|\Z)", re.IGNORECASE)


def split_reasoning(text: str) -> tuple[str, str]:
    """Return (what is said, what was thought): the parts in `<think>` tags are thought.

    A tag opens at the beginning of a line only: elsewhere it is a word. One that is never closed makes
    the rest thought; a closing tag without an opening one (servers put that into the prompt) makes all
    before it thought.
    """
    if "</" not in text and not _OPEN.search(text):
        return text, ""
    said: list[str] = []
    thought: list[str] = []
    rest = text
    lone, opened = _LONE_CLOSE.search(rest), _OPEN.search(rest)
    if lone and (not opened or lone.start() < opened.start()):
        thought, rest = [rest[: lone.start()]], rest[lone.end() :]
    while opened := _OPEN.search(rest):
        said.append(rest[: opened.start()])
        inner = rest[opened.end() :]
        closed = _CLOSE.search(inner)
        thought.append(inner[: closed.start()] if closed else inner)
        rest = inner[closed.end() :] if closed else ""
    if not thought:
        return text, ""
    return "".join([*said, rest]).strip(), "\n".join(part.strip() for part in thought)
