"""Scholarly works: identifiers, one key per work whoever found it, documents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from deep_research.data import Found
from deep_research.sources._record_documents import Fact, Item, Section, distinct, line, sections

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+", re.IGNORECASE)
_ARXIV = re.compile(r"(\d{4}\.\d{4,5}|[a-z][a-z-]{1,11}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?(?!\d)")
_ARXIV_PREFIX = re.compile(r"arxiv(?:\.org/(?:abs|pdf|html)/|[:.])\s*", re.IGNORECASE)
_ARXIV_DOI = "10.48550/arxiv."
_PMID = re.compile(r"(?:https?://(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov/|pmid:?\s*)?(\d{1,8})/?", re.IGNORECASE)
_PLACES = {
    "arxiv": "https://arxiv.org/abs/{}",
    "doi": "https://doi.org/{}",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "pmc": "https://pmc.ncbi.nlm.nih.gov/articles/{}/",
}
"""Kinds of ids, and where a reader finds the work; the first that is known names it."""


class Work(NamedTuple):
    """One work as its source describes it: ids in any form, texts with their markup.

    It is read at `url`, else where its ids lead, else at `otherwise`; `sections` are an abstract in parts.
    """

    title: str
    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    own: str = ""
    url: str = ""
    otherwise: str = ""
    authors: Iterable[str] = ()
    published: str | None = None
    venue: str = ""
    abstract: str = ""
    sections: Sequence[Section] = ()
    facts: tuple[Fact, ...] = ()
    full_text: Iterable[str] = ()
    score: float = 0.0

    def found(self, origin: str) -> Found | None:
        """Return it, its record as document if it has an abstract; None without a name."""
        pmc = self.pmcid.upper() if self.pmcid.upper().startswith("PMC") else ""
        ids = {"doi": doi(self.doi), "arxiv": arxiv_id(self.arxiv), "pmid": pmid(self.pmid), "pmc": pmc}
        places = (place.format(quote(ids[kind], safe="/:;()._-")) for kind, place in _PLACES.items() if ids[kind])
        url = self.url or next(places, self.otherwise)
        named = tuple(zip(("DOI", "arXiv", "PubMed", "PubMed Central"), ids.values(), strict=True))
        title = line(self.title) or next((f"{name} {value}" for name, value in named if value), self.own)
        parts = [(heading or "Abstract", text) for heading, text in self.sections or sections(self.abstract)]
        texts = ("Full text", distinct(self.full_text))
        return Item(
            key=work_key(ids, self.own or url) or f"title:{title.casefold()}",
            title=title,
            url=url,
            published=self.published,
            authors=[line(name) for name in self.authors],
            about=" ".join(text for _, text in parts),
            score=self.score,
            facts=(("Published in", line(self.venue)), *named, *self.facts, texts),
            sections=parts or [("Abstract", "")],
        ).found(origin)


def doi(text: str) -> str:
    """Return the DOI in `text` (an address, `doi:…` or bare) in lower case, or ""."""
    match = _DOI.search(unquote(text))
    return match[0].rstrip(".,;:)]}'").lower() if match else ""


def arxiv_id(text: str) -> str:
    """Return the arXiv id in an address, `arXiv:…`, DOI or id, no version; or ""."""
    text = text.strip()
    named = _ARXIV_PREFIX.search(text)
    match = _ARXIV.match(text, named.end()) if named else _ARXIV.fullmatch(text)
    return match[1] if match else ""


def pmid(text: str) -> str:
    """Return the PubMed id in an address or a bare id, or ""."""
    match = _PMID.fullmatch(text.strip())
    return match[1] if match else ""


def work_key(ids: Mapping[str, str], otherwise: str = "") -> str:
    """Return a work's key by its ids, whichever source found it; else `otherwise`."""
    name = ids.get("doi", "")
    of_doi = arxiv_id(name.removeprefix(_ARXIV_DOI)) if name.startswith(_ARXIV_DOI) else ""
    known = {**ids, "arxiv": ids.get("arxiv") or of_doi}
    return next((f"{kind}:{known[kind]}" for kind in _PLACES if known.get(kind)), otherwise)


def full_text_of_arxiv(paper: str) -> tuple[str, str]:
    """Return an arXiv paper's full-text addresses: HTML (not for all) and PDF."""
    return f"https://arxiv.org/html/{paper}", f"https://arxiv.org/pdf/{paper}"


def arxiv_texts(key: str, url: str) -> tuple[str, ...]:
    """Return where an arXiv paper's text may be, best first; `url` tells its version.

    ar5iv has the papers from before arXiv made HTML.
    """
    if not key.startswith("arxiv:"):
        return ()
    paper = key.removeprefix("arxiv:")
    versioned = url.rsplit("/abs/", 1)[-1] if f"/abs/{paper}v" in url else paper
    html, pdf = full_text_of_arxiv(versioned)
    return html, f"https://ar5iv.labs.arxiv.org/html/{paper}", pdf
