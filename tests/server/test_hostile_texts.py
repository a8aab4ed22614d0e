"""A question or a document that was made to hold up whoever works on it holds up nobody else."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.runs.running import write_notes
from tests.server.serving import begin, until_report

_WATCHED_SECONDS = 20.0
_MOST_SECONDS = 5.0
"""How long the server may be silent on a busy machine; a text that holds it up takes half a minute."""
_MANY = min(32, (os.cpu_count() or 1) + 4) + 6
"""More than an event loop has threads."""
_QUESTIONS = (
    "水" * 5_000,
    "1," * 10_000,
    f"What is said at https://a.example/x{',' * 19_000}x",
    "The harbour council repaired the old bridge before winter and the school choir sang there. " * 200,
)
_DOCUMENTS = {"x.txt": "The Falcon engine" + " " * 98_000 + "has a thrust of 710 kN.", "x.rst": "a-" * 49_000 + "!"}
_REPORTS = (
    *(
        f"The Falcon engine{between}has a thrust of 710 kN [1].\n\n## References\n\n[1] http://a.test/{')' * 100_000}"
        for between in (" " * 100_000, f" x{'1' * 300_000}z ")
    ),
    f"# T\n\nThe sum x{'1' * 200_000}z is 5 [1].\n\n## References\n\n[1] http://a.test/a\n",
)


def _longest_silence(http: httpx.Client, run_ids: list[str]) -> float:
    """Ask for the health of the server for a while, or until runs have ended; return the longest time it took to answer."""
    longest, going = 0.0, run_ids
    ends = time.monotonic() + _WATCHED_SECONDS
    while going and time.monotonic() < ends:
        begun = time.monotonic()
        assert http.get("/healthz").status_code == 200
        status = http.get(f"/api/v1/runs/{going[0]}").json()["status"]
        longest = max(longest, time.monotonic() - begun)
        going = [*going[1:], *going[:1]] if status in ("queued", "running") else going[1:]
    return longest


def test_questions_documents_and_reports_to_verify_hold_up_nobody_else(http: httpx.Client, tmp_path: Path) -> None:
    docs = write_notes(tmp_path / "docs")
    for name, text in _DOCUMENTS.items():
        (docs / name).write_text(text)
    over_documents = begin(http, docs, "What is the thrust of the Falcon engine?", workflow="quick")
    (tmp_path / "none").mkdir()
    flags = {"workflow": "quick", "allow_clarification": False}
    run_ids = [over_documents, *(begin(http, tmp_path / "none", question, **flags) for question in _QUESTIONS)]
    for report in _REPORTS:
        begun = time.monotonic()
        made = http.post("/api/v1/verifications", json={"text": report, "model_provider": "finder", "sources": []})
        assert made.status_code == 201
        assert time.monotonic() - begun < _MOST_SECONDS
        run_ids.append(made.json()["id"])
    assert _longest_silence(http, run_ids) < _MOST_SECONDS
    for run_id in run_ids[1:]:
        http.post(f"/api/v1/runs/{run_id}/cancel")
    assert until_report(http, over_documents)


def test_reports_that_take_long_to_read_hold_up_nobody_else(http: httpx.Client) -> None:
    nested = 7_000
    data = b"\\begin{document}" + b"\\a{" * nested + b"x" + b"}" * nested + b"\\end{document}"
    given = [http.post("/api/v1/documents", files={"file": (f"{n}.tex", data)}).json()["id"] for n in range(_MANY)]
    with ThreadPoolExecutor(_MANY) as clients:
        for document in given:
            given_up = {"timeout": _MOST_SECONDS}  # nobody waits for them to the end
            clients.submit(http.post, "/api/v1/verifications", json={"reports": [document]}, **given_up)
        silences: list[float] = []
        for _ in range(10):
            begun = time.monotonic()
            assert http.get("/api/v1/runs").status_code == 200
            silences.append(time.monotonic() - begun)
            time.sleep(0.1)
        clients.shutdown(cancel_futures=True)
    assert max(silences) < _MOST_SECONDS
