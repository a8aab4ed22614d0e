"""How many independent voices cited passages are: one site is one voice, and so are those that copy from each other."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from deep_research.ports import Library
from deep_research.protocol.registered_domain import registered_domain
from deep_research.text.near_duplicates import share_a_paragraph, stretches


def voices_of(ids: Iterable[str], library: Library) -> tuple[int, list[str]]:
    """Return the number of independent voices among passages, and their sites by registered domain.

    Passages of different sites that share a paragraph are one voice.
    """
    texts: dict[str, set[int]] = {}
    for key in dict.fromkeys(ids):
        passage, source = library.passage(key), library.source(key.partition("p")[0])
        if passage is not None and source is not None:
            host = urlsplit(source.url).hostname if source.url.startswith("http") else None
            site = registered_domain(host) if host else source.id
            texts.setdefault(site, set()).update(stretches(passage.text))
    groups: list[set[int]] = []
    for found in texts.values():
        alike = [group for group in groups if share_a_paragraph(frozenset(group), frozenset(found))]
        groups = [group for group in groups if group not in alike] + [set().union(found, *alike)]
    return len(groups), list(texts)
