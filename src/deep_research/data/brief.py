"""The question, everything decided about it on the way to a report, and what the user says to a run while it goes on."""

from typing import Literal

from pydantic import Field

from deep_research.data.evidence import Computation, Contradiction, Gap
from deep_research.data.noun import Noun

NextAction = Literal["START_RESEARCH", "NEED_CLARIFICATION", "VERIFY_TOPIC", "CONFIRM_PLAN", "CANNOT_DO"]
QueryType = Literal["list", "comparison", "deep_dive", "general"]
OutputFormat = Literal["table", "list", "prose"]
SectionStatus = Literal["pending", "researching", "completed", "failed"]
PlanChange = Literal["drop", "add", "rename", "move", "focus", "describe", "title", "objective"]
Workflow = Literal["sections", "loop", "supervisor", "quick"]


class Message(Noun):
    """One turn of the conversation before or around the question."""

    role: Literal["user", "assistant"]
    text: str


class Question(Noun):
    """What the user asked. `language` is an ISO 639-1 code; `history` is oldest first."""

    text: str
    language: str
    history: tuple[Message, ...] = ()


class Clarification(Noun):
    """One thing to ask the user, with options to choose from (free text is always allowed)."""

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
    """A focus template in one language: what usually matters about such a topic, and what to ask (contract row A10)."""

    name: str
    focus: tuple[str, ...] = ()
    clarifications: tuple[Clarification, ...] = ()


class Decision(Noun):
    """What intake thinks of a question; the thresholds that turn it into an action are code.

    `terms` are the unknown terms as they were looked up, `suggested_focus` the points of a focus template for a
    question that names none.
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
    suggested_focus: tuple[str, ...] = ()


class QueryAnalysis(Noun):
    """What kind of question it is and which form suits the answer (contract row B3).

    `parts` are what the reader must find answered, in the order of the question; `wants_advice` says that it asks
    what to do or choose.
    """

    query_type: QueryType
    output_format: OutputFormat
    needs_discovery: bool = False
    discovery_target: str = ""
    reasoning: str = ""
    subjects: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    wants_advice: bool = False


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

    @property
    def total_found(self) -> int:
        """How many entities there are."""
        return len(self.entities)


class Section(Noun):
    """One independent part of the plan. `content` is Markdown whose citations are passage ids.

    `queries` are the searches the plan suggests; `subject` is the entity the section is about
    ("" when it is about none); `attempts` counts how often it was researched. `covers` are the facts that have
    their home in it; `missing` are those for which nothing was found so far, `searched` the queries made for
    it, `failed` the places and pages that could not be reached, `faults` what a review found wrong in its text,
    `shown` the ids of the passages that its writer has seen, in their order. `gained` says whether its last attempt has
    brought enough to make another one worth its price.
    """

    title: str
    description: str = ""
    status: SectionStatus = "pending"
    content: str = ""
    key_findings: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    subject: str = ""
    queries: tuple[str, ...] = ()
    notes: str = ""
    attempts: int = 0
    covers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    as_of: str = ""
    gained: bool = True


class Brief(Noun):
    """What will be researched, in which scope, under which assumptions; `question` in the user's own words.

    `terms` are names in the question that were looked up, with their meaning.
    `remarks` are what the user has said since the research began; `glossary` the terms that all sections share;
    `parts` what the reader must find answered; `is_agreed` says that the user has agreed to the outline.
    """

    title: str
    objective: str
    question: str = ""
    scope: str = ""
    assumptions: tuple[str, ...] = ()
    terms: tuple[Term, ...] = ()
    language: str = "en"
    output_format: OutputFormat = "prose"
    sections: tuple[Section, ...] = ()
    remarks: tuple[str, ...] = ()
    glossary: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    is_agreed: bool = False


class PlanEdit(Noun):
    """One change to a plan that was shown.

    `sections` are numbers as shown, from 1 on (99 for the last); one for all changes but `drop`, none for those of
    the whole plan. `to` is the new place of a section; `said` is what the user wrote.
    """

    change: PlanChange
    sections: tuple[int, ...] = ()
    to: int = 0
    text: str = ""
    detail: str = ""
    said: str = ""


class SectionReview(Noun):
    """How well one section is covered; `retry` where another search is likely to bring what is missing.

    `missing` are the facts still to be looked for, `queries` new searches for them; `faults` is what is wrong in the
    text itself; `notes` says in words what is missing.
    """

    title: str
    status: Literal["sufficient", "partial", "missing"]
    notes: str = ""
    score: int = Field(default=5, ge=1, le=10)
    retry: bool = False
    missing: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Review(Noun):
    """Whether the sections suffice, and which must be researched again (contract row B7)."""

    is_sufficient: bool
    overall_score: int = Field(ge=1, le=10)
    section_coverage: tuple[SectionReview, ...] = ()
    gaps: tuple[str, ...] = ()
    sections_to_retry: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    reasoning: str = ""


class SectionDraft(Noun):
    """A section as a reasoner wrote it: Markdown with passage ids in brackets, not yet checked.

    `computations` are what `{k1}` in the text stands for; `missing` is what no passage said; `gaps` say of
    parts of the question that nothing was found for them, and which passage comes closest; `dropped` are the
    statements of an earlier attempt that were left out, each with its reason.
    """

    content: str
    key_findings: tuple[str, ...] = ()
    computations: tuple[Computation, ...] = ()
    missing: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    dropped: tuple[str, ...] = ()


class Advice(Noun):
    """One thing the reader should do: our own conclusion. `case` is empty where it holds for everybody; `how` are the
    single actions, in order.

    `premises` are the ids of the passages it rests on; `commands` are the lines to type or to write that carry it out.
    """

    action: str
    case: str = ""
    why: str = ""
    how: tuple[str, ...] = ()
    condition: str = ""
    fallback: str = ""
    commands: tuple[str, ...] = ()
    premises: tuple[str, ...] = ()


class Limit(Noun):
    """What was looked for and not found, with the searches that were made for it."""

    text: str
    searched: tuple[str, ...] = ()


class AnsweredPart(Noun):
    """One part of the question; `where` are the titles of the sections that answer it."""

    text: str
    answered: Literal["yes", "partly", "no"] = "yes"
    where: tuple[str, ...] = ()


class SectionText(Noun):
    """A section as the report has it: its title, Markdown with passage ids, and the researched sections (`notes`) that it
    takes the place of; these stay as they are where `content` is empty."""

    title: str
    content: str
    notes: tuple[str, ...] = ()


class Composition(Noun):
    """The report as it is written in one go from the sections, citing passage ids as they do.

    `abstract` is the answer in front; `table` is a Markdown table or "". `sections` are the body; with none the sections
    stay as they were researched. The advice stands behind the answer, or behind the section `advice_after`.
    """

    abstract: str = ""
    conclusion: str = ""
    table: str = ""
    sections: tuple[SectionText, ...] = ()
    parts: tuple[AnsweredPart, ...] = ()
    advice: tuple[Advice, ...] = ()
    advice_after: str = ""
    limits: tuple[Limit, ...] = ()
    computations: tuple[Computation, ...] = ()


class Asked(Noun):
    """What a run waits for the user to say: a clarification, yes, no or changes to a plan (`brief`), or what follows a
    review.

    `options` can be chosen by number, and free text is always allowed. What is not `required` is taken as
    confirmed where nobody can be asked.
    """

    kind: Literal["clarify", "plan", "review"] = "clarify"
    question: str
    options: tuple[str, ...] = ()
    missing_info: str = ""
    brief: Brief | None = None
    required: bool = True


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
