"""The question, all decisions up to the report, and the user's words to a run."""

from typing import Literal

from pydantic import Field

from deep_research.data.noun import Noun

NextAction = Literal["START_RESEARCH", "NEED_CLARIFICATION", "VERIFY_TOPIC", "CONFIRM_PLAN", "CANNOT_DO"]
QueryType = Literal["list", "comparison", "deep_dive", "general"]
OutputFormat = Literal["table", "list", "prose"]
SectionStatus = Literal["pending", "researching", "completed", "failed"]
PlanChange = Literal["drop", "add", "rename", "move", "focus", "describe", "title", "objective"]
Workflow = Literal["sections", "loop", "supervisor", "quick", "verify", "desk"]
"""How a run works; `verify` verifies a report, and at the `desk` an agent researches by itself."""
FOREIGN = ("verify", "desk")  # their report somebody else has written; without a model the others copy from passages

MIN_SECTIONS, MAX_SECTIONS, LOOP_SECTIONS = 3, 7, 5
"""Sections of a plan (contract row B5: 3 to 7), and the most of that of a loop (C1: 3 to 5)."""


class Message(Noun):
    """One turn of the conversation before or around the question."""

    role: Literal["user", "assistant"]
    text: str


class Question(Noun):
    """The user's question; `language` is ISO 639-1, `history` is oldest first."""

    text: str
    language: str
    history: tuple[Message, ...] = ()


class Clarification(Noun):
    """One question to the user, with options (free text is always allowed)."""

    question: str
    options: tuple[str, ...] = ()
    missing_info: str = ""


class Term(Noun):
    """A name that was looked up before the decision (contract row A5).

    `meaning` is verbatim text of the `passage` (an id) that uses it, with the `title` of its source; both empty
    where nothing that was searched holds the term. `searched` says whether everything asked has answered.
    """

    term: str
    meaning: str = ""
    passage: str = ""
    title: str = ""
    searched: bool = True

    @property
    def found(self) -> bool:
        """Whether something that was searched uses it."""
        return bool(self.passage)


class Template(Noun):
    """A focus template in one language: a topic's usual points and questions (A10)."""

    name: str
    focus: tuple[str, ...] = ()
    clarifications: tuple[Clarification, ...] = ()


class QueryAnalysis(Noun):
    """The kind of question (row B3), the answer's form, and its `parts` in order."""

    query_type: QueryType
    output_format: OutputFormat
    needs_discovery: bool = False
    discovery_target: str = ""
    reasoning: str = ""
    parts: tuple[str, ...] = ()


class Decision(Noun):
    """Intake's judgement of a question; code applies thresholds to choose an action.

    `terms` are the unknown terms as they were looked up. `analysis` is there where the same judgement says what kind of question it is.
    """

    next_action: NextAction
    confidence: float = Field(ge=0, le=1)
    goal: str = ""
    research_focus: tuple[str, ...] = ()
    unknown_terms: tuple[str, ...] = ()
    refined_question: str = ""
    reasoning: str = ""
    verification: str = ""
    clarification: Clarification | None = None
    assumptions: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    analysis: QueryAnalysis | None = None


class DiscoveredItem(Noun):
    """An entity that answers a list question. `passages` are the ids that name it."""

    name: str
    category: str = ""
    brief: str = ""
    source: str = ""
    urls: tuple[str, ...] = ()
    priority: Literal["high", "medium", "low"] = "medium"
    passages: tuple[str, ...] = ()


class Discovery(Noun):
    """All entities found for a list question, and how far the search reached."""

    entities: tuple[DiscoveredItem, ...] = ()
    summary: str = ""
    categories: tuple[str, ...] = ()
    search_coverage: str = ""


class Section(Noun):
    """One independent part of the plan; `content` is Markdown notes with passage ids.

    `queries` are the searches that the plan suggests, `focus` those made in any case, one for a focus point; `subject` is the entity that the section is about ("" for
    none); `notes` say what a review misses; `attempts` counts how often it was researched. `missing` are the facts
    that were not found so far, `searched` the queries made for it, `tool_calls` all calls that looked something up,
    `failed` the places that could not be reached, `passages` the ids of all passages that its researcher has seen. `is_whole`: it is the whole question, whose
    researcher writes the report in the same conversation.
    """

    title: str
    description: str = ""
    status: SectionStatus = "pending"
    content: str = ""
    key_findings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    subject: str = ""
    queries: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    notes: str = ""
    attempts: int = 0
    missing: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    tool_calls: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    is_whole: bool = False

    def calls(self, each: int) -> int:
        """Return the researcher's tool calls, given `each` as the number per section."""
        return 4 * each if self.is_whole else each  # a whole question counts for four sections


class Brief(Noun):
    """The research subject, scope and assumptions; `question` is the user's words.

    `objective` is one sentence for the user, `instruction` the brief that researchers are given, in the first person.
    `terms` are names in the question that were looked up, with their meaning.
    `remarks` are what the user has said since the research began; `parts` what the reader must find answered;
    `is_agreed` says that the user has agreed to the outline.
    """

    title: str
    objective: str
    instruction: str = ""
    question: str = ""
    scope: str = ""
    assumptions: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    language: str = "en"
    output_format: OutputFormat = "prose"
    sections: tuple[Section, ...] = ()
    remarks: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    is_agreed: bool = False

    @property
    def research_brief(self) -> str:
        """What is to be researched, and what the names mean that were looked up for it."""
        return "\n".join(
            [self.instruction or self.objective, *(f"{one.term}: {one.meaning}" for one in self.terms if one.found)]
        )


class PlanEdit(Noun):
    """One change to a plan that was shown.

    `sections` are numbers as shown, from 1 on; one for all changes but `drop`, none for those of the whole plan. `to` is the new place of a section; `said` is what the user wrote.
    """

    change: PlanChange
    sections: tuple[int, ...] = ()
    to: int = 0
    text: str = ""
    detail: str = ""
    said: str = ""


class SectionReview(Noun):
    """The coverage of a section; `retry` if another search is likely to help.

    `missing` are the facts still to be looked for, `queries` new searches for them; `notes` says it in words.
    Of what nobody has judged the score is 0.
    """

    title: str
    status: Literal["sufficient", "partial", "missing"]
    notes: str = ""
    score: int = Field(default=0, ge=0, le=10)
    retry: bool = False
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class Review(Noun):
    """Whether the sections suffice, and those to research again (contract row B7)."""

    is_sufficient: bool
    overall_score: int = Field(ge=0, le=10)
    section_coverage: tuple[SectionReview, ...] = ()
    gaps: tuple[str, ...] = ()
    sections_to_retry: tuple[str, ...] = ()
    reasoning: str = ""


class Part(Noun):
    """One part of the question, and the report headings that answer it (`where`)."""

    text: str
    answered: Literal["yes", "partly", "no"]
    where: tuple[str, ...] = ()


class Asked(Noun):
    """A run's question: a clarification, a plan to confirm (`brief`), or a review's.

    A plan is answered by yes, no or changes. `options` can be chosen by number, and free text is always allowed. What is
    not `required` is taken as confirmed where nobody can be asked. What is `held` the user wants left as it is: it is
    asked in a later sitting.
    """

    kind: Literal["clarify", "plan", "review"] = "clarify"
    question: str
    options: tuple[str, ...] = ()
    missing_info: str = ""
    brief: Brief | None = None
    required: bool = True
    held: bool = False


SteerKind = Literal["remark", "drop", "add", "finish"]


class Steer(Noun):
    """One thing the user said to a run that goes on.

    `text` is the remark, or what an added section should look for; `section` the title of the section that is
    dropped or added. `id` tells two alike apart, so that each takes effect once. `stop` ends the sitting that goes on.
    """

    kind: SteerKind | Literal["stop"]
    text: str = Field("", max_length=2_000)
    section: str = Field("", max_length=200)
    id: str = ""


class Changes(Noun):
    """What the user has changed about a run while it went on, for its report."""

    remarks: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    finished_early: bool = False
