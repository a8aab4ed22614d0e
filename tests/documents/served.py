"""Everything that the documents' programs reach for: their providers' servers, and a source to search."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.model.harness import PLAN
from tests.sources.answers import bodies
from tests.support import web_answers
from tests.support.fake_web import FakeWeb
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_researcher import ScriptedResearcher

_VARIABLES = {
    "aliyun": ("DASHSCOPE_API_KEY", "DASHSCOPE_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}


class Served:
    """The servers of the providers, by their names."""

    def __init__(self, providers: dict[str, ScriptedProvider]) -> None:
        self._providers = providers

    @property
    def calls(self) -> int:
        """How many requests all of them got."""
        return sum(len(provider.calls) for provider in self._providers.values())

    def models_asked(self, provider: str) -> set[str]:
        """Return the models that a provider was asked for."""
        return {call.request["model"] for call in self._providers[provider].calls}


@contextmanager
def served_everywhere(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Served]:
    """Serve the providers of the documents, and one source; both are found as a user would set them."""
    with (
        ScriptedProvider(ScriptedResearcher(sections=PLAN, sentences=3)) as aliyun,
        ScriptedProvider(ScriptedResearcher(sections=PLAN, sentences=3)) as anthropic,
        FakeWeb() as web,
    ):
        providers = {"aliyun": aliyun, "anthropic": anthropic}
        for name, (key, address) in _VARIABLES.items():
            patch.setenv(key, "test-key")
            patch.setenv(address, providers[name].base_url)
        web.otherwise = web_answers.page(bodies("arxiv", "one")[""], "application/atom+xml")
        config = folder / "config.toml"
        config.write_text(
            f'sources = ["arxiv"]\n[source_options.arxiv]\nbase_url = "{web.base("api.test")}"\nburst = 1000\n',
            "utf-8",
        )
        patch.setenv("DEEP_RESEARCH_CONFIG", str(config))
        yield Served(providers)
