"""Noise of fetched pages: walls and shells, hidden elements, orders to a model."""

import re
from collections.abc import Mapping

from claimcheck.lexicon import any_word, compile_on_use
from claimcheck.text.sentences import sentences

_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|『[^』\n]{1,300}』|`[^`\n]{1,300}`"
)
_ORDER = compile_on_use(any_word("page.order_patterns"), re.IGNORECASE)
_AT_ONCE, _LONGEST_ORDER = 100_000, 1_000
"""Characters that are looked at in one step, and how many of the next step's are with them."""


def gives_orders(text: str) -> bool:
    """Return whether `text` gives orders to a reading program, outside quotations.

    In steps, because no thread goes on beside one step of a pattern, and a page may be one line of 20 MB.
    """
    pieces = (text[at : at + _AT_ONCE + _LONGEST_ORDER] for at in range(0, len(text), _AT_ONCE))
    return any(_ORDER.search(_QUOTED.sub(" ", piece)) for piece in pieces)


def without_orders(text: str) -> str:
    """Return `text` without its ordering lines."""
    return "\n".join(line for line in text.split("\n") if not gives_orders(line))


# Too small to see, of no size with what is over cut off, off the screen, clipped away, or without colour.
_HIDDEN_STYLE = compile_on_use(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*+[01]?(?:\.\d+)?(?:px|pt)?\s*(?:!|;|$)"
    r"|opacity\s*:\s*0(?:\.0\d*)?\s*(?:!|;|$)|(?:left|top|right|bottom|text-indent|margin-left)\s*:\s*-\d{4,}"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)"
    r"|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)|transform\s*:[^;]*scale\(\s*0\s*[,)]"
    r"|(?:^|;)\s*color\s*:\s*(?:transparent|(?:rgba|hsla)\([^)]*,\s*0(?:\.0+)?\s*\)|#[0-9a-f]{6}00\b)"
)
_NO_SIZE = re.compile(
    r"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*(?:0*[01](?:\.0*)?(?:[a-z]+|%)?|0*\.\d+(?:px|pt)?)\s*(?:!|;|$)"
)
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)")


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether an element's attributes (`hidden`, `style`) hide it from view."""
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    style = (attributes.get("style") or "").lower()
    return bool(style) and bool(_HIDDEN_STYLE.search(style) or (_NO_SIZE.search(style) and _CUT_OFF.search(style)))


def is_image_seen(attributes: Mapping[str, str]) -> bool:
    """Return whether an image is informative: visible, no decoration, over one pixel."""
    sides = (f"{name}:{attributes.get(name) or ''};" for name in ("width", "height"))
    size = "".join((*sides, attributes.get("style") or "")).lower()
    is_decoration = attributes.get("aria-hidden") == "true" or attributes.get("role") in ("presentation", "none")
    return not (is_decoration or is_hidden(attributes) or _NO_SIZE.search(size))


_MENU_ITEM = compile_on_use(rf"(?:{any_word('page.menu_patterns')})", re.IGNORECASE)
_PAGER = re.compile(
    r"(?:Prev(?:ious)?\b.{0,120}\bNext|(?:Prev(?:ious)?|Next|Up|Home|Contents|Index)(?:\W+(?:Prev(?:ious)?|Next|Up|Home|Contents|Index))+)"
)
_FEWEST_ITEMS, _ITEM_CHARS = 5, 32  # lines of the shortest menu, and characters of the longest of them


def without_menus(text: str) -> str:
    """Return the text of a page, one block a line, without menus and page turners.

    Menus are runs of short lines that begin and end with a word of menus ("Home", "Search").
    """
    lines = text.split("\n")
    gone = {n for n, line in enumerate(lines) if _PAGER.fullmatch(line.strip())}
    run: list[int] = []
    for number, line in enumerate([*lines, "The end of all runs, which is longer than an item."]):
        item = line.strip()
        if not item or (len(item) <= _ITEM_CHARS and _BARE.fullmatch(item)):
            run += [number] * bool(item)
            continue
        items = [place for place, n in enumerate(run) if _MENU_ITEM.fullmatch(lines[n].strip())]
        if len(items) > 1 and items[-1] - items[0] + 1 >= _FEWEST_ITEMS:
            gone.update(run[items[0] : items[-1] + 1])
        run = []
    return "\n".join(line for number, line in enumerate(lines) if number not in gone) if gone else text


_BARE = re.compile(r"[^\W\d][^.!?:;。！？：；`=(){}\[\]<>|#*]*")
"""A line that ends no sentence, is no code, no heading and no item of a list."""
_WALLS = {
    "a check for robots": "robot_check",
    "a page that needs JavaScript": "script",
    "a paywall or login": "paywall",
    "a consent wall": "consent",
    "an error page": "error",
}
_SIGNS = {name: re.compile(any_word(f"page.{kind}_patterns"), re.IGNORECASE) for name, kind in _WALLS.items()}
_MUCH_PROSE, _SOME_PROSE = 1500, 300


def unreadable_because(text: str) -> str:
    """Return the reason why a page has no content ("a paywall or login"), or "".

    A sign counts only where there is little prose: an article about captchas is an article.
    """
    text = text[:_AT_ONCE]
    prose = sum(s.end - s.start for s in sentences(text) if s.end - s.start >= 40)
    if prose >= _MUCH_PROSE:
        return ""
    for name, sign in _SIGNS.items():
        found = sign.findall(text)
        if found and (prose < _SOME_PROSE or len(found) > 1):
            return name
    return ""
