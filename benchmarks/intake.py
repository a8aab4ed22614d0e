"""When does the program ask back instead of starting, and does it see the language: python benchmarks/intake.py FILE.

FILE holds JSON lines {prompt | task | question, language?, vague?}: `language` is the ISO 639-1 code of
the request, `vague` (or `require_clarification`) says whether a good researcher would ask back. Each
request goes through the step that a run begins with, with the reasoner that needs no model. The last
line printed is one JSON object: `asked` and `language_right` are shares of the requests that were asked
back and whose language was right; `balanced_accuracy` is there where rows say what is vague.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from deep_research.data import Decision, Question
from deep_research.i18n.language import detect
from deep_research.reasoners.extractive.extractive_reasoner import ExtractiveReasoner
from deep_research.run_context.context import RunContext
from deep_research.settings import load_settings
from deep_research.steps.intake import decide
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.sqlite_library import SqliteLibrary

Row = dict[str, Any]


def text_of(row: Row) -> str:
    return next(row[key] for key in ("prompt", "task", "question") if key in row)


def vagueness(row: Row) -> bool | None:
    """Whether the row says that the request is vague; None where it does not say."""
    label = row.get("vague", row.get("require_clarification"))
    return None if label is None else bool(label)


async def decided(rows: list[Row]) -> list[Decision]:
    """What intake decides on each request."""
    ctx = RunContext(
        run_id="benchmark",
        settings=load_settings(),
        reasoner=ExtractiveReasoner(),
        library=SqliteLibrary(":memory:"),
        journal=SqliteJournal(":memory:"),
        places=(),
    )
    texts = [text_of(row) for row in rows]
    return [await decide(ctx, Question(text=text, language=detect(text))) for text in texts]


def share(hits: list[bool]) -> float:
    return round(sum(hits) / len(hits), 4) if hits else 0.0


def balanced_accuracy(pairs: list[tuple[bool, bool]]) -> float:
    """The mean of the shares of vague requests asked back and of clear ones started."""
    sides = [[predicted == side for wanted, predicted in pairs if wanted == side] for side in (True, False)]
    shares = [sum(side) / len(side) for side in sides if side]
    return round(sum(shares) / len(shares), 4)


def figures(rows: list[Row], decisions: list[Decision]) -> dict[str, float]:
    asked = [decision.next_action == "NEED_CLARIFICATION" for decision in decisions]
    found: dict[str, float] = {"questions": len(rows), "asked": share(asked)}
    languages = [detect(text_of(row)) == row["language"] for row in rows if row.get("language")]
    if languages:
        found["language_right"] = share(languages)
    pairs = [(label, ask) for row, ask in zip(rows, asked, strict=True) if (label := vagueness(row)) is not None]
    if pairs:
        found["balanced_accuracy"] = balanced_accuracy(pairs)
        found["asked_of_vague"] = share([ask for vague, ask in pairs if vague])
        found["asked_of_clear"] = share([ask for vague, ask in pairs if not vague])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    lines = parser.parse_args().file.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    decisions = asyncio.run(decided(rows))
    for row, decision in zip(rows, decisions, strict=True):
        if decision.next_action == "NEED_CLARIFICATION":
            print(f"asked: {text_of(row)[:100]!r}: {decision.reasoning}")
        if row.get("language") and detect(text_of(row)) != row["language"]:
            print(f"language {detect(text_of(row))}, not {row['language']}: {text_of(row)[:100]!r}")
    print(json.dumps(figures(rows, decisions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
