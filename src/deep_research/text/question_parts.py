"""What a question asks: its parts ("who started it, and in which year?"), and the shape of an answer."""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_of, any_word, compile_on_use, entry, languages, words
from deep_research.text.question_terms import topic_words
from deep_research.text.tokens import without_particle

Shape = Literal["definition", "steps", "list", "statement"]
"""What kind of block answers: one that says what something is, a procedure, an enumeration, or any."""

_JOINTS = {code: re.compile(any_word("asking.joint_patterns", code), re.IGNORECASE) for code in languages()}
_ASKS = {code: compile_on_use(any_word("asking.word_patterns", code), re.IGNORECASE) for code in languages()}
_TELLS = {
    code: re.compile(any_word("asking.telling_patterns", code), re.IGNORECASE)
    for code in languages()
    if entry("asking.telling_patterns", code)
}
"""How a sentence begins that tells about the one who asks, whatever it says behind a "who" or "when"."""
_SHAPES: dict[Shape, re.Pattern[str]] = {
    "definition": compile_on_use(any_word("asking.define_patterns"), re.IGNORECASE),
    "list": compile_on_use(any_word("asking.several_patterns"), re.IGNORECASE),
    "steps": re.compile(any_word("asking.steps_patterns"), re.IGNORECASE),
}
_TURNED_DOWN = [
    compile_on_use(pattern, re.IGNORECASE)
    for code in languages()
    for pattern in entry("asking.turned_down_patterns", code) or ()
]
_DECIDES = [
    compile_on_use(pattern, re.IGNORECASE)
    for code in languages()
    for pattern in entry("asking.deciding_patterns", code) or ()
]
_MORE = compile_on_use(any_word("asking.more_patterns"), re.IGNORECASE)
_ASPECTS = words("reference.aspects")
_ASPECT = compile_on_use(
    "|".join(rf"\b{word}\b" if word.isascii() else word for word in _ASPECTS if len(word) > 1), re.IGNORECASE
)
_CHOICE = compile_on_use(any_word("asking.choice_patterns"), re.IGNORECASE)
_ENDED = {
    code: [compile_on_use(pattern, re.IGNORECASE) for pattern in entry("asking.ended_patterns", code) or ()]
    for code in languages()
}
_ENDING = any_word("asking.ending_patterns")
_QUOTED = re.compile(r"“([^“”]+)”|‘([^‘’]+)’|「([^「」]+)」|(?<!\w)[\"']([^\"\n]+?)[\"'](?!\w)")
_SENTENCE_END = re.compile(r"[.!。！]")


class QuestionParts(NamedTuple):
    """The parts of a question in order, and the sentences beside them that ask nothing."""

    parts: tuple[str, ...]
    context: str = ""


class Ending(NamedTuple):
    """What a question takes for granted: that something (`thing`) was removed, dropped or given up (`verb`)."""

    verb: str
    thing: str


def claimed_ending(question: str) -> Ending | None:
    """Return what `question` takes to have ended ("Why did X drop support for Y?"); None where it says no such thing."""
    line = question.strip().rstrip("?？。.!！ ")
    for code in dict.fromkeys((detect(line), "en")):
        found = next((match for pattern in _ENDED.get(code, ()) if (match := pattern.search(line))), None)
        if found:
            return Ending(found["verb"], found["thing"].strip())
    return None


def says_ending(text: str, stems: Collection[str]) -> bool:
    """Return whether a text says that what begins with one of `stems` was removed, dropped or given up."""
    return re.search(_ENDING.replace("{thing}", f"(?i:{any_of(stems)})"), text) is not None


def question_parts(question: str, language: str) -> QuestionParts:
    """Return the parts of `question`; the whole of it where it asks one thing only.

    A piece of a sentence without a question word says something about the piece beside it and stays with that.
    """
    joint, asks, tells = _JOINTS.get(language), _ASKS.get(language), _TELLS.get(language)
    if joint is None or asks is None:
        return QuestionParts((question,))
    parts: list[str] = []
    context: list[str] = []
    waiting, start, before = "", 0, "."
    for end, stop, hard in [*((m.start(), m.end(), m.group()) for m in joint.finditer(question)), (None, None, "")]:
        # The mark at its end tells a question of a piece.
        piece = f"{question[start:end].strip()}{'?' * ('?' in hard or '？' in hard)}"
        start = stop or 0
        begins = _SENTENCE_END.search(before) is not None
        ends = end is None or _SENTENCE_END.search(hard) is not None
        before = hard
        if asks.search(piece) and not (begins and tells is not None and tells.search(piece)):
            parts.append(f"{waiting} {piece}".strip().rstrip("?"))
            waiting = ""
        elif ends and (begins or _SENTENCE_END.search(hard)):
            context.append(f"{waiting} {piece}".strip())
            waiting = ""
        elif parts and piece and not begins:
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            waiting = f"{waiting} {piece}".strip()
    if waiting:
        context.append(waiting)
    asked = bool(parts)
    parts = [piece for part in parts or [question] for piece in _told_apart(part, language)]
    return QuestionParts(tuple(parts), " ".join(context) if asked else "")


def _told_apart(part: str, language: str) -> tuple[str, ...]:
    """Return a part once for each side of what it asks for: "advantages and disadvantages" are told in two places."""
    for both, sides in (entry("asking.twofold", language) or {}).items():
        if both in part:
            return tuple(part.replace(both, side) for side in sides)
    return (part,)


def with_topics(asked: QuestionParts) -> dict[str, str]:
    """Return for each part the words of what it is about besides its own: those of the part before it, or of the sentences
    beside it, where it names only an aspect ("and what are the risks?") or says which of those, or it; "" elsewhere."""
    topic = topic_words(asked.context)
    found: dict[str, str] = {}
    for part in asked.parts:
        verb = decided(part).casefold() or None
        own = [word for word in topic_words(part).split() if not is_aspect(word) and word.casefold() != verb]
        asks_more = _MORE.search(part) if own and found else _ASPECT.search(part) and not own
        found[part] = topic if asks_more else ""
        topic = topic if asks_more else " ".join(own) or topic
    return found


def is_aspect(word: str) -> bool:
    """Return whether a word names what many things have ("limits", "costs"), and no thing."""
    return without_particle(word).casefold() in _ASPECTS


def decided(question: str) -> str:
    """Return the verb of a question whether to do something ("switch" of "should we switch to it?"); "" of others."""
    found = (pattern.search(question) for pattern in _DECIDES)
    return next((match["verb"] for match in found if match), "")


def messages_in(question: str) -> tuple[str, ...]:
    """Return what a question quotes, of several words and in lower case: a message that a text may have word for word."""
    found = (next(filter(None, match.groups())) for match in _QUOTED.finditer(question))
    return tuple(dict.fromkeys(" ".join(each.casefold().split()) for each in found if len(each.split()) > 1))


def answer_shape(question: str) -> Shape:
    """Return what kind of block answers `question`, by its wording."""
    found: list[Shape] = [shape for shape, pattern in _SHAPES.items() if pattern.search(question)]
    return found[0] if found else "statement"


def turned_down(question: str) -> str:
    """Return what a question names only to turn it down ("instead of a server"); "" for nothing."""
    found = (pattern.search(question) for pattern in _TURNED_DOWN)
    return next((match["thing"] for match in found if match), "")


def asks_for_choice(question: str) -> bool:
    """Return whether a question asks when or for what something is to be used."""
    return _CHOICE.search(question) is not None


def asks_something(text: str) -> bool:
    """Return whether a text has a question word of any language; without one it names a topic."""
    return any(asks.search(text) for asks in _ASKS.values())
