"""Queries as APIs want them: keywords for those that insist on every word, a length that they accept."""

import re
from collections.abc import Iterator

from deep_research.text.cleaning import fold
from deep_research.text.tokens import STOP_WORDS

_WORD = re.compile(r"\w(?:[\w.+#/'’\-]*[\w+#])?")
_MOST_KEYWORDS, _FEWER_KEYWORDS = 8, 3


def attempts(query: str, *, narrow: bool, max_chars: int) -> Iterator[str]:
    """Yield the query, or for a `narrow` API its keywords and then its first three keywords."""
    line = shortened(fold(query), max_chars)
    if not narrow or re.search(r'\w:\S|"', line):  # fields and phrases: somebody knows what they ask for
        yield line
        return
    words = keywords(line)
    yield " ".join(words[:_MOST_KEYWORDS])
    if len(words) > _FEWER_KEYWORDS:
        yield " ".join(words[:_FEWER_KEYWORDS])


def keywords(query: str) -> list[str]:
    """Return the words of a query that are no stop words, as written; all of them when there are no others."""
    words = _WORD.findall(query)
    telling = [word for word in words if word.lower() not in STOP_WORDS]
    return telling or words or [query]


def shortened(query: str, max_chars: int) -> str:
    """Return the query cut at a word so that it has at most `max_chars` characters."""
    if len(query) <= max_chars:
        return query
    cut = query[: max_chars + 1]
    return cut.rsplit(" ", 1)[0] if " " in cut else query[:max_chars]
