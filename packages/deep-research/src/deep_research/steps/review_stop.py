"""What the user is asked about a review (`confirm_review`), and which sections an answer sends out again."""

import re
from collections.abc import Mapping, Sequence

from deep_research.conversation.replies import confirms, pick_options, rejects
from deep_research.data import Asked, Section, SectionReview
from deep_research.i18n.catalog import join_list, phrase

_NUMBERS = re.compile(r"[\d\s,，、;；#]+")


def question_of(sections: Sequence[Section], rows: Mapping[str, SectionReview], language: str) -> Asked:
    """Return what the user is asked: each section with its score and what it lacks, and what can follow."""
    lines = [phrase("confirm_review", language)]
    for number, section in enumerate(sections, 1):
        row = rows.get(section.title)
        lacking = "; ".join(row.missing) or row.notes if row is not None else ""
        score = f" — {row.score}/10" if row is not None and row.score else ""
        lines.append(f"{number}. {section.title}{score}{f' ({lacking})' if lacking else ''}")
    lines.append(phrase("confirm_review_how", language))
    options = [phrase("opt_report", language)]
    if weak := _weak(sections, rows):
        titles = join_list((s.title for s in weak), language)
        options.append(phrase("opt_again", language, sections=titles))
    return Asked(kind="review", question="\n".join(lines), options=tuple(options))


def wanted_sections(answer: str, sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Section]:
    """Return the sections to research again, pending, with the user's words as notes; none for the report.

    An answer names them by number or title ("again: 2, 3"); one that names none is a remark on the weak ones, or on
    all.
    """
    said = answer.strip()
    weak = _weak(sections, rows)
    if confirms(said) or rejects(said):
        return []
    if said.strip(".") in ("1", "2") and _NUMBERS.fullmatch(said):
        return [_pending(s, "") for s in weak] if said.strip(".") == "2" else []
    named = [s for s in sections if s.title.casefold() in said.casefold()]
    if not named and (numbers := re.findall(r"\d+", said)):
        named = [sections[int(n) - 1] for n in numbers if 0 < int(n) <= len(sections)]
    return [_pending(s, said) for s in named or weak or sections]


def answer_of(said: str, asked: Asked) -> str:
    """Return an answer with its option written out as the number that it stands for."""
    picked = pick_options(said, asked.options)
    return str(asked.options.index(picked) + 1) if picked in asked.options else said


def _weak(sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Section]:
    return [s for s in sections if (row := rows.get(s.title)) is not None and row.status != "sufficient"]


def _pending(section: Section, said: str) -> Section:
    notes = "; ".join(dict.fromkeys(note for note in (section.notes, said) if note))
    return section.model_copy(update={"status": "pending", "notes": notes})
