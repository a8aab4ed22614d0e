"""Measure what a user can trust: research a set of questions, and check every citation of the reports anew."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from deep_research.assembly.environment import RunEnvironment
from deep_research.assembly.reasoner_choice import choose_model, key_variables, open_reasoner, resolve_provider
from deep_research.data import Claim, Gap, Report
from deep_research.data.evaluation import EvaluationQuestion, FailedStatement, QuestionResult
from deep_research.errors import ConfigError, ModelError, ModelSetupError, ResearchError
from deep_research.ports import Library
from deep_research.report.ledger import PaidCall
from deep_research.runs.research_run import create_run, resume_run
from deep_research.settings import Settings, load_keys
from deep_research.steps.check_claims import check_claim
from deep_research.stores.journal import SqliteJournal
from deep_research.stores.run_store import RunStore
from deep_research.text.cleaning import letters_of
from deep_research.text.tokens import tokenize

_PARTS = {"yes": 1.0, "partly": 0.5, "no": 0.0}
_BATCH = 20
"""Statements that a judge sees in one call."""


def read_questions(path: Path) -> list[EvaluationQuestion]:
    """Return the questions of a file: JSON Lines of objects, or text with one question a line (# begins a remark).

    Relative `docs` are taken from the file's folder. Raises ConfigError for a file that does not fit.
    """
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {str(path)!r}: {error}.", setting="file", value=str(path)) from error
    found = [_read_line(line.strip(), number, path) for number, line in enumerate(lines, 1) if _says_something(line)]
    if not found:
        raise ConfigError(f"There is no question in {str(path)!r}.", setting="file", value=str(path))
    return found


def _says_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _read_line(line: str, number: int, path: Path) -> EvaluationQuestion:
    if not line.startswith("{"):
        return EvaluationQuestion(question=line)
    try:
        read = EvaluationQuestion.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the line"
        message = f"{str(path)!r}, line {number}: {where}: {first['msg'].lower()}."
        raise ConfigError(message, setting="file", value=str(path)) from None
    docs = tuple(str(path.parent / Path(name).expanduser()) for name in read.docs)
    return read.model_copy(update={"docs": docs})


async def evaluate_question(
    asked: EvaluationQuestion,
    settings: Settings,
    *,
    home: Path,
    docs: Sequence[str] = (),
    judge: Settings | None = None,
) -> QuestionResult:
    """Research one question and measure its report; a run that fails is a result with its error.

    `docs` are searched where the question names none. `judge` names the model of a second opinion.
    """
    try:
        store = create_run(asked.question, settings, home=home, docs=list(asked.docs or docs))
        report = await resume_run(store, RunEnvironment(home))
    except ResearchError as error:
        return QuestionResult(question=asked.question, error=error.message)
    with closing(store.open_library()) as library:
        return await measure(report, library, store=store, judge=judge, home=home)


async def measure(
    report: Report, library: Library, *, store: RunStore, judge: Settings | None, home: Path
) -> QuestionResult:
    """Return what can be measured of a finished report."""
    shown = list(shown_facts(report))
    failed: list[FailedStatement] = []
    for claim in shown:
        texts = [found.text for key in claim.passages if (found := library.passage(key)) is not None]
        verdict = check_claim(claim.text, "\n\n".join(texts))
        if verdict.kind != "supported":
            failed.append(_failure(claim, "check", verdict.kind, verdict.reason))
    opinion = await _ask_judge(shown, library, judge, home) if judge else _Opinion()
    record = store.load()
    return QuestionResult(
        question=report.question,
        run_id=report.run_id,
        statements=len(shown),
        checked=len(shown) - len(failed),
        judged=opinion.judged,
        agreed=opinion.judged - len(opinion.refused),
        judge_error=opinion.error,
        parts=len(report.parts),
        answered=sum(_PARTS[part.answered] for part in report.parts),
        words=len(tokenize(" ".join(section.content for section in report.sections))),
        sources=len(report.references),
        cost_usd=round(report.ledger.cost_usd + opinion.cost_usd, 6),
        seconds=round(record.seconds or report.ledger.seconds, 1),
        failed=(*failed, *opinion.refused),
    )


def shown_facts(report: Report) -> Iterator[Claim]:
    """Give the claims that stand in the report's text as what sources say; what was cut is not among them."""
    text = letters_of(report.report)
    for claim in report.claims:
        if claim.kind == "fact" and claim.passages and letters_of(claim.text) in text:
            yield claim


def _failure(claim: Claim, by: Any, verdict: str, reason: str) -> FailedStatement:
    return FailedStatement(text=claim.text, passages=claim.passages, by=by, verdict=verdict, reason=reason)


@dataclass
class _Opinion:
    """What a model said of statements: how many it judged, those it did not find supported, the cost, the last failure."""

    judged: int = 0
    refused: list[FailedStatement] = field(default_factory=list)
    cost_usd: float = 0.0
    error: str = ""


async def _ask_judge(claims: Sequence[Claim], library: Library, settings: Settings, home: Path) -> _Opinion:
    """Return what a model says of statements; those of a call that failed are not judged, and the failure is kept."""
    keys = load_keys(key_variables())
    settings = settings.model_copy(update={"model_provider": resolve_provider(settings, keys)})
    if choose_model(settings, keys) is None:
        raise ConfigError("A judge is a language model: name one, as PROVIDER:MODEL.", setting="judge")
    journal, opinion = SqliteJournal(":memory:"), _Opinion()

    def note_failure(gap: Gap) -> None:
        opinion.error = gap.why

    opened = open_reasoner(settings, keys, journal=journal, home=home, on_gap=note_failure)
    try:
        for first in range(0, len(claims), _BATCH):
            batch = claims[first : first + _BATCH]
            try:
                verdicts = await opened.reasoner.judge(batch, library)
            except ModelError as error:
                opinion.error = error.message
                continue
            except ModelSetupError as error:  # no other call would fare better
                opinion.error = error.message
                break
            for claim, verdict in zip(batch, verdicts, strict=True):
                opinion.judged += verdict.by_model
                if verdict.by_model and verdict.kind != "supported":
                    opinion.refused.append(_failure(claim, "judge", verdict.kind, verdict.reason))
        calls = [PaidCall.model_validate_json(text) for text in journal.answers("model")]
        opinion.cost_usd = sum(call.cost_usd or 0.0 for call in calls)
    finally:
        await opened.close()
        journal.close()
    return opinion
