"""Does the check see a changed sentence: python benchmarks/mutations.py FOLDER [--sample N].

Takes sentences of the Markdown files in FOLDER, changes a digit, a unit, a name or the sign of each, cites
the passage the sentence came from, and counts the verdicts. Unchanged sentences and true beginnings of
sentences are the control. The last line printed is one JSON object: by kind of change, how many were
tried and the share that was called supported (should be 0 for changes, 1 for controls).
"""

import argparse
import asyncio
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

from deep_research.data import Document, Found
from deep_research.steps.check_claims import check_draft
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text.sentences import split
from deep_research.verification.names import names
from deep_research.verification.numbers import quantities

UNITS = {
    "mg": "g",
    "%": " mg",
    "GB": "MB",
    "months": "weeks",
    "years": "months",
    "个月": "年",
    "개월": "년",
    "million": "billion",
}
OPPOSITES = {
    "可以": "不可以",
    "能够": "不能",
    "不支持": "支持",
    "提高": "降低",
    "减少": "增加",
    "한다.": "하지 않는다.",
    "였다.": "이지 않았다.",
    "줄인다": "늘린다",
    "높인다": "낮춘다",
}


def changed_digit(sentence: str, dice: random.Random) -> str:
    found = [q for q in quantities(sentence) if re.search(r"\d", sentence[q.start : q.end])]
    if not found:
        return ""
    chosen = dice.choice(found)
    at = dice.choice([i for i in range(chosen.start, chosen.end) if sentence[i].isdigit()])
    digit = dice.choice([d for d in "123456789" if d != sentence[at]])
    return sentence[:at] + digit + sentence[at + 1 :]


def changed_unit(sentence: str, _dice: random.Random) -> str:
    for old, new in UNITS.items():
        if match := re.search(rf"\d ?{re.escape(old)}(?![a-z])", sentence):
            return sentence[: match.start()] + match[0].replace(old, new) + sentence[match.end() :]
    return ""


def changed_sign(sentence: str, _dice: random.Random) -> str:
    if " not " in sentence:
        return re.sub(r" (?:do |does |did )?not ", " ", sentence, count=1)
    if match := re.search(r" (is|was|are|were|can|could|has been|have been) ", sentence):
        return f"{sentence[: match.end()]}not {sentence[match.end() :]}"
    return next((sentence.replace(a, b, 1) for a, b in OPPOSITES.items() if a in sentence), "")


def beginning(sentence: str, _dice: random.Random) -> str:
    parts = re.split(r"(?<=\D)[,，]\s?(?=\D)", sentence, maxsplit=1)
    end = "。" if re.search("[一-鿿]", sentence) else "."
    return parts[0] + end if len(parts) > 1 and len(parts[0]) > 40 else ""


def name_changer(pool: list[str]) -> Callable[[str, random.Random], str]:
    def changed_name(sentence: str, dice: random.Random) -> str:
        found = names(sentence)
        strange = [name for name in pool if name.lower() not in sentence.lower()]
        if not found or not strange:
            return ""
        chosen = dice.choice(found)
        return sentence[: chosen.start] + dice.choice(strange) + sentence[chosen.end :]

    return changed_name


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sample", type=int, default=400)
    arguments = parser.parse_args()
    library, dice = SqliteLibrary(":memory:"), random.Random(1)
    for path in sorted(arguments.folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        source = library.add_source(
            Found(key=str(path), title=text.partition("\n")[0].lstrip("# "), origin="benchmark")
        )
        library.add_snapshot(source.id, Document(text=text), retrieved_at="")
    sentences = [
        (s, p.id)
        for source in library.sources()
        for p in library.passages(source.id)
        for s in split(p.text)
        if len(s) > 30
    ]
    pool = sorted({n.text for s, _ in sentences for n in names(s)})
    changes: dict[str, Callable[[str, random.Random], str]] = {
        "digit": changed_digit,
        "unit": changed_unit,
        "name": name_changer(pool),
        "sign": changed_sign,
        "control_beginning": beginning,
        "control_unchanged": lambda sentence, _dice: sentence,
    }
    figures = {}
    for kind, change in changes.items():
        verdicts = []
        for sentence, passage in dice.sample(sentences, min(arguments.sample, len(sentences))):
            if made := change(sentence, dice):
                checked = await check_draft(f"{made} [{passage}]", section="", library=library)
                verdicts.append(all(claim.stands for claim in checked.claims))
                if verdicts[-1] == (not kind.startswith("control")):
                    print(kind, "|", made)
        figures[kind] = {"tried": len(verdicts), "supported": round(sum(verdicts) / max(1, len(verdicts)), 4)}
    print(json.dumps(figures))


if __name__ == "__main__":
    asyncio.run(main())
