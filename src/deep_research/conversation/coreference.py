"""Resolve words that point at what was said before ("it", "that drug", "它", "그것", "それ").

Without a model a question must name what it is about, so such a word is replaced by the name it most likely means:
the one thing that the question before named, else what its answer speaks of most, else the topic. The reader is told
what was taken as an assumption. The words of each language stand in its lexicon (`reference`). The conversation is
read in the forms in which programs have it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from deep_research.conversation.replies import confirms, rejects
from deep_research.data import Message
from deep_research.errors import ConfigError
from deep_research.i18n.catalog import phrase
from deep_research.i18n.language import detect, fit_particle
from deep_research.i18n.lexicon import any_word, entry, table, words
from deep_research.text.name_matching import naming
from deep_research.text.question_terms import topic_phrase, topic_words
from deep_research.text.tokens import content_terms

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
_OTHERS = frozenset({"system", "developer", "tool", "function"})
"""Roles that take no part in a conversation."""


def read_history(history: Sequence[Any]) -> list[Message]:
    """Return a conversation as messages, oldest first; what system and tools said is left out.

    Taken are our messages, LangChain's, mappings with `role` and `content` (or `text`), pairs of role and text, and
    texts of the user. Raises ConfigError for anything else.
    """
    read = (_read(turn) for turn in history)
    return [message for message in read if message is not None]


def _read(turn: Any) -> Message | None:
    if isinstance(turn, Message):
        return turn
    if isinstance(turn, str):
        return Message(role="user", text=turn)
    role, content = _parts(turn)
    if role in _OTHERS:
        return None
    text = _text(content)
    if role not in _ROLES or text is None:
        message = (
            f"A message of `history` needs a role (user or assistant) and a text. This one does not fit: {turn!r:.120}"
        )
        raise ConfigError(message, setting="history", value=str(turn)[:120])
    return Message.model_validate({"role": _ROLES[role], "text": text})


def _parts(turn: Any) -> tuple[str, Any]:
    """Return role and content of a message in one of its forms."""
    if isinstance(turn, Mapping):
        return str(turn.get("role", turn.get("type"))), turn.get("text", turn.get("content"))
    if isinstance(turn, tuple) and len(turn) == 2:
        return str(turn[0]), turn[1]
    return str(getattr(turn, "type", "")), getattr(turn, "content", None)


def _text(content: Any) -> str | None:
    """Return a text, or the texts among blocks of content; None for anything else."""
    if isinstance(content, str) or content is None:
        return content
    if not isinstance(content, list):
        return None
    blocks = (block if isinstance(block, str) else block.get("text", "") for block in content)
    return "".join(str(block) for block in blocks)


_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z0-9]*\d[A-Za-z0-9-]*|[A-Z]{2,}[A-Za-z0-9-]*|[A-Z][a-z]+[A-Z][A-Za-z0-9]*)"
    r"(?:[ -](?:[A-Z][A-Za-z0-9-]*|[a-z]?\d[A-Za-z0-9-]*(?:\.\d+)*))*(?![A-Za-z0-9])"
)
"""A name by its form: GLP-1, KRAS G12C, RAG, BitNet b1.58."""
_NAME_OR_CAPITAL = re.compile(r"(?<=\s)[A-Z0-9]\w|[a-z]+[A-Z]")
_MAX_OVERLAP = 6


class Exchange(NamedTuple):
    """A question of the conversation as it was understood, and its answer ("" for a report as a whole)."""

    question: str
    answer: str = ""


class Resolution(NamedTuple):
    """A question that names what it is about; `pointer` is the word that pointed at `referent` ("" where none did)."""

    question: str
    pointer: str = ""
    referent: str = ""

    def assumption(self, language: str) -> str:
        """Return a sentence that says how the question was understood; "" where nothing was taken."""
        if self.pointer:
            return phrase("resolved", language, term=self.pointer, topic=self.referent)
        return phrase("assumed_topic", language, topic=self.referent) if self.referent else ""


class _Grammar(NamedTuple):
    """How one language points back."""

    one: re.Pattern[str]
    several: re.Pattern[str]
    joint: re.Pattern[str]
    clause: re.Pattern[str]
    aspects: frozenset[str]
    suffix: str
    language: str


@cache
def _grammar(language: str) -> _Grammar:
    """Return the grammar of a language from its lexicon; English for languages without one."""
    code = language if entry("reference", language) else "en"

    def part(name: str) -> str:
        return any_word(f"reference.{name}", code)

    plural = "s?" if entry("reference.spaced", code) else ""
    ends = part("thing_end_patterns") if words("reference.thing_end_patterns", code) else ""
    one = "|".join(
        [
            f"(?P<possessive>{part('possessive_patterns')})",
            f"{part('pointer_patterns')}(?P<thing>{part('things')}{plural}){ends}",
            f"(?P<pronoun>{part('pronoun_patterns')})",
            f"{part('noun_pointer_patterns')}(?P<noun>{part('noun_patterns')})",
        ]
    )
    return _Grammar(
        one=re.compile(one, re.IGNORECASE),
        several=re.compile(part("several_patterns"), re.IGNORECASE),
        joint=re.compile(part("joint_patterns"), re.IGNORECASE),
        clause=re.compile(part("clause_patterns"), re.IGNORECASE),
        aspects=frozenset(words("reference.aspects", code)),
        suffix=entry("reference.possessive_suffix", code) or "",
        language=code,
    )


def resolve(question: str, exchanges: Sequence[Exchange], names: Sequence[str], *, bare: bool = False) -> Resolution:
    """Return `question` with the first word that points back replaced by what it points at.

    `exchanges` is the conversation, newest first; `names` are the things it was about. A question that is about
    nothing at all ("Why?"; `bare` where the caller knows it) gets the topic added; one that stands by itself is
    returned as it is.
    """
    grammar = _grammar(detect(question))
    if (found := _several(question, grammar)) and (topic := _topic(exchanges)):
        return Resolution(f"{question} ({topic})", found[0], topic)
    for found in _pointers(question, grammar):
        if name := _referent(found, exchanges, names):
            return Resolution(_replace(question, found, name, grammar), found[0].strip(), name)
    if (bare or not _has_topic(question, grammar)) and (topic := _topic(exchanges)):
        return Resolution(f"{question} ({topic})", "", topic)
    return Resolution(question)


def resolve_in_history(question: str, history: Sequence[Message], *, bare: bool = False) -> Resolution:
    """Return `question` resolved by the conversation before it (oldest first), whose own questions are resolved too.

    `bare` says that it names nothing; see `resolve`.
    """
    exchanges: list[Exchange] = []
    names: list[str] = []
    for message in history:
        text = message.text.strip()
        if message.role == "assistant":
            before = exchanges.pop(0) if exchanges else Exchange("")
            exchanges.insert(0, before._replace(answer=f"{before.answer}\n{text}".strip()))
        elif not (confirms(text) or rejects(text)):
            understood = resolve(text, exchanges, names)
            exchanges.insert(0, Exchange("" if dangling_pointer(understood.question) else understood.question))
            names += [_topic_of(text)] if not understood.referent else []
        names += _NAME.findall(text)
    return resolve(question, exchanges, list(dict.fromkeys(name for name in names if name)), bare=bare)


def dangling_pointer(question: str) -> str:
    """Return the word that points back in a question that names nothing else it could be about, else ""."""
    grammar = _grammar(detect(question))
    found = next((match for match in _pointers(question, grammar) if not _noun(match)), _several(question, grammar))
    if found is None or _has_topic(f"{question[: found.start()]} {question[found.end() :]}", grammar):
        return ""
    return found[0].strip()


def fill_pointer(question: str, name: str) -> str:
    """Return `question` with `name` in place of the word that points back, or after it where none does."""
    grammar = _grammar(detect(question))
    found = next(_pointers(question, grammar), None)
    return _replace(question, found, name, grammar) if found else f"{question} ({name})"


def _noun(found: re.Match[str]) -> str:
    """Return the noun of "that engine", "" for other words that point back."""
    return found.groupdict().get("noun") or ""


def _pointers(question: str, grammar: _Grammar) -> Iterator[re.Match[str]]:
    """Yield the words that point back out of a question, in order."""
    for found in grammar.one.finditer(question):
        before = question[: found.start()]
        conjunction = (found["thing"] or _noun(found)) and grammar.clause.search(before)
        if found[0] != "IT" and not conjunction and not _has_antecedent(found, before, grammar):
            yield found


def _several(question: str, grammar: _Grammar) -> re.Match[str] | None:
    found = grammar.several.search(question)
    return found if found and not _has_antecedent(found, question[: found.start()], grammar) else None


def _has_antecedent(found: re.Match[str], before: str, grammar: _Grammar) -> bool:
    """Return whether the question itself names what the word means: in a clause before it, or ("its") by a name."""
    clause = max((joint.start() for joint in grammar.joint.finditer(before)), default=0)
    if clause and _has_topic(before[:clause], grammar):
        return True
    return bool(found.groupdict().get("possessive")) and _NAME_OR_CAPITAL.search(before) is not None


def _has_topic(text: str, grammar: _Grammar) -> bool:
    """Return whether a text names something besides what is asked of every thing (its limits, its cost)."""
    aspects = {term for aspect in grammar.aspects for term in content_terms(aspect)}
    return any(not set(content_terms(word)) <= aspects for word in topic_words(text).split())


def _referent(found: re.Match[str], exchanges: Sequence[Exchange], names: Sequence[str]) -> str:
    """Return the name that a word means: for "that engine" one that is an engine, "" where there is none."""
    if noun := _noun(found):
        return _most_recent(exchanges, [name for name in names if _is_called(name, noun)])
    if thing := found["thing"]:
        kinds = [name for name in names if _is_called(name, thing)]
        named = _most_recent(exchanges, kinds) or _most_recent(exchanges, names) or _topic(exchanges)
        # "That target" after a question about "inhibitors of KRAS G12C" is the name in it.
        return by_form[0] if len(by_form := _NAME.findall(named)) == 1 and not kinds else named
    return _most_recent(exchanges, names) or _topic(exchanges)


def _is_called(name: str, noun: str) -> bool:
    """Return whether the words of a name hold a noun; a Korean noun comes with its particle."""
    if noun.isascii():
        return noun.casefold() in name.casefold().split()
    return " " in name and noun.startswith(name.rsplit(" ", 1)[1])


def _most_recent(exchanges: Sequence[Exchange], names: Sequence[str]) -> str:
    return next((name for exchange in exchanges for name in _names_in(exchange, names)), "")


def _names_in(exchange: Exchange, names: Sequence[str]) -> list[str]:
    """Return the one thing that a question names, else what its answer names, most often first."""
    ways = {name: naming(name) for name in names}
    asked = [name for name, way in ways.items() if way.within(exchange.question)]
    # A name may stand within another ("GiST" in "SP-GiST index"): the longer one is meant.
    asked = [name for name in asked if not any(name != other and name in other for other in asked)]
    if len(asked) == 1 or not exchange.answer:
        return asked if len(asked) == 1 else []
    lines = exchange.answer.splitlines()
    counts = {name: sum(way.within(line) for line in lines) for name, way in ways.items()}
    places = {name: way.place(exchange.answer) for name, way in ways.items()}
    return sorted((name for name in names if counts[name]), key=lambda name: (-counts[name], places[name]))


def _topic(exchanges: Sequence[Exchange]) -> str:
    return next((topic for exchange in exchanges if (topic := _topic_of(exchange.question))), "")


def _topic_of(question: str) -> str:
    return topic_phrase(without_request(question).strip())


def without_request(text: str) -> str:
    """Return a message without the words that only ask for work ("please tell me about …")."""
    return _request().sub(" ", text)


@cache
def _request() -> re.Pattern[str]:
    return re.compile(any_word("conversation.request_patterns"), re.IGNORECASE)


def _replace(question: str, found: re.Match[str], name: str, grammar: _Grammar) -> str:
    """Return the question with the name in place of the word that points back, fitted to its grammar."""
    before, after = question[: found.start()], question[found.end() :]
    if found["possessive"]:
        return f"{before}{name}{grammar.suffix}{after}"
    if grammar.language == "ko":
        noun = _noun(found)
        rest = noun.removeprefix(name.rsplit(" ", 1)[-1]) if noun else _expand_contraction(found[0])
        return f"{before}{name}{fit_particle(name, rest + after)}"
    if entry("reference.spaced", grammar.language):
        return f"{before}{name}{after}"
    # "那个发动机" with "甲型发动机" is not to say the noun twice.
    doubled = next((k for k in range(min(len(name), _MAX_OVERLAP), 0, -1) if after.startswith(name[-k:])), 0)
    return f"{before}{name}{after[doubled:]}"


def _expand_contraction(word: str) -> str:
    """Return the particle that a Korean pronoun has run together with ("그건" is "그것은"), "" for others."""
    return table("reference.contractions").get(word[-1], "")
