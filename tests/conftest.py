"""What all tests share: a state folder of their own, and one run over the bundled library per language."""

import hashlib
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deep_research.providers.provider_catalog import VARIABLES
from deep_research.settings import PREFIX
from tests.runs.running import Ran, engines, run
from tests.support.postgres import new_database, postgres_server
from tests.support.processes import Watch, starts_process

QUESTIONS = {
    "en": "What are the main ways to make large language model inference faster?",
    "zh": "大语言模型推理优化有哪些方法？",
    "ko": "KRAS G12C 억제제의 내성 기전에는 어떤 것들이 있나요?",
}


def pytest_configure(config: pytest.Config) -> None:
    """Watch that no test starts a process unseen: the short lane (`make check`) leaves those out by their mark."""
    config.pluginmanager.register(Watch(), "process-watch")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell that starts the tests in the background sets it so,
        signal.signal(signal.SIGINT, signal.default_int_handler)  # and every process that they start would inherit it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start a process."""
    for item in items:
        if starts_process(item):
            item.add_marker(pytest.mark.process)


@pytest.fixture(scope="session", autouse=True)
def no_settings_or_keys() -> Iterator[None]:
    """No test sees the settings or keys of whoever starts the tests: nothing can cost money."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(PREFIX) or name in VARIABLES]:  # noqa: TID251
            patch.delenv(name)
        yield


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the runs of whoever starts the tests."""
    home = tmp_path / "home"
    monkeypatch.setenv("DEEP_RESEARCH_HOME", str(home))
    return home


@pytest.fixture
def docs(tmp_path: Path) -> str:
    """A folder of notes about engines."""
    return str(engines(tmp_path / "docs"))


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One state folder for the runs over the bundled library: it is indexed once."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def english(shared_home: Path) -> Ran:
    """A finished run over the bundled library: a list question in English."""
    return run(QUESTIONS["en"], home=shared_home)


@pytest.fixture(scope="session", params=sorted(QUESTIONS))
def bundled(request: pytest.FixtureRequest, shared_home: Path) -> Iterator[Ran]:
    """The same in each language in turn."""
    if request.param == "en":
        yield request.getfixturevalue("english")
    else:
        yield run(QUESTIONS[request.param], home=shared_home)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that all test processes share."""
    # Not below pytest's own folder: the server runs as a user of its own where the tests run as root.
    name = hashlib.sha256(str(tmp_path_factory.getbasetemp().parent).encode()).hexdigest()[:12]
    with postgres_server(Path(tempfile.gettempdir()) / f"deep-research-postgres-{name}") as address:
        yield address


@pytest.fixture
def url(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty database, which is that of the settings."""
    with new_database(postgres) as address:
        monkeypatch.setenv("DEEP_RESEARCH_DATABASE_URL", address)
        yield address
