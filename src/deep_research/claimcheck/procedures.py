"""Whether a procedure is told whole: the numbered steps of a source beside those of a text that cites it."""

import re
from collections.abc import Sequence

from deep_research.i18n.language import detect
from deep_research.text.sentences import ITEM_MARKER
from deep_research.text.tokens import content_terms

_LEAST = 3
"""Steps that make a procedure."""
_TOLD = 0.5
"""Share of a step's words that stand in one statement which tells it."""
_MOSTLY = 0.5
"""Share of a procedure's steps that a text tells which means to tell the procedure."""
_CODE = re.compile(r"`[^`\n]+`|(?<!\w)--?[a-z][\w-]+|\b\w+(?:[._/-]\w+)+\b")


def steps_left_out(told: Sequence[str], source: str) -> list[str]:
    """Return the steps of the numbered lists in `source` that none of the statements `told` tells, in order.

    Empty where the statements tell fewer than half of a list: they do not mean to tell it.
    """
    left: list[str] = []
    statements = [frozenset(content_terms(text)) for text in told]
    spoken = detect("\n".join(told))
    for steps in _procedures(source):
        missing = [step for step in steps if not _is_told(step, told, statements, spoken)]
        if len(steps) - len(missing) >= _MOSTLY * len(steps):
            left += missing
    return left


def _procedures(source: str) -> list[list[str]]:
    """Return the numbered lists of a text, each with its steps; a step runs to the next number or an empty line. A list
    may begin with any number: its beginning can lie in another passage."""
    found: list[list[str]] = []
    following: int | None = None
    in_step = False
    for line in source.splitlines():
        marker = ITEM_MARKER.match(line)
        if marker and marker["number"]:
            if int(marker["number"]) != following:
                found.append([])
            following, in_step = int(marker["number"]) + 1, True
            found[-1].append(line[marker.end() :].strip())
        elif line.strip() and in_step:
            found[-1][-1] += f" {line.strip()}"
        else:
            in_step = False
    return [steps for steps in found if len(steps) >= _LEAST]


def _is_told(step: str, told: Sequence[str], statements: Sequence[frozenset[str]], spoken: str) -> bool:
    if detect(step, default=spoken) != spoken:
        # Across languages only what is written alike can be compared.
        names = [name.strip("`") for name in _CODE.findall(step)]
        return not names or any(name in text for name in names for text in told)
    terms = frozenset(content_terms(step))
    return any(len(terms & statement) >= _TOLD * len(terms) for statement in statements)
