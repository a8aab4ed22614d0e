"""Fence outside text for prompts as data between unforgeable delimiters.

Hidden characters are removed, and the delimiters' own form is broken where text imitates it, like the marks that
chat templates put between messages: servers of open models read them as such inside text.
"""

import re
from functools import lru_cache

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_DELIMITER = re.compile(
    r"[<＜‹〈⟨❮˂﹤]\s*+(/?)\s*+"
    r"(passage|source|notes|evidence|report|found|question|message|conversation|section|system|user|assistant|think|bos|eos"
    r"|(?:tool|function|start_of|end_of)_\w+|invoke|parameter)\b",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(r"<([|｜])(?=\w)|(?<=\w)([|｜])>|\[(/?INST)\]|<<(/?SYS)>>|<(/?s)>", re.IGNORECASE)
"""Marks of the chat templates of ChatML, Llama, Mistral and DeepSeek; those of Gemma are among the delimiters."""
_CITATION = re.compile(r"\[(s\d+(?:p\d+)?)\]")


@lru_cache(maxsize=2_000)  # a conversation shows the same passages again in each turn
def clean(text: str) -> str:
    """Return `text` without hidden or control characters, fake delimiters and ids."""
    # An id inside a passage is text, not a citation of ours.
    return _CITATION.sub(r"(\1)", clean_own(text))


def clean_own(text: str) -> str:
    """Return a model's text, which may quote outside text, cleaned; its ids stay."""
    visible = _UNFIT.sub("", _HIDDEN.sub("", text))
    return _TEMPLATE.sub(lambda mark: f"({''.join(filter(None, mark.groups()))})", _DELIMITER.sub(r"(\1\2", visible))


def attribute(text: str) -> str:
    """Return `text` as one attribute line without quotes, at most 120 characters."""
    return " ".join(clean(text).replace('"', "'").replace("<", "(").replace(">", ")").split())[:120]
