"""What a user's short answer to a question of ours means, in the languages we ask in."""

import re
from collections.abc import Sequence

_SKIP = (
    # English
    r"(?:(?:let'?s|please|just) )*(?:just )?(?:start|begin|go|proceed|continue|do it)(?: (?:it|now|right away|directly|already|anyway|"
    r"with (?:the|your) (?:research|best guess|defaults?)))?(?: the research(?: now)?)?|(?:just )?go (?:ahead|on)|get (?:started|going)|"
    r"skip(?: (?:it|this|that|the question))?|no preference|whatever(?: you (?:like|think|want))?|anything(?: is fine)?|any(?: of (?:them|these))?|"
    r"all of (?:them|these|the above)|doesn'?t matter|does not matter|don'?t care|i don'?t care|"
    r"(?:i )?(?:really )?(?:do not|don'?t) know|dunno|no idea|not sure|i'?m not sure|"
    r"(?:you|you'?ll) (?:decide|choose|pick)|up to you|your (?:choice|call)|as you (?:like|wish)|use your (?:best )?(?:guess|judge?ment)|"
    r"stop asking(?: me)?(?: questions)?|no (?:more )?questions|n/?a|none|no comment|i'?d rather not(?: (?:say|tell|answer))?|i (?:won'?t|will not|can'?t|cannot) (?:say|tell|answer)(?: you)?|"
    # Chinese
    r"(?:请|请你|就|那就|那|麻烦)?(?:直接|马上|立即|立刻|现在)?(?:就)?(?:开始|研究|开工|做)(?:研究|调研|做|检索|搜索)?(?:就行|就好|即可|了)?|"
    r"(?:不用|别|不要|不必|无需)(?:再)?问(?:我)?(?:问题|那么多|这么多)?了?|跳过|略过|随便(?:你|吧)?|随意|都可以|都行|都好|全部|全都要|无所谓|没所谓|"
    r"(?:我)?(?:也)?(?:不知道|不清楚|不确定|没想好|没有想法|说不好|不好说|没有偏好|没有要求)|(?:由|让)?你(?:来)?(?:决定|定|选|看着办|判断)|看着办|你看着办|"
    r"(?:我)?(?:不想|拒绝|不愿|不愿意)(?:说|回答|答|透露)|无可奉告|没有|"
    # Korean
    r"(?:그냥|바로|지금|일단|어서)? ?(?:시작|진행|조사|연구)(?:해|하|할)?(?: ?주세요| ?줘요?| ?줘| ?하세요| ?하자| ?합시다|해요|요|하면 돼요?|해도 돼요?)?|그냥 해(?:요| ?줘| ?주세요)?|"
    r"건너뛰(?:기|어|자)?(?: ?줘| ?주세요)?|건너뛰|아무거나(?:요)?|상관 ?없(?:어|어요|습니다|음)|다 (?:좋아|괜찮아|돼)요?|모두|전부|"
    r"(?:잘 )?(?:모르겠(?:어|어요|습니다|다|음)|몰라요?|모릅니다)|알아서 (?:해|해요|하세요|해 ?줘|해 ?주세요|정해 ?줘)|"
    r"(?:네가|당신이)? ?(?:정해|결정해|골라)(?: ?줘| ?주세요)?|(?:그만|더 이상) ?(?:묻지|질문하지) ?마(?:요|세요)?|질문은 그만|(?:말하고|대답하고|답하고) 싶지 않(?:아|아요|습니다)|"
    # Japanese
    r"すぐに(?:始|開始)(?:めて|して)?(?:ください)?|(?:そのまま)?(?:始めて|開始して)(?:ください)?|スキップ|何でもいい(?:です)?|お任せ(?:します)?|わかりません|分かりません"
)
_YES = (
    r"y|yes|yep|yeah|sure|ok|okay|k|fine|good|great|perfect|correct|right|agreed|confirm(?:ed)?|approved?|accept(?:ed)?|lgtm|"
    r"(?:it |that |this |the plan )?(?:looks|sounds|is) (?:good|fine|great|right|ok|okay|perfect)(?: to me)?|i (?:confirm|agree|approve|accept)(?: (?:it|the plan))?|"
    r"start with this plan|as it is|"
    r"是|是的|对|(?:这样|这个计划|计划)?(?:就)?(?:好|行|可以)(?:的|了)?|确认|同意|没问题|没有问题|就这样|就这么办|嗯|按此计划开始|按计划(?:进行|开始|执行)|通过|"
    r"네|예|응|그래요?|좋아요?|좋습니다|확인(?:했습니다|함|합니다)?|동의(?:합니다|해요?)?|승인(?:합니다)?|괜찮(?:아|아요|습니다)|이대로(?: ?시작| ?진행)?|맞(?:아|아요|습니다)|이 계획으로 시작|"
    r"はい|ええ|いいです|確認|了解|この計画で開始"
)
_NO = (
    r"n|no|nope|cancel(?: it| the (?:run|plan|research))?|reject(?:ed)?(?: (?:it|the plan))?|stop|abort|quit|exit|end|never ?mind|forget it|"
    r"i (?:reject|decline|do not agree|don'?t (?:agree|want (?:it|this|that)))(?: (?:it|the plan))?|do not start|don'?t start|"
    r"不|不是|不要|不行|不好|不同意|否|拒绝|取消|停止|中止|放弃|算了|不做了|不研究了|不用了|"
    r"아니|아니요|아니오|아뇨|취소(?:해|해요| ?해 ?줘| ?해 ?주세요|하세요|합니다)?|거부(?:해|해요|합니다)?|중단(?:해|해요|합니다)?|중지|그만(?:해|둬|두자|하자)?(?:요)?|안 ?(?:해|할래|할게)요?|하지 마(?:요|세요)?|"
    r"いいえ|やめて|中止|キャンセル|拒否"
)
_POLITE = (
    r"please|pls|thanks?|thank you|ok|okay|well|hmm+|just|yes|no|hey|then|now|"
    r"请|谢谢|吧|好|好的|嗯|行|那|네|예|음|제발|부탁(?:해요|드려요|합니다)?|고마워요?|감사합니다|はい|お願いします"
)
_CLAUSES = re.compile(r"[\s]*(?:[,.;:!?。，、；：！？…~～\n]|\s[-–—]\s|\band\b|\bbut\b|\bso\b)+[\s]*")
_EDGES = re.compile(r"^(?:please|pls|ok(?:ay)?|请|那|好的?|네|예) +| +(?:please|pls|thanks?|thank you)$|[吧呀啊啦嘛]+$")


def _all_clauses(answer: str, meaning: str) -> bool:
    """Whether every clause of an answer is of this meaning or a politeness, and at least one is of the meaning."""
    clauses = [
        _EDGES.sub("", part.strip(" \"'“”‘’()（）").casefold()) for part in _CLAUSES.split(answer.replace("’", "'"))
    ]
    clauses = [clause for clause in clauses if clause]
    hits = [bool(re.fullmatch(meaning, clause)) for clause in clauses]
    polite = [bool(re.fullmatch(_POLITE, clause)) for clause in clauses]
    return any(hits) and all(hit or nice for hit, nice in zip(hits, polite, strict=True))


def wants_to_skip(answer: str) -> bool:
    """Whether an answer to a clarification means "start now" or "I will not say" (also when it is empty).

    The whole answer must mean it: "skip connections" and "just start with KRAS" are answers.
    """
    return not answer.strip() or _all_clauses(answer, _SKIP)


def confirms(answer: str) -> bool:
    """Whether an answer to a shown plan means yes (also when it is empty, and when it says "start")."""
    return wants_to_skip(answer) or _all_clauses(answer, f"{_YES}|{_SKIP}")


def rejects(answer: str) -> bool:
    """Whether an answer to a shown plan means no: nothing is to be researched."""
    return _all_clauses(answer, _NO)


_NUMBERS = re.compile(
    r"(?:第|option|no\.?|nr\.?|number|#)?\s*(\d{1,2})\s*(?:[.)）、]|个|項|项|番|번(?:째)?)?", re.IGNORECASE
)
_LETTERS = re.compile(r"(?:option\s+)?[(（]?([A-Ja-j])[.)）]?", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*(?:[,，、;；/+&]|\band\b|\bund\b|和|与|及|와|과|,)\s*|\s+", re.IGNORECASE)


def chosen(answer: str, options: Sequence[str]) -> str:
    """Return the options that an answer names by number or letter ("2", "B)", "1, 3", "第2个", "2번"), else the answer."""
    said = answer.strip()
    whole = _NUMBERS.fullmatch(said) or _LETTERS.fullmatch(said)
    parts = [said] if whole else [part for part in _BETWEEN.split(said) if part]
    picked: list[str] = []
    for part in parts:
        number, letter = _NUMBERS.fullmatch(part), _LETTERS.fullmatch(part)
        index = int(number[1]) - 1 if number else ord(letter[1].upper()) - ord("A") if letter else -1
        if not 0 <= index < len(options):
            return said
        picked.append(options[index])
    return "; ".join(dict.fromkeys(picked)) if picked else said
