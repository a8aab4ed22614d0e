"""Understanding a question without a model: what it is about, of which kind, in which form to answer."""

import re
from typing import NamedTuple

from deep_research.data import OutputFormat, QueryAnalysis, QueryType
from deep_research.text.tokens import content_terms

_COMPARISON = re.compile(
    r"\bcompar(?:e|es|ed|ing|ison)\b|\bvs\.?\b|\bversus\b|\bdiffer(?:ence|ences|s|ent)?\b(?=.*\b(?:between|from|and)\b)"
    r"|\btrade-?offs?\b.*\bbetween\b|\b(?:better|faster|cheaper) than\b|\bpros and cons of\b.*\b(?:and|or)\b"
    r"|对比|對比|比较|比較|区别|區別|差异|差異|异同|优劣|비교|차이|대비|違い",
    re.IGNORECASE,
)
_PROGRESS = re.compile(
    r"最新进展|进展|進展|动态|趋势|现状|发展|latest|progress|advances|trends?|developments?|state of the art"
    r"|동향|발전|최신|현황|動向",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^(?:please\s+)?(?:list|enumerate|name|give me a list|show me all)\b|\b(?:what|which)\b.{0,60}\b(?:are (?:there|available|known)|exist)\b"
    r"|\b(?:what|which)\s+(?:(?!is\b|are\b|does\b|do\b|was\b|happens?\b)[\w-]+\s+){0,4}(?:types?|kinds?|methods?|models?|options?"
    r"|techniques?|approaches|tools?|ways|drugs?|trials?|libraries|frameworks?|mechanisms?|projects?|systems?|formats?|modes?"
    r"|strategies|functions?|commands?|algorithms?|inhibitors?|linkers?|agonists?|variants?|features?|settings?|parameters?)\b"
    r"|\bwhat are (?:the |some )?(?:\w+ ){0,4}(?:types?|kinds?|methods?|models?|options?|techniques?|approaches|tools?|ways|drugs?"
    r"|trials?|libraries|mechanisms?|strategies|inhibitors?|linkers?|agonists?|variants?)\b"
    r"|有哪些|哪些|哪几种|哪几|列举|列出|盘点|有什么(?:方法|类型|模型|工具|药)|几种"
    r"|어떤 .{0,20}(?:있|제공|종류|유형)|종류|목록|나열|무엇이 있|무엇들|유형(?:은|에는|을)|どのような.{0,20}(?:あり|種類)|一覧",
    re.IGNORECASE,
)
_DEEP = re.compile(
    r"\bexplain\b|\bin (?:detail|depth)\b|\bhow (?:do|does|did|is|are|can|exactly)\b|\bwhy\b|\bmechanism of\b|\bdeep dive\b"
    r"|\bdescribe\b|详细|深入|解释|原理|机制|如何|怎么|为什么|자세히|설명|원리|어떻게|왜|작동|詳しく|仕組み|なぜ",
    re.IGNORECASE,
)
_SECOND_CLAUSE = re.compile(
    r"\band (?:when|how|why|where|for what|what|which)\b|,\s*(?:when|how|and)\b|分别|各自|各有|以及|何时|各适合|适合|适用"
    r"|각각|언제|특징|それぞれ",
    re.IGNORECASE,
)
_TABLE = re.compile(r"\btable\b|\btabulate\b|表格|列表对比|표로|表で", re.IGNORECASE)

_TOPIC_ALONE = 8
"""More content terms than this say more than a topic."""


class Topic(NamedTuple):
    """What a question says it is about: subjects named beside each other, and the field they share."""

    subjects: tuple[str, ...]
    context: str


def says_what_is_wanted(text: str) -> bool:
    """Whether a question says more than a topic: that it wants progress, a list, a comparison, an explanation."""
    asked = any(pattern.search(text) for pattern in (_COMPARISON, _PROGRESS, _LIST, _DEEP, _TABLE))
    return asked or bool(re.search(r"[?？]", text)) or len(content_terms(text)) > _TOPIC_ALONE


def analyze(text: str) -> QueryAnalysis:
    """Tell comparison, list, deep dive and general questions apart by their wording (contract row B3)."""
    kind, reason = _query_type(text)
    topic = subjects(text) if kind == "comparison" else Topic((), "")
    target = discovery_target(text) if kind == "list" else ""
    return QueryAnalysis(
        query_type=kind,
        output_format=_output_format(text, kind),
        needs_discovery=kind == "list",
        discovery_target=target,
        reasoning=reason,
        subjects=topic.subjects,
    )


def _query_type(text: str) -> tuple[QueryType, str]:
    if match := _COMPARISON.search(text):
        return "comparison", f"The wording “{match.group().strip()}” asks for a comparison."
    listing = _LIST.search(text)
    if listing and not (_PROGRESS.search(text) and "哪些" in text):
        return "list", f"The wording “{listing.group().strip()[:60]}” asks for a list."
    if match := _DEEP.search(text):
        return "deep_dive", f"The wording “{match.group().strip()}” asks for depth on one subject."
    return "general", "No wording that asks for a list, a comparison or one subject in depth."


def _output_format(text: str, kind: QueryType) -> OutputFormat:
    if kind == "comparison" or _TABLE.search(text):
        return "table"
    if kind == "list":
        return "table" if _SECOND_CLAUSE.search(text) else "list"
    return "prose"


_EN_COMPARED = (
    re.compile(r"\b(?:difference|differences|trade-?offs?|comparison|choice)\s+(?:between|of)\s+(?P<list>.+)", re.I),
    re.compile(r"\bcompar(?:e|ing)\s+(?P<list>.+)", re.I),
    re.compile(
        r"\bhow (?:do|does|is|are)\s+(?P<a>.+?)\s+(?:different|differ|compare)\w*\s+(?:from|to|with)\s+(?P<b>.+)", re.I
    ),
    re.compile(r"\bhow (?:do|does)\s+(?P<list>.+?)\s+(?:differ|compare)\b", re.I),
    re.compile(r"(?P<list>[^:?]+?\b(?:vs\.?|versus)\b[^?]+)", re.I),
)
_ZH_COMPARED = (
    re.compile(r"(?:对比|比较|對比|比較)(?:一下)?(?P<list>.+?)(?:的|在(?P<field>.+?)(?:方面|上|中)的?)(?:.*)$"),
    re.compile(r"(?P<list>[^，,。]+?)(?:之间)?(?:的|有什么|有何|有哪些)*(?:区别|差异|异同|不同|对比|比较|优劣)"),
    re.compile(r"(?:对比|比较|對比|比較)(?:一下)?(?P<list>.+)$"),
)
_KO_COMPARED = (re.compile(r"(?P<list>.+?)(?:의|을|를)?\s*(?:차이|비교)"),)
_JA_COMPARED = (re.compile(r"(?P<list>.+?)の(?:違い|比較)"), re.compile(r"(?P<list>.+?)を比較"))
_TAIL = re.compile(
    r"\s+(?:in terms of|with respect to|regarding|with regard to|when|for|in|on|within|under|as)\s+(?P<field>.+)$", re.I
)
_SEPARATOR = {
    "latin": re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or|vs\.?|versus|with|to|against)\s+|\s*/\s*", re.I),
    "zh": re.compile(r"\s*(?:、|，|,|和|与|與|跟|及|以及|vs\.?|VS)\s*"),
    "ko": re.compile(r"\s*(?:,|、|와|과|이랑|랑|및|vs\.?)\s+|\s*,\s*|\s+(?:그리고|대)\s+"),
    "ja": re.compile(r"\s*(?:、|,|と|および|vs\.?)\s*"),
}


_INSIDE = re.compile(
    # "Python 中的装饰器和…", "Python에서 데코레이터와 …", "Pythonのデコレータと…": the name before is the field of all.
    r"^(?P<field>[A-Za-z0-9][\w .+#-]*?)\s*(?:中的?|里的?|에서의?\s|의\s|における|の)\s*(?P<thing>\S.*)$",
    re.ASCII,
)


def subjects(text: str) -> Topic:
    """Return the things a comparison names, and the field they are compared in."""
    line = text.strip().rstrip("?？。.!！ ")
    for script, patterns in (("zh", _ZH_COMPARED), ("ko", _KO_COMPARED), ("ja", _JA_COMPARED), ("latin", _EN_COMPARED)):
        if script not in ("latin", _script_of(line)):
            continue
        for pattern in patterns:
            if (match := pattern.search(line)) and len(found := _things(match, script)) >= 2:
                return _share_field(found, match.groupdict().get("field") or "")
    return Topic((), "")


def _script_of(line: str) -> str:
    if re.search("[\uac00-\ud7af]", line):
        return "ko"
    if re.search("[\u3040-\u30ff]", line):
        return "ja"
    return "zh" if re.search("[\u4e00-\u9fff]", line) else "latin"


def _things(match: re.Match[str], script: str) -> list[str]:
    groups = match.groupdict()
    if "a" in groups:
        return [groups["a"].strip(), groups["b"].strip()]
    return [part.strip(" \"'“”‘’") for part in _SEPARATOR[script].split(groups["list"]) if part.strip(" \"'“”")]


def _share_field(found: list[str], field: str) -> Topic:
    """Take "in Python" off the last thing (in Chinese, Korean and Japanese off the first): it is the field of all."""
    if tail := _TAIL.search(found[-1]):
        found = [*found[:-1], found[-1][: tail.start()]]
        field = field or tail.group("field")
    if (inside := _INSIDE.match(found[0])) and not any(_INSIDE.match(other) for other in found[1:]):
        found, field = [inside["thing"], *found[1:]], field or inside["field"].strip()
    cleaned = [re.sub(r"^(?:the|a|an)\s+", "", thing, flags=re.I).strip() for thing in found]
    kept = tuple(dict.fromkeys(thing for thing in cleaned if thing and len(thing) <= 60))
    return Topic(kept[:6], field.strip())


_PLURAL_FIRST = re.compile(
    # "Which drugs target KRAS G12C": the first plural is the thing, what follows a verb, unless a preposition goes on.
    r"^(?P<target>(?:[\w/-]+\s+){0,4}?[\w/-]*[a-z](?<!s)s)\s+(?!of\b|for\b|in\b|on\b|to\b|with\b|from\b|against\b|that\b|which\b|and\b|or\b|by\b|used\b|available\b|using\b)[a-z]"
)
_TARGET_EN = re.compile(
    r"^(?:please\s+)?(?:list|enumerate|name|what|which)\s+(?:are\s+)?(?:all\s+|the\s+|some\s+|main\s+|major\s+|of\s+)*(?P<target>.+?)"
    r"(?:\s+(?:are|is|does|do|did|can|have|has|exist|should|that|which|offer\w*|support\w*|provid\w*)\b.*|\s*,.*|\s+and\s+(?:when|how|why|what).*)?$",
    re.I,
)
_TARGET_CJK = re.compile(
    r"(?:目前|现在|当前|主要的?)|(?:都?有)?(?:哪些|哪几种|什么)|列举|列出|盘点|分别.*$|各自.*$|以及.*$|[，,。？?].*$"
)


_TARGET_KO = re.compile(
    r"(?:에는|에서는|은|는|이|가|을|를|의)?\s*(?:종류|목록)?(?:에는|은|는|이|가|을|를)?\s*(?:어떤|무엇|뭐가|몇|각각|모두|나열|알려|열거).*$"
    r"|의?\s*(?:종류|목록)(?:를|은|는|에는)?$"
)
_TARGET_JA = re.compile(
    r"(?:の(?:種類|一覧))?(?:には|にはどの|は|を|が|で)?(?:どのような|どんな|何が|何で|教えて|挙げて|すべて).*$|の(?:種類|一覧)$"
)


def discovery_target(text: str) -> str:
    """Return the noun phrase a list question asks for ("index types"), or the question itself."""
    line = text.strip().rstrip("?？。.!！ ")
    if _script_of(line) == "latin":
        match = _TARGET_EN.match(line)
        target = (match.group("target") if match else line).strip()
        plural = _PLURAL_FIRST.match(target) if re.match(r"(?:what|which)\b", line, re.IGNORECASE) else None
        return plural["target"] if plural else target
    tails = {"zh": _TARGET_CJK, "ko": _TARGET_KO, "ja": _TARGET_JA}
    return tails[_script_of(line)].sub("", line).strip(" 的有、,，") or line
