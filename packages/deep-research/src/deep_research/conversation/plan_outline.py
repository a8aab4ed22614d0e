"""A plan as text: an editable outline, and the form shown with a question.

The outline is Markdown: `# title`, text below it: the objective; `## section`, text below it: its description;
`- point`: what to search for.
"""

import re

from deep_research.data import Asked, Brief, Section

MAX_TITLE, MAX_TEXT, MAX_QUERIES = 200, 1000, 6
_HEADING = re.compile(r"^(#{1,6})(?:\s++|$)(?:\d{1,2}(?:[.)]\s++|、\s*+))?(.*)$")
_POINT = re.compile(r"^\s*[-*•+]\s+(.*\S)")
_COMMENT = re.compile(r"^<!--(?:(?!<!--).)*?-->$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"\\*+(?:#|[-*•+]\s|<!--|\d{1,2}(?:[.)]\s|、))")


def format_outline(brief: Brief) -> str:
    """Return a plan as an outline, which `parse_outline` reads back in any case."""
    blocks = [f"# {_line(brief.title)}", _line(brief.objective)]
    for section in brief.sections:
        points = "\n".join(f"- {_line(query)}" for query in section.queries)
        blocks += [f"## {_line(section.title)}", _line(section.description), points]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _line(text: str) -> str:
    """Return a text on one line, outline marks escaped by a backslash."""
    line = " ".join(text.split())
    return f"\\{line}" if _MARK.match(line) else line


def _said(line: str) -> str:
    """Return what `_line` was given."""
    return line[1:] if line.startswith("\\") and _MARK.match(line) else line


def format_numbered(brief: Brief) -> str:
    """Return a plan for display: title, objective, numbered sections with points."""
    lines = [brief.title, brief.objective, ""]
    for number, section in enumerate(brief.sections, 1):
        lines.append(f"{number}. {section.title}" + (f" — {section.description}" if section.description else ""))
        lines += [f"   - {query}" for query in section.queries]
    return "\n".join(lines)


def format_question(asked: Asked) -> str:
    """Return a question to the user as one text, with its plan or options."""
    if asked.brief is not None:
        return f"{format_numbered(asked.brief)}\n\n{asked.question}"
    return "\n".join([asked.question, *(f"{n}. {option}" for n, option in enumerate(asked.options, 1))])


def is_outline(text: str) -> bool:
    """Return whether a text is an outline: it starts with or has a section heading."""
    lines = [line for line in _COMMENT.sub("", fold_blanks(text)).splitlines() if line.strip()]
    depths = [len(found[1]) if (found := _HEADING.match(line)) else 0 for line in lines]
    return any(depth > 1 for depth in depths) or depths[:1] == [1]


def parse_outline(text: str, brief: Brief) -> Brief:
    """Return `brief` changed by an edited outline; kept section titles keep subjects.

    Comments (`<!-- … -->`) are passed over. A missing title or objective stays as it was.
    """
    title, objective, sections = "", "", list[Section]()
    known = {section.title: section for section in brief.sections}
    for depth, name, lines in _parts(text):
        points = [_said(found[1]) for line in lines if (found := _POINT.match(line))]
        prose = " ".join(" ".join(_said(line) for line in lines if not _POINT.match(line)).split())
        if depth == 1 and not sections:
            title, objective = name, prose
        elif name:
            sections.append(section_of(name, prose, points, known.get(clip(name, MAX_TITLE))))
    said = clip(objective, MAX_TEXT) or brief.objective
    return brief.model_copy(
        update={
            "title": clip(title, MAX_TITLE) or brief.title,
            "objective": said,
            "instruction": brief.instruction if said == brief.objective else "",
            "sections": tuple(sections),
        }
    )


def _parts(text: str) -> list[tuple[int, str, list[str]]]:
    parts: list[tuple[int, str, list[str]]] = []
    for line in _COMMENT.sub("", fold_blanks(text)).splitlines():
        if found := _HEADING.match(line):
            name, _, closing = found[2].strip().rpartition(" ")
            parts.append((len(found[1]), _said(name if closing and not closing.strip("#") else found[2].strip()), []))
        elif parts:
            parts[-1][2].append(line)
    return parts


def section_of(title: str, description: str, points: list[str], before: Section | None = None) -> Section:
    """Return a plan section as the user wrote it; `before` is the one it replaces.

    Points other than those that were shown are searched for in any case.
    """
    section = before or Section(title=clip(title, MAX_TITLE))
    queries = tuple(dict.fromkeys(clip(point, MAX_TITLE) for point in points if point.strip()))[:MAX_QUERIES]
    return section.model_copy(
        update={
            "title": clip(title, MAX_TITLE),
            "description": clip(description, MAX_TEXT),
            "queries": queries or (clip(title, MAX_TITLE),),
            "focus": section.focus if queries == section.queries else queries,
        }
    )


def fold_blanks(text: str) -> str:
    """Return a text with each run of blanks as one, to bound the cost of patterns."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines())


def clip(text: str, length: int) -> str:
    """Return `text` on one line, at most `length` characters."""
    return " ".join(text.split())[:length].rstrip()
