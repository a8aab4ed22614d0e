"""What a user's short answer to a question of ours means, in the languages we ask in."""

import re

_SKIP = re.compile(
    r"直接开始(?:研究)?|直接研究|开始吧|不用问|跳过|随便|都可以|\bjust (?:start|go|begin|do it)\b|\bskip\b|\bgo ahead\b|\bno preference\b"
    r"|\bwhatever\b|\bstart (?:now|right away|directly)\b|바로 시작|그냥 (?:시작|해)|건너뛰|아무거나|すぐに(?:始|開始)",
    re.IGNORECASE,
)


def wants_to_skip(answer: str) -> bool:
    """Whether an answer to a clarification means "start now" (also when it is empty)."""
    return not answer.strip() or bool(_SKIP.search(answer))
