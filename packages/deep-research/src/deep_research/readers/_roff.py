"""What roff says besides the macros of pages: comments, conditions, escapes, and the macros within a line of mdoc."""

import re
from collections.abc import Iterator, Mapping, Sequence

_COMMENT = re.compile(r"(?<!\\)\\[\"#].*")
_DEFINITION = re.compile(r"[.'][ \t]*(?:de1?|am|ig)\b")
_DEFINED = re.compile(r"\.[ \t]*\.")
_CONDITION = re.compile(r"[.'][ \t]*(?:el|(?:if|ie)[ \t]+(n\b|!t\b)?)[ \t]*(.*)")
_ESCAPE = re.compile(
    r"\\(?:\*?(?:\[([^\]\n]{0,80}+)\]|\((..))|[fFgkmMnsVY](?:\[[^\]\n]{0,80}+\]|\(..|[+-]?[^\s\\]?)"
    r"|[hvwlLoNXAbDZxRSHBC]'[^'\n]{0,80}+'|\*.|(.?))"
)
_WORD = re.compile(r'"((?:[^"]|"")*+)"?|((?:\\.|[^\s\\])++|\\)')
_SIGNS: Mapping[str, str] = dict(zip(
    "bu em en aq dq lq rq oq cq Aq L\" R\" -- co rg tm ha ti rs ga mu +- -> <- >= <= != de ul sl at sh lB rB lC rC ba hy".split(),
    "• — – ' \" “ ” ‘ ’ ' \" \" — © ® ™ ^ ~ \\ ` × ± → ← ≥ ≤ ≠ ° _ / @ # [ ] { } | -".split(), strict=True,
))  # fmt: skip
_KEPT: Mapping[str, str] = dict(zip("- ~0e\\'`.", "-   \\\\'`.", strict=True))
_AROUND: Mapping[str, str] = dict(
    zip("Op Oo Ql Sq Dq Qq Pq Bq Aq".split(), "[] [] ‘’ ‘’ “” “” () [] <>".split(), strict=True)
)


def shown_lines(text: str) -> Iterator[str]:
    """Yield the lines that are shown on a terminal, each joined with those that go on with it."""
    text = re.sub(r"(?<!\\)\\\n", "", re.sub(r"\\\{\\?[ \t]*\n", r"\\{\n", text))
    depth, is_defined = 0, False
    for line in _COMMENT.sub("", text).split("\n"):
        if not depth and (is_defined or _DEFINITION.match(line)):
            is_defined = not _DEFINED.match(line)
            continue
        found = None if depth else _CONDITION.match(line)
        if depth or (found and not found[1]):
            depth = max(0, depth + line.count("\\{") - line.count("\\}"))
        else:
            yield (found[2] if found else line).replace("\\{", "").replace("\\}", "")


def plain(text: str) -> str:
    """Return a text with the signs that its escapes stand for."""
    return _ESCAPE.sub(lambda e: _SIGNS.get(e[1] or e[2] or "", "") or _KEPT.get(e[3] or "", ""), text)


def words_of(text: str) -> list[str]:
    """Return the words behind a macro; what stands in quotation marks is one."""
    return [plain(quoted or word) for quoted, word in _WORD.findall(text)]


def spoken(words: Sequence[str], name: str) -> str:
    """Return a line of mdoc as it is shown; its words are names of macros, and what these are about."""
    said, ends, macro = list[str](), list[str](), ""
    for place, word in enumerate(words):
        if word == "Nd" and not place:
            said.append("-")
        elif around := _AROUND.get(word):
            said.append(f"{around[0]}\0")
            ends.append(f"\0{around[1]}")
        elif word in ("Oc", "Ns"):
            said.append(ends.pop() if ends and word == "Oc" else "\0]" if word == "Oc" else "\0")
            macro = ""
        elif place == 0 or (len(word) == 2 and word.istitle()):
            macro, is_bare = word, place + 1 == len(words) or words[place + 1] in ".,;:)"
            said.append({"Fl": "-\0", "Nm": is_bare * name, "Ar": is_bare * "file ..."}.get(word, ""))
        elif macro == "Xr" and word[:1].isdigit():
            said.append(f"\0({word})")
        else:
            said.append(f"\0{word}" if word in ".,;:)" else f"-{word}" if macro == "Fl" != words[place - 1] else word)
    return re.sub(r" ?\0 ?", "", " ".join(filter(None, [*said, *reversed(ends)])))
