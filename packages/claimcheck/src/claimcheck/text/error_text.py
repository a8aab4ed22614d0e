"""Texts about a failure of the research itself: an error is never content."""

import re
from collections.abc import Sequence

from claimcheck.language import detect
from claimcheck.lexicon import any_word, compile_on_use
from claimcheck.text.tokens import content_terms

_ERROR = compile_on_use(any_word("failure.patterns"), re.IGNORECASE)
_FAILING = re.compile(any_word("failure.subject_patterns"), re.IGNORECASE)


def is_error_text(text: str, evidence: Sequence[str] = ()) -> bool:
    """Return whether `text` tells of a failure of the research, not of its subject.

    A text is about its subject where `evidence` has the words of the failure and half of all its words.
    """
    failures = " ".join(match[0] for match in _ERROR.finditer(text))
    if not failures:
        return False
    if evidence and detect(text) != detect("\n".join(evidence)):
        # There are no words to compare: the evidence must speak of failing itself.
        return not any(_FAILING.search(part) for part in evidence)
    there, own = {term for part in evidence for term in content_terms(part)}, content_terms(text)
    is_subject = there.issuperset(content_terms(failures)) and 2 * sum(term in there for term in own) >= len(own)
    return not (there and is_subject)
