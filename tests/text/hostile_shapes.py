"""Texts of one sign or piece over and over, and the work on text that lies on every run's way, for `test_bounded_work`."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from claimcheck.claim_verdicts import Evidence, verify
from claimcheck.language import columns, detect
from claimcheck.text import cleaning
from claimcheck.text.names import missing_names
from claimcheck.text.sentences import blocks, sentences
from claimcheck.text.tokens import content_terms, join_index_terms, tokenize
from deep_research import registry
from deep_research.assembly.page_access import QuestionPages
from deep_research.conversation.plan_edits import read_plan_answer
from deep_research.data import Brief, Document, Found, Heading, PageStart, PartStart, Section
from deep_research.errors import Unreadable
from deep_research.fetch.addresses import KnownAddresses
from deep_research.fetch.page_fetcher import parse_robots
from deep_research.ports import ApiResponse
from deep_research.protocol.media_type import charset_of
from deep_research.providers.answer_parsing import split_reasoning
from deep_research.providers.http_wire import WireFailure
from deep_research.providers.provider_failures import About, translate
from deep_research.providers.tools_in_text import calls_in
from deep_research.reading_child import read_here
from deep_research.safe_text import safe_text
from deep_research.search.passage_search import query_terms
from deep_research.search.title_names import heading_key, names, title_keys
from deep_research.sources import _record_documents
from deep_research.sources.feeds import FeedsSource
from deep_research.steps.revise import changed_paragraphs
from deep_research.stores.sqlite_library import SqliteLibrary
from deep_research.text import page_noise, prompt_fencing
from deep_research.text.contents_lists import is_contents_line, is_contents_list
from deep_research.text.inert_markdown import literal_marks, make_inert
from deep_research.text.listed_headings import with_marked_headings
from deep_research.text.near_duplicates import Distinct
from deep_research.text.passages import cut_passages
from deep_research.text.token_count import estimate_tokens
from deep_research.verification.citations import normalize_citations
from deep_research.verification.figures import missing_figures
from deep_research.verification.foreign import read_report
from deep_research.verification.statements import split_statements
from deep_research.worker_child import ask_parent

CHARACTERS = 40_000
MOST_SECONDS = 4.0
"""Of computing, on a machine that is also busy with other things: work in proportion takes less than one on a quiet one."""
_FEW, _LITTLE = 5_000, 0.06
"""Characters that are tried first, and seconds for them with which a square takes less than the most for all of them; what
is worse than square shows among the few."""
_PIECES = {
    "blanks": " ", "tabs": "\t", "ideographic blanks": "\u3000", "lines": "\n", "one letter": "a", "digits": "1",
    "figures": "1,", "stops": ".", "brackets": "[", "parentheses": "(", "links": "](", "angles": "<a ", "backticks": "`",
    "stars": "*a ", "bars": "|-", "quotation marks": '"', "hyphens": "a-", "one ideograph": "水", "kana": "かカ",
    "closings": ")", "citations": "[1]", "entries": "\n[1] http://a.test/\n[1]",
    "hangul": "한 ", "names": "Ab Cd ", "numbering": "1. ", "roles": ":a:`", "entities": "&amp", "code": "`a`. ",
    "ends": ".) ", "comments": "<!--", "underlines": "_a", "steps": "e.g. ", "semicolons": ";\n ", "scripts": "<script>", "open scripts": "<script ", "instructions": "<?",
    "formulas": "<tex-math>", "braces": "{", "words": "a 1 ", "one word": "word ", "exponents": "1<sup ", "commas": ",", "empty comments": "<!---->", "thoughts": "<think></think>",
    "ideographic stops": "。", "sentences": "a. ", "items": "- ", "hashes": "\n#", "openings": "“", "commands": "\x1b]",
    "short commands": "\x9b;", "strings": "\x1bP\x1b", "titles": "a\x1b]0;", "turns": "\u202e",
    "ids": "A [s1p2, ", "quoted lines": "\n> a", "dates": "3 May 1877 ", "negations": "not ", "phases": "phase 1 ", "three big": "三大", "dotted kana": "トマス・", "rates": "The rate rose by 5 % in 2020. ",
}  # fmt: skip
_PLAN = Brief(title="Engines", objective="Compare them.", sections=(Section(title="Alpha", description="The first."),))


def _shapes(characters: int) -> dict[str, str]:
    shapes = {name: f"x{piece * (characters // len(piece))}y" for name, piece in _PIECES.items()}
    runs = " ".join("`" * length for length in range(1, characters // 100))
    half = characters // 2
    return shapes | {
        "runs of backticks": runs + " a" * (characters // 4),
        "marks": "a" + "\u0315" * half + "\u0300" * half,
        "marks of half the width": "a" + "\u0315" * half + "\uff9e" * half,
        "two names": "alphaxy " * (half // 8) + "betaxs " * (half // 8),
    }


def _read(suffix: str, text: str) -> None:
    data = text.encode()
    reader = registry.reader_for(f"x{suffix}", data[:8192])
    assert reader is not None
    with suppress(Unreadable):
        read_here(reader, data, f"x{suffix}")


def _cut(text: str) -> None:
    """Cut a text into passages that has a heading for each eight of its characters, below one at its beginning."""
    text = "# T\n" + "".join(f"\n## a\n\n{text[at : at + 8]}\n" for at in range(0, len(text), 8))
    places = [0, *(found.end() for found in re.finditer("\n(?=## a\n)", text))]
    headings = (Heading(start=place, level=1 + bool(place), title="a") for place in places)
    cut_passages(Document(text=text, headings=tuple(headings)))


def _of_many(characters: int) -> bytes:
    """Return a robots.txt of half its length names of programs, and half rules that are nearly met everywhere."""
    half = characters // 2
    programs = "\n".join(f"User-agent: a{number}" for number in range(half // 16))
    rules = "\n".join(f"Disallow: /*{'a' * 93}baa*{number}" for number in range(half // 110))
    return f"{programs}\nUser-agent: *\n{rules}".encode()


def _fail(text: str) -> None:
    failure = WireFailure("", status=400, body={"error": {"message": f"maximum context length is 1 tokens{text}"}})
    translate(failure, About("openai", "m"))


def _parse(text: str) -> None:
    for body in (text[1:], f"<a>{text}", f"<a></a>{text[1:]}"):
        with suppress(Unreadable):
            FeedsSource.parse_xml(ApiResponse(200, {}, body.encode(), "http://a.test/"), lenient=True)


def _check(text: str) -> None:
    verify("The rate rose by 6 % in 2021.", [Evidence(text[:10_000])])
    verify(text[:10_000], [Evidence(f"{text[:10_000]} x")])


def _keep(text: str) -> None:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="k", title=text, url="http://a.test/", origin="o"))
    library.add_snapshot(source.id, Document(text=text), retrieved_at="2026-01-01T00:00:00Z")
    library.search("What is the thrust of the engine?", limit=8, hops=2)
    library.close()


WORK: dict[str, Callable[[str], Any]] = {
    **{f"read {suffix}": partial(_read, suffix) for suffix in (".txt", ".md", ".rst", ".csv", ".jsonl", ".html")},
    "keep": _keep,
    "cut": _cut,
    "copies": lambda text: (told := Distinct()).add(text) and told.has(text[::-1]),
    "addresses": lambda text: KnownAddresses(()).add_page_text(text),
    "plan": lambda text: read_plan_answer(text[:20_000], _PLAN),
    "question": lambda text: QuestionPages(("http://a.test/",)).told(f"What is said at http://a.test/{text}"),
    "answer": _parse,
    "failure": _fail,
    "thoughts": lambda text: split_reasoning(text[1:] * 25),
    "marks": lambda text: list(literal_marks(text, text)),
    "calls": lambda text: calls_in(text * 4, ()),
    "report": lambda text: read_report(f"{text}[1]\n\n## References\n\n[1] http://a.test/{text}").statements(),
    "rules": lambda text: parse_robots(text.encode()),
    "rules of many": lambda text: parse_robots(_of_many(len(text))).can_fetch(f"http://a.test/{'a' * 9_000}", "a"),
    "charset": lambda text: charset_of(b"", f'text/html;x="{text}'),
    "figures": lambda text: missing_figures("It fell by 5 % in May 1877.", [text]),
    "query": query_terms,
    "missing names": lambda text: missing_names("It is by Alphas Betaxs.", text),
    **{
        f"{function.__module__}.{function.__name__}": function
        for function in (
            columns, detect, safe_text, heading_key, names, title_keys, is_contents_line, is_contents_list, make_inert,
            with_marked_headings, sentences, estimate_tokens, content_terms,
            join_index_terms, tokenize, cleaning.clean, cleaning.fold,
            cleaning.plain_heading, page_noise.without_orders, page_noise.without_menus, page_noise.unreadable_because,
            prompt_fencing.clean, prompt_fencing.attribute, _record_documents.sections, normalize_citations, split_statements,
        )
    },
    "blocks": lambda text: list(blocks(text)),
    "check": _check,
}  # fmt: skip


def _marked(number: int) -> Document:
    """Return a document of nothing but headings, each on a page of its own and every third the beginning of a part."""
    line = "# a\n\n"
    starts = range(0, number * len(line), len(line))
    return Document(
        text=line * number,
        headings=tuple(Heading(start=start, level=1, title="a") for start in starts),
        pages=tuple(PageStart(start=start, number=page) for page, start in enumerate(starts, 1)),
        parts=tuple(PartStart(start=start, title="a", media_type="text/plain") for start in starts[::3]),
    )


_LONG = f"{'The index keeps one row for every term. ' * 10}\n\n" * 40_000
_ROWS, _SOURCES = "| A is 7. | b |\n" * 4_000, "Source: [a](http://a.test/a)\n\n" * 4_000
_MARKED: dict[str, Callable[[], Any]] = {
    "rows above many lines of sources": lambda: read_report(
        f"| x | y |\n| - | - |\n{_ROWS}\n\n{_SOURCES}The end.\n"
    ).statements(),
    "written anew": lambda: changed_paragraphs("a\n\n1\n\n" * 10_000, "1\n\n\n\na" * 10_000, ()),
    "cut at headings": lambda: cut_passages(_marked(10_000)),
    "split": lambda: _marked(30_000).split(),
    "cut above a heading at the end": lambda: cut_passages(
        Document(text=_LONG, headings=(Heading(start=len(_LONG), level=1, title="End"),))
    ),
}


def sweep() -> int:
    """Do all work with all shapes; return how often. The parent is told of each work before, and of what takes more than
    `MOST_SECONDS`: what is worse than square may end this process."""
    few, many = _shapes(_FEW), _shapes(CHARACTERS)
    for name, work in WORK.items():
        ask_parent("begin", name)
        for shape, text in many.items():
            if _seconds(work, few[shape]) > _LITTLE and (seconds := _seconds(work, text)) > MOST_SECONDS:
                ask_parent("slow", f"{name} with {shape}: {seconds:.1f} s")
    for name, done in _MARKED.items():
        ask_parent("begin", name)
        if (seconds := _seconds(done)) > MOST_SECONDS:
            ask_parent("slow", f"{name}: {seconds:.1f} s")
    return len(WORK) * len(many)


def _seconds(work: Callable[..., Any], *given: str) -> float:
    begun = time.process_time()
    work(*given)
    return time.process_time() - begun
