"""A question or a document that was made to hold up whoever works on it holds up nobody else."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.server.serving import begin

_WATCHED_SECONDS = 20.0
_MOST_SECONDS = 5.0
"""How long the server may be silent on a busy machine; a text that holds it up takes half a minute."""
_MANY = min(32, (os.cpu_count() or 1) + 4) + 6
"""More than an event loop has threads."""
_QUESTIONS = {
    "one ideograph": "水" * 5_000,
    "figures": "1," * 10_000,
    "commas": f"What is said at https://a.example/x{',' * 19_000}x",
    "one sentence": "The harbour council repaired the old bridge before winter and the school choir sang there. " * 200,
}
_DOCUMENTS = {"x.txt": "The Falcon engine" + " " * 98_000 + "has a thrust of 710 kN.", "x.rst": "a-" * 49_000 + "!"}


def _longest_silence(http: httpx.Client, run_id: str) -> float:
    """Ask for the health of the server for a while, or until a run has ended; return the longest time it took to answer."""
    longest = 0.0
    ends = time.monotonic() + _WATCHED_SECONDS
    while time.monotonic() < ends:
        begun = time.monotonic()
        assert http.get("/healthz").status_code == 200
        status = http.get(f"/api/v1/runs/{run_id}").json()["status"]
        longest = max(longest, time.monotonic() - begun)
        if status not in ("queued", "running"):
            break
    return longest


@pytest.mark.parametrize("question", _QUESTIONS.values(), ids=_QUESTIONS)
def test_a_question_holds_up_nobody_else(http: httpx.Client, tmp_path: Path, question: str) -> None:
    (tmp_path / "docs").mkdir()
    run_id = begin(http, tmp_path / "docs", question, workflow="quick", allow_clarification=False)
    assert _longest_silence(http, run_id) < _MOST_SECONDS
    http.post(f"/api/v1/runs/{run_id}/cancel")


@pytest.mark.parametrize(("name", "text"), _DOCUMENTS.items(), ids=_DOCUMENTS)
def test_a_document_holds_up_nobody_else(http: httpx.Client, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text(text)
    run_id = begin(http, tmp_path / "docs", "What is the thrust of the Falcon engine?", workflow="quick")
    assert _longest_silence(http, run_id) < _MOST_SECONDS
    assert http.get(f"/api/v1/runs/{run_id}").json()["status"] == "finished"


@pytest.mark.parametrize("between", [" " * 100_000, f" x{'1' * 300_000}z "], ids=["blanks", "one word"])
def test_a_report_to_verify_holds_up_nobody_else(http: httpx.Client, between: str) -> None:
    text = (
        f"The Falcon engine{between}has a thrust of 710 kN [1].\n\n## References\n\n[1] http://a.test/{')' * 100_000}"
    )
    begun = time.monotonic()
    made = http.post("/api/v1/verifications", json={"text": text, "model_provider": "finder"})
    assert made.status_code == 201
    assert time.monotonic() - begun < _MOST_SECONDS
    assert _longest_silence(http, made.json()["id"]) < _MOST_SECONDS
    http.post(f"/api/v1/runs/{made.json()['id']}/cancel")


def test_a_long_word_in_a_report_holds_up_nobody_else(http: httpx.Client) -> None:
    text = f"# T\n\nThe sum x{'1' * 200_000}z is 5 [1].\n\n## References\n\n[1] http://a.test/a\n"
    made = http.post("/api/v1/verifications", json={"text": text, "model_provider": "finder", "sources": []})
    assert _longest_silence(http, made.json()["id"]) < _MOST_SECONDS
    http.post(f"/api/v1/runs/{made.json()['id']}/cancel")


def test_reports_that_take_long_to_read_hold_up_nobody_else(http: httpx.Client) -> None:
    nested = 7_000
    data = b"\\begin{document}" + b"\\a{" * nested + b"x" + b"}" * nested + b"\\end{document}"
    given = [http.post("/api/v1/documents", files={"file": (f"{n}.tex", data)}).json()["id"] for n in range(_MANY)]
    with ThreadPoolExecutor(_MANY) as clients:
        for document in given:
            clients.submit(http.post, "/api/v1/verifications", json={"reports": [document]})
        silences: list[float] = []
        for _ in range(20):
            begun = time.monotonic()
            assert http.get("/api/v1/runs").status_code == 200
            silences.append(time.monotonic() - begun)
            time.sleep(0.1)
        clients.shutdown(cancel_futures=True)
    assert max(silences) < _MOST_SECONDS
