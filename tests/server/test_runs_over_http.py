"""The HTTP API: a question becomes a report whose every citation leads to its passage in its snapshot."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from deep_research.stores.run_folder import RunFolder, list_runs
from tests.runs.running import engines
from tests.server.conftest import Finished
from tests.server.serving import events_of, until_report

QUESTION = "Which kinds of engines are there?"
BUNDLED = {"question": "How does speculative decoding work?", "model_provider": "finder"}
QUICK = {**BUNDLED, "workflow": "quick"}


def test_a_document_that_is_deleted_is_told_without_its_path(http: httpx.Client, own_state: Path) -> None:
    document = http.post("/api/v1/documents", files={"file": ("a.txt", b"The Alpha engine turns at 3,000 rpm.")}).json()
    run = http.post("/api/v1/runs", json={**QUICK, "documents": [document["id"]]}).json()["id"]
    until_report(http, run)
    assert http.delete(f"/api/v1/documents/{document['id']}").status_code == 204
    refused = http.post(f"/api/v1/runs/{run}/refresh")
    assert (refused.status_code, str(own_state) in refused.text) == (404, False)
    assert "not there any more" in refused.text


def test_documents_come_and_go_beside_each_other(http: httpx.Client, own_state: Path) -> None:
    kept = [own_state / "uploads" / f"d{number:016x}" for number in range(80)]
    for folder in kept:
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text("The Alpha engine.")

    def delete(folder: Path) -> int:
        return http.delete(f"/api/v1/documents/{folder.name}").status_code

    with ThreadPoolExecutor(4) as threads:
        deleted = [threads.submit(delete, folder) for folder in kept for _ in range(2)]
        while not deleted[-1].done():
            assert http.get("/api/v1/documents").status_code == 200
            made = http.post("/api/v1/documents", files={"file": ("a.txt", b"The Alpha engine.")})
            assert made.status_code == 201, made.text
    assert {one.result() for one in deleted} <= {204, 404}
    assert not [folder for folder in kept if folder.exists()]


def test_a_question_becomes_a_report_whose_citations_open_their_passages(finished: Finished) -> None:
    report, http = finished.report, finished.http
    base = f"/api/v1/runs/{finished.run_id}"
    cited = [passage for claim in report["claims"] for passage in claim["passages"]]
    assert cited
    for key in dict.fromkeys(cited):
        seen = http.get(f"{base}/passages/{key}", params={"around": 50}).json()
        source = seen["source"]["id"]
        snapshot = http.get(f"{base}/sources/{source}/snapshot").json()
        assert snapshot["text"][seen["start"] : seen["end"]] == seen["text"] == report["passages"][key]["text"]
        assert snapshot["text"].endswith(seen["after"]) or seen["after"] in snapshot["text"]
        assert snapshot["text"][: seen["start"]].endswith(seen["before"])


def test_events_come_numbered_and_go_on_where_the_connection_was_lost(finished: Finished) -> None:
    path = f"/api/v1/runs/{finished.run_id}/events"
    everything = events_of(finished.http, path)
    numbers = [int(event["id"]) for event in everything[:-1]]
    assert numbers == list(range(1, len(numbers) + 1)) == [event["data"]["number"] for event in everything[:-1]]
    assert [event["event"] for event in everything[:-1]] == [event["data"]["kind"] for event in everything[:-1]]
    first = events_of(finished.http, path, most=3)
    rest = events_of(finished.http, path, last=3)
    assert first + rest == everything
    assert everything[-1] == {"event": "end", "data": {"status": "finished"}}


def test_no_path_of_the_server_reaches_a_client(finished: Finished) -> None:
    base = f"/api/v1/runs/{finished.run_id}"
    for path in (base, f"{base}/report", f"{base}/sources", f"{base}/report.md", "/api/v1/runs", "/api/v1/documents"):
        answer = finished.http.get(path)
        assert answer.status_code == 200
        assert "file:" not in answer.text
        assert "/uploads/" not in answer.text


def test_the_same_idempotency_key_makes_one_run(http: httpx.Client, own_state: Path) -> None:
    headers = {"Idempotency-Key": "once"}
    first = http.post("/api/v1/runs", json=BUNDLED, headers=headers)
    second = http.post("/api/v1/runs", json=BUNDLED, headers=headers)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert http.post("/api/v1/runs", json={**BUNDLED, "depth": "brief"}, headers=headers).status_code == 422
    assert len(list_runs(own_state)) == 1


def test_a_client_asks_for_no_larger_budget_than_the_server_has_and_sends_a_history_in_either_form(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEP_RESEARCH_BUDGET_USD", "0.50")
    refused = http.post("/api/v1/runs", json={**BUNDLED, "budget_usd": 10_000})
    assert refused.status_code == 400
    assert "0.5 at most" in refused.json()["detail"]
    history = [{"role": "user", "content": "KRAS G12C"}, {"role": "assistant", "text": "An answer."}]
    made = http.post("/api/v1/runs", json={**BUNDLED, "budget_usd": 0.1, "history": history})
    assert made.status_code == 201, made.text
    assert [turn["text"] for turn in made.json()["history"]] == ["KRAS G12C", "An answer."]


def test_runs_are_listed_in_pages_and_searched(http: httpx.Client) -> None:
    for number in range(5):
        question = {"question": f"What is engine {number}?", "model_provider": "finder"}
        made = http.post("/api/v1/runs", json=question).json()
        http.post(f"/api/v1/runs/{made['id']}/cancel")
    whole = http.get("/api/v1/runs").json()
    assert (whole["total"], whole["next"]) == (5, "")
    seen: list[str] = []
    cursor = ""
    while True:
        page = http.get("/api/v1/runs", params={"limit": 2, "cursor": cursor}).json()
        seen += [run["id"] for run in page["runs"]]
        cursor = page["next"]
        if not cursor:
            break
    assert seen == [run["id"] for run in whole["runs"]]
    found = http.get("/api/v1/runs", params={"q": "ENGINE 3"}).json()["runs"]
    assert [run["question"] for run in found] == ["What is engine 3?"]
    assert http.get("/api/v1/runs", params={"cursor": "nowhere"}).status_code == 400


def test_a_run_is_stopped_and_taken_up_again(http: httpx.Client) -> None:
    run = http.post("/api/v1/runs", json=QUICK).json()["id"]
    assert http.post(f"/api/v1/runs/{run}/cancel").json()["status"] == "stopped"
    assert events_of(http, f"/api/v1/runs/{run}/events")[-1]["data"] == {"status": "stopped"}
    assert http.post(f"/api/v1/runs/{run}/answer", json={"answer": "yes"}).status_code == 409
    assert http.post(f"/api/v1/runs/{run}/resume").status_code == 202
    assert until_report(http, run)["claims"]
    assert http.post(f"/api/v1/runs/{run}/resume").status_code == 409


def test_documents_of_readable_types_are_taken_and_their_names_cannot_leave_their_folder(
    http: httpx.Client, own_state: Path
) -> None:
    for name, data in (("a.exe", b"MZ\x00\x01\x02" * 100), ("empty.txt", b"")):
        assert http.post("/api/v1/documents", files={"file": (name, data)}).status_code == 400
    assert http.get("/api/v1/documents").json() == {"documents": []}
    made = http.post("/api/v1/documents", files={"file": ("../../../etc/\u202epasswd\u0000.md", b"text")}).json()
    files = [path for path in (own_state / "uploads").rglob("*") if path.is_file()]
    assert [path.parent.name for path in files] == [made["id"]]
    assert "/" not in made["name"]
    assert "\u202e" not in made["name"]
    assert http.delete(f"/api/v1/documents/{made['id']}").status_code == 204
    assert http.get("/api/v1/documents").json() == {"documents": []}


def test_documents_by_path_are_not_taken(http: httpx.Client, tmp_path: Path) -> None:
    path = str(engines(tmp_path / "docs"))
    assert http.post("/api/v1/runs", json={"question": QUESTION, "docs": [path]}).status_code == 422
    assert http.post("/api/v1/runs", json={"question": QUESTION, "documents": ["d0123456789abcdef"]}).status_code == 404
    for name, value in (
        ("model_base_url", "http://127.0.0.1:1"),
        ("proxy", "http://127.0.0.1:1"),
        ("source_options", {}),
    ):
        assert http.post("/api/v1/runs", json={"question": QUESTION, name: value}).status_code == 422


def test_a_finished_run_is_refreshed_within_the_budget_of_today(
    http: httpx.Client, own_state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = http.post("/api/v1/runs", json=QUICK).json()["id"]
    assert http.post(f"/api/v1/runs/{run}/refresh").status_code == 409
    until_report(http, run)
    monkeypatch.setenv("DEEP_RESEARCH_BUDGET_USD", "0.50")
    key = {"Idempotency-Key": "once"}
    first, again = [http.post(f"/api/v1/runs/{run}/refresh", headers=key) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 200)
    renewed = first.json()
    assert again.json()["id"] == renewed["id"]
    assert http.post(f"/api/v1/runs/{renewed['id']}/refresh", headers=key).status_code in (409, 422)
    assert RunFolder(own_state, renewed["id"]).load().settings["budget_usd"] == 0.5
    until_report(http, renewed["id"])
    changes = http.get(f"/api/v1/runs/{renewed['id']}/changes").json()
    assert changes["parent"] == run
    assert changes["text"].startswith("# ")


def test_reasons_are_given_in_the_readers_language(finished: Finished) -> None:
    report = f"/api/v1/runs/{finished.run_id}/report"
    english, chinese = (finished.http.get(report, params={"language": code}).json() for code in ("en", "zh"))
    assert [gap["why"] for gap in english["gaps"]] != [gap["why"] for gap in chinese["gaps"]]
    assert english["report"] == chinese["report"]
