"""Whether a question can be researched as it stands, without a model (contract rows A1–A9).

It asks only what it can see: no topic at all, a pronoun that the conversation does not resolve, one very general
word, or a code that nothing searched knows. When unsure it starts, and says what it assumed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.conversation.replies import confirms, wants_to_skip
from deep_research.data import Clarification, Decision, Message, Question, Template, Term
from deep_research.i18n.catalog import phrase
from deep_research.reasoners.extractive.question_analysis import says_what_is_wanted
from deep_research.text.question_terms import codes
from deep_research.text.tokens import content_terms

_THING = (
    "target|drug|medicine|model|paper|method|topic|study|gene|protein|technology|product|company|compound|project|"
    "tool|framework|algorithm|disease|trial|material|system|one|thing|stuff"
)
_THING_ZH = (
    "东西|靶点|药物|新药|药|模型|论文|方法|项目|问题|基因|蛋白|技术|产品|公司|化合物|工具|框架|算法|疾病|试验|材料|系统"
)
_THING_KO = "것|거|타깃|타겟|표적|약물|신약|약|모델|논문|방법|프로젝트|유전자|단백질|기술|제품|회사|화합물|도구|알고리즘|질병|시험|재료|시스템"
_POINTER = re.compile(
    rf"\b(?:that|this|those|these|the (?:same|said|latter|former))(?:\s+new)?\s+(?:{_THING})s?\b"
    rf"|(?:那个|这个|那种|这种|那些|这些|那款|这款|上述|前述|该|此)(?:新)?(?:{_THING_ZH})"
    rf"|(?:그|이|저|해당|위)\s?(?:새로운\s)?(?:{_THING_KO})(?=들?(?:의|에|을|를|은|는|이|가|과|와|로|으로|에서|에 대해|\s|$|[.?!]))",
    re.IGNORECASE,
)
"""A word that points at something said before."""
_BARE = re.compile(
    r"^\W*(?:(?:please\s+)?(?:tell me (?:more )?about|research|look into|investigate|study|analy[sz]e|explain|find)\s+)?"
    rf"(?:(?:that|this|the|those|these)(?:\s+(?:new\s+)?(?:{_THING})s?)?|it|them)\W*$"
    rf"|^(?:请|帮我|给我)?(?:研究|调研|分析|介绍)?(?:一下)?(?:那个|这个|那种|这种|该|它|那|这)(?:新)?(?:{_THING_ZH})?(?:的.{{0,8}})?[。？?！!]*$"
    rf"|^(?:그|이|저)\s?(?:{_THING_KO})(?:.{{0,10}})?[.?!]*$",
    re.IGNORECASE,
)
"""A question that is nothing but such a word."""
_FILLER = re.compile(
    r"^(?:please|pls|hi|hello|hey)\b[,!. ]*|\b(?:help me|can you|could you|would you|i want to|i would like to|i'd like to|let's)\b"
    r"|\b(?:do (?:some )?research|research|look into|find out|investigate|tell me|learn|know|understand)(?: (?:more|something))?"
    r"(?: (?:about|on|of))?\b|\b(?:what information|any information|some information|information|something|anything|is there)\b"
    r"|请|帮我|帮忙|麻烦|我想|想要|了解|研究|调研|调查|查一下|查找|一下|有什么信息|什么信息|相关信息|信息|资料|看看|介绍"
    r"|조사해|조사|알아봐|알려|주세요|줘|해줘|부탁|연구|정보|좀|도와|알고 싶",
    re.IGNORECASE,
)
_BROAD = frozenset(
    "cancer,cancer treatment,cancer therapy,drugs,drug,new drugs,medicine,medicines,disease,diseases,health,ai,"
    "artificial intelligence,machine learning,technology,science,software,computers,data,database,databases,energy,"
    "economics,economy,politics,history,physics,chemistry,biology,programming,internet,education,climate,business,finance,"
    "癌症,癌症治疗,癌症药物,肿瘤,肿瘤治疗,药物,药,新药,医药,疾病,医学,健康,人工智能,机器学习,科技,技术,科学,软件,数据,数据库,能源,经济,历史,"
    "物理,化学,生物,编程,教育,气候,金融,"
    "암,암 치료,항암제,약물,약,신약,의학,질병,건강,인공지능,머신러닝,기술,과학,소프트웨어,데이터,데이터베이스,에너지,경제,역사,물리,화학,생물,"
    "프로그래밍,교육,기후,금융".split(",")
)
_KIND_OF_NAME = re.compile(
    rf"\b(?:{_THING}|inhibitor|enzyme|receptor|pathway)s?\b|{_THING_ZH}|抑制剂|酶|受体|通路|{_THING_KO}|억제제|효소|수용체|[은는이가을를의\s?？。.]",
    re.IGNORECASE,
)
"""What may stand beside a code without saying more about it."""
_NAME = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z][A-Za-z0-9]*\d[A-Za-z0-9-]*|[A-Z]{2,}[A-Za-z0-9-]*|[A-Z][a-z]+[A-Z][A-Za-z0-9]*)"
    r"(?:[ -](?:[A-Z][A-Za-z0-9-]*|[a-z]?\d[A-Za-z0-9-]*(?:\.\d+)*))*(?![A-Za-z0-9])"
)
"""A name by its form: GLP-1, KRAS G12C, RAG, BitNet b1.58."""
_SHORT = 12
"""Content terms up to which the codes of a question are looked up."""
_KINDS = ("kind_technology", "kind_medicine", "kind_product", "kind_event")
_ASPECTS = ("opt_progress", "opt_how", "opt_compare", "opt_overview")


class _Said(NamedTuple):
    """A question as it is to be taken: its text, the answers to clarifications, what was resolved how."""

    text: str
    answers: tuple[str, ...]
    assumptions: tuple[str, ...]


def decide(
    question: Question, *, rounds: int = 0, terms: Sequence[Term] = (), template: Template | None = None
) -> Decision:
    """Return what can be seen of a question: what to ask, or what to start with; see `ports.Reasoner.decide`."""
    said, language = _said(question, rounds), question.language
    term = _FILLER.sub(" ", said.text).strip(" .,?!。？！，、~")
    kinds = tuple(phrase(name, language) for name in _KINDS)
    if said.text.strip() in kinds:
        return _ask(question, "ask_name", (phrase("opt_newest", language),), missing="topic", term=said.text)
    if not content_terms(term):
        return _ask(question, "ask_topic", kinds, missing="topic")
    if _BARE.match(said.text.strip()):
        return _ask(question, "ask_which", (phrase("opt_newest", language),), missing="referent", term=term)
    if term.casefold() in _BROAD and not said.answers:
        return _ask(question, "ask_aspect", _aspects(language, template), missing="aspect", term=term)
    return _start(question, said, term, terms, template)


def _start(question: Question, said: _Said, term: str, terms: Sequence[Term], template: Template | None) -> Decision:
    unknown = codes(said.text) if len(content_terms(said.text)) <= _SHORT else ()
    missing = [t.term for t in terms if t.searched and not t.found]
    # Only a code that is all there is leaves nothing to go by.
    stuck = tuple(t for t in missing if not content_terms(_KIND_OF_NAME.sub(" ", term.replace(t, " "))))
    suggested = template.focus if template is not None and not says_what_is_wanted(said.text) else ()
    points = phrase("assumed_focus", question.language, points="; ".join(suggested))
    return Decision(
        next_action="VERIFY_TOPIC" if (unknown and not terms) or stuck else "START_RESEARCH",
        confidence=0.6 if stuck else 0.9,
        goal=said.text,
        research_focus=tuple(dict.fromkeys(content_terms(said.text)))[:8],
        unknown_terms=stuck if terms else unknown,
        refined_question=said.text,
        reasoning="The message names a topic.",
        verification=phrase("will_research", question.language, question=said.text),
        assumptions=(*said.assumptions, points) if suggested else said.assumptions,
        suggested_focus=suggested,
    )


def _aspects(language: str, template: Template | None) -> tuple[str, ...]:
    own = next((c.options for c in template.clarifications if c.missing_info == "aspect"), ()) if template else ()
    return own or tuple(phrase(name, language) for name in _ASPECTS)


def _ask(question: Question, name: str, options: tuple[str, ...], *, missing: str, term: str = "") -> Decision:
    return Decision(
        next_action="NEED_CLARIFICATION",
        confidence=0.3,
        refined_question=question.text,
        reasoning=f"Nothing in the message says the {missing}.",
        clarification=Clarification(
            question=phrase(name, question.language, term=term), options=options, missing_info=missing
        ),
    )


def _said(question: Question, rounds: int) -> _Said:
    """The question with what the user answered to `rounds` clarifications, and what it points at resolved."""
    history, text = list(question.history), question.text
    before = history[: len(history) - 2 * rounds] if rounds else history
    asked = history[len(before) :]
    unsaid = phrase("opt_mistyped", question.language)  # an option that announces an answer, and is none
    answers = tuple(m.text for m in asked if m.role == "user" and not wants_to_skip(m.text) and m.text != unsaid)
    bare = not content_terms(_FILLER.sub(" ", text)) or bool(_BARE.match(text.strip()))
    if bare and answers:
        general = answers[-1] == phrase("opt_newest", question.language)
        return _Said(f"{text} — {answers[-1]}" if general else answers[-1], answers, ())
    topic = _topic(before)
    if topic and (bare or _POINTER.search(text)):
        return _resolved(text, topic, question.language, answers)
    return _Said(" ".join([text, *answers]), answers, ())


def _resolved(text: str, topic: str, language: str, answers: tuple[str, ...]) -> _Said:
    pointer = _POINTER.search(text)
    resolved = f"{text[: pointer.start()]}{topic}{text[pointer.end() :]}" if pointer else topic
    resolved = resolved.strip(" .?!。？！") if pointer and resolved.strip(" .?!。？！") == topic else resolved
    said = phrase("resolved", language, term=pointer.group() if pointer else text.strip(" .?!。？！"), topic=topic)
    return _Said(" ".join([resolved, *answers]), answers, (said,))


def _topic(history: Sequence[Message]) -> str:
    """What the last message that names a topic is about: its first name by form, else (of the user) its words."""
    for message in reversed(history):
        text = message.text.strip()
        if name := _NAME.search(text):
            return name.group()
        words = _FILLER.sub(" ", text).strip(" .,?!。？！，、~")
        if message.role == "user" and content_terms(words) and not confirms(text) and not _POINTER.search(text):
            return words[:120]
    return ""
