"""Claims, what became of them, and what could not be found."""

from typing import Literal

from deep_research.data.base import Noun

VerdictKind = Literal["supported", "contradicted", "unverified"]


class Verdict(Noun):
    """Whether the cited passages say what the claim says. `score` is 0–1 where a scorer gave one."""

    kind: VerdictKind
    reason: str
    score: float | None = None


class Claim(Noun):
    """One sentence of a section or report with the ids of the passages it cites.

    `id` is `c12`; `section` is the section's title, or "" for abstract and conclusion.
    """

    id: str
    section: str
    text: str
    passages: tuple[str, ...]
    verdict: Verdict

    @property
    def stands(self) -> bool:
        """Whether the claim may be shown as supported."""
        return self.verdict.kind == "supported"


class Gap(Noun):
    """Something that could not be found or done, and why. Part of the result, never hidden."""

    what: str
    why: str
    source: str = ""


class Reference(Noun):
    """A numbered entry of the source list, made by code from what is really cited."""

    number: int
    source: str
    title: str
    url: str = ""
    location: str = ""
    published: str | None = None
    passages: tuple[str, ...] = ()
