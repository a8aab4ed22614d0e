"""What is written into files that somebody names."""

import os
from pathlib import Path

from deep_research.stores.run_folder import write_bytes_atomically


def test_a_pipe_or_device_that_is_written_to_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_bytes_atomically(pipe, b"report")
        assert os.read(reader, 10) == b"report"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
