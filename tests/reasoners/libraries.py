"""Small libraries of texts in several languages for the tests of reasoning without a model."""

from deep_research.data import Document, Found, Heading, Passage
from deep_research.stores.sqlite_library import SqliteLibrary


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
