"""`deep-research serve` as a user starts it: it answers, and a signal ends it."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx

from tests.server.serving import client


def test_serve_answers_until_it_is_asked_to_stop(own_state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "deep_research", "serve", "--port", str(port)]
    environment = {**os.environ, "DEEP_RESEARCH_HOME": str(own_state)}  # noqa: TID251 - what the command inherits
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert f"http://127.0.0.1:{port}/" in process.stderr.readline()
        transport = httpx.HTTPTransport(retries=8)  # waits longer from one to the next, until the port is open
        with client(f"http://127.0.0.1:{port}", transport=transport) as http:
            assert "deep-research" in http.get("/").text
            assert http.get("/readyz").json() == {"status": "ready"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert "Traceback" not in process.stderr.read()
