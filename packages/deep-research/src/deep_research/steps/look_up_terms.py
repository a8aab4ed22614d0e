"""Looking unknown terms up before the decision (contract row A5): the same search, journal and library as research."""

import asyncio
import re
from collections.abc import Sequence

from claimcheck.text.sentences import sentences
from claimcheck.text.tokens import normalise
from deep_research.data import Action, Observation, Passage, Term
from deep_research.run_context.context import RunContext
from deep_research.steps import search
from deep_research.text.prompt_fencing import attribute
from deep_research.text.question_terms import codes

_LONGEST_MEANING = 400
_LONGEST_TERM = 100
_READ = 12
"""Passages of a search that are looked through for the term."""


async def look_up(ctx: RunContext, terms: Sequence[str]) -> tuple[Term, ...]:
    """Return what is known of each term, in order: verbatim text that uses it, or that nothing was found."""
    wanted = list(dict.fromkeys(cut for term in terms if (cut := " ".join(term.split())[:_LONGEST_TERM])))
    if not wanted:
        return ()
    actions = [Action(id=f"v{number}", name="search", query=term) for number, term in enumerate(wanted, 1)]
    seen = await search.perform(ctx, actions) if ctx.outside.places else []
    if not seen:
        return tuple(Term(term=term, searched=False) for term in wanted)
    return tuple([await asyncio.to_thread(_known, ctx, t, o) for t, o in zip(wanted, seen, strict=True)])


def _known(ctx: RunContext, term: str, seen: Observation) -> Term:
    for key in seen.passages[:_READ]:
        passage = ctx.library.passage(key)
        if passage is not None and (meaning := _meaning(term, passage)):
            source = ctx.library.source(passage.source)
            title = attribute(source.title) if source else ""
            return Term(term=term, meaning=meaning, passage=passage.id, title=title)
    # A place that failed might have known it.
    return Term(term=term, searched=not seen.failure)


def _meaning(term: str, passage: Passage) -> str:
    """Return the first sentence of a passage that uses the term, verbatim; "" when none does."""
    forms = [re.escape(normalise(form)) for form in (term, *codes(term))]
    used = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(forms)})(?![a-z0-9])")
    if not used.search(normalise(passage.text)):
        return ""
    using = [passage.text[s.start : s.end].strip() for s in sentences(passage.text) if s.kind == "prose"]
    first = next((text for text in using if used.search(normalise(text))), passage.text.strip())
    return first[:_LONGEST_MEANING]
