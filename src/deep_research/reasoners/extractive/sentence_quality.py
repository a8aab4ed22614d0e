"""Which sentences may be quoted: whole, understandable alone, prose; and what kind of sentence one is.

A sentence that cannot stand alone ("It also …") is taken together with the one before it, or not at
all; code, questions, captions, lines of contents and fragments are never quoted.
"""

import re
from collections.abc import Sequence

from deep_research.i18n.language import CJK
from deep_research.text.sentences import Sentence
from deep_research.text.tokens import STOP_WORDS, content_terms

_CJK_CHAR = re.compile(f"[{CJK}]")
_ENDS = re.compile(r"[.!。！]+[\"'”’」』）)\]]*$")
_LEANS = re.compile(
    r"^(?:\W*)(?:it|its|they|their|them|this|these|those|that|such|he|she|his|her|here|there(?! (?:is|are) (?:two|three|several|many))"
    r"|however|but|so|thus|therefore|hence|then|also|and|or|moreover|furthermore|additionally|otherwise|instead|likewise"
    r"|similarly|consequently|nevertheless|for (?:example|instance)|in (?:this|that|these|such|addition|contrast|particular|other words|both)"
    r"|on the other hand|as (?:a result|described|mentioned|noted|shown|before|above|with)|the (?:following|above|former|latter|same|first|second|other)"
    r"|(?:for|with|by|in|of|to|from|on|after|before|under|since|because|unlike|like|at|when|if) (?:this|that|these|those|such|doing|it|they|them|both)"
    r"|doing (?:so|this|that)|one (?:of (?:these|those|them)|such)|some of (?:these|them)|all of (?:these|them)|each (?:of|one)|either|neither|now|first|second|next"
    r"|both|another|each of these|note that|again|finally|lastly|conversely|although this|because of this|if so|unlike (?:this|these|the)|in fact|notice that|keep in mind|remember that|recall|of course|except|if (?:set|unset|unspecified|specified|given|true|false|omitted|enabled|disabled|not|neither|none|any|either|both|-?\d+)"
    r"|when (?:done|finished|set|given|enabled|disabled|specified|omitted)|in (?:any|either) (?:case|event)|in (?:all|some|most|both) (?:of )?(?:these |those |other )?cases"
    r"|with (?:a|an|no|any|one) [\w-]+(?=,)|accordingly|all other|the others?|others|to this end|for these reasons?|meanwhile|nonetheless|yet|still"
    r"|the (?:settings?|parameters?|options?|arguments?|commands?|functions?|methods?|results?|default(?: value| setting)?|values?|returned|given|new|old|two|three|rest)"
    r"(?= (?:is|are|was|has|have|will|can|must|should|may|does|do|returns?|takes?|uses?|defaults?)\b))\b"
    r"|^(?:它|其|这|该|此|这些|那|但|但是|然而|因此|所以|于是|同时|此外|另外|例如|比如|并且|而且|而|也|从而|总之|不过|他们|她|他|首先|其次|第[一二三][，,]|接下来|随后|然后|另一个|其他情况|其它情况|所有的情况|以上|上述|前者|后者|请?注意|换句话说|尽管如此)"
    r"|^(?:이는|이를|이것|이러한|이런|이와|이들|그는|그것|그러나|하지만|따라서|그래서|그리고|또한|예를 들어|한편|그런데|반면|이 |첫째|둘째|셋째|우선|이때|다음으로|그 결과|즉|위의|앞서|나머지|다른 하나)"
    r"|^(?:これ|それ|この|その|しかし|また|そのため|したがって|例えば|たとえば|さらに|一方)",
    re.IGNORECASE,
)
_POINTS_AWAY = re.compile(
    r"^see\b|\b(?:see (?:also|section|chapter|the|below|above|table|figure|\w+\(\))|as follows|the following|shown (?:below|above|in)|(?:above|below)[.,)]"
    r"|described (?:in|above|below|under|later)|this (?:section|chapter|page|document|tutorial|manual|appendix|example)|(?:in|from) (?:section|chapter)"
    r"|see \w[\w-]*\(\d\)|next section|previous section|(?:fig|figure|table|section|chapter|eq|appendix)\.? ?\d|for (?:more|further) (?:information|details)|refer to"
    r"|let(?: u|.)s (?:look|see|start|begin|consider|take|discuss|now|first)|we(?: will|'ll| shall|.re going to) (?:now |first |then )?(?:look|see|discuss|describe|cover|explain|introduce|consider|use|show|start|focus)"
    r"|(?:discussed|explained|covered|mentioned|introduced|listed|seen|outlined) (?:in|below|later|above|before|earlier|next|previously)|as (?:you can|we have|we) se(?:e|en)\b"
    r"|(?:the|next|following) (?:few |two |three )?(?:sub-?sections|subsections?|paragraphs?)|following (?:example|commands?|table|list|code|sections?)"
    r"|click|copyright|all rights reserved|changed in version|new in version|deprecated since|added in version|versionadded)\b"
    r"|^(?:source|published|authors?|来源|发表|作者|출처|발행|저자|出典)\s*[:：]|如下|见下|如上|参见|下表|上图|本节|本章|本书|后面的例子|前面提到|后文|请参[阅考看]|见 ?第 ?\d|第 ?\d+(?:\.\d+)* ?[章节節]|我们(?:将|会|先)(?:要|来|先)?(?:介绍|讨论|看到|说明|使用|解释)|让我们|아래|위의 예|다음과 같|\d+ ?장(?:과|에서|에는|은|을)|이 (?:장|절|책)(?:에서|은|의)|이 부분(?:이|은|에서)|(?:아|어|해|알아|살펴) ?봅시다|보겠습니다|알아보기 전에|下記|以下の",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"\b(?:should|recommend\w*|best|prefer\w*|suit\w*|useful|when|whenever|only if|can (?:handle|be used)|supports|supported|support (?:for|only|the|any)|limit\w*|advantage\w*|disadvantage\w*"
    r"|cannot|trade-?off|instead of|rather than|typical\w*|common\w*|appropriate|ideal|effective|efficient\w*)\b"
    r"|适合|适用|建议|应当|局限|缺点|优点|优势|限制|可用于|권장|적합|한계|단점|장점|유용|適|限界|利点|欠点",
    re.IGNORECASE,
)
_IS_A = re.compile(
    r"^(?:the |an? )?(?:[\w.()/+-]+ ){1,4}(?:is|are) (?:an? |the |one |used|designed)|^.{1,30}(?:是一种|是一个|是由|는 |은 |とは)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"^(?:currently|presently|at present),? no\b|^no(?:ne)?\b", re.IGNORECASE)
_ORDERS = re.compile(
    r"^(?:returns?|skips?|replaces?|raises?|sets?|gets?|creates?|adds?|fix(?:es)?|makes?|calls?|prints?|tests?|checks?|removes?|reads?|writes?|opens?|closes?"
    r"|specif(?:y|ies)|converts?|registers?|defines?|implements?|contains?|represents?|indicates?|ensures?|lists?|shows?|displays?|incorporates?|(?:re)?appl(?:y|ies)|updates?|merges?"
    r"|fires?|moves?|finds?|generates?|provides?|allows?|enables?|disables?|runs?|starts?|stops?|uses?|takes?|gives?|loads?|saves?|stores?|sends?|performs?|controls?|determines?|selects?|describes?|supports?|accepts?|causes?|computes?)\b(?! ?[,(/-])",
    re.IGNORECASE,
)
_LEADS_AWAY = re.compile(
    r"\b(?:examples?|commands?|syntax|code|output|steps?|contents|chapters?|sections?|authors?|further reading|links?|this|like)\W*$"
    r"|\b(?:see|click|following (?:examples?|commands?|code|steps?|sections?|chapters?|pages?))\b"
    r"|例如|示例|命令|步骤|参见|章节|예를 들|명령|예제|참고|例えば|手順",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^(?:if|when|unless|whenever|in case)\b|^(?:如果|若|当您?)|^(?:만약|만일)", re.IGNORECASE)
_PARAMETER = re.compile(r"^[a-z]\w*_\w+ |^[a-z]\w*(?:_\w+| \([\w ,]+\)): ")
_CHANGES = re.compile(
    r"\b(?:deprecat\w+|removed|backported|bpo-\d+|gh-\d+|renamed|no longer|(?:is|are) now|now (?:accept|support|inherit|raise|return|take|use|rel|allow)\w*"
    r"|has been (?:added|fixed|changed|moved)|have been (?:added|fixed|changed|moved)|(?:contributed|implemented|written|patch|reported|maintained) (?:primarily )?by|PEP \d+ -|(?:prior to|before) (?:version |release |[A-Z]\w+ )?\d+\.\d)\b",
    re.IGNORECASE,
)
_CHANGE_NOTES = re.compile(
    r"\bwhat.s new\b|\bchange ?log\b|\brelease notes?\b|^(?:e\.\d+\.\s*)?release \d|\bhistory of changes\b|更新日志|변경 ?(?:이력|사항)",
    re.IGNORECASE,
)
_CONTENTS_LINE = re.compile(r"\d+(?:\.\d+)+\.?$")
_CODE = re.compile(r"[{}<>;=$\\]|::|->|\(\)|`|__|\w\(\w|\s{3,}|\|")
_MENU = re.compile(r"[▲▼►◄▶◀◆■□●○★☰⋮✓✔]|(?:[→←»«•·›‹].*){2}|^[^.→]{3,60} → [A-Z]")
_CAPITALISED = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*")
_MENU_WORDS, _MENU_SHARE = 10, 0.65
"""A line of this many words of which this share begin with a capital is a menu, not a sentence."""
_SIGNATURE = re.compile(r"^[\w.]*[a-z]_\w*\s*[(:]|\w\([^)]*\) ?(?:returns|→|->|:)|^\w+\([^)]*\)\s", re.IGNORECASE)
_FRAGMENT = re.compile(
    # A parenthesis, a half word of markup, a line of contents with its number, or the rest of a broken line.
    r"^[(\[*+–—,.;:>|%&/]|::|;;| \+ |^[-–]{1,2}\w|[,.] \d{1,3}\.$|^\w+:\s*$|\.\.\.$|^(?:e\.g|i\.e)\."
)
_AUXILIARY = r"(?:is|are|was|were|be|has|have|had|can|could|may|might|must|shall|should|will|would|do|does|did|cannot|isn't|aren't|doesn't|don't)"
_FINITE = re.compile(
    rf"\b{_AUXILIARY}\b|(?<!^)\b(?!(?:as|its|this|thus|us|plus|less|various|across)\b)[a-z]{{2,}}(?:s|ed)\b"
)
_SMALL_START = re.compile(r"[\"'“‘]?[a-z]")
_IDENTIFIER_SUBJECT = re.compile(
    # A small letter begins a sentence only where it begins a name: "asyncio is", "git merge --abort will", "pg_dump reads".
    rf"[\"'“‘]?(?P<name>[\w.+/-]+)[\"'”’]?(?: \([\w ,]+\):.*| -?-?[\w-]+)?(?: -?-?[\w-]+)? (?:{_AUXILIARY}|[a-z]{{2,}}(?:s|ed))\b|[\w.+-]+(?: \([\w ,]+\))?: [A-Z]"
)
_NO_SUBJECT = re.compile(
    r"(?:must|may|can|could|should|will|would|has|have|had|is|are|was|were|does|do|did|cannot|must be|one of)\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(
    r"^(?:to|for|by|when|if|while|because|since|although|unless|whether|where|which|who|with|without)\b[^,]*(?:, which [^,]*)?$",
    re.IGNORECASE,
)
_NOUN_ALONE = re.compile(
    r"^(?:An?|Functions?|Classes|Methods?|Tools?) (?:[\w-]+ ){0,3}(?:of|for|used|to) (?!.*\b(?:that|which)\b)",
    re.IGNORECASE,
)
"""A noun with what it is for ("A generic version of …"), which is a sentence only with a verb."""
_AUXILIARIES = re.compile(
    rf"\b{_AUXILIARY}\b|\b(?:provides?|allows?|enables?|makes?|lets?|gives?|returns?|takes?|holds?|becomes?|means?|needs?|requires?)\b"
)
_WHATIS = re.compile(r"^(?P<name>[a-z][\w.+-]*)(?: ?\(\d\w?\))?(?:, [\w.+-]+)* [-–—] [A-Z][\w ,'’()/-]{12,140}\.?$")
"""The line of a manual page that says what it is about."""
_BRACKETED_NUMBER = re.compile(r"\[[\w, ;-]{1,12}\]|【")
_DEFINES = re.compile(
    r"\b(?:is|are|was|were) (?:a|an|the|one|designed|used|based|developed|known|most|best|suited|intended|particularly|especially)\b"
    r"|\b(?:provides?|allows?|enables?|supports?|offers?|introduc\w+|refers? to|means|consists? of|works? by|reduc\w+|improv\w+|achiev\w+)\b"
    r"|是(?:一种|一个|由|指|用于|基于)|指的是|用于|适合|适用于|能够|可以|提出|通过"
    r"|(?:이|은|는) .{0,30}(?:이다|입니다|한다|합니다)|위한|사용|제안|である|とは",
    re.IGNORECASE,
)


def reading_length(text: str) -> int:
    """Return the length of `text` in Latin characters' worth of reading: a CJK character is two and a half."""
    return len(text) + int(1.5 * len(_CJK_CHAR.findall(text)))


_RECOMMENDS = re.compile(
    r"\b(?:should(?! not be (?:confused|used directly))|recommend\w*|prefer\w*|suitable|suited|best (?:for|suited|choice|used|when|option)|better (?:suited|to|choice|for|than)"
    r"|(?:good|bad|right|appropriate|natural|ideal) (?:choice|fit|for|model|when|if)|appropriate|ideal|advised|advisable|use \w+ (?:when|if|for|instead)|useful (?:for|when|if)"
    r"|only if|intended for|designed for|advantages?|disadvantages?|drawbacks?|trade-?offs?|faster than|slower than|cheaper|at the (?:cost|expense|price) of)\b"
    r"|适合|适用|建议|推荐|应当|更好|优于|不如|적합|권장|장점|단점|유리|불리|적절|適し|推奨|利点|欠点|適切",
    re.IGNORECASE,
)


def advises(text: str) -> bool:
    """Whether a sentence says when to use something, or when not."""
    return bool(_ADVISES.search(text))


def recommends(text: str) -> bool:
    """Whether a sentence helps to choose: it recommends, prefers or weighs one thing against another."""
    return bool(_RECOMMENDS.search(text))


def is_a(text: str) -> bool:
    """Whether a sentence begins by saying what something is."""
    return bool(_IS_A.match(text))


def tells_news(text: str) -> bool:
    """Whether a sentence is about a change between versions."""
    return bool(_CHANGES.search(text))


def is_change_note(title: str) -> bool:
    """Whether a document of this title lists changes between versions."""
    return bool(_CHANGE_NOTES.search(title))


def worth_as_prose(text: str) -> float:
    """Return how much better than a neutral sentence one that states something is, and how much worse a bare order,
    what holds under a condition only, and what is about one parameter."""
    worth = 1.15 if _DEFINES.search(text) else 1.0
    if _CONDITION.match(text) and not _RECOMMENDS.search(text):
        worth *= 0.75
    worth *= 0.7 if _PARAMETER.match(text) else 1.0
    return worth * (0.45 if _ORDERS.match(text) or _DENIES.match(text) else 1.0)


def leans(text: str) -> bool:
    """Whether a sentence needs the one before it to be understood ("It also …")."""
    return bool(_LEANS.match(text))


def is_entry(subject: str, text: str) -> bool:
    """Whether a sentence is the beginning of the subject's entry in a list of definitions ("ort: The way …"), or the
    line of a manual page that says what it is ("git-merge - Join …")."""
    named = _WHATIS.match(text)
    label, colon, _ = text.partition(":")
    if named is not None:
        return set(content_terms(subject)) <= set(content_terms(named["name"]))
    return bool(colon) and set(content_terms(label)) == set(content_terms(subject))


def is_conditional(text: str) -> bool:
    """Whether a sentence holds under a condition only, or is about one parameter: it introduces nothing."""
    return bool(_CONDITION.match(text) or _PARAMETER.match(text))


def defines(subject: str, text: str) -> bool:
    """Whether a sentence begins with the subject and says what it is ("GPTQ is a one-shot method …", "ort: The way …")."""
    opening = set(content_terms(" ".join(text.split()[:7])))
    return is_entry(subject, text) or (bool(_IS_A.match(text)) and set(content_terms(subject)) <= opening)


def first_of_chain(texts: Sequence[str], spans: Sequence[Sentence], index: int) -> int | None:
    """The sentence from which this one can be understood: itself, or at most two before it."""
    first = index
    while leans(texts[first]):
        first -= 1
        if first < 0 or index - first > 2 or spans[first].kind != spans[index].kind:
            return None
    return first


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does, so that another can follow it."""
    return bool(_ENDS.search(text))


def is_quotable(text: str) -> bool:
    """Whether a sentence is prose that may be quoted: whole, not code, not a question, not a pointer."""
    length = reading_length(text)
    if _WHATIS.match(text):
        return True
    if not 35 <= length <= 520 or not _ENDS.search(text) or _BRACKETED_NUMBER.search(text):
        return False
    if _POINTS_AWAY.search(text) or _CONTENTS_LINE.search(text) or _SIGNATURE.search(text):
        return False
    if _is_fragment(text) or _is_menu(text):
        return False
    if text.count(",") > 12 or len(_CODE.findall(text)) > 2:
        return False
    letters = sum(c.isalpha() for c in text)
    return letters >= 0.6 * len(text.replace(" ", "")) and _has_grammar(text)


def is_plain(text: str) -> bool:
    """Whether an item of a list is words, no code, no signature, no line of a menu."""
    if (
        _is_menu(text)
        or _SIGNATURE.search(text)
        or len(_CODE.findall(text)) > 1
        or text.endswith((":", "：", "?", "？"))
    ):
        return False
    letters = sum(c.isalpha() for c in text)
    return letters >= 0.6 * len(text.replace(" ", "")) and (len(text.split()) > 1 or bool(_CJK_CHAR.search(text)))


def is_lead(text: str) -> bool:
    """Whether a sentence leads on to the list below it and says by itself what is listed."""
    if not text.endswith((":", "：")) or not 25 <= reading_length(text) <= 320 or leans(text):
        return False
    if _LEADS_AWAY.search(text) or _is_menu(text) or _SIGNATURE.search(text) or len(_CODE.findall(text)) > 2:
        return False
    return bool(_CJK_CHAR.search(text)) or (not _SMALL_START.match(text) and bool(_FINITE.search(text)))


def _is_fragment(text: str) -> bool:
    """Whether this is a part of a sentence: begun with a small word, without a verb, or a clause by itself."""
    if _FRAGMENT.search(text) or _unbalanced(text):
        return True
    if _CJK_CHAR.search(text):
        return False
    if _PURPOSE.match(text) or _NO_SUBJECT.match(text) or not _FINITE.search(text):
        return True
    if _NOUN_ALONE.match(text) and not _AUXILIARIES.search(text):
        return True
    if not _SMALL_START.match(text):
        return False
    named = _IDENTIFIER_SUBJECT.match(text)
    return named is None or (named["name"] or "").casefold() in STOP_WORDS


def _is_menu(text: str) -> bool:
    """Whether a line is what a page leads on to: marks of a menu, or hardly a word without a capital."""
    words = text.split()
    many = len(words) >= _MENU_WORDS and len(_CAPITALISED.findall(text)) >= _MENU_SHARE * len(words)
    return many or bool(_MENU.search(text))


def _unbalanced(text: str) -> bool:
    """Whether a parenthesis or quotation is opened and not closed, or closed and not opened."""
    pairs = ("()", "（）", "“”", "「」", "『』", "《》")
    return any(text.count(one) != text.count(other) for one, other in pairs) or text.count('"') % 2 == 1


def _has_grammar(text: str) -> bool:
    """Latin prose has function words; a line of a table of contents has none."""
    if _CJK_CHAR.search(text):
        return True
    return sum(word in STOP_WORDS for word in text.casefold().split()) >= 2
