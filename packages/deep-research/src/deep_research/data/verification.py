"""Data for writing and verifying: assignment, problems and the writer's edits."""

from typing import Literal

from pydantic import Field

from deep_research.data.actions import Action, Turn
from deep_research.data.brief import Brief, Part, QueryAnalysis, Question, Section
from deep_research.data.evidence import Claim
from deep_research.data.noun import Noun

ProblemKind = Literal["unsupported", "contradicted", "misleading", "inconsistent", "missing", "unclear"]


class Assignment(Noun):
    """The writer's input: the question, section notes, and passage ids, best first.

    `not_found` says what was looked for and not found, or could not be reached. `draft` is the writer's own text, where
    it is asked to revise it. `research` are the turns of a writer that has researched the `whole` question itself.
    """

    question: Question
    analysis: QueryAnalysis
    brief: Brief
    sections: tuple[Section, ...]
    passages: tuple[str, ...] = ()
    not_found: tuple[str, ...] = ()
    draft: str = ""
    whole: Section | None = None
    research: tuple[Turn, ...] = ()


class Edit(Noun):
    """A change by the writer: `new` replaces `old`, which must match exactly.

    `problems` are the places, from 0, of the problems that it answers; `applied` is False where `old` does not stand in
    the text, or more than once. With an empty `old` it is the writer's `reply` to a problem that it rejects.
    """

    old: str
    new: str
    problems: tuple[int, ...] = ()
    reply: str = ""
    applied: bool = False


class Problem(Noun):
    """Something in a text that would mislead whoever acts on it.

    `quote` is copied from the text, `evidence` says what a source has instead, `passages` are the ids that tell it
    right. `claim` is the id of the statement ("" for the text as a whole). `by` says who found it; `outcome` what came
    of it: revised by the writer, or open. `look_for` are words, in the language of its sources, by which a passage
    would be found that carries the statement after all.
    """

    quote: str
    kind: ProblemKind
    problem: str
    evidence: str = ""
    passages: tuple[str, ...] = ()
    claim: str = ""
    by: Literal["code", "judge", "verifier"] = "judge"
    outcome: Literal["open", "revised", "rejected"] = "open"
    reply: str = ""
    look_for: str = ""
    failed_edits: tuple[Edit, ...] = ()


class Reckoning(Noun):
    """A calculation of a `claim`: `quote` has the figure, `expression` the sources'."""

    quote: str
    expression: str
    claim: str = ""


class Findings(Noun):
    """What was found of the statements `judged`, after the conversation `reading`."""

    judged: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    reckonings: tuple[Reckoning, ...] = ()
    parts: tuple[Part, ...] = ()
    reading: tuple[Turn, ...] = ()


class Move(Noun):
    """The writer's or verifier's next step: `actions`, or text, findings or edits."""

    actions: tuple[Action, ...] = ()
    text: str = ""
    findings: Findings | None = None
    edits: tuple[Edit, ...] = ()


class Revision(Noun):
    """One revision round: problems shown, and edits, or a newly written `text`."""

    problems: tuple[Problem, ...] = ()
    edits: tuple[Edit, ...] = ()
    text: str = ""


class GivenReport(Noun):
    """A report to verify: Markdown, the question ("" if unknown), whether to revise.

    `other` is a second report on the same question, to be compared with it; `addresses` are those that they cite.
    """

    text: str
    other: str = ""
    question: str = ""
    revises: bool = False
    addresses: tuple[str, ...] = ()


class Disagreement(Noun):
    """A contradiction between two reports, in their words `first` and `second`.

    `borne_out` says which of them the sources bear out, `why` in words, `passages` are the ids that decide it.
    """

    first: str
    second: str
    borne_out: Literal["first", "second", "both", "neither", "unclear"] = "unclear"
    why: str = ""
    passages: tuple[str, ...] = ()


class Verification(Noun):
    """Statements with verdicts, problems, answered parts; `reading` is not kept."""

    claims: tuple[Claim, ...] = ()
    problems: tuple[Problem, ...] = ()
    parts: tuple[Part, ...] = ()
    reading: tuple[Turn, ...] = Field(default=(), exclude=True)
