"""The library of one manual in English, which most questions are put to: it is indexed once."""

from collections.abc import Iterator

import pytest

from deep_research.stores.sqlite_library import SqliteLibrary
from tests.finding.folders import library_of
from tests.finding.manuals import MANUAL


@pytest.fixture(scope="session")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteLibrary]:
    with library_of(tmp_path_factory.mktemp("finding") / "docs", {"manual.md": MANUAL}) as library:
        yield library
