"""Pages that are not their content, and content that speaks of such pages."""

import pytest

from deep_research.text.page_noise import unreadable_because

ARTICLE = "A captcha is a test that tells people from programs, and many sites show one before they let a visitor in. "

PROSE = "The Alpha engine turns three thousand times a minute and needs no oil at all to do so. "
PAGES = (
    ("请完成验证后继续访问。", "a check for robots"),
    ("로봇이 아닙니다 확인을 진행해 주세요.", "a check for robots"),
    ("You need to enable JavaScript to run this app.", "a page that needs JavaScript"),
    ("Subscribe to continue reading. Already a subscriber?", "a paywall or login"),
    ("이 기사는 로그인 후 읽을 수 있습니다.", "a paywall or login"),
    ("We use cookies. Accept all cookies or manage your privacy.", "a consent wall"),
    ("404 Not Found. The page you are looking for does not exist.", "an error page"),
    (ARTICLE * 20, ""),
    (f"{PROSE * 5}This site must be viewed with cookies; accept all cookies.", ""),
    (PROSE * 5, ""),
    ("Alpha engine: 3,000 rpm.", ""),
    ("", ""),
)


@pytest.mark.parametrize(("text", "kind"), PAGES)
def test_walls_are_told_by_what_they_are_and_articles_are_none(text: str, kind: str) -> None:
    assert unreadable_because(text) == kind
