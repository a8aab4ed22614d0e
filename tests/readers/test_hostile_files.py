"""Files that were made to end, hold up or swell their reader cost themselves alone.

A sample; `python -m tests.readers.hostile_files` reads the whole corpus.
"""

import resource
import sys
from pathlib import Path

import pytest

from deep_research import worker_pool
from deep_research.errors import Unreadable
from deep_research.isolated_reading import CRASHED, RejectedDocuments, read_bytes
from deep_research.registry import component
from tests.readers.hostile_files import corpus, read

ENDED = ("flate-in-flate.pdf", "bomb.pdf.gz")
"""And `forms.pdf` and `form-loop.pdf`, below."""
READ = (
    "links.pdf",
    "gridspan.docx",
    "level.docx",
    "long-spine.epub",
    "spans.html",
    "nested.eml",
    "groups.man",
    "arguments.tex",
)
REFUSED = (
    "laughs.docx",
    "closed-groups.pptx",
    "zeros.txt.gz",
    "bomb.docx",
    "column.xlsx",
    "bomb.odt",
    "cells.ipynb",
)
EMPTY = ("gaps.py", "braces.rtf", "row.xlsx", "outside.docx", "outside.epub")
MOST_MEGABYTES = 300


@pytest.mark.parametrize("name", [*ENDED, *READ, *REFUSED, *EMPTY])
def test_a_hostile_file_stays_within_its_limits(name: str) -> None:
    outcome = read(name, corpus()[name]())
    # A child counts from the size of the process it was forked from, which grows with the tests before this one.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000
    assert outcome.megabytes <= max(MOST_MEGABYTES, own + 10)
    if name in ENDED:
        assert outcome.said == CRASHED
    elif name in READ:
        assert outcome.said.endswith(" characters")
        assert not outcome.said.startswith("0 ")
    elif name in EMPTY:
        assert outcome.said == "0 characters"
    else:
        assert "characters" not in outcome.said


def test_the_next_document_is_read_after_one_that_ended_its_reader() -> None:
    assert read("forms.pdf", corpus()["forms.pdf"]()).said == CRASHED
    html = component("readers", "html")()
    assert (
        read_bytes(html, b"<p>A sentence that can be read.</p>", name="a.html").text == "A sentence that can be read."
    )


def test_a_document_that_ended_its_reader_is_not_read_again(tmp_path: Path) -> None:
    data, pdf = corpus()["form-loop.pdf"](), component("readers", "pdf")()
    with pytest.raises(Unreadable, match="crashed"):
        read_bytes(pdf, data, name="a.pdf", rejected=RejectedDocuments(tmp_path / "rejected"))
    later = RejectedDocuments(tmp_path / "rejected")
    assert later.reason(data) == CRASHED
    assert not later.reason(data + b" ")
    good = b"<p>It can be read.</p>"
    later.add(good, "told before")
    with pytest.raises(Unreadable, match="told before"):
        read_bytes(component("readers", "html")(), good, name="a.html", rejected=later)


def test_a_file_of_rejected_documents_that_is_damaged_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / "rejected").write_bytes(b"\xff\xfe\n\n one\n")
    assert RejectedDocuments(tmp_path / "rejected").reason(b"x") == ""
    assert RejectedDocuments(tmp_path / "missing" / "rejected").reason(b"x") == ""


def test_one_process_reads_one_document_after_another() -> None:
    html = component("readers", "html")()
    read_bytes(html, b"<p>First.</p>", name="a.html")
    (kept,) = worker_pool._pools[-1].idle[-1:]
    read_bytes(html, b"<p>Second.</p>", name="b.html")
    assert worker_pool._pools[-1].idle[-1] is kept


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_key_is_in_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "canary-of-the-environment")
    with worker_pool.own_worker() as worker:
        environment = Path(f"/proc/{worker._process.pid}/environ").read_bytes()
    assert b"PYTHONPATH=" in environment
    assert b"canary" not in environment
