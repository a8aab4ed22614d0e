"""Whether a question can be researched as it stands, without a model (contract rows A1–A9).

It asks only what it can see: no topic at all, a pronoun that the conversation does not resolve, one very general
word, or a code that nothing searched knows. When unsure it starts, and says what it assumed.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from deep_research.conversation.coreference import dangling_pointer, fill_pointer, resolve_in_history, without_request
from deep_research.conversation.replies import wants_to_skip
from deep_research.data import Clarification, Decision, Question, Template, Term
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
    term = without_request(said.text).strip(" .,?!。？！，、~")
    kinds = tuple(phrase(name, language) for name in _KINDS)
    if said.text.strip() in kinds:
        return _ask(question, "ask_name", (phrase("opt_newest", language),), missing="topic", term=said.text)
    if not content_terms(term):
        return _ask(question, "ask_topic", kinds, missing="topic")
    if not said.answers and (pointer := dangling_pointer(said.text)):
        return _ask(question, "ask_which", (phrase("opt_newest", language),), missing="referent", term=pointer)
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
    bare = not content_terms(without_request(text))
    resolution = resolve_in_history(text, before, bare=bare)
    if resolution.referent:
        resolved = " ".join([resolution.question, *answers])
        return _Said(resolved, answers, (resolution.assumption(question.language),))
    if answers and (bare or dangling_pointer(text)):
        if answers[-1] == phrase("opt_newest", question.language):
            return _Said(f"{text} — {answers[-1]}", answers, ())
        return _Said(answers[-1] if bare else fill_pointer(text, answers[-1]), answers, ())
    return _Said(" ".join([text, *answers]), answers, ())
