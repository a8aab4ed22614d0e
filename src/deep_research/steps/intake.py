"""Intake: is the question understood well enough to start? The reasoner judges, this code decides."""

from deep_research.data import Decision, Message, Question
from deep_research.settings import Settings
from deep_research.steps.context import RunContext
from deep_research.text.phrases import phrase


async def decide(ctx: RunContext, question: Question) -> Decision:
    """Return the decision on `question`; asks at most `max_clarification_rounds` times, then starts."""
    rounds = sum(message.role == "assistant" for message in question.history)
    judged = await ctx.reasoner.decide(question, rounds=rounds)
    return settle(judged, question, ctx.settings, rounds=rounds)


def settle(judged: Decision, question: Question, settings: Settings, *, rounds: int) -> Decision:
    """Apply the thresholds of the settings to what the reasoner judged."""
    if judged.next_action == "CANNOT_DO":
        return judged
    asks = judged.next_action == "NEED_CLARIFICATION" or judged.confidence < settings.confidence_ask
    may_ask = settings.allow_clarification and rounds < settings.max_clarification_rounds
    if asks and may_ask and judged.clarification is not None:
        return judged.model_copy(update={"next_action": "NEED_CLARIFICATION"})
    if asks:
        return start_anyway(judged, question)
    return judged.model_copy(update={"next_action": "START_RESEARCH"})


def start_anyway(judged: Decision, question: Question) -> Decision:
    """Start with the best guess, and say so among the assumptions."""
    text = judged.refined_question or question.text
    assumption = phrase("started_unclear", question.language, question=text)
    return judged.model_copy(
        update={
            "next_action": "START_RESEARCH",
            "refined_question": text,
            "goal": judged.goal or text,
            "assumptions": (*judged.assumptions, assumption),
        }
    )


def answered(question: Question, asked: str, answer: str) -> Question:
    """Return the question with one more round of the conversation."""
    turn = (Message(role="assistant", text=asked), Message(role="user", text=answer))
    return question.model_copy(update={"history": (*question.history, *turn)})
