"""Runs that ask the places of row E1 over real HTTP, each of which answers as its service was recorded to answer."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from deep_research.fetch.web import Web, WebOptions
from deep_research.sources import api_sources
from tests.contract.scenes import Player, Scenes
from tests.runs.running import Ran
from tests.sources.answers import bodies, options_of, secret
from tests.support import web_answers
from tests.support.clock import FakeClock
from tests.support.fake_web import FakeWeb
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer

PATHS = {
    "arxiv": "/api/query", "huggingface_papers": "/api/papers/search", "huggingface_blog": "/blog/feed.xml",
    "github": "/search/repositories", "github_issues": "/search/issues", "zyte": "/v1/extract",
    "hackernews": "/search", "bocha": "/v1/web-search", "tavily": "/search",
    "openai_web_search": "/responses", "anthropic_web_search": "/v1/messages",
}  # fmt: skip
"""Where each service answers."""
PAGE = "<h1>Sparse retrieval</h1><p>Sparse retrieval ranks documents by the words they share with the question.</p>"
"""What stands at every address that a service names."""
QUESTION = "What is sparse retrieval?"


def host_of(name: str) -> str:
    """Return the host at which a place answers."""
    return f"{name.replace('_', '-')}.test"


@contextmanager
def recorded_web(names: Sequence[str]) -> Iterator[FakeWeb]:
    """Serve these places."""
    with FakeWeb() as web:
        for name in names:
            web.dns.set(host_of(name), "8.8.7.7")
            body = re.sub(rb"https://([\w.]+)/", rb"http://\1/", bodies(name, "one")[""])
            for host, path in re.findall(rb"http://((?:example|huggingface)\.[\w.]+)(/[\w/-]*)", body):
                web.dns.set(host.decode(), "8.8.7.8")
                web.site(host.decode()).page(path.decode(), PAGE)
            found = web_answers.page(body, "application/octet-stream")
            answer = _article_or(found) if name == "zyte" else found
            for method in ("GET", "POST"):
                web.site(host_of(name)).on(PATHS[name], answer, method=method)
        readme = {"name": "README.md", "content": "IyBTcGFyc2UKClNwYXJzZSByZXRyaWV2YWwgaW4gUnVzdC4="}
        web.site(host_of("github")).on("/repos/ada/sparse/readme", json_answer(readme))
        yield web


def _article_or(listing: WebAnswer) -> web_answers.Handler:
    """Answer Zyte's two kinds of request: for the articles that a page lists, and for one article."""
    body = "Sparse retrieval ranks documents by the words they share with the question.\nIt needs no training."
    article = {"url": "https://example.org/blog/sparse", "headline": "Sparse retrieval", "articleBody": body}
    one = json_answer({"statusCode": 200, "article": {**article, "metadata": {"probability": 0.9}}})

    def answer(request: SeenRequest) -> WebAnswer:
        return listing if b'"articleList"' in request.body else one

    return answer


@cache
def ask_places(s: Scenes, *names: str) -> tuple[Ran, set[tuple[str, str]]]:
    """Do a whole run that searches these places and nothing else; return it with the hosts and paths that were asked."""
    options: dict[str, Any] = {name: {**options_of(name), "base_url": f"http://{host_of(name)}"} for name in names}
    player = Player(sections={QUESTION: ["sparse retrieval"]})
    with pytest.MonkeyPatch.context() as patch, recorded_web(names) as web:
        for variable in {variable for name in names for variable in api_sources()[name].variables()}:
            patch.setenv(variable, secret(variable))

        def make_web(made: WebOptions) -> Web:
            return Web(made, resolver=web.dns, dial=web.dial, clock=FakeClock())

        with s.playing(player):
            ran = s.run(QUESTION, docs=[], sources=names, source_options=options, make_web=make_web)
        return ran, {(request.host, request.path) for request in web.requests}
