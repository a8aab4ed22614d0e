"""LangSmith gets runs only where LANGSMITH_TRACING asks for it, and then with names that say what was asked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model.harness import QUESTION
from tests.runs.running import engines
from tests.support.scripted_http import HttpRequest, HttpResponse, LoopbackServer

pytestmark = pytest.mark.process
_PROGRAM = """
import sys
from deep_research import research
from langsmith.run_trees import get_cached_client
research(sys.argv[1], docs=[sys.argv[2]], workflow=sys.argv[3])
get_cached_client().flush()
"""


def _requests(tmp_path: Path, workflow: str, **environment: str) -> list[HttpRequest]:
    """Run a program in a process of its own, and return what LangSmith would have got of it."""
    seen: list[HttpRequest] = []

    async def take(request: HttpRequest) -> HttpResponse:
        seen.append(request)
        return HttpResponse(202, b"{}")

    server = LoopbackServer(take)
    server.start()
    here = os.environ  # noqa: TID251 - the child sees what the test was given
    kept = {name: value for name, value in here.items() if not name.startswith(("LANGSMITH", "LANGCHAIN"))}
    own = {
        "LANGSMITH_ENDPOINT": f"http://127.0.0.1:{server.port}",
        "LANGSMITH_API_KEY": "test-key",
        "LANGSMITH_AUTO_BATCH_TRACING": "false",
        "DEEP_RESEARCH_HOME": str(tmp_path / "home"),
    }
    try:
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, QUESTION, str(engines(tmp_path / "docs")), workflow],
            env={**kept, **own, **environment},
            check=True,
            timeout=120,
        )
    finally:
        server.close()
    return [request for request in seen if request.method != "GET"]  # the client asks what its server can do


def test_nothing_is_sent_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert _requests(tmp_path, "quick") == []


def test_runs_are_sent_with_their_names_where_it_is_asked_for(tmp_path: Path) -> None:
    sent = b"".join(request.body for request in _requests(tmp_path, "sections", LANGSMITH_TRACING="true")).decode()
    for name in ("deep_research", "clarify", "plan_sections", "compress_output", "final_report"):
        assert f'"name":"{name}"' in sent
