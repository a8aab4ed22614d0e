"""Whether a visitor of a page sees an element, by its own attributes. Style sheets are not evaluated."""

import re
from collections.abc import Mapping

# Too small to see, of no size with what is over cut off, off the screen, clipped away, or without colour.
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*[01]?(?:\.\d+)?(?:px|pt)?\s*(?:!|;|$)"
    r"|opacity\s*:\s*0(?:\.0\d*)?\s*(?:!|;|$)|(?:left|top|right|bottom|text-indent|margin-left)\s*:\s*-\d{4,}"
    r"|clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?\s*\)"
    r"|clip-path\s*:\s*(?:inset\(\s*(?:50|100)%|circle\(\s*0)|transform\s*:[^;]*scale\(\s*0\s*[,)]"
    r"|(?:^|;)\s*color\s*:\s*(?:transparent|(?:rgba|hsla)\([^)]*,\s*0(?:\.0+)?\s*\)|#[0-9a-f]{6}00\b)"
)
_NO_SIZE = re.compile(r"(?:^|;)\s*(?:max-)?(?:height|width)\s*:\s*[01](?:px|em|rem|%)?\s*(?:!|;|$)")
_CUT_OFF = re.compile(r"overflow(?:-[xy])?\s*:\s*(?:hidden|clip)")


def is_hidden(attributes: Mapping[str, str]) -> bool:
    """Return whether the attributes of an element (`hidden`, `style`) keep it from the eye."""
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    style = (attributes.get("style") or "").lower()
    return bool(style) and bool(_HIDDEN_STYLE.search(style) or (_NO_SIZE.search(style) and _CUT_OFF.search(style)))
