"""Words that point at what was said before ("it", "that one", "它", "그것"), and what they point at.

Without a model a question must name what it is about, so a pronoun is replaced by the name it most likely means:
the one thing that the question before named, else what its answer speaks of most, else the topic. What was taken
is told to the reader as an assumption.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.text.name_matching import naming
from deep_research.text.question_terms import topic_words


class Exchange(NamedTuple):
    """A question of the conversation as it was understood, and its answer ("" for a report as a whole)."""

    question: str
    answer: str = ""


class Meant(NamedTuple):
    """A question that names what it is about; `word` is what pointed at `name` ("" where nothing did)."""

    question: str
    word: str = ""
    name: str = ""


_ONE = re.compile(
    r"\b(?P<en>that one|this one|the same one|its(?=\s)|it(?!\s+(?:possible|true|likely|known|worth)\b)|that(?=\s*[?.!]|$)|this(?=\s*[?.!]|$)"
    r"|(?:that|this|the same)\s+(?P<kind>[a-z]+))\b"
    r"|(?P<zh>它(?!们)|(?:这|那)一?个|该(?=[\u4e00-\u9fff])(?!怎么|如何|选|用))"
    r"|(?P<ko>(?:그|이|저)(?:것|거)(?!들)|그(?:건|게|걸)|이(?:건|걸))|(?:그|해당)\s(?P<noun>[가-힣]{1,8})",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:they|them|these|those|their|both)\b|它们|这些|那些|两者|二者|그것들|이것들|둘 다", re.IGNORECASE
)
_CONTRACTED = {"건": "은", "게": "이", "걸": "을"}
_PARTICLES = {
    "은": "은는",
    "는": "은는",
    "이": "이가",
    "가": "이가",
    "을": "을를",
    "를": "을를",
    "과": "과와",
    "와": "과와",
}


def meant(question: str, said: Sequence[Exchange], names: Sequence[str]) -> Meant:
    """Return `question` with the first word that points back replaced by what it points at.

    `said` is the conversation, newest first; `names` are the things it was about. A question that is about nothing
    at all ("Why?") gets the topic added; one that stands by itself is returned as it is.
    """
    if found := _SEVERAL.search(question):
        return Meant(_with_topic(question, said), found[0], _topic(said))
    for found in _ONE.finditer(question):
        name = _one(found, said, names)
        if name:
            return Meant(_replaced(question, found, name), found[0], name)
    if not topic_words(question) and _topic(said):
        return Meant(_with_topic(question, said))
    return Meant(question)


def _one(found: re.Match[str], said: Sequence[Exchange], names: Sequence[str]) -> str:
    """The name that a pronoun means; for "that engine" one that is an engine."""
    if found["noun"]:
        names = [name for name in names if " " in name and found["noun"].startswith(name.rsplit(" ", 1)[1])]
        return next((name for exchange in said for name in _spoken_of(exchange, names)), "")
    if found["kind"]:
        kind = found["kind"].casefold()
        names = [name for name in names if kind in name.casefold().split()]
        return next((name for exchange in said for name in _spoken_of(exchange, names)), "")
    return next((name for exchange in said for name in _spoken_of(exchange, names)), "") or _topic(said)


def _spoken_of(exchange: Exchange, names: Sequence[str]) -> list[str]:
    """The one thing that a question names, else what its answer names, most often first."""
    ways = {name: naming(name) for name in names}
    asked = [name for name, way in ways.items() if way.within(exchange.question)]
    # A name may stand within another ("GiST" in "SP-GiST index"): the longer one is meant.
    asked = [name for name in asked if not any(name != other and name in other for other in asked)]
    if len(asked) == 1 or not exchange.answer:
        return asked if len(asked) == 1 else []
    lines = exchange.answer.splitlines()
    counts = {name: sum(way.within(line) for line in lines) for name, way in ways.items()}
    places = {name: way.place(exchange.answer) for name, way in ways.items()}
    return sorted((name for name in names if counts[name]), key=lambda name: (-counts[name], places[name]))


def _topic(said: Sequence[Exchange]) -> str:
    return next((words for exchange in said if (words := topic_words(exchange.question))), "")


def _with_topic(question: str, said: Sequence[Exchange]) -> str:
    topic = _topic(said)
    return f"{question} ({topic})" if topic else question


def _replaced(question: str, found: re.Match[str], name: str) -> str:
    """The question with the name in place of the pronoun, fitted to its grammar."""
    before, after = question[: found.start()], question[found.end() :]
    if found["en"]:
        return f"{before}{name}{'’s' if found[0].lower() == 'its' else ''}{after}"
    if found["zh"]:
        # "那个发动机" with "甲型发动机" is not to say the noun twice.
        doubled = next((k for k in range(min(len(name), 6), 0, -1) if after.startswith(name[-k:])), 0)
        return f"{before}{name}{after[doubled:]}"
    if found["noun"]:
        return f"{before}{name}{_particle(name, found['noun'].removeprefix(name.rsplit(' ', 1)[1]) + after)}"
    if (short := _CONTRACTED.get(found[0][-1])) is not None:
        after = short + after
    return f"{before}{name}{_particle(name, after)}"


def _particle(name: str, after: str) -> str:
    """A Korean particle in the form that fits the last sound of `name`."""
    forms = _PARTICLES.get(after[:1])
    if forms is None or not (len(after) == 1 or after[1] in " ,?") or not "가" <= name[-1] <= "힣":
        return after
    closed = (ord(name[-1]) - ord("가")) % 28 != 0
    return (forms[0] if closed else forms[1]) + after[1:]
