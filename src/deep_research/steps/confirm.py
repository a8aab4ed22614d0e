"""The plan before the research (contract row A6): when it is shown, how it is asked, what the answer does to it."""

from collections.abc import Sequence

from deep_research.data import Asked, Brief, Decision, Message, Question
from deep_research.settings import Settings
from deep_research.text.phrases import phrase
from deep_research.text.plan_outline import numbered


def wanted(settings: Settings, decision: Decision) -> bool:
    """Whether the plan must be confirmed: the user said so, or the reasoner finds that much depends on it and may ask."""
    proposed = decision.next_action == "CONFIRM_PLAN" and settings.confirm_high_value and settings.allow_clarification
    return settings.confirm_plan or proposed


def asked(brief: Brief, settings: Settings, problems: Sequence[str] = ()) -> Asked:
    """Return what the user is asked about a plan; `problems` are the changes of the last answer that were not made.

    Only a confirmation that the user ordered is required; else the research starts where nobody can be asked.
    """
    language = brief.language
    told = [phrase("plan_problems", language, problems=" ".join(problems))] if problems else []
    lines = [*told, phrase("confirm_plan", language), phrase("confirm_how", language)]
    return Asked(
        kind="plan",
        question="\n".join(lines),
        options=(phrase("opt_confirm", language), phrase("opt_reject", language)),
        brief=brief,
        required=settings.confirm_plan,
    )


def wished(question: Question, decision: Decision, brief: Brief, wish: str) -> tuple[Question, Decision]:
    """Return the question and the decision with what the user wished for when the plan was shown."""
    turn = (Message(role="assistant", text=numbered(brief)), Message(role="user", text=wish))
    return (
        question.model_copy(update={"history": (*question.history, *turn)}),
        decision.model_copy(update={"wishes": (*decision.wishes, wish)}),
    )
