"""When does the program ask back instead of starting, and does it see the language: python benchmarks/intake.py FILE.

FILE holds JSON lines {prompt | task | question, language?, vague?}: `language` is the ISO 639-1 code of
the request, `vague` (or `require_clarification`) says whether a good researcher would ask back; or it is a
TOML table of messages as in tests/intake/messages.toml, of which `--part` names one. Each request goes
through the step that a run begins with, with the reasoner that needs no model, or with `--model` (and
`--provider`, `--base-url`) through the library's door, as a question of somebody who can be asked. The last
line printed is one JSON object: `asked` and `language_right` are shares of the requests that were asked
back and whose language was right; `balanced_accuracy` is there where rows say what is vague.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from deep_research.api import stream
from deep_research.data import Decision, Question
from deep_research.errors import Declined
from deep_research.events import Understood
from deep_research.finding.finder_reasoner import FinderReasoner
from deep_research.i18n.language import detect
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


def rows_of(file: Path, part: str) -> list[Row]:
    """Return the requests of a file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".toml":
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    table = tomllib.loads(text)[part]
    return [{"prompt": said, "vague": kind == "ask"} for kind in ("start", "ask") for said in table[kind]]


class _AskedError(Exception):
    """The program asks back."""


def _ask(_question: str) -> str:
    raise _AskedError


async def _asks_back(home: Path, text: str, settings: dict[str, Any]) -> bool:
    """Put a question to the program as somebody who can be asked, until it starts or asks."""
    try:
        async for event in stream(text, home=home, on_clarify_question=_ask, **settings):
            if isinstance(event, Understood):
                return False
    except _AskedError:
        return True
    except Declined:
        return False
    return False


async def asked_with_model(rows: list[Row], settings: dict[str, Any]) -> list[bool]:
    """Return whether a model has each request asked back; eight at a time."""
    at_once = asyncio.Semaphore(8)

    async def one(home: Path, row: Row) -> bool:
        async with at_once:
            return await _asks_back(home, text_of(row), settings)

    with tempfile.TemporaryDirectory() as home:
        return await asyncio.gather(*(one(Path(home), row) for row in rows))


async def decided(rows: list[Row]) -> list[Decision]:
    """What intake decides on each request without a model."""
    ctx = RunContext(
        run_id="benchmark",
        settings=load_settings(),
        reasoner=FinderReasoner(),
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


def figures(rows: list[Row], asked: list[bool]) -> dict[str, float]:
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
    parser.add_argument("--part", default="unseen", help="the part of a TOML table")
    parser.add_argument("--model", help="the model that judges; none without")
    parser.add_argument("--provider", default="auto")
    parser.add_argument("--base-url", help="where its provider answers")
    given = parser.parse_args()
    rows = rows_of(given.file, given.part)
    if given.model:
        address = {"model_base_url": given.base_url} if given.base_url else {}
        asked = asyncio.run(
            asked_with_model(rows, {"model_provider": given.provider, "model_name": given.model, **address})
        )
    else:
        asked = [decision.next_action == "NEED_CLARIFICATION" for decision in asyncio.run(decided(rows))]
    for row, asks in zip(rows, asked, strict=True):
        if asks:
            print(f"asked: {text_of(row)[:100]!r}")
        if row.get("language") and detect(text_of(row)) != row["language"]:
            print(f"language {detect(text_of(row))}, not {row['language']}: {text_of(row)[:100]!r}")
    print(json.dumps(figures(rows, asked)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
