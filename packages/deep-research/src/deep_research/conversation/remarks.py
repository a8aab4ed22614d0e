"""Lines of a conversation that ask nothing of the documents: thanks, a farewell, a call for help."""

from typing import Literal

from deep_research.conversation.replies import confirms, means, rejects

Remark = Literal["thanks", "leave", "help", "nothing_open"]
_WHOLE: tuple[Remark, ...] = ("thanks", "leave", "help")


def read_remark(line: str) -> Remark | None:
    """Return what `line` means where all of it is a remark; None for a question or a topic."""
    text = line.strip()
    for kind in _WHOLE:
        if means(text, kind):
            return kind
    return "nothing_open" if text and (confirms(text) or rejects(text)) else None
