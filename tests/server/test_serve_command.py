"""`deep-research serve` as a user starts it: it answers, and a signal ends it."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.server.serving import client


def test_serve_answers_until_it_is_asked_to_stop(own_state: Path) -> None:
    command = [sys.executable, "-m", "deep_research", "serve", "--port", "0"]
    environment = {**os.environ, "DEEP_RESEARCH_HOME": str(own_state)}  # noqa: TID251 - what the command inherits
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        shown = re.search(r"http://127\.0\.0\.1:\d+", process.stderr.readline())
        assert shown
        with client(shown[0]) as http:
            assert "deep-research" in http.get("/").text
            assert http.get("/readyz").json() == {"status": "ready"}
            # Anybody may ask this: no run is read for it. Reading this one would wait for ever.
            (own_state / "runs" / "one").mkdir(parents=True, mode=0o700)
            os.mkfifo(own_state / "runs" / "one" / "run.json")
            assert http.get("/readyz").json() == {"status": "ready"}
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (0, -signal.SIGTERM)
        assert "Traceback" not in process.stderr.read()


def test_a_port_that_is_taken_is_said_before_an_address_is_shown(own_state: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "deep_research", "serve", "--port", str(port)]
        environment = {**os.environ, "DEEP_RESEARCH_HOME": str(own_state)}  # noqa: TID251 - what the command inherits
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    said = f"Error: Nothing can listen at 127.0.0.1, port {port}: Address already in use. Choose another with --host and --port."
    assert (done.returncode, done.stderr.strip(), done.stdout) == (2, said, "")
