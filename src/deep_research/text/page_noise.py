"""What of a fetched page is not its content: walls and shells, hidden elements, orders to a language model."""

import re
from collections.abc import Iterator, Mapping

from deep_research.text.sentences import sentences

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


_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a check for robots",
        re.compile(
            r"verify (?:that )?you are (?:a )?human|are you a robot|checking your browser|captcha|unusual traffic|security check"
            r"|just a moment\.\.\.|ddos protection|press (?:and|&) hold|请完成验证|安全验证|人机验证|滑动验证|로봇이 아닙니다|보안 확인|ロボットでは",
            re.IGNORECASE,
        ),
    ),
    (
        "a page that needs JavaScript",
        re.compile(
            r"(?:enable|turn on|requires?|activate|without) javascript|javascript (?:is|must be|has been|was) (?:disabled|enabled|required|not)"
            r"|需要启用 ?javascript|请(?:启用|开启|打开) ?javascript|자바스크립트(?:를|가)|javascriptを有効",
            re.IGNORECASE,
        ),
    ),
    (
        "a paywall or login",
        re.compile(
            r"subscribe (?:now )?to (?:continue|read|unlock|keep)|(?:sign|log) in to (?:continue|read|view|access)|already a subscriber"
            r"|to continue reading|create a free account|this (?:article|content|story) is (?:for|reserved|available to) (?:subscribers|members)"
            r"|purchase (?:access|this article)|请登录后|登录后(?:查看|阅读)|订阅后|会员(?:专享|可读)|로그인 (?:후|하시면)|구독(?:하시면|자 전용)|続きを読むには|ログインして",
            re.IGNORECASE,
        ),
    ),
    (
        "a consent wall",
        re.compile(
            r"(?:we|our partners) (?:and our partners )?(?:use|store) (?:and/or access )?cookies|accept all cookies|cookie (?:consent|preferences)"
            r"|manage (?:your )?(?:consent|privacy)|before you continue to|我们使用 ?cookie|쿠키를 사용|クッキーを使用",
            re.IGNORECASE,
        ),
    ),
    (
        "an error page",
        re.compile(
            r"access denied|403 forbidden|404 not found|page (?:not|cannot be) found|page you (?:requested|are looking for)|service unavailable"
            r"|internal server error|bad gateway|gateway time-?out|error 5\d\d|temporarily unavailable|页面不存在|找不到(?:该)?页面|无法访问"
            r"|페이지를 찾을 수 없|접근이 거부|ページが見つかりません",
            re.IGNORECASE,
        ),
    ),
)
_MUCH_PROSE = 1500
_SOME_PROSE = 300


def unreadable_because(text: str) -> str:
    """Return what a page is instead of content ("a paywall or login"), or "" when it reads like content.

    A sign counts only where there is little prose: an article about captchas is an article. A page with
    next to no prose and no sign is not called unreadable here; its emptiness shows by itself.
    """
    prose = sum(s.end - s.start for s in sentences(text) if s.end - s.start >= 40)
    if prose >= _MUCH_PROSE:
        return ""
    for name, sign in _SIGNS:
        found = sign.findall(text)
        if found and (prose < _SOME_PROSE or len(found) > 1):
            return name
    return ""
