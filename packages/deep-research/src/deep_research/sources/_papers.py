"""Scholarly works: their identifiers, one key for the same work whoever found it, and their record as a document."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from deep_research.data import Document, Found
from deep_research.sources import _record_documents as _writing
from deep_research.sources._api_answers import distinct

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]+", re.IGNORECASE)
_ARXIV_NEW = re.compile(r"(?<![\d.])(\d{4}\.\d{4,5})(?:v\d{1,2})?(?![\d])")
_ARXIV_OLD = re.compile(r"\b([a-z][a-z-]{1,11}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,2})?\b")
_ARXIV_PREFIX = re.compile(r"arxiv(?:\.org/(?:abs|pdf|html)/|[:.])\s*", re.IGNORECASE)
_ARXIV_DOI = "10.48550/arxiv."
_SNIPPET_CHARS = 300


class Ids(NamedTuple):
    """What a work is known by; empty where it has none. `other` is a source's own id with its prefix."""

    doi: str = ""
    arxiv: str = ""
    pmid: str = ""
    pmcid: str = ""
    other: str = ""


class Work(NamedTuple):
    """One work as a source describes it. `facts` and `sections` go into its document after the usual ones."""

    title: str
    ids: Ids
    url: str = ""
    authors: Iterable[str] = ()
    published: str | None = None
    venue: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    facts: tuple[_writing.Fact, ...] = ()
    full_text: Iterable[str] = ()
    score: float = 0.0


def doi(text: str) -> str:
    """Return the DOI in `text` (an address, `doi:…` or bare) in lower case, or ""."""
    match = _DOI.search(unquote(text))
    return match[0].rstrip(".,;:)]}'").lower() if match else ""


def arxiv_id(text: str) -> str:
    """Return the arXiv id in an address, `arXiv:…`, DOI or bare id, without its version, or ""."""
    text = text.strip()
    if named := _ARXIV_PREFIX.search(text):
        text = text[named.end() :]
        match = _ARXIV_NEW.match(text) or _ARXIV_OLD.match(text)
    else:
        match = _ARXIV_NEW.fullmatch(text) or _ARXIV_OLD.fullmatch(text)
    return match[1] if match else ""


def pmid(text: str) -> str:
    """Return the PubMed id in an address or a bare id, or ""."""
    match = re.fullmatch(
        r"(?:https?://(?:www\.)?pubmed\.ncbi\.nlm\.nih\.gov/|pmid:?\s*)?(\d{1,8})/?", text.strip(), re.I
    )
    return match[1] if match else ""


def work_key(ids: Ids, url: str = "") -> str:
    """Return the key under which the same work is recognised, whichever source found it.

    An arXiv id comes first because the sources that know one are the ones that overlap most; then the
    DOI, PubMed and PMC ids, a source's own id, the address.
    """
    arxiv = ids.arxiv or arxiv_id(ids.doi.removeprefix(_ARXIV_DOI) if ids.doi.startswith(_ARXIV_DOI) else "")
    if arxiv:
        return f"arxiv:{arxiv}"
    if ids.doi:
        return f"doi:{ids.doi}"
    if ids.pmid:
        return f"pmid:{ids.pmid}"
    return f"pmc:{ids.pmcid}" if ids.pmcid else ids.other or url


def work_url(ids: Ids) -> str:
    """Return the address at which a reader finds the work."""
    if ids.arxiv:
        return f"https://arxiv.org/abs/{ids.arxiv}"
    if ids.doi:
        return f"https://doi.org/{quote(ids.doi, safe='/:;()._-')}"
    if ids.pmid:
        return f"https://pubmed.ncbi.nlm.nih.gov/{ids.pmid}/"
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{ids.pmcid}/" if ids.pmcid else ""


def full_text_of_arxiv(paper: str) -> tuple[str, str]:
    """Return the addresses of an arXiv paper's full text as HTML (not all papers have one) and as PDF."""
    return f"https://arxiv.org/html/{paper}", f"https://arxiv.org/pdf/{paper}"


def arxiv_texts(key: str, url: str) -> tuple[str, ...]:
    """Return where the whole text may be of the paper with this key, best first; none for what is not on arXiv.

    `url` may name its version. ar5iv has the papers from before arXiv made HTML.
    """
    if not key.startswith("arxiv:"):
        return ()
    paper = key.removeprefix("arxiv:")
    versioned = url.rsplit("/abs/", 1)[-1] if f"/abs/{paper}v" in url else paper
    html, pdf = full_text_of_arxiv(versioned)
    return html, f"https://ar5iv.labs.arxiv.org/html/{paper}", pdf


def found_work(work: Work, origin: str) -> Found | None:
    """Return the work as a result, with its record as document when there is an abstract; None without name or id."""
    work = work._replace(authors=distinct(work.authors), full_text=distinct(work.full_text))
    url = work.url or work_url(work.ids)
    title = work.title or _named_by_id(work.ids)
    key = work_key(work.ids, url) or (f"title:{title.casefold()}" if title else "")
    if not key or not title:
        return None
    body = " ".join(text for _, text in work.sections)
    return Found(
        key=key,
        title=title,
        url=url,
        origin=origin,
        published=work.published,
        authors=tuple(work.authors),
        snippet=" ".join(body.split())[:_SNIPPET_CHARS],
        score=work.score,
        document=_document(work, title) if body.strip() else None,
    )


def unstructured(abstract: str) -> tuple[tuple[str, str], ...]:
    """Return an abstract without headings as the one section it is."""
    return (("Abstract", abstract),) if abstract.strip() else ()


def structured(sections: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return an abstract's labelled parts, the nameless ones as "Abstract"."""
    return tuple((heading or "Abstract", body) for heading, body in sections if body.strip())


def _document(work: Work, title: str) -> Document:
    ids = work.ids
    return _writing.document(
        title,
        published=work.published,
        authors=tuple(work.authors),
        sections=work.sections,
        facts=(
            ("Published in", work.venue),
            ("DOI", ids.doi),
            ("arXiv", ids.arxiv),
            ("PubMed", ids.pmid),
            ("PubMed Central", ids.pmcid),
            *work.facts,
            ("Full text", work.full_text),
        ),
    )


def _named_by_id(ids: Ids) -> str:
    names = (("DOI", ids.doi), ("arXiv", ids.arxiv), ("PubMed", ids.pmid), ("PubMed Central", ids.pmcid))
    return next((f"{name} {value}" for name, value in names if value), ids.other)
