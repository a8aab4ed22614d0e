"""What a run has cost so far, from its journal."""

from pydantic import BaseModel

from deep_research.data import Ledger, ModelAnswer, Role
from deep_research.ports import Journal


class PaidCall(BaseModel):
    """A model call as the journal keeps it. `cost_usd` is None where the price is not known."""

    role: Role
    answer: ModelAnswer
    cost_usd: float | None
    seconds: float


def ledger_of(journal: Journal, *, sources: int, seconds: float) -> Ledger:
    """Return the ledger: calls, tokens and money of all sittings of a run; `seconds` of work."""
    paid = [PaidCall.model_validate_json(text) for text in journal.answers("model")]
    usage = [call.answer.usage for call in paid]
    return Ledger(
        model_calls=len(paid),
        prompt_tokens=sum(u.prompt_tokens for u in usage),
        cached_tokens=sum(u.cached_tokens for u in usage),
        completion_tokens=sum(u.completion_tokens for u in usage),
        cost_usd=round(sum(call.cost_usd or 0.0 for call in paid), 6),
        searches=journal.count("search"),
        fetches=sources,
        seconds=round(seconds, 2),
    )
