"""The state keys and reducers of the graphs, named as in the design documents."""

import operator
from collections.abc import Coroutine
from typing import Annotated, Any, Protocol, TypeVar

from langchain_core.messages import AnyMessage
from langgraph.graph import MessagesState
from langgraph.runtime import Runtime

from deep_research.data import (
    Brief,
    Decision,
    DiscoveredItem,
    Discovery,
    FoundIn,
    OutputFormat,
    QueryAnalysis,
    QueryType,
    Question,
    Report,
    Section,
    SectionReview,
    Turn,
)
from deep_research.run_context.context import RunContext

_State_contra = TypeVar("_State_contra", contravariant=True)


class Node(Protocol[_State_contra]):
    """A node, as LangGraph calls it."""

    def __call__(self, state: _State_contra, runtime: Runtime[RunContext]) -> Coroutine[Any, Any, Any]:
        """Return the update of the state, or a Command."""
        ...


def section_reducer(existing: list[Section], updates: list[Section]) -> list[Section]:
    """Merge sections by title: replace known ones in place, append new ones."""
    return list({section.title: section for section in (*existing, *updates)}.values())


class DiscoverState(MessagesState):
    """The state of the discovery: its turns, and what they showed."""

    question: Question
    asked: Question
    analysis: QueryAnalysis
    discovery_turns: list[Turn]
    discovery: Discovery
    discovered_items: list[DiscoveredItem]
    discovery_complete: bool
    discovery_summary: str


class AgentState(DiscoverState):
    """The state of the `sections` workflow; pages and passages lie in the library.

    `run_id` names the run in the state folder. `conversations` are the turns of each section's researcher, by title:
    of these and of the reviews the newest counts. `whole` is the section of one researcher for the whole question, who writes the report too.
    `understood` and `assumptions` are there for a follow-up only: how code understood a question about the report.
    """

    run_id: str
    original_query: str
    decision: Decision
    query_type: QueryType
    output_format: OutputFormat
    brief: Brief
    research_brief: str
    sections: Annotated[list[Section], section_reducer]
    whole: Section
    conversations: Annotated[dict[str, list[Turn]], operator.or_]
    section_reviews: Annotated[dict[str, SectionReview], operator.or_]
    overall_score: int
    is_sufficient: bool
    review_gaps: tuple[str, ...]
    clarification_rounds: int
    pending_question: str
    plan_rounds: int
    plan_problems: list[str]
    declined_by: str
    understood: str
    assumptions: tuple[str, ...]
    found_in: FoundIn
    review_iterations: int
    max_review_iterations: int
    final_report: str
    report: Report


class ResearcherOutput(MessagesState):
    """What a researcher hands back to the graph."""

    sections: Annotated[list[Section], section_reducer]
    conversations: Annotated[dict[str, list[Turn]], operator.or_]
    section_reviews: Annotated[dict[str, SectionReview], operator.or_]
    compressed_research: str
    raw_notes: list[str]


class ResearcherState(ResearcherOutput):
    """The state of one researcher at one section, named as in the design documents.

    `turns` are its conversation, `notes` what it has handed over; `researcher_messages` tell the turns as messages once
    the notes are written; `compressed_research` are these with its calls and sources. `raw_notes` tell for each attempt what
    its calls brought, by the ids of the passages.
    """

    section: Section
    brief: Brief
    research_brief: str
    research_topic: str
    researcher_messages: list[AnyMessage]
    turns: list[Turn]
    notes: str
    tool_call_iterations: int
    max_tool_calls: int
    is_complete: bool
    max_review_iterations: int
