"""Small libraries of texts in several languages for the tests of reasoning without a model."""

from deep_research.data import Brief, Document, Found, Heading, Passage, Section, SectionDraft
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect
from deep_research.reasoners.extractive.section_writing import write_section
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text.question_terms import with_translations

FILLER = "\n\n".join(f"Room {number} of the mill holds {number + 3} sacks of flour in spring." for number in range(40))


def document(title: str, text: str) -> Document:
    """Return a Markdown text as a document, its `#` lines as headings."""
    headings: list[Heading] = []
    start = 0
    for line in text.splitlines(keepends=True):
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            headings.append(Heading(start=start, level=level, title=line.lstrip("# ").strip()))
        start += len(line)
    return Document(text=text, title=title, headings=tuple(headings))


def library(**texts: str) -> SqliteLibrary:
    """Return a library of documents: title (underscores are spaces) and text."""
    made = SqliteLibrary(":memory:")
    for name, text in texts.items():
        title = name.replace("_", " ")
        source = made.add_source(Found(key=f"file:{name}", title=title, origin="documents"))
        made.add_snapshot(source.id, document(title, text), retrieved_at="2026-01-01T00:00:00+00:00")
    return made


def all_passages(made: SqliteLibrary) -> list[Passage]:
    """Return every passage of the library."""
    return [p for source in made.sources() for p in made.passages(source.id)]


def answer(question: str, made: SqliteLibrary) -> SectionDraft:
    """Return what the quick workflow writes for `question`."""
    language = detect(question)
    section = Section(title=phrase("answer", language), queries=(question,))
    brief = Brief(title=question, objective=question, language=language, sections=(section,))
    hits = [hit.passage for hit in made.search(with_translations(question, language), limit=20)]
    return write_section(section, brief, hits, made)
