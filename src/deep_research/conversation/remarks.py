"""Lines of a conversation that ask nothing of the documents: thanks, a farewell, a wish about the report itself."""

import re
from functools import cache
from typing import Literal, NamedTuple

from deep_research.conversation.replies import confirms, means, rejects
from deep_research.data import Report
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word

RemarkKind = Literal["thanks", "leave", "help", "nothing_open", "summary", "verify", "section"]
_WHOLE: tuple[RemarkKind, ...] = ("thanks", "leave", "help", "summary", "verify")
_SECTION = re.compile(r"(?:(?:the )?(?:section|part)|第)?\s*(\d{1,2})\s*(?:번|절|섹션|节|章|節|\s)*", re.IGNORECASE)
ABOUT_THE_REPORT = frozenset({"summary", "verify", "section"})
"""Kinds that a language model can do better than code."""


class Remark(NamedTuple):
    """What a line means; `number` is that of the section it names."""

    kind: RemarkKind
    number: int = 0


def read_remark(line: str) -> Remark | None:
    """Return what `line` means where all of it is a remark; None for a question or a topic."""
    text = line.strip()
    for kind in _WHOLE:
        if means(text, kind):
            return Remark(kind)
    if text and (confirms(text) or rejects(text)):
        return Remark("nothing_open")
    language = detect(text)
    asked = _wish(language).sub(" ", text.strip(" .!?。！？~～"))
    section = _SECTION.fullmatch(asked.strip())
    return Remark("section", int(section[1])) if section and asked.strip() != text else None


@cache
def _wish(language: str) -> re.Pattern[str]:
    """Return the pattern of what stands around a section in "tell me more about section 2"."""
    return re.compile(any_word("reply.more_patterns", language), re.IGNORECASE)


def section_title(report: Report, number: int) -> str:
    """Return the title of a report's section by its place among those that say something; "" where it has none."""
    titles = [section.title for section in report.sections if section.notes]
    return titles[number - 1] if 0 < number <= len(titles) else ""


def reply_to(remark: Remark, report: Report | None, language: str) -> str:
    """Return what to say to a remark in Markdown, in the language of the conversation."""
    if remark.kind not in ABOUT_THE_REPORT:
        return phrase(f"remark_{remark.kind}", language)
    if report is None:
        return phrase("remark_no_report", language)
    if remark.kind == "summary":
        return f"{phrase('remark_summary', language)}\n\n{abstract_of(report)}"
    if remark.kind == "section":
        count = sum(bool(section.notes) for section in report.sections)
        return phrase("remark_no_section", language, count=count)
    standing = sum(claim.stands for claim in report.claims)
    return phrase("remark_verify", language, supported=standing, claims=len(report.claims))


def abstract_of(report: Report) -> str:
    """Return what a report says before its first section, without its title."""
    return re.sub(r"\A# .*\n", "", report.report.split("\n## ", 1)[0]).strip()
