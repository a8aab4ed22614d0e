"""What the user is asked about a review (`confirm_review`), and which sections an answer sends out again."""

import re
from collections.abc import Mapping, Sequence

from deep_research.conversation.replies import confirms, pick_options, rejects
from deep_research.data import Asked, Section, SectionReview
from deep_research.i18n.catalog import join_list, phrase

_NUMBERS = re.compile(r"\d+")


def _choices(sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Sequence[Section]]:
    """Return what may be researched again, by option: nothing (the report), all weak sections, each section."""
    weak = _weak(sections, rows)
    return [(), *([weak] if len(weak) > 1 else []), *([section] for section in sections)]


def question_of(sections: Sequence[Section], rows: Mapping[str, SectionReview], language: str) -> Asked:
    """Return what the user is asked: each section with its score and what it lacks, and what can follow."""
    lines = [phrase("confirm_review", language)]
    for section in sections:
        row = rows.get(section.title)
        lacking = "; ".join(row.missing) or row.notes if row is not None else ""
        score = f" — {row.score}/10" if row is not None and row.score else ""
        lines.append(f"- {section.title}{score}{f' ({lacking})' if lacking else ''}")
    lines.append(phrase("confirm_review_how", language))
    titles = [join_list((s.title for s in some), language) for some in _choices(sections, rows)[1:]]
    again = [phrase("opt_again", language, sections=named) for named in titles]
    return Asked(kind="review", question="\n".join(lines), options=(phrase("opt_report", language), *again))


def wanted_sections(answer: str, sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Section]:
    """Return the sections to research again, pending, with the user's words as notes; none for the report.

    An answer names them by title, or by the numbers of the options ("again: 2, 3"); one that names none is a remark on the
    weak ones, or on all.
    """
    said = answer.strip()
    if confirms(said) or rejects(said):
        return []
    named = [s for s in sections if s.title.casefold() in said.casefold()]
    choices = _choices(sections, rows)
    numbers = [] if named else [int(n) for n in _NUMBERS.findall(said) if 0 < int(n) <= len(choices)]
    if numbers:
        picked = {s.title: s for n in numbers for s in choices[n - 1]}
        words = said if any(map(str.isalpha, said)) else ""
        return [_pending(section, words) for section in picked.values()]
    return [_pending(s, said) for s in named or _weak(sections, rows) or sections]


def answer_of(said: str, asked: Asked) -> str:
    """Return an answer with its option written out as the number that it stands for; part of its words will do."""
    picked = pick_options(said, asked.options)
    if picked not in asked.options and len(said.strip()) > 1 and said.strip().casefold() in asked.options[0].casefold():
        picked = asked.options[0]
    return str(asked.options.index(picked) + 1) if picked in asked.options else said


def _weak(sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Section]:
    return [s for s in sections if (row := rows.get(s.title)) is not None and row.status != "sufficient"]


def _pending(section: Section, said: str) -> Section:
    notes = "; ".join(dict.fromkeys(note for note in (section.notes, said) if note))
    return section.model_copy(update={"status": "pending", "notes": notes})
