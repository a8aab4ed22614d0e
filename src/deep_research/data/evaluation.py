"""What an evaluation asks and what it measures."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from deep_research.data.noun import Noun


class EvaluationQuestion(Noun):
    """A question of an evaluation; `docs` are files and folders, `settings` what differs from the settings in force."""

    question: str = Field(min_length=1, max_length=20_000)
    docs: tuple[str, ...] = ()
    settings: dict[str, Any] = Field(default_factory=dict)


class FailedStatement(Noun):
    """A statement of a report that did not pass, by whom (check or judge) and why."""

    text: str
    passages: tuple[str, ...]
    by: Literal["check", "judge"]
    verdict: str
    reason: str


class QuestionResult(Noun):
    """What was measured of one question.

    `statements` are those of the report's text that cite passages as facts; `checked` of them the check supports when
    it sees them anew with nothing but their passages, `agreed` of the `judged` ones a model. `answered` sums the parts
    of the question, a part that is answered partly for a half. `judge_error` is why the judge did not judge some.
    """

    question: str
    run_id: str = ""
    error: str = ""
    statements: int = 0
    checked: int = 0
    judged: int = 0
    agreed: int = 0
    judge_error: str = ""
    parts: int = 0
    answered: float = 0.0
    words: int = 0
    sources: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    failed: tuple[FailedStatement, ...] = ()


class Evaluation(Noun):
    """The results of a set of questions; a share is None where there is nothing to count."""

    questions: tuple[QuestionResult, ...]
    precision_by_check: float | None
    precision_by_judge: float | None
    parts_answered: float | None
    runs_failed: int
    cost_usd: float
    seconds: float
    """The median over the questions."""


def summarise(results: Sequence[QuestionResult]) -> Evaluation:
    """Return the results with their totals: every statement and every part counts alike."""
    seconds = sorted(result.seconds for result in results)
    return Evaluation(
        questions=tuple(results),
        precision_by_check=share(sum(r.checked for r in results), sum(r.statements for r in results)),
        precision_by_judge=share(sum(r.agreed for r in results), sum(r.judged for r in results)),
        parts_answered=share(sum(r.answered for r in results), sum(r.parts for r in results)),
        runs_failed=sum(bool(r.error) for r in results),
        cost_usd=sum(r.cost_usd for r in results),
        seconds=seconds[len(seconds) // 2] if seconds else 0.0,
    )


def share(part: float, whole: float) -> float | None:
    """Return a share rounded to four places, or None of nothing."""
    return round(part / whole, 4) if whole else None
