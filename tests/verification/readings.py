"""What the readers of claims make of texts: recorded beside the texts, and written again by this module.

`python -m tests.verification.readings` reads every text of `readings/` again. A change in what it prints is a change of
behaviour: look at each.
"""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from deep_research.verification.alignment import tokens_of
from deep_research.verification.names import names
from deep_research.verification.numbers import quantities
from deep_research.verification.verify import verify_against_document

FOLDER = Path(__file__).with_name("readings")
CHANGES = Path(__file__).parents[2] / "benchmarks" / "changes"
LANGUAGES = ("en", "zh", "ja", "ko")
_INDENT = "    "


def read_quantities(text: str) -> str:
    """Return the quantities of a text: what is written, its value, unit and bound."""
    found = quantities(text)
    return " | ".join(f"{text[q.start : q.end]!r} {q.bound}{q.value.normalize():f} {q.unit}".strip() for q in found)


def read_names(text: str) -> str:
    """Return the names of a text; "!" marks those that must match character by character."""
    return " | ".join(f"{n.text}{'!' * n.strict} @{n.start}-{n.end}" for n in names(text))


def read_tokens(text: str) -> str:
    """Return the tokens of a text; "-" marks those that are no content."""
    return " ".join(f"{t.key}:{t.kind}@{t.start}{'' if t.is_content else '-'}" for t in tokens_of(text))


READERS: dict[str, Callable[[str], str]] = {
    "quantities": read_quantities,
    "names": read_names,
    "tokens": read_tokens,
}


def texts(name: str) -> list[tuple[str, str]]:
    """Return the texts of a file with what was read in them."""
    found: list[tuple[str, str]] = []
    for line in (FOLDER / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith(_INDENT):
            found[-1] = (found[-1][0], line.strip())
        elif line:
            found.append((line, ""))
    return found


def unescaped(text: str) -> str:
    """Return a text as it is read: a line break is written as two characters."""
    return text.replace("\\n", "\n")


def passages() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the passages of the benchmark of planted changes with all that is claimed of them, and their language."""
    for language in LANGUAGES:
        for row in tomllib.loads((CHANGES / f"{language}.toml").read_text("utf-8"))["passage"]:
            text = row.pop("text")
            yield language, text, [claim for claims in row.values() for claim in claims]


def read_verdict(claim: str, passage: str) -> str:
    """Return the verdict on a claim: kind, codes, and what was changed."""
    found = verify_against_document(claim, passage)
    values = [found.values[key] for key in ("said", "there", "number", "name") if found.values.get(key)]
    return f"{found.kind} {' '.join(found.codes)} {found.score or ''} {' / '.join(values)}".strip()


def verdicts() -> dict[str, str]:
    """Return the recorded verdicts by claim."""
    return dict(texts("verdicts"))


def write() -> None:
    """Read every text again."""
    for name, reader in READERS.items():
        lines = [f"{text}\n{_INDENT}{reader(unescaped(text))}\n" for text, _ in texts(name)]
        (FOLDER / f"{name}.txt").write_text("".join(lines), "utf-8")
    lines = [f"{claim}\n{_INDENT}{read_verdict(claim, text)}\n" for _, text, claims in passages() for claim in claims]
    (FOLDER / "verdicts.txt").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    write()
