"""Whether a question can be researched as it stands, without a model (contract rows A1–A9).

It asks only what it can see: no topic at all, a pronoun that the conversation does not resolve, a bare topic of
common words (`text.topic_breadth`), or a code that nothing searched knows. It declines what plainly asks for something
to be done instead of found out. When unsure it starts, and says what it assumed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.conversation.coreference import dangling_pointer, fill_pointer, resolve_in_history, without_request
from deep_research.conversation.remarks import ABOUT_THE_REPORT, read_remark
from deep_research.conversation.replies import wants_to_skip
from deep_research.data import Clarification, Decision, Question, Template, Term
from deep_research.i18n.catalog import phrase
from deep_research.i18n.lexicon import any_word
from deep_research.reasoners.extractive.asked_words import is_common
from deep_research.reasoners.extractive.question_analysis import says_what_is_wanted
from deep_research.text.question_terms import codes
from deep_research.text.tokens import content_terms
from deep_research.text.topic_breadth import is_broad

_ERRAND = re.compile(
    f"(?:{any_word('asking.errand_opening_patterns')})*{any_word('asking.errand_patterns')}", re.IGNORECASE
)
_QUESTION_WORD = re.compile(any_word("question.word_patterns"), re.IGNORECASE)
_FURTHER_SENTENCE = re.compile(r"[.!?;。！？；]\s*\w")
_BARE_REFERENCE = re.compile(any_word("asking.bare_reference_patterns"), re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")
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
    if not said.answers and _is_errand(said.text):
        return _decline(question)
    if said.text.strip() in kinds:
        return _ask(question, "ask_name", (phrase("opt_newest", language),), missing="topic", term=said.text)
    remark = read_remark(said.text)
    if _is_empty(term) or (remark is not None and remark.kind not in ABOUT_THE_REPORT):
        return _ask(question, "ask_topic", kinds, missing="topic")
    if not said.answers and (pointer := _unresolved(said.text, term)):
        return _ask(question, "ask_which", (phrase("opt_newest", language),), missing="referent", term=pointer)
    if not said.answers and not says_what_is_wanted(said.text) and is_broad(term, language):
        return _ask(question, "ask_aspect", _aspects(language, template), missing="aspect", term=term)
    return _start(question, said, term, terms, template)


def _is_errand(text: str) -> bool:
    """Return whether a message of one sentence asks for something to be made or done, and asks nothing."""
    plain = not _QUESTION_WORD.search(text) and not _FURTHER_SENTENCE.search(text)
    return plain and _ERRAND.match(text.strip()) is not None


def _is_empty(term: str) -> bool:
    """Return whether a message says nothing but words of every conversation."""
    return not content_terms(term) or all(is_common(word.casefold()) for word in _WORD.findall(term))


def _unresolved(text: str, term: str) -> str:
    """Return the words of a message that mean one particular thing without naming it; "" where it is named."""
    return term if _BARE_REFERENCE.fullmatch(term) else dangling_pointer(text)


def _decline(question: Question) -> Decision:
    return Decision(
        next_action="CANNOT_DO",
        confidence=0.9,
        refined_question=question.text,
        reasoning=phrase("cannot_errand", question.language),
    )


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
