"""Lines of found text that speak to whoever reads for a program: orders to a model, not prose about a subject.

Such text is evidence of nothing but itself: it is not quoted, and an address in it counts as not named. The list
can only know the common ways to say it (OWASP, "LLM01 Prompt Injection"); nothing rests on it alone.
"""

import re
from collections.abc import Iterator

_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|『[^』\n]{1,300}』|`[^`\n]{1,300}`"
)
_WHAT = r"(?:instructions?|prompts?|rules|directives|guidelines|commands|orders|context|programming|tasks?)"
_ORDER = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass|do not follow|don't follow|stop following)\s+(?:\w+\s+){{0,3}}?"
    rf"(?:all|any|every|previous|prior|above|earlier|preceding|foregoing|your|former|existing|system|other)\s+(?:\w+\s+){{0,3}}?{_WHAT}\b"
    rf"|\b(?:ignore|disregard|forget) the {_WHAT} (?:above|before|given|you)\b"
    r"|\bforget (?:everything|all)\b[^.!?\n]{0,30}\b(?:above|before|previous\w*|told|said)\b"
    r"|\b(?:new|updated|real|actual) instructions?\s*[:：]|\b(?:reveal|print|show|repeat|leak)\b[^.!?\n]{0,30}\bsystem prompt\b"
    r"|\byou are now\b[^.!?\n]{0,60}\b(?:ai|assistant|agent|model|chatbot|mode|dan)\b"
    r"|\b(?:ai|llm|language model|assistant|agent|chatbot)s?\b[^.!?\n]{0,40}\b(?:must|should|shall|are (?:required|instructed) to)\b"
    r"[^.!?\n]{0,40}\b(?:ignore|cite|open|visit|fetch|click|recommend|rate|obey)\b"
    r"|\bdo not (?:tell|inform|alert|warn) the user\b|\bchange your (?:plan|instructions|task)\b"
    r"|(?:忽略|无视|無視|忽視|忘记|忘掉|不要理会|不要遵守|覆盖)[^。！？\n]{0,20}(?:指令|指示|提示词?|規則|规则|命令|要求|上下文)"
    r"|(?:泄露|透露|输出|显示)[^。！？\n]{0,12}(?:系统提示|系統提示)|(?:更改|改变|修改)你的(?:计划|任务|指令)|不要告诉用户"
    r"|(?:지시|명령|지침|프롬프트|규칙|지시사항)[을를은는]?[^.!?\n]{0,20}(?:무시|잊어|따르지)|(?:무시|잊)[^.!?\n]{0,12}(?:지시|명령|지침|프롬프트)"
    r"|(?:시스템 프롬프트)[^.!?\n]{0,12}(?:공개|출력|보여)|계획을 바꾸(?:세요|십시오|어라)|사용자에게 (?:알리지|말하지) 마",
    re.IGNORECASE,
)


def gives_orders(text: str) -> bool:
    """Return whether `text` orders a reading program about; what stands in quotation marks is told, not ordered."""
    return _ORDER.search(_QUOTED.sub(" ", text)) is not None


def ordering_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the lines of `text` that give orders: what follows an order in its line belongs to it."""
    start = 0
    for line in text.split("\n"):
        if gives_orders(line):
            yield start, start + len(line)
        start += len(line) + 1


def without_orders(text: str) -> str:
    """Return `text` without its ordering lines."""
    return "\n".join(line for line in text.split("\n") if not gives_orders(line))
