"""The research desk's answers to an agent: small nouns with ids of passages."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from deep_research.data import Claim, ClaimKind, Observation, Problem, ProblemKind, VerdictKind
from deep_research.data.noun import Noun, copy_fields
from deep_research.errors import RunNotFound
from deep_research.ports import Library
from deep_research.report.counts import VerdictCounts
from deep_research.search.source_standing import dated_source
from deep_research.text.token_count import take_within_budget

_SHOWN_TOKENS = 6_000  # how much of the sources one answer shows; the ids of the rest are named
Judged = Literal["supported", "contradicted", "misleading", "unverified"]
_PROBLEM_OF: Mapping[str, Literal["contradicted", "misleading", "unsupported"]] = {
    "contradicted": "contradicted", "misleading": "misleading", "unverified": "unsupported",
}  # fmt: skip


class ShownPassage(Noun):
    """A passage with what is known of its source; cite its `id` in brackets: [s7p3].

    `date` is the day that the source speaks of, `status` what its own head says of it (superseded, draft, …).
    """

    id: str
    title: str
    url: str = ""
    date: str = ""
    status: str = ""
    heading: str = ""
    page: int | None = None
    text: str


class Looked(Noun):
    """The result of looking up: passages, ids of `more`, failures, the next place."""

    run_id: str
    passages: tuple[ShownPassage, ...]
    more: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    told: str = ""


class Begun(Noun):
    """A session; `sources` are the places that `search` can name."""

    run_id: str
    sources: dict[str, str]
    opens_addresses: bool


class Noted(Noun):
    """How many notes there are; `unknown` are the ids in this one that do not exist."""

    run_id: str
    notes: int
    unknown: tuple[str, ...] = ()


class CheckedStatement(Noun):
    """A report's statement, its cited ids and verdict; of `kind` own it cites none."""

    id: str
    text: str
    where: str = ""
    kind: ClaimKind
    passages: tuple[str, ...] = ()
    verdict: VerdictKind
    reason: str = ""


class FoundProblem(Noun):
    """A problem of a report; `statement` is an id ("": all), `passages` correct it."""

    statement: str = ""
    kind: ProblemKind
    quote: str
    problem: str
    evidence: str = ""
    passages: tuple[str, ...] = ()


class CheckedReport(Noun):
    """A report's statements from number `start` on, with cited passages and problems.

    `next` is where the next part begins, None at the end. `is_judged` says that a model has judged them: else judge
    each against its passages and hand the verdicts in.
    """

    run_id: str
    counts: VerdictCounts
    is_judged: bool
    open_statements: int
    statements: tuple[CheckedStatement, ...] = ()
    problems: tuple[FoundProblem, ...] = ()
    passages: tuple[ShownPassage, ...] = ()
    next: int | None = None


class GivenVerdict(Noun):
    """An agent's verdict on a statement (`c12`); `passages` are ids to correct it."""

    statement: str = Field(max_length=20)
    verdict: Judged
    reason: str = Field("", max_length=2_000)
    passages: tuple[str, ...] = Field((), max_length=20)


def show_looked(run_id: str, seen: Observation, library: Library) -> Looked:
    """Return what an observation has brought, as much as one answer shows."""
    passages = [passage for key in seen.passages if (passage := library.passage(key)) is not None]
    shown = list(take_within_budget(((p.id, p.text) for p in passages), _SHOWN_TOKENS))
    told = seen.text if shown or seen.text or seen.failed else "Nothing was found; other words may find it."
    return Looked(
        run_id=run_id,
        passages=tuple(show_passage(key, library) for key in shown),
        more=tuple(p.id for p in passages if p.id not in shown),
        failed=tuple(f"{name}: {seen.failure}" for name in seen.failed),
        told=told,
    )


def show_passage(key: str, library: Library) -> ShownPassage:
    """Return a passage with its source. Raises RunNotFound for an unknown id."""
    passage, source = library.passage(key), library.source(key.partition("p")[0])
    if passage is None or source is None:
        raise RunNotFound(f"The run has no passage {key!r}.", run_id="")
    dated = dated_source(library, source.id)
    told = {"title": source.title, "url": source.url, "date": dated.date, "status": dated.standing.status}
    return copy_fields(ShownPassage, passage, **told)


def problem_of(one: GivenVerdict, claim: Claim) -> Problem:
    """Return what an agent found wrong with a statement."""
    told = one.reason or "Its passages do not say it."
    return Problem(quote=claim.text, kind=_PROBLEM_OF[one.verdict], problem=told, passages=one.passages, claim=claim.id)
