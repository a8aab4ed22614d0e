"""One claim against a whole document, without a model: the judging is the package `claimcheck`."""

from claimcheck.claim_verdicts import Evidence, verify
from deep_research.data import Document, Verdict
from deep_research.i18n.catalog import verdict_of
from deep_research.text.passages import cut_passages


def check_against_document(claim: str, text: str) -> Verdict:
    """Judge a claim against the text of a document, cut into passages as the library does."""
    pieces = [Evidence(text[cut.start : cut.end], cut.heading) for cut in cut_passages(Document(text=text))]
    found = verify(claim, pieces)
    return verdict_of(found.kind, found.code, **found.values)
