"""Measure if the check sees altered claims: lab/mutations.py [--texts LANG=FILE].

Without `--texts` the passages of lab/changes/*.toml are used: each sentence of a passage and each rewording is
true, each changed claim is not. With `--texts` sentences of real text are changed by lab/changes/tables.toml;
FILE holds JSON lines {title, text}, LANG is en, zh, ja or ko. What to change is chosen from these tables alone, never by
the code that is measured. Each claim is held against its passage.

Data are halved by a digest of the passage: `--half development` is for building, `--half unseen` for figures. The last
line printed is one JSON object: by kind and language, how many were tried and the share that was called supported
(should be 0 for changes, 1 for unchanged, clipped and reworded).
"""

import argparse
import hashlib
import json
import random
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deep_research.api import check_claim

FOLDER = Path(__file__).with_name("changes")
LANGUAGES = ("en", "zh", "ja", "ko")
TRUE = ("unchanged", "clipped", "reworded")
"""Kinds of claims that are true; all others are changed."""
_BORDER = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z\"“가-힣])|\n+")
_SIZES = {"en": (40, 300), "zh": (12, 120), "ja": (15, 150), "ko": (15, 180)}
_LONGEST_PASSAGE = 2500

Table = Mapping[str, Any]
Change = Callable[[str, Table, random.Random], str]


class Statement(NamedTuple):
    """A true sentence and the passage it was taken from."""

    language: str
    passage: str
    sentence: str


class Case(NamedTuple):
    """A claim to check against a passage; `kind` is the change, or how it is true."""

    kind: str
    language: str
    claim: str
    passage: str


def half_of(passage: str) -> str:
    """Return the half of the data that a passage belongs to."""
    return ("development", "unseen")[hashlib.sha256(passage.encode()).digest()[0] % 2]


def split_text(text: str) -> list[str]:
    """Return the sentences of a text, cut at full stops alone."""
    return [part.strip() for part in _BORDER.split(text) if part and part.strip()]


def read_fixtures(half: str) -> Iterator[Case]:
    """Yield the cases of the passages in this folder."""
    for language in LANGUAGES:
        rows = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))["passage"]
        for number, row in enumerate(rows):
            if half != "all" and ("development", "unseen")[number % 2] != half:
                continue
            text = row.pop("text")
            for sentence in split_text(text):
                yield Case("unchanged", language, sentence, text)
            for kind, claims in row.items():
                yield from (Case(kind, language, claim, text) for claim in claims)


def read_texts(language: str, path: Path, half: str) -> list[Statement]:
    """Return the sentences of real text that are neither very short nor very long."""
    low, high = _SIZES[language]
    found = []
    for line in path.read_text("utf-8").splitlines():
        passage = json.loads(line)["text"][:_LONGEST_PASSAGE]
        if half != "all" and half_of(passage) != half:
            continue
        sentences = [
            s
            for s in split_text(passage)[:-1]
            if low <= len(s) <= high and s[-1] in ".。" and not re.search(r"[?？]", s)
        ]
        found += [Statement(language, passage, sentence) for sentence in sentences]
    return found


# --- Changes ---------------------------------------------------------------------------------------------------


def _places(text: str, word: str) -> list[tuple[int, int]]:
    """Return where a word stands; a Latin one must stand alone."""
    latin = word.strip().isascii()
    pattern = rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])" if latin else re.escape(word)
    return [m.span() for m in re.finditer(pattern, text)]


def _replace(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def _named(text: str, table: Table) -> list[tuple[tuple[int, int], str, str]]:
    """Return place, name and group of listed names, the longest where they overlap."""
    found: list[tuple[tuple[int, int], str, str]] = []
    listed = [(name, group) for group in ("persons", "places", "products") for name in table[group]]
    for name, group in sorted(listed, key=lambda pair: -len(pair[0])):
        for span in _places(text, name):
            if not any(span[0] < end and start < span[1] for (start, end), _, _ in found):
                found.append((span, name, group))
    return sorted(found)


def change_name(text: str, table: Table, dice: random.Random) -> str:
    """Replace a name by another of its kind, one time in three an invented one."""
    found = _named(text, table)
    if not found:
        return ""
    span, _, group = dice.choice(found)
    pool = table["new"] if dice.random() < 1 / 3 else table[group]
    other = [name for name in pool if name not in text and not any(name in n or n in name for _, n, _ in found)]
    return _replace(text, span, dice.choice(other)) if other else ""


def exchange_names(text: str, table: Table, dice: random.Random) -> str:
    """Let two names change places that are not merely listed side by side."""
    found = _named(text, table)
    pairs = [
        (a, b)
        for i, (a, one, _) in enumerate(found)
        for b, two, _ in found[i + 1 :]
        if one != two and not _is_joint(text[a[1] : b[0]], table)
    ]
    return _exchange(text, *dice.choice(pairs)) if pairs else ""


def _is_joint(between: str, table: Table) -> bool:
    rest = re.sub("|".join(map(re.escape, sorted(table["coordinators"], key=len, reverse=True))), "", between)
    return len(rest.strip()) < 3 or len(between) > 80


def _exchange(text: str, a: tuple[int, int], b: tuple[int, int]) -> str:
    return text[: a[0]] + text[slice(*b)] + text[a[1] : b[0]] + text[slice(*a)] + text[b[1] :]


_NUMBER = re.compile(r"(?<![A-Za-z\d.,:/-])\d+(?:[.,]\d+)*(?![A-Za-z\d:/-])")


def exchange_values(text: str, table: Table, dice: random.Random) -> str:
    """Let two numbers of about the same size change places."""
    found = list(_NUMBER.finditer(text))
    pairs = [
        (a.span(), b.span())
        for i, a in enumerate(found)
        for b in found[i + 1 :]
        if a[0] != b[0] and abs(len(a[0]) - len(b[0])) < 2 and not _is_joint(text[a.end() : b.start()], table)
    ]
    return _exchange(text, *dice.choice(pairs)) if pairs else ""


def change_value(text: str, _table: Table, dice: random.Random) -> str:
    """Change one digit of a number."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return ""
    at = dice.randrange(*(match := dice.choice(found)).span())
    if not text[at].isdigit():
        at = match.start()
    return _replace(text, (at, at + 1), dice.choice([d for d in "123456789" if d != text[at]]))


def change_unit(text: str, table: Table, dice: random.Random) -> str:
    """Change the unit behind a number."""
    found = [
        ((m.start(1), m.end(1)), [unit for unit in row if unit != row[0]])
        for row in table["units"]
        for m in re.finditer(rf"[\d一二三四五六七八九十百千万] ?({re.escape(row[0])})(?![A-Za-z])", text)
    ]
    if not found:
        return ""
    span, others = dice.choice(found)
    return _replace(text, span, dice.choice(others))


def change_number_word(text: str, table: Table, dice: random.Random) -> str:
    """Put another number word in the place of one."""
    rows = [table["numbers"], *([table["ordinals"]] if "ordinals" in table else [])]
    found: list[tuple[tuple[int, int], list[str]]] = []
    for row in rows:
        for word in row:
            others = [other for other in row if other != word]
            for frame in table.get("number_frames", ["{}"]):
                for start, end in _places(text, frame.format(word)):
                    at = start + frame.index("{}")
                    if not re.match(r"[\d一二三四五六七八九十百千两兩第数數]", text[at - 1 : at] or " "):
                        found.append(((at, at + len(word)), others))
                    del end
    if not found:
        return ""
    span, others = dice.choice(found)
    return _replace(text, span, dice.choice(others))


def _change_pair(key: str, *, both_ways: bool) -> Change:
    def change(text: str, table: Table, dice: random.Random) -> str:
        pairs = [pair.split("/", 1) for pair in table[key]]
        pairs += [[b, a] for a, b in pairs if b] if both_ways else []
        found = [(span, b) for a, b in pairs for span in _places(text, a)]
        return _replace(text, *dice.choice(found)) if found else ""

    return change


def change_sign(text: str, table: Table, dice: random.Random) -> str:
    """Take away or add a "not"."""
    if "sign" in table:
        return _change_pair("sign", both_ways=True)(text, table, dice)
    if " not " in text:
        return re.sub(r" (?:do |does |did )?not ", " ", text, count=1)
    match = re.search(r" (is|was|are|were|can|could|has been|have been) ", text)
    return f"{text[: match.end()]}not {text[match.end() :]}" if match else ""


def add_agent(text: str, table: Table, dice: random.Random) -> str:
    """Add who did it, where, or who says so."""
    name = dice.choice(table["new"])
    added = dice.choice(table["added"]).format(name=name)
    if added.startswith((" 이는", " 그리고")):
        return text + added
    return text[:-1] + (added if added.endswith((".", "。")) else f"{added}。")


def clip(text: str, table: Table, dice: random.Random) -> str:
    """Leave away all from the first comma on, where what is before can stand alone."""
    del table, dice
    parts = re.split(r"(?<=\D)[,，、]\s?(?=\D)", text, maxsplit=1)
    if len(parts) < 2 or not 40 < len(parts[0]) < len(text) or not re.match(r"[A-Z][a-z]+ ", text):
        return ""
    return f"{parts[0]}."


CHANGES: dict[str, Change] = {
    "value": change_value,
    "unit": change_unit,
    "name": change_name,
    "sign": change_sign,
    "exchanged_names": exchange_names,
    "exchanged": exchange_values,
    "antonym": _change_pair("opposites", both_ways=True),
    "number_word": change_number_word,
    "scope": _change_pair("scope", both_ways=False),
    "added": add_agent,
    "unchanged": lambda text, _table, _dice: text,
    "clipped": clip,
    "reworded": _change_pair("same", both_ways=True),
}


def change_texts(statements: Sequence[Statement], tables: Mapping[str, Table], sample: int) -> Iterator[Case]:
    """Yield up to `sample` cases of each kind and language."""
    for kind, change in CHANGES.items():
        for language in LANGUAGES:
            dice = random.Random(f"{kind} {language}")
            left = sample
            own = [s for s in statements if s.language == language]
            for statement in dice.sample(own, len(own)):
                if kind == "clipped" and language != "en":
                    break
                made = change(statement.sentence, tables[language], dice)
                if made and (made != statement.sentence or kind == "unchanged") and left:
                    left -= 1
                    yield Case(kind, language, made, statement.passage)


# --- The run ---------------------------------------------------------------------------------------------------


def main() -> None:
    """Read the options, judge every case and print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", action="append", default=[], metavar="LANG=FILE", help="JSON lines {title, text}")
    parser.add_argument("--half", choices=("development", "unseen", "all"), default="all")
    parser.add_argument("--sample", type=int, default=100, help="cases of each kind and language, of real text")
    parser.add_argument("--only", default="", help="only kinds with this name")
    parser.add_argument(
        "--show", action="store_true", help="print the claims that were judged wrongly, with the reason"
    )
    given = parser.parse_args()
    cases = list(read_fixtures(given.half))
    if given.texts:
        tables = tomllib.loads((FOLDER / "tables.toml").read_text("utf-8"))
        pairs = [text.partition("=") for text in given.texts]
        statements = [s for language, _, file in pairs for s in read_texts(language, Path(file), given.half)]
        cases = list(change_texts(statements, tables, given.sample))
    print(json.dumps(measure([c for c in cases if given.only in ("", c.kind)], show=given.show)))


def measure(cases: Sequence[Case], *, show: bool = False) -> dict[str, dict[str, list[float]]]:
    """Return by kind and language the count of cases and the share called supported."""
    verdicts: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        verdict = check_claim(case.claim, case.passage)
        verdicts[case.kind][case.language].append(verdict.kind)
        wrong = (verdict.kind == "supported") != (case.kind in TRUE)
        if show and wrong:
            print(f"{case.kind} {case.language} {verdict.kind} | {case.claim} | {verdict.reason}")
    figures: dict[str, dict[str, list[float]]] = {}
    for kind, by_language in verdicts.items():
        figures[kind] = {
            language: [len(said), round(said.count("supported") / len(said), 4)]
            for language, said in by_language.items()
        }
        line = "  ".join(f"{language} {share:.3f} of {tried}" for language, (tried, share) in figures[kind].items())
        print(f"{kind:16} {line}", file=sys.stderr)
    return figures


if __name__ == "__main__":
    main()
