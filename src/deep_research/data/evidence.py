"""What evidence is made of (documents as read, sources, snapshots, passages), and what rests on it: claims, what became of
them, and what could not be found.

All offsets are in Unicode code points (Python string indices) and half open: `text[start:end]`.
"""

import hashlib
from typing import Literal

from pydantic import Field

from deep_research.data.noun import Noun

VerdictKind = Literal["supported", "contradicted", "unverified"]
Repair = Literal["", "passage", "rewritten"]
ClaimKind = Literal["fact", "computed", "inference", "advice", "limit", "background"]
"""What a claim is, and so by what measure it is judged.

*fact*: a source says it, passages cited. *computed*: arithmetic over cited figures, done by code. *inference* and
*advice*: our own conclusion from named premises. *limit*: what was looked for and not found. *background*: general
knowledge of the model without a source, marked as such; never a figure, date or quotation.
"""
OWN_KINDS: tuple[ClaimKind, ...] = ("inference", "advice", "limit")
"""What a report says of its own."""


class Heading(Noun):
    """A heading of a document. `start` is the offset of its line, `level` 1 is the highest."""

    start: int
    level: int
    title: str


class PageStart(Noun):
    """Where a page begins; `number` counts from 1 as a reader of the file would."""

    start: int
    number: int


class Document(Noun):
    """What a reader makes of a file or page: plain text with its structure, not yet stored.

    The text is light Markdown: headings as `## Title` lines, list items as `- item`, tables as
    `| a | b |` rows, code between lines of three backticks, blank lines between blocks;
    no emphasis, no links. `warnings` says what could not be read inside it.
    """

    text: str
    title: str = ""
    media_type: str = "text/plain"
    published: str | None = None
    authors: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageStart, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """Hexadecimal SHA-256 of the text as UTF-8: the address of its snapshot."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class Source(Noun):
    """One thing out there. `key` names it uniquely (an address or `file:` path); `id` is `s7`."""

    id: str
    key: str
    title: str
    url: str = ""
    origin: str
    location: str = ""
    published: str | None = None
    authors: tuple[str, ...] = ()
    found_by: str = ""


class Snapshot(Noun):
    """The text of a source as it was read. Two sources with the same text share one."""

    sha256: str
    source: str
    text: str
    retrieved_at: str
    media_type: str
    headings: tuple[Heading, ...] = ()
    pages: tuple[PageStart, ...] = ()


class Passage(Noun):
    """An addressable stretch of a snapshot: `text == snapshot.text[start:end]`, exactly.

    `id` is `s7p3` (third passage of source s7, counted from 1); `heading` is the path of headings
    above it, joined by ` > `.
    """

    id: str
    source: str
    sha256: str
    start: int
    end: int
    text: str
    page: int | None = None
    heading: str = ""


class PassageHit(Noun):
    """A passage that answers a search, with its score (higher is better; comparable within one search)."""

    passage: Passage
    score: float
    title: str = ""


class Told(Noun):
    """What the program tells a reader: names of phrases and their values, so that it can be said in any language.

    `codes` is empty where somebody else said it (a source, a server, a model). See `text/told.py`.
    """

    codes: tuple[str, ...] = ()
    values: dict[str, str] = Field(default_factory=dict)


class Verdict(Told):
    """Whether the cited passages say what the claim says; `reason` in English unless a model gave it.

    `score` is 0–1 where a scorer gave one; `by_model` says that a model judged, `carrier` in which sentence of a passage it
    found the claim, where it was asked and the passage has that.
    """

    kind: VerdictKind
    reason: str
    score: float | None = None
    by_model: bool = False
    carrier: str = ""

    def __hash__(self) -> int:
        """Leave the values of the phrase out: they cannot be hashed, and add nothing to its text."""
        return hash((self.kind, self.reason))


class Confidence(Noun):
    """How far a finding can be relied on, computed by code; `reasons` are names of phrases with their `values`."""

    level: Literal["high", "medium", "low"]
    reasons: tuple[str, ...] = ()
    values: dict[str, str] = Field(default_factory=dict)


class Claim(Noun):
    """One sentence of a section or report with the ids of the passages it cites.

    `id` is `c12`; `section` is the section's title, or "" for abstract and conclusion. `repair` says what made a
    draft's sentence stand: another passage than the one it cited, or another wording. `premises` are the ids of the
    claims of this report that an inference, advice or computation rests on. `flags` name what a reader must know
    about time and standing (`old`, `superseded`, `rejected`, …); `confidence` is set for key findings.
    """

    id: str
    section: str
    text: str
    passages: tuple[str, ...]
    verdict: Verdict
    repair: Repair = ""
    kind: ClaimKind = "fact"
    premises: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    confidence: Confidence | None = None

    @property
    def stands(self) -> bool:
        """Whether the claim may be shown as supported."""
        return self.verdict.kind == "supported"


class AskedClaim(Claim):
    """A claim as a judge is asked about it: with the heading or words that it stands under, and the thought of the writer's
    own that it ends with."""

    lead: str = ""
    thought: str = ""


class Operand(Noun):
    """A figure that a computation uses: its `value` as it stands in the `passage` (an id)."""

    name: str
    value: str
    passage: str


class Computation(Noun):
    """Arithmetic over cited figures, proposed by a writer and carried out by code.

    `name` (`k1`) stands in the text as `{k1}` where the result belongs; `expression` is over the operands' names.
    `unit` follows the result; `decimals` is how far it is rounded.
    """

    name: str
    expression: str
    operands: tuple[Operand, ...] = ()
    unit: str = ""
    decimals: int = 1


class Gap(Told):
    """Something that could not be found or done, and why (in English). Part of the result, never hidden."""

    what: str
    why: str
    source: str = ""

    def __hash__(self) -> int:
        """See `Verdict`."""
        return hash((self.what, self.why, self.source))


class Side(Noun):
    """What one source says where sources disagree, with the ids of the passages behind it."""

    statement: str
    passages: tuple[str, ...]


class Contradiction(Noun):
    """Statements of different sources about the same thing that cannot both be true; `topic` may be empty.

    `prevails` says which of them holds and why; "" where that is open.
    """

    topic: str = ""
    sides: tuple[Side, ...]
    prevails: str = ""


class Reference(Noun):
    """A numbered entry of the source list, made by code from what is really cited."""

    number: int
    source: str
    title: str
    url: str = ""
    location: str = ""
    published: str | None = None
    passages: tuple[str, ...] = ()
