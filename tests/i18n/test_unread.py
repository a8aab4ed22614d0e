"""Why files were not read is said in the reader's language, not as an error's message."""

import asyncio
import gzip
import io
import os
from pathlib import Path

import pytest
from PIL import Image

from deep_research import registry
from deep_research.data import Gap
from deep_research.i18n.catalog import explain, name_subject, phrase
from deep_research.sources.documents import DocumentsSource
from deep_research.stores.sqlite_library import SqliteLibrary
from tests.readers.pdf_files import DRAWING, make_pdf


def _gaps(folder: Path) -> dict[str, Gap]:
    """Return by name what a folder with one readable file leaves unread."""
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    files = {
        "read.txt": b"Words.",
        "empty.txt": b"",
        "blank.html": b"<html><body></body></html>",
        "data.txt": b"\0\1\2" * 500,
        "sound.wav": b"RIFF\0\0\0\0WAVE",
        "sound.wav.gz": gzip.compress(b"RIFF\0\0\0\0WAVE"),
        "broken.pdf": b"%PDF-1.7 nothing",
        "broken.docx": b"PK\3\4",
        "drawing.svg": b"<svg/>",
        "minified.js": b"a=1;" * 500,
        "link.1": b".so man1/other.1\n",
        ".hidden": b"x",
        "large.txt": b"x" * 2_000_000,
    }
    if not registry.reads_pictures():
        files |= {
            "picture.png": picture.getvalue(),
            "scans.pdf": make_pdf([[DRAWING]]),
            "two.pdf": make_pdf([[DRAWING]] * 2),
        }
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe")
    (folder / "outside.txt").symlink_to(Path(__file__).resolve())
    library = SqliteLibrary(":memory:")
    source = DocumentsSource([folder], library, max_file_bytes=1_000_000)
    try:
        gaps = asyncio.run(source.prepare(lambda *_: None))
    finally:
        library.close()
    return {gap.what: gap for gap in gaps}


@pytest.mark.parametrize("language", ["zh", "ja", "ko"])
def test_why_a_file_was_not_read_is_said_in_the_readers_language(tmp_path: Path, language: str) -> None:
    word = phrase("error", language, error="").strip()
    gaps = _gaps(tmp_path / "docs")
    assert len(gaps) > 10
    english = {what: gap.why for what, gap in gaps.items() if explain(gap, language) == gap.why}
    assert english == {}
    assert {what for what, gap in gaps.items() if word in explain(gap, language)} == set()


def test_files_together_are_counted_in_the_readers_language_and_others_words_stay_theirs() -> None:
    gap = Gap(what="117 files: a, b, …", why="Some server said no", source="documents")
    assert name_subject(gap, "ko") == "파일 117개: a, b, …"
    assert name_subject(gap, "en") == gap.what
    assert explain(gap, "ko") == "오류 메시지: Some server said no"
