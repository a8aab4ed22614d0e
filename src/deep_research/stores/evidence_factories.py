"""Making the nouns of evidence from what a search found and a reader read."""

from deep_research.data import Document, Found, Snapshot, Source


def source_of(identifier: str, found: Found) -> Source:
    """Return the source that a search result names."""
    return Source(
        id=identifier,
        key=found.key,
        title=found.title,
        url=found.url,
        origin=found.origin,
        location=found.location,
        published=found.published,
        authors=found.authors,
    )


def snapshot_of(source: str, document: Document, retrieved_at: str) -> Snapshot:
    """Return the snapshot of a document as read at `retrieved_at`."""
    return Snapshot(
        sha256=document.sha256,
        source=source,
        text=document.text,
        retrieved_at=retrieved_at,
        media_type=document.media_type,
        headings=document.headings,
        pages=document.pages,
    )
