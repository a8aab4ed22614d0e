"""The API and a worker as two processes on one PostgreSQL: the API queues, the worker works, all is seen in the API."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deep_research import api
from deep_research.settings import Settings
from deep_research_server.access_tokens import AccessTokens, owner_home
from deep_research_server.workers import run_queue
from tests.cli.terminal import COMMAND
from tests.mcp_server.clients import over_stdio
from tests.model.harness import served
from tests.runs.running import engines
from tests.server.serving import Held, begin, client, events_of, followed, serving, until_report
from tests.support.made_reports import save_run

psycopg = pytest.importorskip("psycopg", reason="no PostgreSQL here: pip install 'deep-research[postgres]'")
pytest.importorskip("procrastinate", reason="no queue here: pip install 'deep-research[worker]'")
pytestmark = pytest.mark.process
QUESTION = "Which kinds of engines are there?"


@contextmanager
def working() -> Iterator[None]:
    """Have a worker process inside the block; it is told to stop at the end, and must end by itself."""
    process = subprocess.Popen([str(COMMAND), "worker"], stderr=subprocess.DEVNULL)
    try:
        yield
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()


def until_worker(home: Path) -> None:
    """Wait until a worker is alive."""
    end = time.monotonic() + 60
    while not api.queue_state(home=home).workers:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_whole_life_of_a_run_in_two_processes(url: str, own_state: Path, tmp_path: Path) -> None:
    docs = engines(tmp_path / "docs")
    with serving(own_state, queued=True) as address, client(address) as http:
        assert http.get("/readyz").json() == {"status": "ready", "workers": 0}
        # Without a worker it waits; stopped while it waits, it can be taken up again.
        run = begin(http, docs, QUESTION, confirm_plan=True)
        at = f"/api/v1/runs/{run}"
        assert http.get(at).json()["status"] == "queued"
        assert http.post(f"{at}/cancel").json()["status"] == "stopped"
        assert http.post(f"{at}/resume").json()["status"] == "queued"
        with working():
            shown = events_of(http, f"{at}/events")
            assert shown[-1]["data"] == {"status": "waiting"}
            plan = http.get(at).json()["asked"]["brief"]
            sections = [{"title": "The Alpha engine", "queries": ["Alpha engine"]}]
            assert http.put(f"{at}/plan", json={"sections": sections}).status_code == 202
            last = int(shown[-2]["id"])
            more = events_of(http, f"{at}/events", last=last)
            assert int(more[0]["id"]) == last + 1  # nothing twice, nothing left out
            asked = http.get(at).json()["asked"]["brief"]
            assert [one["title"] for one in asked["sections"]] == ["The Alpha engine"] != plan["sections"]
            assert http.post(f"{at}/answer", json={"answer": "yes"}).status_code == 202
            report = until_report(http, run)
            assert "The Alpha engine" in [one["title"] for one in report["sections"]]
            assert http.get("/readyz").json()["workers"] == 1
        # A question about the report waits for a worker too, is stopped while it waits, and asked again.
        question = {"question": "How fast is the Gamma engine?"}
        for _ in range(2):
            asked = http.post(f"{at}/follow-ups", json=question)
            assert asked.status_code == 202, asked.text
            assert asked.json()["number"] == 1
            assert http.get(f"{at}/follow-ups/1").json()["status"] == "running"
            assert http.post(f"{at}/follow-ups", json=question).status_code == 409
            assert http.post(f"{at}/cancel").status_code == 202
            assert http.get(f"{at}/follow-ups/1").json()["status"] == "stopped"
        assert http.post(f"{at}/follow-ups", json=question).status_code == 202
        with working():
            assert events_of(http, f"{at}/follow-ups/1/events")[-1]["data"] == {"status": "finished"}
        assert "21,000" in http.get(f"{at}/follow-ups/1").json()["report"]
        assert [one["id"] for one in http.get("/api/v1/runs").json()["runs"]] == [run]
        assert not (own_state / "runs").exists()


async def test_the_runs_of_an_agent_are_carried_out_by_workers(url: str, own_state: Path, tmp_path: Path) -> None:
    docs, queued = engines(tmp_path / "docs"), list[int]()

    async def progress(_done: float, _total: float | None, _message: str | None) -> None:
        queued.append(api.queue_state(home=own_state).runs)

    async with over_stdio(own_state, DEEP_RESEARCH_DATABASE_URL=url) as agent:
        arguments = {"question": QUESTION, "docs": [str(docs)], "workflow": "quick"}
        refused = await agent.call_tool("research", arguments)
        assert refused.is_error
        assert "deep-research worker" in refused.content[0].text
        assert api.list_runs(home=own_state) == []
        with working():
            until_worker(own_state)
            done = await agent.call_tool("research", arguments, progress_callback=progress)
            assert not done.is_error, done.content
            assert max(queued) == 1  # while it went on it was in the queue
            run = done.structured_content["run_id"]
            asked = await agent.call_tool("ask", {"question": "How fast is the Gamma engine?", "run_id": run})
            assert "21,000" in asked.content[0].text


def test_a_run_in_a_worker_is_steered_and_stopped_from_the_api(
    url: str, own_state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = Held()
    with served(monkeypatch, script), serving(own_state, queued=True) as address, client(address) as http, working():
        run = begin(http, engines(tmp_path / "docs"), QUESTION, model_provider="compatible", model_name="scripted")
        at = f"/api/v1/runs/{run}"
        feed = followed(http, f"{at}/events")
        assert any(event["event"] == "section_started" for event in feed)
        assert http.post(f"{at}/steer", json={"kind": "remark", "text": "Mind the weight"}).json()["going_on"]
        assert any(event["event"] == "steered" for event in feed)
        assert http.get(at).json()["status"] == "running"
        assert http.post(f"{at}/resume").status_code == 409
        assert http.post(f"{at}/cancel").json()["status"] == "stopped"
        assert [event["data"] for event in feed][-1] == {"status": "stopped"}
        script.go.set()
        assert http.post(f"{at}/resume").json()["status"] == "queued"
        assert "Mind the weight" in until_report(http, run)["report"]


@pytest.mark.parametrize(("counted", "status"), [("attempts = 40", "finished"), ("deaths = 10", "failed")])
def test_a_run_that_ends_worker_after_worker_is_given_up_and_no_other(
    url: str, own_state: Path, counted: str, status: str
) -> None:
    run = api.start_run(QUESTION, Settings(model_provider="finder", workflow="quick"), home=own_state)
    run.enqueue()
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour') RETURNING id"
        ).fetchone()
        connection.execute(f"UPDATE procrastinate_jobs SET status = 'doing', {counted}, worker_id = %s".encode(), row)
    asyncio.run(run_queue.work(own_state, until_empty=True))
    record = api.open_run(run.id, home=own_state).record
    assert record.status == status
    assert ("died" in record.error) == (status == "failed")


def test_a_run_at_which_workers_died_is_carried_out_alone(url: str, own_state: Path) -> None:
    settings = Settings(model_provider="finder", workflow="quick")
    runs = [api.start_run(QUESTION, settings, home=own_state) for _ in range(3)]
    for run in runs:
        run.enqueue()
    with psycopg.connect(url, autocommit=True) as connection:
        worker = connection.execute("INSERT INTO procrastinate_workers DEFAULT VALUES RETURNING id").fetchone()
        assert worker

        def fetched() -> str | None:
            row = connection.execute(
                "SELECT args->>'run_id' FROM deep_research.fetch_run(%s, 4, 20, 10, false)", worker
            ).fetchone()
            return row[0] if row else None

        of = "UPDATE procrastinate_jobs SET {} WHERE args->>'run_id' = '{}'"
        connection.execute(of.format("deaths = 3, priority = 1", runs[1].id).encode())
        connection.execute(of.format("priority = 2", runs[0].id).encode())
        assert [fetched(), fetched()] == [runs[0].id, None]
        connection.execute(of.format("status = 'failed'", runs[0].id).encode())
        assert [fetched(), fetched()] == [runs[1].id, None]
        connection.execute(of.format("status = 'failed'", runs[1].id).encode())
        assert fetched() == runs[2].id


def test_owners_on_a_database_never_see_each_other(url: str, own_state: Path) -> None:
    run, tokens = save_run(owner_home(own_state, "anna")).run_id, AccessTokens(own_state)
    with serving(own_state, queued=True, require_tokens=True) as address:
        anna, ben = (
            client(address, headers={"Authorization": f"Bearer {tokens.create(name)}"}) for name in ("anna", "ben")
        )
        with anna, ben:
            assert anna.get(f"/api/v1/runs/{run}/report").status_code == 200
            for method, path, body in (
                ("GET", "", None), ("GET", "/report", None), ("GET", "/events", None), ("GET", "/sources/s1", None),
                ("GET", "/export/json", None), ("POST", "/cancel", None), ("POST", "/resume", None),
                ("POST", "/answer", {"answer": "yes"}), ("POST", "/follow-ups", {"question": "Why?"}),
                ("POST", "/steer", {"kind": "finish"}), ("DELETE", "", None),
            ):  # fmt: skip
                assert ben.request(method, f"/api/v1/runs/{run}{path}", json=body).status_code == 404, path
            assert ben.get("/api/v1/runs").json()["total"] == 0
            assert ben.get(f"/v1/responses/resp_{run}").status_code == 404
            # The same key of two owners means two runs.
            new = {"question": QUESTION, "model_provider": "finder"}
            made = [http.post("/api/v1/runs", json=new, headers={"Idempotency-Key": "k"}) for http in (anna, ben, ben)]
            assert [one.status_code for one in made] == [201, 201, 200]
            assert made[0].json()["id"] != made[1].json()["id"] == made[2].json()["id"]
            for http, one in zip((anna, ben), made, strict=False):
                assert http.post(f"/api/v1/runs/{one.json()['id']}/cancel").status_code == 202
