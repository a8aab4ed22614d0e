"""What a supervisor may do: its tools, and its calls as actions."""

from deep_research.data import Action, ModelAnswer, ToolCall
from deep_research.errors import MalformedOutput
from deep_research.reasoners.model.conversation import make_tool


def _text(description: str) -> dict[str, object]:
    return {"type": "string", "description": description}


TOOLS = (
    make_tool(
        "conduct_research",
        "Give one topic to a researcher of its own.",
        {
            "title": _text("title of the section it fills: one of the plan, copied exactly, or a new one"),
            "research_topic": _text("complete instructions, a paragraph that stands alone"),
        },
    ),
    make_tool("think", "Write down a thought about what to do next.", {"thought": _text("the thought")}),
    make_tool("research_complete", "End the research.", {}),
)


def delegations_of(answer: ModelAnswer, prefix: str, *, first: bool) -> list[Action]:
    """Return the tool calls of an answer as actions; a call that cannot be carried out is an `unknown` action.

    Raises MalformedOutput for a `first` answer without any: a research cannot end before it has begun.
    """
    if first and not answer.tool_calls:
        raise MalformedOutput("The supervisor delegated nothing.", text=answer.text)
    return [_action(call, f"{prefix}c{i}") for i, call in enumerate(answer.tool_calls, 1)]


def _action(call: ToolCall, key: str) -> Action:
    if call.arguments is None:
        return Action(id=key, name="unknown", query=f"the arguments of {call.name} were no JSON object")
    said = {name: str(value or "").strip() for name, value in call.arguments.items()}
    match call.name:
        case "research_complete":
            return Action(id=key, name="research_complete")
        case "think":
            return Action(id=key, name="think", query=said.get("thought", ""))
        case "conduct_research":
            title, topic = said.get("title", ""), said.get("research_topic", "")
            if title or topic:
                return Action(id=key, name="conduct_research", query=topic or title, source=title)
            return Action(id=key, name="unknown", query="conduct_research needs its argument research_topic")
        case _:
            return Action(id=key, name="unknown", query=f"there is no tool named {call.name}")
