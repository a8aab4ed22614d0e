"""All regular expressions of the package, and texts made from the parts of each to hold it up, for `test_bounded_work`."""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import claimcheck
import deep_research
import deep_research_server
from claimcheck.lexicon import languages
from deep_research.worker_child import ask_parent

CHARACTERS = 20_000
MOST_SECONDS = 0.25
"""For a text of `CHARACTERS`; the cheapest square takes 0.1 s, and what is dear by its length alone half of this."""
BOUNDED = {
    "claimcheck.claim_verdicts._BEGINS": 200,  # _MOST_SIGNS
    "claimcheck.negation._STEM_BEHIND": 12,  # where it is searched for, as the next three
    "claimcheck.text.names._FIRST_NAME": 30,
    "claimcheck.text.names._BEFORE_NAME": 16,
    "verification.foreign._is_no_citation: '[^\\\\W\\\\d_]+$'": 12,
    "finding.front_door._ERRAND": 8_000,  # front_door._LONGEST of the question, and of each of a few answers
    "finding.question._soft(en)": 2_000,  # question._LONGEST
    "finding.question._soft(ko)": 2_000,
    "providers.provider_failures._MESSAGES[3][0]": 2_000,  # _READ_CHARS
    "providers.provider_failures._MESSAGES[4][0]": 2_000,
    "sources._api_answers._CLOSED": 2_000,  # _END
    "text.contents_lists._SENTENCE_END": 70,  # _LONGEST_LINE
}
"""Patterns that only see texts of so many characters, and where that is said."""
IN_WORKERS = (
    "readers._html_tree._ANY_TAG", "readers._markdown._FENCED", "readers._markdown._FIELD",
    "readers._markdown._HEADING", "readers._rst._DIRECTIVE", "readers.org._HEADING", "readers.pdf._PAGE_NUMBER",
    "readers.pdf._CONTENTS_LINE", "readers.rtf._FONT", "readers.tex._CODE", "readers.tex._TABLE",
    "readers.tex._STRUCTURE", "readers.tex._MATH",
)  # fmt: skip
"""Patterns that only see documents, in a process that is ended at its limit (`isolated_reading`)."""
_STEPS = (12, 18, 27, 40, 60, 90, 135, 200, 300, 450, 700, 1000, 1500, 2000)
"""Lengths at which a text is tried before: what is worse than square shows early, and ends the trial."""
_LITTLE, _MUCH = 0.0004, 0.03
"""Seconds for a text of the last step that say that it is not worth a longer one, and for any that say the rest."""
_MANY = 8
"""Repeats beyond which a repeat can hold up anything."""
_NO_MATCH = "\0\n\0"
_COMMON = "a1A .,-_:\n\t\"'*`|/水"
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)
_CATEGORIES = {
    ops.CATEGORY_DIGIT: r"\d", ops.CATEGORY_NOT_DIGIT: r"\D", ops.CATEGORY_SPACE: r"\s",
    ops.CATEGORY_NOT_SPACE: r"\S", ops.CATEGORY_WORD: r"\w", ops.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def patterns() -> dict[str, tuple[re.Pattern[Any], frozenset[str]]]:
    """Return by their places the patterns of the package and whether they are matched or searched for: those of modules
    and classes, of functions without arguments or of a language, and those that are written where they are used."""
    packages = (claimcheck, deep_research, deep_research_server)
    modules = (m.name for each in packages for m in pkgutil.walk_packages(each.__path__, f"{each.__name__}."))
    loaded = [importlib.import_module(name) for name in modules if not name.endswith("__main__")]
    sources = {module: Path(module.__file__ or "").read_text("utf-8") for module in loaded}
    everywhere = "\n".join(sources.values())
    found: dict[re.Pattern[Any], tuple[str, set[str]]] = {}
    for module, source in sources.items():
        short = module.__name__.removeprefix("deep_research.")
        for name, value in vars(module).items():
            is_ours = getattr(value, "__module__", "") == module.__name__ or not callable(value)
            for place, pattern in _within(name, value) if is_ours else ():
                ways = _ways(name, source if name.startswith("_") else everywhere)
                found.setdefault(pattern, (f"{short}.{place}", set()))[1].update(ways)
        for place, pattern, way in _written(source):
            found.setdefault(pattern, (f"{short}.{place}", set()))[1].add(way)
    return {place: (pattern, frozenset(ways)) for pattern, (place, ways) in found.items()}


@cache
def _ways(name: str, source: str) -> set[str]:
    """Return how a pattern is used: "match" and "fullmatch" begin at one place, all else is a search."""
    used = re.findall(rf"\b(?<!def ){name}\b(?! = )(?:\(\))?(?:\.(\w+))?", source)
    return {way if way in ("match", "fullmatch") else "search" for way in used} or {"search"}


def _within(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the patterns that a value of a module has or makes."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif type(value).__name__ == "_CompiledOnUse":
        yield name, re.compile(value.pattern, value.flags)
    elif depth < 4 and isinstance(value, Mapping):
        yield from (found for key, one in value.items() for found in _within(f"{name}[{key}]", one, depth + 1))
    elif depth < 4 and isinstance(value, tuple | list | frozenset | set):
        yield from (found for n, one in enumerate(value) for found in _within(f"{name}[{n}]", one, depth + 1))
    elif inspect.isclass(value):
        yield from ((f"{name}.{key}", one) for key, one in vars(value).items() if isinstance(one, re.Pattern))
    elif callable(value) and "Pattern" in str(getattr(value, "__annotations__", {}).get("return", "")):
        asked = inspect.signature(value).parameters
        if not asked:
            yield from _within(f"{name}()", value(), depth + 1)
        elif list(asked) == ["language"]:
            for code in languages():
                yield from _within(f"{name}({code})", value(code), depth + 1)


def _written(source: str) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Yield the patterns that are written where they are used, by the function that does."""
    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function, call in ((one, call) for one in functions for call in ast.walk(one)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args:
            first, way = call.args[0], call.func.attr
            is_of_re = isinstance(call.func.value, ast.Name) and call.func.value.id == "re"
            if is_of_re and isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
                flags = re.findall(r"re\.(IGNORECASE|DOTALL|MULTILINE)", ast.unparse(call))
                pattern = re.compile(first.value, sum({getattr(re, flag) for flag in flags}))
                place = f"{function.name}: {first.value!r}"
                yield place, pattern, way if way in ("match", "fullmatch") else "search"


class _Sampler:
    """Makes texts that parts of one pattern match: from its classes the signs that most of its parts match."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        self.tree = parser.parse(text, pattern.flags)
        self.is_multiline = bool(pattern.flags & re.MULTILINE)
        self.looks_around = re.search(r"\\[bZ]|\$|\(\?[<=!]", text) is not None
        sets = [node for node in _nodes(self.tree) if node[0] in (ops.IN, ops.LITERAL, ops.NOT_LITERAL, ops.ANY)]
        literals = dict.fromkeys(chr(value) for op, value in sets if op is ops.LITERAL)
        signs = [
            *dict.fromkeys(
                [*literals, *_COMMON, *(edge for op, value in sets if op is ops.IN for edge in _edges(value))]
            )
        ]
        matched = {sign: sum(_has(node, sign) for node in sets) for sign in signs}
        self._signs = sorted(signs, key=matched.__getitem__, reverse=True)

    def signs(self, node: Any) -> list[str]:
        """Return the signs that a class matches, first those that others match too."""
        return [sign for sign in self._signs if _has(node, sign)]

    def text(self, nodes: Iterable[Any], choice: int = 0) -> str:
        """Return a text that `nodes` match one after another; `choice` takes other signs, branches and lengths."""
        return "".join(self._one(node, choice) for node in nodes)

    def _one(self, node: Any, choice: int) -> str:
        op, value = node
        if op is ops.LITERAL:
            return chr(value)
        if op in (ops.IN, ops.ANY, ops.NOT_LITERAL):
            signs = self.signs(node) or ["~"]
            return signs[choice % min(3, len(signs))]
        if op in _REPEATS:
            least, most, inner = value
            return self.text(inner, choice) * min(most, max(least, choice % 2))
        if op is ops.BRANCH:
            return self.text(value[1][choice % len(value[1])], choice)
        if op is ops.SUBPATTERN:
            return self.text(value[3], choice)
        if op is ops.ATOMIC_GROUP:
            return self.text(value, choice)
        if op is ops.ASSERT and value[0] < 0:
            return self.text(value[1], choice)
        return "\n" if op is ops.AT and value is ops.AT_BEGINNING and self.is_multiline else ""

    def repeats(self, nodes: Iterable[Any], before: str = "") -> Iterator[tuple[str, Sequence[Any]]]:
        """Yield each repeat without an end, as what stands before it and what it repeats."""
        for node in nodes:
            op, value = node
            if op in _REPEATS:
                if value[1] >= _MANY:
                    yield before, value[2]
                yield from self.repeats(value[2], before)
            elif op is ops.BRANCH:
                for branch in value[1][:40]:
                    yield from self.repeats(branch, before)
            elif op in (ops.SUBPATTERN, ops.ATOMIC_GROUP, ops.ASSERT, ops.ASSERT_NOT):
                yield from self.repeats(value if op is ops.ATOMIC_GROUP else value[-1], before)
            before += self._one(node, 0)

    def pieces(self) -> list[tuple[str, str]]:
        """Return what to begin with and what to repeat, to hold the pattern up."""
        found: dict[tuple[str, str], None] = {}
        for before, inner in self.repeats(self.tree):
            pumps = dict.fromkeys(self.text(inner, choice) for choice in range(3))
            for pump in filter(None, pumps):
                found[before, pump] = None
                found["", before + pump] = None
            if before:
                found["", before] = None
        return list(found)


def _nodes(nodes: Iterable[Any]) -> Iterator[Any]:
    """Yield all nodes of a parse tree."""
    for op, value in nodes:
        yield op, value
        if op in _REPEATS:
            yield from _nodes(value[2])
        elif op is ops.BRANCH:
            yield from (node for branch in value[1] for node in _nodes(branch))
        elif op in (ops.SUBPATTERN, ops.ASSERT, ops.ASSERT_NOT):
            yield from _nodes(value[-1])
        elif op is ops.ATOMIC_GROUP:
            yield from _nodes(value)


def _edges(items: Sequence[Any]) -> Iterator[str]:
    for op, value in items:
        if op is ops.LITERAL:
            yield chr(value)
        elif op is ops.RANGE:
            yield chr(value[0])


def _has(node: Any, sign: str) -> bool:
    """Tell whether a node matches a sign."""
    op, value = node
    if op is ops.IN:
        is_negated = value[0][0] is ops.NEGATE
        return is_negated != any(_has(item, sign) for item in value[is_negated:])
    if op is ops.RANGE:
        return value[0] <= ord(sign) <= value[1]
    if op is ops.CATEGORY:
        return re.match(_CATEGORIES[value], sign) is not None
    return sign != "\n" if op is ops.ANY else (op is ops.LITERAL) == (ord(sign) == value)


def _texts(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], Any]]:
    """Yield for each way to hold a pattern up what makes the text of a length."""
    sampler = _Sampler(pattern)

    def make(before: str, pump: str, end: str, length: int) -> Any:
        text = before + pump * max(1, (length - len(before)) // len(pump)) + end
        return text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")

    for before, pump in sampler.pieces():
        yield partial(make, before, pump, _NO_MATCH)
        if sampler.looks_around:
            yield partial(make, f"a{before}", pump, f"a{_NO_MATCH}")


def _seconds(pattern: re.Pattern[Any], ways: Collection[str], text: Any) -> float:
    begun = time.process_time()
    for way in ways:
        if way == "search":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, way)(text)
    return time.process_time() - begun


def _slowest(pattern: re.Pattern[Any], ways: Collection[str], most: int) -> tuple[float, str]:
    """Return the seconds that the worst text of `most` characters takes, and its beginning; a text that shows early what
    it will take is not made that long."""
    worst = (0.0, "")
    for make in _texts(pattern):
        for length in (*(step for step in _STEPS if step < most), most):
            took = _seconds(pattern, ways, make(length))
            if took > _MUCH:
                took = min(took, _seconds(pattern, ways, make(length)))
            if length == most or took > _MUCH:
                worst = max(worst, (took if length == most else 1.0, repr(make(60))[:80]))
                break
            if length == _STEPS[-1] and took < _LITTLE:
                break
        if worst[0] > _MUCH:
            break
    return worst


def sweep() -> int:
    """Try all patterns; return how many. The parent is told of each before, and of what takes more than `MOST_SECONDS`
    for its worst text: one that is worse than square may end this process."""
    all_patterns = patterns()
    for place, (pattern, ways) in all_patterns.items():
        if place not in IN_WORKERS:
            ask_parent("begin", place)
            seconds, text = _slowest(pattern, ways, BOUNDED.get(place, CHARACTERS))
            if seconds > MOST_SECONDS:
                ask_parent("slow", f"{place}: {text}")
    return len(all_patterns)
