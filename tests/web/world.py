"""A small Internet about engines that do not exist: sites, a web search, an encyclopedia, and runs that search them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from claimcheck.text.tokens import content_terms
from deep_research.assembly.environment import RunEnvironment
from deep_research.fetch.web import Web, WebOptions
from deep_research.runs.research_run import create_run, resume_run
from deep_research.settings import Settings
from tests.runs.running import Ran
from tests.support.clock import FakeClock
from tests.support.fake_web import FakeWeb
from tests.support.web_answers import SeenRequest, WebAnswer, json_answer

QUESTION = "Compare the Alpha engine, the Beta engine and the Gamma engine"
SEARCH = "search.test"
WIKIPEDIA = "en.wikipedia.org"

ALPHA = (
    "The Alpha engine is a rotary engine that turns at 3,000 rpm. The Alpha engine was built in 1999 by Rolf Maier "
    "in Graz. The advantage of the Alpha engine is that it runs without oil. The Alpha engine is best suited for "
    "small boats and costs 400 euros."
)
BETA = (
    "The Beta engine is a piston engine that turns at 4,500 rpm. The Beta engine was built in 2004 by Anna Holm in "
    "Bergen. The disadvantage of the Beta engine is a weight of 85 kg. The Beta engine is recommended for trucks and "
    "costs 900 euros."
)
GAMMA = (
    "The Gamma engine is a turbine engine that turns at 21,000 rpm. The Gamma engine was built in 2011 by Luis Prado "
    "in Porto. The Gamma engine is limited to clean fuel. The Gamma engine is used in aircraft and costs 7,000 euros."
)
KINDS = (
    "There are three kinds of engines: the Alpha engine, the Beta engine and the Gamma engine. The Alpha engine and "
    "the Beta engine differ in weight. The Gamma engine is faster than the Beta engine, and the Alpha engine is the "
    "lightest of the engines."
)


@dataclass
class World:
    """Pages by address, and what the web search says of them."""

    web: FakeWeb
    listed: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def page(self, host: str, path: str, title: str, *paragraphs: str, extra: str = "", listed: bool = True) -> str:
        """Put an HTML page; `extra` is markup in its body. Returns its address."""
        text = "".join(f"<p>{escape(p)}</p>" for p in paragraphs)
        html = f"<html><head><title>{escape(title)}</title></head><body><h1>{escape(title)}</h1>{text}{extra}</body></html>"
        self.web.site(host).page(path, html)
        return self.list_page(f"http://{host}{path}", title, " ".join(paragraphs)) if listed else f"http://{host}{path}"

    def list_page(self, url: str, title: str, text: str = "") -> str:
        """Let the web search know a page; it answers with title and address only."""
        self.listed[url], self.texts[url] = title, f"{title} {text}"
        return url

    def engines(self) -> None:
        """Put the four pages about engines."""
        for name, text in (("Alpha", ALPHA), ("Beta", BETA), ("Gamma", GAMMA)):
            self.page(f"{name.lower()}.test", "/engine", f"{name} engine", text)
        self.page("kinds.test", "/", "Kinds of engines", KINDS)

    def searxng(self, host: str = SEARCH) -> None:
        """Let a web search answer at `host`."""
        self.web.site(host).on("/search", self._search)

    def wikipedia(self, articles: Mapping[str, str]) -> None:
        """Let an encyclopedia answer with these articles."""

        def answer(request: SeenRequest) -> WebAnswer:
            if request.query.get("list"):
                titles = self._matching(articles, request.query["srsearch"][0])
                return json_answer({"query": {"search": [{"title": t, "snippet": ""} for t in titles]}})
            title = request.query["titles"][0]
            page = {"pageid": 7, "title": title, "extract": articles[title]}
            return json_answer({"query": {"pages": [page]}})

        self.web.dns.set(WIKIPEDIA, "8.8.4.4")
        self.web.site(WIKIPEDIA).on("/w/api.php", answer)

    def _search(self, request: SeenRequest) -> WebAnswer:
        urls = self._matching(self.texts, request.query["q"][0])
        return json_answer({"results": [{"title": self.listed[url], "url": url, "content": ""} for url in urls]})

    @staticmethod
    def _matching(texts: Mapping[str, str], query: str) -> Sequence[str]:
        wanted = set(content_terms(query))
        shared = {key: len(wanted & set(content_terms(text))) for key, text in texts.items()}
        return sorted((key for key in texts if shared[key]), key=lambda key: -shared[key])


def begin(
    question: str, *, home: Path, sources: Sequence[str] = ("searxng",), docs: Sequence[Path] = (), **settings: Any
) -> Ran:
    """Make a run that searches these web sources; SearXNG is at its site."""
    options = {"searxng": {"base_url": f"http://{SEARCH}"}, **settings.pop("source_options", {})}
    values = {"allow_clarification": False, "sources": tuple(sources), "source_options": options, **settings}
    folder = create_run(question, Settings(**values), home=home, docs=[str(path) for path in docs])
    return Ran(folder, home)


def web_of(web: FakeWeb) -> Callable[[WebOptions], Web]:
    """Return what builds the connection to a fake web; polite waiting takes no time."""
    return lambda options: Web(options, resolver=web.dns, dial=web.dial, clock=FakeClock())


def research(web: FakeWeb, question: str = QUESTION, *, home: Path, **settings: Any) -> Ran:
    """Do a whole run that finds the fake web where others find the Internet; polite waiting takes no time."""
    ran = begin(question, home=home, **settings)
    environment = RunEnvironment(home, listener=ran.events.append, make_web=web_of(web))
    ran.finished = asyncio.run(resume_run(ran.folder, environment))
    return ran


def why(ran: Ran) -> str:
    """All gaps of a report as text."""
    return "\n".join(f"{gap.source} | {gap.what} | {gap.why}" for gap in ran.report.gaps)
