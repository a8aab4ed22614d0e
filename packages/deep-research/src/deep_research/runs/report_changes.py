"""Compare two reports: new, changed and gone statements and sources."""

from collections.abc import Sequence
from itertools import islice
from typing import Literal

from deep_research.data import Claim, Report
from deep_research.data.noun import Noun
from deep_research.i18n.catalog import phrase
from deep_research.text.inert_markdown import make_inert

ChangeKind = Literal["new", "changed", "gone"]
_MOST_COMPARED = 2_000
"""So many statements of each report are compared, each with each; beyond that only those with the same words are one."""
_SAME, _ALIKE = 97.0, 72.0
"""Likeness (0–100) from which two statements are one, and from which one is another wording of the other."""


class StatementChange(Noun):
    """A statement of the later report, and the earlier one's, under `where`."""

    kind: ChangeKind
    where: str
    text: str = ""
    before: str = ""
    passages: tuple[str, ...] = ()


class SourceChange(Noun):
    """A source that was read in one of the runs alone, or whose text is another."""

    kind: ChangeKind
    title: str
    url: str


class RunChanges(Noun):
    """What changed from one run to a later one on the same question."""

    run_id: str
    parent: str
    language: str
    before: str
    after: str
    statements: tuple[StatementChange, ...]
    sources: tuple[SourceChange, ...]
    unchanged: int

    def __str__(self) -> str:
        """Return the changes as a report in Markdown."""
        language = self.language
        lines = [f"# {phrase('changes_title', language, before=self.before, after=self.after)}"]
        counts = {kind: sum(s.kind == kind for s in self.statements) for kind in ("new", "changed", "gone")}
        lines.append(phrase("changes_counts", language, **counts, same=self.unchanged))
        for kind in counts:
            rows = [_line(s, language) for s in self.statements if s.kind == kind]
            rows += [make_inert(f"{s.title} {s.url}".strip()) for s in self.sources if s.kind == kind]
            if rows:
                lines.append(f"## {phrase(f'changes_{kind}', language)}")
                lines.append("\n".join(f"- {row}" for row in rows))
        return "\n\n".join(lines) + "\n"


def _line(change: StatementChange, language: str) -> str:
    said = change.text or change.before
    cited = "".join(f" [{passage}]" for passage in change.passages)
    before = f" ({phrase('changes_before', language, text=change.before)})" if change.kind == "changed" else ""
    return make_inert(f"{said}{cited}{before}")


def compare_reports(earlier: Report, later: Report, *, before: str, after: str) -> RunChanges:
    """Return changes from `earlier` to `later`; `before` and `after` are their dates."""
    statements, unchanged = _compare_claims(earlier.claims, later.claims)
    return RunChanges(
        run_id=later.run_id,
        parent=earlier.run_id,
        language=later.language,
        before=before,
        after=after,
        statements=tuple(statements),
        sources=tuple(_compare_sources(earlier, later)),
        unchanged=unchanged,
    )


def _compare_claims(earlier: Sequence[Claim], later: Sequence[Claim]) -> tuple[list[StatementChange], int]:
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only where reports are compared

    old = {claim.text: claim for claim in earlier if _is_told(claim)}
    new = {claim.text: claim for claim in later if _is_told(claim)}
    left = {text: claim for text, claim in old.items() if text not in new}
    # The likeness does not look at the order of words; each statement's are put in order once.
    ordered = {text: " ".join(sorted(text.split())) for text in islice(left, _MOST_COMPARED)}
    compared = set(islice((text for text in new if text not in old), _MOST_COMPARED))
    found: list[StatementChange] = []
    unchanged = len(new.keys() & old.keys())
    for text, claim in new.items():
        if text in old:
            continue
        words = " ".join(sorted(text.split()))
        best = process.extractOne(words, ordered, scorer=fuzz.ratio, score_cutoff=_ALIKE) if text in compared else None
        before = best[2] if best is not None else ""
        left.pop(before, None)
        ordered.pop(before, None)
        if best is not None and best[1] >= _SAME and _figures(text) == _figures(before):
            unchanged += 1
            continue
        kind: ChangeKind = "changed" if before else "new"
        found.append(StatementChange(kind=kind, where=claim.where, text=text, before=before, passages=claim.passages))
    gone = [StatementChange(kind="gone", where=claim.where, before=text) for text, claim in left.items()]
    return [*found, *gone], unchanged


def _is_told(claim: Claim) -> bool:
    """Return whether a statement is what sources say, or nobody has judged it."""
    return bool(claim.passages) and claim.verdict.kind in ("supported", "unverified")


def _figures(text: str) -> list[str]:
    return sorted(word for word in text.split() if any(sign.isdigit() for sign in word))


def _compare_sources(earlier: Report, later: Report) -> list[SourceChange]:
    old = {source.url or source.title: source for source in earlier.sources.values()}
    new = {source.url or source.title: source for source in later.sources.values()}
    found = [SourceChange(kind="new", title=s.title, url=s.url) for key, s in new.items() if key not in old]
    other = (s for key, s in new.items() if key in old and s.sha256 != old[key].sha256)
    found += [SourceChange(kind="changed", title=s.title, url=s.url) for s in other]
    return found + [SourceChange(kind="gone", title=s.title, url=s.url) for key, s in old.items() if key not in new]
