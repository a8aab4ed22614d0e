"""What the readers of claims make of texts: recorded beside the texts, and written again by this module.

`python -m tests.claimcheck.readings` reads every text of `readings/` again. A change in what it prints is a change of
behaviour: look at each.
"""

import asyncio
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from deep_research.claimcheck.alignment import align, tokens_of
from deep_research.claimcheck.alterations import find_alteration
from deep_research.claimcheck.contradictions import contradict
from deep_research.claimcheck.negation import conflict, denied_elsewhere
from deep_research.claimcheck.restatements import is_restated
from deep_research.claimcheck.support import support
from deep_research.claimcheck.verify import evidence_sentences, verify_against_document
from deep_research.data import Advice, Claim, Computation, Document, Found, Limit, Operand, Verdict
from deep_research.errors import ProviderDown
from deep_research.ports import Library
from deep_research.steps.check_advice import check_advice, check_limits
from deep_research.steps.check_claims import Judge, Rewrite, check_draft
from deep_research.steps.check_sentences import Ground
from deep_research.stores.sqlite_library import SqliteLibrary
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
        "contradict" * contradict(claim, line),
        "contradict about it" * contradict(claim, line, "engine"),
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
        f"{found.kind} {' '.join(found.codes)} {found.score or ''} {' / '.join(values)}",
        f"{measured.score:.3f} {measured.partial:.3f} {measured.covered:.2f} {measured.best} {measured.conflict}",
        f"{change.what} {change.said} / {change.there} {'conflict' * change.is_conflict}" if change else "",
        "restated" * is_restated(claim, lines),
    ]
    return " | ".join(" ".join(part.split()) for part in parts if part)


def verdicts() -> dict[str, str]:
    """Return the recorded verdicts by claim."""
    return dict(texts("verdicts"))


KINDS = {"s": "supported", "u": "unverified", "c": "contradicted"}
COMPUTATIONS = tuple(
    Computation(name=name, expression=expression, unit=unit, operands=operands)
    for operands in [
        (
            Operand(name="a", value="3,000 rpm", passage="s1p1"),
            Operand(name="b", value="4,500 rpm", passage="s2p1"),
            Operand(name="c", value="80 kg", passage="s1p1"),
            Operand(name="d", value="60 kg", passage="s2p1"),
            Operand(name="e", value="60 kg", passage="s9p9"),
        )
    ]
    for name, expression, unit in [
        ("k1", "change(a, b)", "%"),
        ("k2", "c + d", "kg"),
        ("k3", "a + c", "kg"),
        ("k4", "c - e", "kg"),
    ]
)


def cases(name: str, kind: str) -> dict[str, Mapping[str, Any]]:
    """Return the drafts, advice or limits of a file by their number and beginning."""
    rows = tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))[kind]
    numbered = ((number, row, row.get("text") or str(row["given"])) for number, row in enumerate(rows, 1))
    return {f"{kind} {number}: {text}".replace("\n", "\\n"): row for number, row, text in numbered}


def _library() -> SqliteLibrary:
    made = SqliteLibrary(":memory:")
    for row in tomllib.loads((FOLDER / "drafts.toml").read_text("utf-8"))["document"]:
        source = made.add_source(Found(key=row["title"], title=row["title"], origin="test"))
        document = Document(text=row["text"].strip(), title=row["title"])
        made.add_snapshot(source.id, document, retrieved_at="2026-01-01T00:00:00Z")
    return made


def _judge(answers: str, asked: list[str]) -> Judge:
    async def judge(claims: Sequence[Claim], _library: Library) -> Sequence[Verdict]:
        asked.extend(f"{claim.text!r} {' '.join(claim.passages)}" for claim in claims)
        if answers == "fail":
            raise ProviderDown("away")
        kinds = answers[: len(claims)]
        return [Verdict(kind=KINDS[kind], reason="so") for kind in kinds]  # pyright: ignore[reportArgumentType]

    return judge


def _rewrite(texts: Sequence[str], asked: list[str]) -> Rewrite:
    async def rewrite(claims: Sequence[Claim], _library: Library) -> Sequence[str]:
        asked.extend(f"rewrite {claim.text!r}" for claim in claims)
        if texts[:1] == ["fail"]:
            raise ProviderDown("away")
        return list(texts)

    return rewrite


def read_draft(row: Mapping[str, Any]) -> str:
    """Return what becomes of a draft: its text, its claims, what was asked and what failed."""
    asked: list[str] = []
    settled = [
        Claim(id="c1", section="S", text=text, passages=("s1p1",), verdict=Verdict(kind="supported", reason="so"))
        for text in row.get("settled", ())
    ]
    ground = Ground(
        computations=COMPUTATIONS if row.get("computations") else (),
        known=row.get("known", ""),
        sought=row.get("sought", ""),
        background=row.get("background", False),
        today=date(2026, 11, 22) if row.get("today") else None,
        told_date=row.get("told_date", ""),
    )
    judge = _judge(row["judge"], asked) if "judge" in row else None
    rewrite = _rewrite(row["rewrite"], asked) if "rewrite" in row else None
    done = check_draft(
        row["text"], section="S", library=_library(), judge=judge, rewrite=rewrite, settled=settled, ground=ground
    )
    content, claims, failures = asyncio.run(done)
    numbers = {claim.id: str(number) for number, claim in enumerate(claims)}
    described = [
        f"{c.kind} {c.verdict.kind} {' '.join(c.verdict.codes)} {c.verdict.score or ''} {' '.join(c.passages)} "
        f"{' '.join(c.flags)} {c.repair} {' '.join(numbers[key] for key in c.premises)} {c.text!r}"
        for c in claims
    ]
    return _listed([repr(content), *described, *asked, *(f"{g.what} {' '.join(g.codes)}" for g in failures)])


def _line_of(claim: Claim) -> str:
    return f"{claim.kind} {claim.verdict.kind} {' '.join(claim.verdict.codes)} {' '.join(claim.passages)} {claim.repair} {claim.text!r}"


def read_advice(row: Mapping[str, Any]) -> str:
    """Return what becomes of advice: what stands, its claims, what was asked and what failed."""
    asked: list[str] = []
    facts = [
        Claim(id=f"c{n}", section="S", text=text, passages=("s2p1", "s1p1"), verdict=Verdict(kind=kind, reason="so"))
        for text in row.get("facts", ())
        for n, kind in enumerate(("supported", "unverified"), 1)  # pyright: ignore[reportArgumentType]
    ]
    ground = Ground(known=row.get("known", ""), background=True, language=row.get("language", "en"))
    judge = _judge(row["judge"], asked) if "judge" in row else None
    rewrite = _rewrite(row["rewrite"], asked) if "rewrite" in row else None
    given = [Advice.model_validate(each) for each in row["given"]]
    done = asyncio.run(check_advice(given, facts, _library(), ground, judge, rewrite))
    shown = [repr({key: value for key, value in each.model_dump().items() if value}) for each in done.advice]
    claims = [f"{_line_of(claim)} {' '.join(claim.premises)}" for claim in done.claims]
    return _listed([*shown, *claims, *asked, *(f"{g.what} {' '.join(g.codes)}" for g in done.failures)])


def read_limits(row: Mapping[str, Any]) -> str:
    """Return which limits stand, with their searches, what is claimed, what was asked and what failed."""
    asked: list[str] = []
    given = [Limit.model_validate(each) for each in row["given"]]
    judge = _judge(row["judge"], asked) if "judge" in row else None
    done = asyncio.run(check_limits(given, row["searched"], _library(), judge))
    limits = [f"{limit.text!r} {limit.searched}" for limit in done.limits]
    failures = [f"{g.what} {' '.join(g.codes)}" for g in done.failures]
    return _listed([*limits, *map(_line_of, done.claims), *asked, *failures])


def _listed(lines: Sequence[str]) -> str:
    return f"\n{_INDENT}".join(" ".join(line.split()) for line in lines)


CHECKS: dict[str, tuple[Mapping[str, Any], Callable[[Mapping[str, Any]], str]]] = {
    text: (row, reader)
    for name, kind, reader in [
        ("drafts", "draft", read_draft),
        ("advice", "advice", read_advice),
        ("advice", "limit", read_limits),
    ]
    for text, row in cases(name, kind).items()
}
"""What is checked as a whole, and how it is read."""


def recorded_checks() -> dict[str, str]:
    """Return what was recorded of each check."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / "checks.txt").read_text("utf-8").splitlines():
        if line.startswith(_INDENT):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return {text: f"\n{_INDENT}".join(lines) for text, lines in found.items()}


def write() -> None:
    """Read every text again."""
    for name, reader in READERS.items():
        lines = [f"{text}\n{_INDENT}{reader(unescaped(text))}\n" for text, _ in texts(name)]
        (FOLDER / f"{name}.txt").write_text("".join(lines), "utf-8")
    lines = [f"{claim}\n{_INDENT}{read_verdict(claim, text)}\n" for _, text, claims in passages() for claim in claims]
    (FOLDER / "verdicts.txt").write_text("".join(lines), "utf-8")
    lines = [f"{text}\n{_INDENT}{reader(row)}\n" for text, (row, reader) in CHECKS.items()]
    (FOLDER / "checks.txt").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    write()
