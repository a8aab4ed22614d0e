"""Ask the user about a review (`confirm_review`); send wanted sections out again."""

import re
from collections.abc import Mapping, Sequence

from deep_research.conversation.replies import confirms, pick_options, rejects
from deep_research.data import Asked, Section, SectionReview
from deep_research.i18n.catalog import join_list, phrase

_LISTED = re.compile(r"(?:[^\W\d]++(?:\s*+[:：])?\s*+)?\d{1,2}(?:\s*+[,，、&]\s*+\d{1,2})*(?=\s*+(?:$|[:：.,，。;；]))")
"""Numbers at the beginning, with a word before them at most: "again: 2, 3", "2: its noise", no "3 more sources"."""


def _choices(sections: Sequence[Section], rows: Mapping[str, SectionReview]) -> list[Sequence[Section]]:
    """Return sections by option: none (the report), all weak ones, then each section."""
    weak = [s for s in sections if (row := rows.get(s.title)) is not None and row.status != "sufficient"]
    return [(), *([weak] if len(weak) > 1 else []), *([section] for section in sections)]


def question_of(sections: Sequence[Section], rows: Mapping[str, SectionReview], language: str) -> Asked:
    """Return the question to the user: sections, scores, shortcomings and options."""
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


def wanted_sections(
    answer: str, asked: Asked, sections: Sequence[Section], rows: Mapping[str, SectionReview]
) -> list[Section] | None:
    """Return the sections to research again, with the user's words as notes.

    They are pending; an empty list means the report.

    An answer names them by title, or by the numbers of the options ("again: 2, 3"). None for one that wants neither: a
    no, or what names nothing; what was researched is not researched again for it.
    """
    said = answer.strip()
    if confirms(said) or (len(said) > 1 and said.casefold() in asked.options[0].casefold()):
        return []
    choices, listed = _choices(sections, rows), None
    picked = pick_options(said, asked.options).split("; ")
    numbers = [n for n, option in enumerate(asked.options, 1) if option in picked]
    if not numbers and (named := [s for s in sections if s.title.casefold() in said.casefold()]):
        return [_pending(section, said) for section in named]
    if not numbers and (listed := _LISTED.match(said)):
        numbers = [int(n) for n in re.findall(r"\d+", listed[0])]
    if not numbers or not all(0 < n <= len(choices) for n in numbers):
        return None
    words = said if listed and any(map(str.isalpha, said)) else ""
    return [_pending(s, words) for s in {s.title: s for n in numbers for s in choices[n - 1]}.values()]


def ask_again(asked: Asked, before: Asked, said: str, language: str) -> Asked:
    """Return `asked` again, if the answer to `before` wants no report or research.

    It is held after a no, and after a second answer that says nothing.
    """
    held = rejects(said) or (before is not asked and not before.held)
    unread = f"“{said.strip()[:80]}”: {phrase('plan_not_understood', language)}"
    told = phrase("review_held", language) if held else phrase("plan_problems", language, problems=unread)
    return asked.model_copy(update={"question": f"{told}\n{asked.question}", "held": held})


def _pending(section: Section, said: str) -> Section:
    notes = "; ".join(dict.fromkeys(note for note in (section.notes, said) if note))
    missing = (said, *section.missing) if said else section.missing
    return section.model_copy(update={"status": "pending", "notes": notes, "missing": missing})
