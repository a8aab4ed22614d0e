"""What a run has cost so far, from its journal."""

from collections import Counter, defaultdict

from pydantic import BaseModel

from deep_research.data import Ledger, ModelAnswer, Ranking, ReasonerInfo, Role, SearchRecord, Usage
from deep_research.ports import Journal


class PaidCall(BaseModel):
    """A model call in the journal; `cost_usd` is None where the price is unknown.

    `model` is the one that answered, "MODEL (PROVIDER)".
    """

    role: Role
    answer: ModelAnswer
    cost_usd: float | None
    seconds: float
    model: str = ""


class LostCall(BaseModel):
    """An attempt without a usable answer (empty, refused), paid for all the same."""

    role: Role
    usage: Usage
    cost_usd: float | None


LOST, RANKING = "lost model call", "ranking"
"""Under these names the journal keeps lost calls and what rankers answered; answered calls are `model`."""


def ledger_of(journal: Journal, *, sources: int, seconds: float) -> Ledger:
    """Return a run's calls, tokens and money, lost attempts too; `seconds` of work.

    Searches on a model's side and calls of a ranker count with their tokens; their price is not known here.
    """
    paid, lost = paid_calls(journal)
    searched = [SearchRecord.model_validate_json(text).usage for text in journal.answers("search")]
    ranked = [Ranking.model_validate_json(text).usage for text in journal.answers(RANKING)]
    costs = [call.cost_usd for call in (*paid, *lost)]
    known = [cost for cost in costs if cost is not None]
    usage = [*(call.answer.usage for call in paid), *(call.usage for call in lost), *filter(None, searched), *ranked]
    return Ledger(
        model_calls=len(paid) + len(ranked),
        prompt_tokens=sum(u.prompt_tokens for u in usage),
        cached_tokens=sum(u.cached_tokens for u in usage),
        completion_tokens=sum(u.completion_tokens for u in usage),
        cost_usd=round(sum(known), 6) if len(known) == len(costs) else None,
        searches=journal.count("search"),
        fetches=sources,
        seconds=round(seconds, 2),
    )


def reasoner_of(configured: ReasonerInfo, journal: Journal) -> ReasonerInfo:
    """Return what really reasoned: the models that answered by role, with calls.

    Where a model was set up and none has answered, the reasoner is the finder one.
    """
    if not configured.models:
        ranked = journal.count(RANKING) or journal.count("model")
        return configured if ranked else configured.model_copy(update={"ranker": ""})
    roles: dict[Role, Counter[str]] = defaultdict(Counter)
    for call in paid_calls(journal)[0]:
        named = f"{configured.models.get(call.role, call.answer.model)} ({configured.provider})"
        roles[call.role][call.model or named] += 1
    if not roles:
        return ReasonerInfo(kind="finder")
    providers = dict.fromkeys(name.rpartition(" (")[2].rstrip(")") for names in roles.values() for name in names)
    shown = (lambda name: name.rpartition(" (")[0]) if len(providers) == 1 else str
    return ReasonerInfo(
        kind=configured.kind,
        provider=", ".join(providers),
        models={role: ", ".join(map(shown, names)) for role, names in roles.items()},
        calls=dict(sum(roles.values(), Counter[str]())),
    )


def paid_calls(journal: Journal) -> tuple[list[PaidCall], list[LostCall]]:
    """Return the answered calls of a run and the lost ones."""
    answered = [PaidCall.model_validate_json(text) for text in journal.answers("model")]
    return answered, [LostCall.model_validate_json(text) for text in journal.answers(LOST)]
