"""Pages that are not their content: consent walls, captchas, paywalls, JavaScript shells, error pages.

Their words would pass for evidence, so they are told apart by signs and by how little prose there is.
"""

import re

from deep_research.text.sentences import sentences

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
