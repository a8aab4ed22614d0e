"""Whether a question can be researched as it stands, without a model (contract rows A1–A9).

It asks only what it can see: no topic at all, a pronoun that the conversation does not resolve, one very general
word, or a code that nothing searched knows. When unsure it starts, and says what it assumed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.conversation.coreference import dangling_pointer, fill_pointer, resolve_in_history, without_request
from deep_research.conversation.remarks import ABOUT_THE_REPORT, read_remark
from deep_research.conversation.replies import wants_to_skip
from deep_research.data import Clarification, Decision, Question, Template, Term
from deep_research.i18n.catalog import phrase
from deep_research.i18n.lexicon import any_word, words
from deep_research.reasoners.extractive.question_analysis import says_what_is_wanted
from deep_research.text.question_terms import codes
from deep_research.text.tokens import content_terms

_BROAD = frozenset(words("asking.broad"))
_KIND_OF_NAME = re.compile(any_word("asking.kinds_of_names_patterns"), re.IGNORECASE)
"""What may stand beside a code without saying more about it."""
_SHORT = 12
"""Content terms up to which the codes of a question are looked up."""
_KINDS = ("kind_technology", "kind_medicine", "kind_product", "kind_event")
_ASPECTS = ("opt_progress", "opt_how", "opt_compare", "opt_overview")


class _Said(NamedTuple):
    """A question as it is to be taken: its text, the answers to clarifications, what was resolved how."""

    text: str
    answers: tuple[str, ...]
    assumptions: tuple[str, ...]


def decide(
    question: Question, *, rounds: int = 0, terms: Sequence[Term] = (), template: Template | None = None
) -> Decision:
    """Return what can be seen of a question: what to ask, or what to start with; see `ports.Reasoner.decide`."""
    said, language = _said(question, rounds), question.language
    term = without_request(said.text).strip(" .,?!。？！，、~")
    kinds = tuple(phrase(name, language) for name in _KINDS)
    if said.text.strip() in kinds:
        return _ask(question, "ask_name", (phrase("opt_newest", language),), missing="topic", term=said.text)
    remark = read_remark(said.text)
    if not content_terms(term) or (remark is not None and remark.kind not in ABOUT_THE_REPORT):
        return _ask(question, "ask_topic", kinds, missing="topic")
    if not said.answers and (pointer := dangling_pointer(said.text)):
        return _ask(question, "ask_which", (phrase("opt_newest", language),), missing="referent", term=pointer)
    if not said.answers and term.casefold() in _BROAD:
        return _ask(question, "ask_aspect", _aspects(language, template), missing="aspect", term=term)
    return _start(question, said, term, terms, template)


def _start(question: Question, said: _Said, term: str, terms: Sequence[Term], template: Template | None) -> Decision:
    unknown = codes(said.text) if len(content_terms(said.text)) <= _SHORT else ()
    missing = [t.term for t in terms if t.searched and not t.found]
    # Only a code that is all there is leaves nothing to go by.
    stuck = tuple(t for t in missing if not content_terms(_KIND_OF_NAME.sub(" ", term.replace(t, " "))))
    suggested = template.focus if template is not None and not says_what_is_wanted(said.text) else ()
    points = phrase("assumed_focus", question.language, points="; ".join(suggested))
    return Decision(
        next_action="VERIFY_TOPIC" if (unknown and not terms) or stuck else "START_RESEARCH",
        confidence=0.6 if stuck else 0.9,
        goal=said.text,
        research_focus=tuple(dict.fromkeys(content_terms(said.text)))[:8],
        unknown_terms=stuck if terms else unknown,
        refined_question=said.text,
        reasoning="The message names a topic.",
        verification=phrase("will_research", question.language, question=said.text),
        assumptions=(*said.assumptions, points) if suggested else said.assumptions,
        suggested_focus=suggested,
    )


def _aspects(language: str, template: Template | None) -> tuple[str, ...]:
    own = next((c.options for c in template.clarifications if c.missing_info == "aspect"), ()) if template else ()
    return own or tuple(phrase(name, language) for name in _ASPECTS)


def _ask(question: Question, name: str, options: tuple[str, ...], *, missing: str, term: str = "") -> Decision:
    return Decision(
        next_action="NEED_CLARIFICATION",
        confidence=0.3,
        refined_question=question.text,
        reasoning=f"Nothing in the message says the {missing}.",
        clarification=Clarification(
            question=phrase(name, question.language, term=term), options=options, missing_info=missing
        ),
    )


def _said(question: Question, rounds: int) -> _Said:
    """Return the question with what the user answered to `rounds` clarifications, and what it points at resolved."""
    history, text = list(question.history), question.text
    before = history[: len(history) - 2 * rounds] if rounds else history
    asked = history[len(before) :]
    unsaid = phrase("opt_mistyped", question.language)  # an option that announces an answer, and is none
    answers = tuple(m.text for m in asked if m.role == "user" and not wants_to_skip(m.text) and m.text != unsaid)
    bare = not content_terms(without_request(text))
    resolution = resolve_in_history(text, before, bare=bare)
    if resolution.referent:
        resolved = " ".join([resolution.question, *answers])
        return _Said(resolved, answers, (resolution.assumption(question.language),))
    if answers and (bare or dangling_pointer(text)):
        if answers[-1] == phrase("opt_newest", question.language):
            return _Said(f"{text} — {answers[-1]}", answers, ())
        return _Said(answers[-1] if bare else fill_pointer(text, answers[-1]), answers, ())
    return _Said(" ".join([text, *answers]), answers, ())
