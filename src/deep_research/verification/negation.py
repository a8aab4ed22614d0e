"""Sentences that say the opposite with the same words: negation and words of direction."""

import re
from collections.abc import Sequence

from deep_research.i18n.language import CJK, HANGUL
from deep_research.text.tokens import content_terms, normalise

_NEGATION = re.compile(
    r"\b(?:not(?! only\b| just\b| merely\b| least\b)|cannot|never|neither|nor|without|no(?! (?:longer than|more than|less than|doubt)\b)"
    r"|fail(?:s|ed|ing)? to|lack(?:s|ed|ing)?(?: of)?|unable to|hardly)\b|n['’]t\b"
    r"|不(?!仅|但|只|断|同|过|久|良|少|管|论|足|得不|可或缺|是不)|没有?|无法|无(?!论|数|线|人机)|未(?!来|必)|并非|非(?!常|洲|凡)"
)
_DENIAL = re.compile(
    r"\bno (?:\w+ )?(?:evidence|proof|indication|sign)\b(?: that| of| for)?|\b(?:not|never|yet to be) (?:been )?(?:clear|known|proven|shown|established|confirmed|demonstrated)\b"
    r"|\b(?:false|untrue|a myth|wrong|unlikely|disputed|unproven) that\b|没有证据|并无证据|尚不清楚|尚未证实|증거(?:가|는|도)? ?없|확인되지 않|입증되지 않"
)
_KOREAN_NEGATION = re.compile(
    r"지(?:는|도|를)? ?(?:않|못)|(?:이|가|은|는|도|수) ?없|(?:이|가) 아니|(?<![가-힣])(?:안|못) (?=[가-힣])"
)
_PAIRS = (
    "increase increases increased increasing rise rises rose rising grow grows grew growth gain gains gained higher"
    " 增加 增长 上升 提高 提升 升高 增大 上涨 증가 상승 높아 높은 높다 늘어"
    " | decrease decreases decreased decreasing decline declines declined fall falls fell falling drop drops dropped"
    " reduce reduces reduced reducing reduction lower shrink shrank loss"
    " 减少 下降 降低 减小 下跌 降至 감소 하락 낮아 낮은 낮다 낮추 줄어 줄인 줄였"
    "\nimprove improves improved improving improvement better superior 改善 향상 개선"
    " | worsen worsens worsened worsening worse inferior 恶化 저하 악화"
    "\nfaster accelerate accelerates accelerated 更快 加快 加速 빠르 빨라 | slower slow slows slowed decelerate 更慢 减慢 减速 느리 느려"
    "\nlarger bigger greater | smaller"
    "\nmore | less fewer"
    "\nabove exceed exceeds exceeded 高于 大于 优于 多于 | below under 低于 小于 劣于 少于"
    "\nbefore prior | after following"
    "\nenable enables enabled allow allows allowed permit permits 允许 허용"
    " | disable disables disabled forbid forbids forbidden prohibit prohibits prohibited prevent prevents prevented 禁止 금지"
    "\nactivate activates activated activating activation agonist agonists 激活 激动剂 활성화"
    " | inhibit inhibits inhibited inhibiting inhibition inhibitor antagonist antagonists deactivate 抑制 拮抗剂 억제"
    "\nsupport supports supported 支持 지지 찬성 | oppose opposes opposed reject rejects rejected 反对 반대"
    "\nwin wins won | lose loses lost"
    "\nsensitive 敏感 | resistant 耐药"
    "\nreversible reversibly | irreversible irreversibly"
    "\ncovalent covalently | noncovalent non-covalent"
    "\nsynchronous | asynchronous"
    "\nalways | never"
    "\ncheaper | costlier dearer"
    "\nmaximum maximal highest most | minimum minimal lowest least"
)
_MOST = 20
"""Negations looked at in one sentence; more is no sentence."""
_SHARED = 0.5
"""Share of a clause's terms that makes a clause of the evidence its counterpart."""
_CLAUSE = re.compile(
    r"[,;:，；：、]\s*|\s(?:and|but|while|whereas|although|because|so that)\s|并且?|而且?|但是?|(?<=[가-힣])(?:으며|며|지만|고|아서|어서)\s"
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
        for terms in negated(one)[:_MOST]:
            if terms and _plainly_said(terms, other):
                return f"only the {which} negates “{terms[0]}”"
        denial = _DENIAL.search(other)
        if denial and not negated(one):
            return f"“{denial[0]}” is said only in the {'passage' if which == 'claim' else 'claim'}"
    # A passage may negate something else beside; a claim that negates what the passage does not is its own.
    if len(negated(a)) > len(negated(b)):
        return "only the claim negates"
    return _opposite_directions(a, b)


def denied_elsewhere(claim: str, sentences: Sequence[str]) -> bool:
    """Return whether `claim` joins clauses whose signs are each those of another sentence.

    "A did X but not Y" agrees with "A did X." and "A did not do Y.", though neither sentence has the
    signs of the whole. Each clause is laid beside the clause of the evidence that shares most terms.
    """
    there = [(part, set(content_terms(part)), n) for n, s in enumerate(sentences) for part in _clauses(normalise(s))]
    used: set[int] = set()
    parts = _clauses(normalise(claim))
    for part in parts if there else []:
        terms, signs = set(content_terms(part)), len(negated(part))
        most, alike, nearest, sentence = max(
            (len(terms & own), len(negated(other)) == signs, other, n) for other, own, n in there
        )
        if most < 2 or most < len(terms) * _SHARED or not alike:
            return False
        if _DENIAL.search(nearest) or _opposite_directions(part, nearest):
            return False
        used.add(sentence)
    return len(used) > 1


def _clauses(text: str) -> list[str]:
    """The clauses of a sentence; what has fewer than two terms belongs to the one before."""
    found: list[str] = []
    for part in _CLAUSE.split(text):
        if found and len(content_terms(part)) < 2:
            found[-1] = f"{found[-1]} {part}"
        else:
            found.append(part)
    return [part for part in found if len(content_terms(part)) > 1]


def _opposite_directions(claim: str, sentence: str) -> str:
    """Compare each clause of the claim with the clause of the sentence that shares most terms with it.

    Two flips cancel: "did not decrease" against "increased" is left to the support score.
    """
    clauses = [(part, set(content_terms(part))) for part in _CLAUSE.split(sentence) if part]
    for part in _CLAUSE.split(claim):
        terms = set(content_terms(part))
        if len(terms) < 2 or not clauses or negated(part):
            continue
        nearest, shared = max(clauses, key=lambda c: len(c[1] & terms))
        if len(shared & terms) < 2 or negated(nearest):
            continue
        for up, down in _DIRECTIONS:
            for side, opposite in ((up, down), (down, up)):
                said, against = side.search(part), opposite.search(nearest)
                if said and against and not side.search(nearest) and not opposite.search(part):
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
