"""What the readers of claims make of texts: recorded beside the texts, and written again by this module.

`python -m tests.claimcheck.readings` reads every text of `readings/` again. A change in what it prints is a change of
behaviour: look at each.
"""

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

from deep_research.claimcheck.alignment import align, tokens_of
from deep_research.claimcheck.alterations import find_alteration
from deep_research.claimcheck.claim_verdict import evidence_sentences, verify_against_document
from deep_research.claimcheck.negation import conflict, denied_elsewhere
from deep_research.claimcheck.restatements import is_restated
from deep_research.claimcheck.support import support
from deep_research.text.names import names
from deep_research.text.quantities import quantities

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


def read_pair(text: str) -> str:
    """Return what two sentences are to each other, the first as the claim."""
    claim, line = text.split(" ⇔ ")
    found = [
        f"{read_verdict(claim, line)} |",
        conflict(claim, line),
        "denied elsewhere" * denied_elsewhere(claim, [line, "It has oil."]),
        *(f"{a.share:.2f} {[(a.claim_text(r), a.line_text(r)) for r in a.regions]}" for a in align(claim, [line])),
    ]
    return " ".join(" ".join(found).split())


READERS: dict[str, Callable[[str], str]] = {
    "quantities": read_quantities,
    "names": read_names,
    "tokens": read_tokens,
    "pairs": read_pair,
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
    """Return the verdict on a claim: kind, codes, and what was changed; then how far it is supported, and the change."""
    found, lines = verify_against_document(claim, passage), evidence_sentences(passage)
    values = [found.values[key] for key in ("said", "there", "number", "name") if found.values.get(key)]
    measured, change = support(claim, lines), find_alteration(claim, lines)
    parts = [
        f"{found.kind} {' '.join(found.codes)} {' / '.join(values)}",
        f"{measured.score:.3f} {measured.partial:.3f} {measured.covered:.2f} {measured.best} {measured.conflict}",
        f"{change.what} {change.said} / {change.there} {'conflict' * change.is_conflict}" if change else "",
        "restated" * is_restated(claim, lines),
    ]
    return " | ".join(" ".join(part.split()) for part in parts if part)


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
