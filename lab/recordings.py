"""Parse recorded web API answers and print a line each: hits or error, fields.

    python lab/recordings.py [FOLDER]

FOLDER holds one folder per API with bodies and a `NAME.meta.json` beside each (status, headers, address); the
default is `../shared/recordings` beside the repository. The last line is one JSON object of figures.
"""

import argparse
import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from deep_research.data import Document, Found
from deep_research.errors import SourceError
from deep_research.ports import ApiResponse

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "recordings"
FIELDS = ("title", "url", "published", "authors", "snippet", "document")

# Which parser reads a body: by API, and by the beginning of the file's name where an API has several forms.
PARSERS: dict[str, dict[str, str]] = {
    "anthropic": {"web_search": "model_web_search.parse_anthropic_answer"},
    "arxiv": {"": "paper_indexes.parse_arxiv", "rss": "feeds.parse_feed"},
    "bocha": {"": "web_engines.parse_bocha"},
    "brave": {"": "web_engines.parse_brave"},
    "clinicaltrials": {"": "clinicaltrials.parse_studies"},
    "crossref": {"": "paper_indexes.parse_crossref"},
    "duckduckgo": {"": "web_engines.parse_duckduckgo"},
    "europepmc": {"": "paper_indexes.parse_europepmc"},
    "exa": {"": "web_engines.parse_exa"},
    "github": {
        "": "github.parse_repositories",
        "readme": "github.parse_readme",
        "search_issues": "github.parse_issues",
        "search_code": "github.parse_code",
    },
    "google_cse": {"": "web_engines.parse_google_cse"},
    "hackernews": {"": "hackernews.parse_items"},
    "huggingface": {
        "": "huggingface.parse_papers",
        "blog": "huggingface.parse_feed",
        "models": "huggingface.parse_models",
    },
    "jina": {"": "web_engines.parse_jina", "reader": "web_engines.parse_jina"},
    "openalex": {"": "paper_indexes.parse_openalex"},
    "openai_responses": dict.fromkeys(("web_search", "error", "stream_error"), "model_web_search.parse_openai_answer"),
    "patents_epo_ops": {
        "": "patents.parse_epo_patents",
        "claims": "patents.parse_claims",
        "description": "patents.parse_description",
    },
    "patents_uspto_odp": {"": "patents.parse_applications"},
    "perplexity": {"": "web_engines.parse_perplexity"},
    "pubmed": {
        "": "pubmed.parse_articles",
        "esearch": "pubmed.parse_ids",
        "pmc_esearch": "pubmed.parse_ids",
    },
    "searxng": {"": "web_engines.parse_searxng"},
    "semantic_scholar": {"": "paper_indexes.parse_semantic_scholar"},
    "serper": {"": "web_engines.parse_serper"},
    "tavily": {"": "web_engines.parse_tavily"},
    "unpaywall": {"": "paper_indexes.parse_unpaywall"},
    "wikipedia": {"": "wikipedia.parse_pages", "search": "wikipedia.parse_search"},
    "zyte": {"": "zyte.parse_article_list"},
}

# Recorded beside the others, but in forms that this program does not ask for: streams, lists of references, single records.
NEVER_ASKED = frozenset(
    """
    web_search_stream.txt web_search_stream_gpt5.txt stream_error_event.txt stream_text.txt ddgs_text_vendor_sample.json
    langchain_wrapper_list_obama.json work_by_doi.json work_select_open_access.json repo_2026.json
    firebase_item_comment_vendor_sample.json firebase_item_story_vendor_sample.json search_beta_2024_combination.json
    search_petitions.json esearch_xml_biopython.xml esearch_xml_phrase_not_found.xml esummary_xml.xml paper_batch_post.json
    paper_references_p1.json snippet_search.json extract_plain_full_python.json langlinks_python.json links_p1_continue.json
    espell_xml.xml search_ti_battery_2025.xml search_ti_plastic.xml
    """.split()
)


class Row(NamedTuple):
    """The outcome of one body; `error` is the error class, "" when it was read."""

    api: str
    body: str
    parser: str
    hits: int
    error: str
    fields: dict[str, int]
    message: str = ""


def bodies(folder: Path) -> Iterator[tuple[str, Path, ApiResponse]]:
    """Yield (api, file, answer) for each recorded body of an API that has a parser."""
    for meta in sorted(folder.glob("*/*.meta.json")):
        about = json.loads(meta.read_text("utf-8"))
        body = meta.parent / about.get("body_file", "")
        forms = PARSERS.get(meta.parent.name, {})
        asked = body.name not in NEVER_ASKED and any(body.name.startswith(form) for form in forms)
        if not asked or not body.is_file():
            continue
        told = about.get("response") or {}
        headers = {str(name).lower(): str(value) for name, value in (told.get("headers") or {}).items()}
        address = (about.get("request") or {}).get("url") or "https://api.example"
        yield meta.parent.name, body, ApiResponse(int(told.get("status") or 200), headers, body.read_bytes(), address)


def parser_of(api: str, name: str) -> tuple[str, Callable[[ApiResponse], Any]]:
    """Return the name and the function of the parser for a body."""
    forms = PARSERS[api]
    prefix = max((form for form in forms if name.startswith(form)), key=len)
    module, function = forms[prefix].split(".")
    return forms[prefix], getattr(importlib.import_module(f"deep_research.sources.{module}"), function)


def read(api: str, name: str, response: ApiResponse) -> Row:
    """Return what the parser makes of one body."""
    parser, parse = parser_of(api, name)
    try:
        answer = parse(response)
    except SourceError as error:
        return Row(api, name, parser, 0, type(error).__name__, {}, error.message)
    found = answer if isinstance(answer, list) else [answer]
    return Row(api, name, parser, len(found), "", _filled(found))


def _filled(found: list[Any]) -> dict[str, int]:
    results = [one for one in found if isinstance(one, Found)]
    counts = {field: sum(bool(getattr(one, field)) for one in results) for field in FIELDS} if results else {}
    documents = [one for one in found if isinstance(one, Document)]
    return counts | ({"characters": sum(len(one.text) for one in documents)} if documents else {})


def main() -> None:
    """Print the table, then the figures as one JSON line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER)
    rows = [read(api, body.name, response) for api, body, response in bodies(parser.parse_args().folder)]
    for row in rows:
        filled = " ".join(f"{name} {count}" for name, count in row.fields.items())
        outcome = f"{row.error}: {row.message}" if row.error else f"{row.hits} hits  {filled}"
        print(f"{row.api:<20} {row.body:<50} {outcome}")
    read_bodies = [row for row in rows if not row.error]
    totals = {field: sum(row.fields.get(field, 0) for row in rows) for field in FIELDS}
    figures = {"bodies": len(rows), "read": len(read_bodies), "hits": sum(row.hits for row in read_bodies)}
    print(json.dumps(figures | totals))


if __name__ == "__main__":
    main()
