"""What the tests of whole runs with a model share."""

from pathlib import Path

import pytest

from tests.model.harness import Scene


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)
