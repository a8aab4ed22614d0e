"""Estimate a run's calls, tokens and dollars, by settings and model prices.

The numbers per step are those of the rig (lab/rig.py): a prompt's fixed part, and what grows with
the sections, the searches and the passages that a writer gets.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from deep_research.assembly.reasoner_choice import choose_model
from deep_research.data import MAX_SECTIONS, Usage
from deep_research.providers.provider_catalog import PROVIDERS, VARIABLES
from deep_research.settings import Settings, load_keys
from deep_research.text.token_count import estimate_tokens
from deep_research.verification.foreign import read_report

if TYPE_CHECKING:
    from deep_research.providers.model_client import OpenModel

_SECTIONS = 5  # sections of a usual plan
_AROUND, _AROUND_WRITTEN, _AROUND_CALLS = 8_500, 1_000, 5
"""Intake, analysis, plan, review and report: prompt tokens, tokens written, calls."""
_TURNS, _TURN_TOKENS, _TURN_WRITTEN = 4, 2_050, 30
"""A researcher's turns at a section; a turn's prompt on average, and what is written in it."""
_TASK, _PASSAGES, _WRITTEN, _JUDGED = 900, 4_500, 600, 300
"""A section's instruction, the passages a writer gets at most, the tokens of its text and of its verdicts."""
_REVIEW_TOKENS, _REVIEWED = 950, 20  # the prompt of a section's own review, and what is written in it
_CACHED = 0.5
_BATCH_CLAIMS, _CLAIM_TOKENS, _CLAIM_WRITTEN, _LOOKUP_TURNS = 40, 450, 12, 5
"""Of a verification: statements that one call judges, a statement with its passages, what is written of it; the turns
of the verifier."""


class Estimate(NamedTuple):
    """An expected cost; `most` counts all the allowed repeats of every section."""

    model: str
    sections: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    most_calls: int
    most_usd: float | None


def estimate_cost(settings: Settings) -> Estimate | None:
    """Estimate a run in `sections`; None without a model. Raises ConfigError."""
    model = _model(settings)
    if model is None:
        return None
    calls, usage = _expected(settings, _SECTIONS)
    attempts = 1 + settings.max_review_iterations
    most_calls, most = _expected(settings, MAX_SECTIONS * attempts)
    usd, most_usd = model.family.cost_usd(usage), model.family.cost_usd(most)
    return Estimate(
        model.model, _SECTIONS, calls, usage.prompt_tokens, usage.completion_tokens, usd, most_calls, most_usd
    )


def _model(settings: Settings) -> "OpenModel | None":
    """Return the settings' model for its prices, or None; no key is needed."""
    keys = load_keys(VARIABLES)
    named = PROVIDERS.get(settings.model_provider)
    return choose_model(settings, {named.key: "none", **keys} if named else keys)


def estimate_verification(settings: Settings, texts: Sequence[str], *, revises: bool = False) -> Estimate | None:
    """Estimate the cost of verifying reports; None without a model."""
    model = _model(settings)
    if model is None:
        return None
    cited = sum(bool(statement.passages) for text in texts for statement in read_report(text).statements())
    words = sum(map(estimate_tokens, texts))
    batches = -(-cited // _BATCH_CLAIMS)
    compared = len(texts) > 1
    calls = batches + _LOOKUP_TURNS + compared + 2 * revises
    prompt = (
        cited * _CLAIM_TOKENS + batches * _TASK + _LOOKUP_TURNS * (words + _PASSAGES) + 2 * words * (compared + revises)
    )
    written = cited * _CLAIM_WRITTEN + _LOOKUP_TURNS * _JUDGED + revises * words // 4
    usage = Usage(prompt_tokens=prompt, cached_tokens=int(prompt * _CACHED), completion_tokens=written)
    usd = model.family.cost_usd(usage)
    return Estimate(model.model, 0, calls, prompt, written, usd, 2 * calls, usd and 2 * usd)


def _expected(settings: Settings, sections: int) -> tuple[int, Usage]:
    turns = min(_TURNS, settings.max_tool_calls_per_researcher)
    reviews = int(settings.max_review_iterations > 0)
    prompt = _AROUND + sections * (turns * _TURN_TOKENS + 2 * (_TASK + _PASSAGES) + reviews * _REVIEW_TOKENS)
    written = _AROUND_WRITTEN + sections * (turns * _TURN_WRITTEN + _WRITTEN + _JUDGED + reviews * _REVIEWED)
    cached = int(prompt * _CACHED)
    return _AROUND_CALLS + sections * (turns + 2 + reviews), Usage(
        prompt_tokens=prompt, cached_tokens=cached, completion_tokens=written
    )
