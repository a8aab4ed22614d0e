"""Whether a question can be searched as it is; one without words is asked back.

What can be seen without a model: a message without a word of its own, a word that points at what nobody named, a bare
topic of words that are said everywhere ("cancer"), an errand ("write me a poem"), a code that is looked up first.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from claimcheck.language import detect, zipf
from claimcheck.lexicon import any_word, compile_on_use
from deep_research.conversation.clarifications import KINDS, question_for
from deep_research.conversation.replies import confirms, rejects, says_nothing, split_start, tells_to_start
from deep_research.data import Decision, Message, Question, Template, Term
from deep_research.finding.question import is_plain_topic
from deep_research.finding.words import COMMON, NAME, Word, read_words
from deep_research.i18n.catalog import phrase
from deep_research.text.question_terms import codes

_ALONE, _TOGETHER, _HALVES = 3.6, 4.0, 3.8
"""Zipf frequency (base-10 logarithm per billion words) from which a word alone, each of two, or each half of one says too little."""
_LONGEST = 2_000
"""Characters of a message that are read."""
_SHORT = 12
"""Words of a question up to which its codes are looked up."""
_ERRAND = compile_on_use(
    f"(?:{any_word('finding.errand_opening_patterns')})*{any_word('finding.errand_patterns')}", re.IGNORECASE
)
_QUESTION_MARK = re.compile(r"[?？]")
_POINTER = compile_on_use(any_word("finding.pointer_patterns"), re.IGNORECASE)
_REQUEST = compile_on_use(any_word("conversation.request_patterns"), re.IGNORECASE)


class Understood(NamedTuple):
    """A question with clarification answers and the conversation topic it refers to."""

    text: str
    answers: tuple[str, ...] = ()
    topic: str = ""


def decide(question: Question, *, rounds: int, terms: Sequence[Term], template: Template | None) -> Decision:
    """Return whether to start, or the one thing to ask; see `ports.Reasoner.decide`."""
    said, language = understand(question, rounds), question.language
    named = _own_words(said.text, language)
    if not said.answers and _ERRAND.match(said.text.strip()) and not _QUESTION_MARK.search(said.text):
        reason = phrase("cannot_errand", language)
        return Decision(next_action="CANNOT_DO", confidence=0.9, refined_question=said.text, reasoning=reason)
    if said.topic:
        return _start(question, said, terms, named)
    bare = _REQUEST.sub(" ", said.text).strip(" .,!。！，、~")
    is_topic = is_plain_topic(said.text, language)
    if pointer := _POINTER.search(said.text):
        rest = _own_words(_POINTER.sub(" ", said.text), language)
        begins = is_topic and not pointer.start()  # "that cheap phone"
        if not rest or (begins and is_broad(rest, language)):
            term = bare if begins else pointer[0].strip()
            return _ask(said, language, template, "referent", term)
    if not named:
        return _ask(said, language, template, "topic")
    if not said.answers and is_topic and is_broad(named, language):
        return _ask(said, language, template, "aspect", bare)
    return _start(question, said, terms, named)


def understand(question: Question, rounds: int = 0) -> Understood:
    """Merge the question with the last `rounds` clarification answers and its topic.

    Where the question refers to an earlier topic of the conversation, that topic is added.
    """
    history, own = list(question.history), split_start(question.text[:_LONGEST])[0]
    own = "" if tells_to_start(own) else own
    before = history[: len(history) - 2 * rounds] if rounds else history
    said = [split_start(m.text)[0] for m in history[len(before) :] if m.role == "user"]
    answers = [answer for answer in said if not says_nothing(answer)]
    unsaid = {phrase(name, question.language) for name in ("opt_mistyped", *KINDS)}  # options that name nothing yet
    answers = [answer for answer in answers if answer not in unsaid]
    topic = _topic_before(own, question.language, before)
    text = " ".join([own, *(answer[:_LONGEST] for answer in answers)])
    if topic:
        return Understood(f"{text} ({topic})" if own else topic, tuple(answers), topic)
    if answers and not _own_words(own, question.language):
        return Understood(" ".join(answers), tuple(answers))
    if answers and _POINTER.search(own):
        text = " ".join([_POINTER.sub(" ", own, count=1).strip(), *answers])
    return Understood(text, tuple(answers))


def _topic_before(text: str, language: str, history: Sequence[Message]) -> str:
    """Return the previous question's topic if this one refers to it or names nothing.

    Otherwise it is "".
    """
    if _own_words(text, language) and not _POINTER.search(text):
        return ""
    for message in reversed(history):
        if message.role == "user" and not (confirms(message.text) or rejects(message.text)):
            words = _own_words(_POINTER.sub(" ", message.text), detect(message.text, default=language))
            if names := [word for word in words if word.worth >= NAME] or words:
                return " ".join(word.text for word in names)
    return ""


def _own_words(text: str, language: str) -> list[Word]:
    """Return the words that a text has of its own, beside what asks for work."""
    return [word for word in read_words(_REQUEST.sub(" ", text), language) if word.worth > COMMON]


def is_broad(named: Sequence[Word], language: str) -> bool:
    """Return whether one or two common words are all: no name, code or rarer word."""
    named = [word for word in named if len(word.text) > 1] or named  # a stem of one sign says little of its own
    if not 0 < len(named) <= 2 or any(word.worth >= NAME for word in named):
        return False
    if len(named) == 2:
        return all(zipf(word.text, language) >= _TOGETHER for word in named)
    word = named[0].text
    if language not in ("zh", "ja", "ko"):
        return zipf(word, language) >= _ALONE
    halves = [min(zipf(word[:at], language), zipf(word[at:], language)) for at in range(1, len(word))]
    return zipf(word, language) >= _ALONE or max(halves, default=0.0) >= _HALVES


def _start(question: Question, said: Understood, terms: Sequence[Term], named: Sequence[Word]) -> Decision:
    language = question.language
    unknown = codes(said.text) if len(named) <= _SHORT else ()
    missing = [term.term for term in terms if term.searched and not term.found]
    others = [word for word in named if word.text not in missing]
    bare = not others or (is_plain_topic(said.text, language) and is_broad(others, language))
    stuck = tuple(missing) if missing and bare else ()  # a code that is all there is leaves nothing to go by
    assumed = (phrase("assumed_topic", language, topic=said.topic),) if said.topic else ()
    return Decision(
        next_action="VERIFY_TOPIC" if (unknown and not terms) or stuck else "START_RESEARCH",
        confidence=0.6 if stuck else 0.9,
        goal=said.text,
        research_focus=tuple(word.text for word in named[:8]),
        unknown_terms=stuck if terms else unknown,
        refined_question=said.text,
        reasoning="The message has words to search for.",
        verification=phrase("will_research", language, question=said.text),
        assumptions=assumed,
    )


def _ask(said: Understood, language: str, template: Template | None, missing: str, term: str = "") -> Decision:
    """Return the decision to ask for what is missing."""
    return Decision(
        next_action="NEED_CLARIFICATION",
        confidence=0.3,
        goal=term if missing == "aspect" else "",
        refined_question=said.text,
        reasoning=f"Nothing in the message says the {missing}.",
        clarification=question_for(missing, term, language, template),
    )
