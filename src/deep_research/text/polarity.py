"""Sentences that say the opposite with the same words: negation and words of direction."""

import re

from deep_research.text.language import CJK, HANGUL
from deep_research.text.tokens import content_terms, normalise

_NEGATION = re.compile(
    r"\b(?:not(?! only\b| just\b| merely\b| least\b)|cannot|never|neither|nor|without|no(?! (?:longer than|more than|less than|doubt)\b)"
    r"|fail(?:s|ed|ing)? to|lack(?:s|ed|ing)?(?: of)?|unable to|hardly)\b|n['’]t\b"
    r"|不(?!仅|但|只|断|同|过|久|良|少|管|论|足|得不|可或缺|是不)|没有?|无法|无(?!论|数|线|人机)|未(?!来|必)|并非|非(?!常|洲|凡)"
)
_KOREAN_NEGATION = re.compile(
    r"지(?:는|도|를)? ?(?:않|못)|(?:이|가|은|는|도|수) ?없|(?:이|가) 아니|(?<![가-힣])(?:안|못) (?=[가-힣])"
)
_PAIRS = (
    "increase increases increased increasing rise rises rose rising grow grows grew growth gain gains gained higher"
    " | decrease decreases decreased decreasing decline declines declined fall falls fell falling drop drops dropped"
    " reduce reduces reduced reducing reduction lower shrink shrank loss"
    "\nimprove improves improved improving improvement better superior | worsen worsens worsened worsening worse inferior"
    "\nfaster accelerate accelerates accelerated | slower slow slows slowed decelerate"
    "\nlarger bigger greater | smaller"
    "\nmore | less fewer"
    "\nabove exceed exceeds exceeded | below under"
    "\nbefore prior | after following"
    "\nenable enables enabled allow allows allowed permit permits | disable disables disabled forbid forbids forbidden"
    " prohibit prohibits prohibited prevent prevents prevented"
    "\nactivate activates activated activating activation agonist agonists | inhibit inhibits inhibited inhibiting"
    " inhibition inhibitor antagonist antagonists deactivate"
    "\nsupport supports supported | oppose opposes opposed reject rejects rejected"
    "\nwin wins won | lose loses lost"
    "\nsensitive | resistant"
    "\nreversible reversibly | irreversible irreversibly"
    "\ncovalent covalently | noncovalent non-covalent"
    "\nsynchronous | asynchronous"
    "\nalways | never"
    "\ncheaper | costlier dearer"
    "\nmaximum maximal highest most | minimum minimal lowest least"
    "\n增加 增长 上升 提高 提升 升高 增大 上涨 | 减少 下降 降低 减小 下跌 降至"
    "\n高于 大于 优于 多于 | 低于 小于 劣于 少于"
    "\n改善 | 恶化"
    "\n激活 激动剂 | 抑制 拮抗剂"
    "\n支持 | 反对"
    "\n更快 加快 加速 | 更慢 减慢 减速"
    "\n允许 | 禁止"
    "\n敏感 | 耐药"
    "\n可逆 | 不可逆"
    "\n증가 상승 높아 높은 높다 늘어 | 감소 하락 낮아 낮은 낮다 줄어"
    "\n향상 개선 | 저하 악화"
    "\n활성화 | 억제"
    "\n빠르 빨라 | 느리 느려"
    "\n지지 찬성 | 반대"
    "\n허용 | 금지"
)


def _compile(words: str) -> re.Pattern[str]:
    latin = [re.escape(w) for w in words.split() if w.isascii()]
    cjk = [re.escape(w) for w in words.split() if not w.isascii()]
    return re.compile("|".join([*([rf"\b(?<!non-)(?:{'|'.join(latin)})\b"] if latin else []), *cjk]))


_DIRECTIONS = [tuple(_compile(side) for side in pair.split("|")) for pair in _PAIRS.split("\n")]


def conflict(claim: str, sentence: str) -> str:
    """Return why `sentence` says the opposite of `claim` where both speak of the same thing, or "".

    Callers make sure that they do speak of the same thing; this only compares the signs: a term that
    is negated in one and plain in the other, or a word of direction against its opposite.
    """
    a, b = normalise(claim), normalise(sentence)
    for one, other, which in ((a, b, "claim"), (b, a, "passage")):
        for terms in negated(one):
            if terms and _plainly_said(terms, other):
                return f"only the {which} negates “{terms[0]}”"
    # Two flips cancel: "did not decrease" for "increased" is left to the reader.
    for up, down in _DIRECTIONS:
        for side, opposite in ((up, down), (down, up)):
            said, against = side.search(a), opposite.search(b)
            if said and against and not side.search(b) and not opposite.search(a):
                return f"“{said[0]}” against “{against[0]}”"
    return ""


def negated(text: str) -> list[list[str]]:
    """Return for each negation of `text` the content terms it stands before (in Korean: after), nearest first."""
    found = []
    for match in _NEGATION.finditer(text):
        scope = re.split(r"[.,;:!?，。；：！？、]", text[match.end() : match.end() + 60], maxsplit=1)[0]
        cjk = re.match(rf"\s*[{CJK}]", scope)
        found.append(content_terms(scope[:3] if cjk else scope)[: 2 if not cjk else 1])
    for match in _KOREAN_NEGATION.finditer(text):
        if match[0].strip() in ("안", "못"):
            found.append(content_terms(text[match.end() : match.end() + 3])[:1])
        else:
            word = re.search(rf"([{HANGUL}]+)[\s]*$", text[max(0, match.start() - 12) : match.start()])
            found.append(content_terms(word[1][:2]) if word else [])
    return found


def _plainly_said(terms: list[str], text: str) -> bool:
    """Whether the first negated term stands in `text` without a negation of its own."""
    hidden = {t for scope in negated(text) for t in scope}
    return terms[0] in content_terms(text) and not hidden & set(terms)
