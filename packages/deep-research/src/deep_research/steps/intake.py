"""Intake: decide in code, on the reasoner's judgement, if a question is clear.

The thresholds (contract row A2), each a setting:

| judged | the program |
|---|---|
| confidence ≥ `confidence_never_ask` (0.9) | starts, whatever else is missing; what is missing is stated as an assumption |
| confidence ≥ `confidence_start` (0.7), a goal, ≥ `focus_points_start` (3) focus points, no unknown term | starts, also when the reasoner would rather ask |
| confidence < `confidence_ask` (0.5), or no goal, or < `focus_points_ask` (2) focus points | asks |
| an unknown term that was looked up and not found | asks, and says that it was not found |
| what lies between: confidence below `confidence_start`, or focus points below `focus_points_start` | asks, unless the reasoner states a default assumption: then it starts with that |

Naming documents does not make a bare topic ("engines") clear: it is asked about all the same. A term that could not be looked up (nothing to search, or a place that failed) proves nothing: it becomes an
assumption. CANNOT_DO is the reasoner's word and stands. CONFIRM_PLAN counts as a start, after which the plan is
shown where the settings allow it. Where nobody may be asked (`allow_clarification` off, `max_clarification_rounds`
used up, or the user would not say), asking becomes starting with a stated assumption.
"""

import asyncio
import re
from collections.abc import Sequence

from claimcheck.text.sentences import sentences
from claimcheck.text.tokens import normalise
from deep_research.conversation.clarifications import MISSING, question_for
from deep_research.conversation.replies import says_nothing, split_start, wants_to_skip
from deep_research.data import (
    Action,
    Clarification,
    Decision,
    Message,
    Observation,
    Passage,
    Question,
    Template,
    Term,
)
from deep_research.i18n.catalog import phrase
from deep_research.run_context.context import RunContext
from deep_research.settings import Settings
from deep_research.steps import search
from deep_research.templates import choose
from deep_research.text.prompt_fencing import attribute
from deep_research.text.question_terms import codes

_MAX_OPTIONS, _MAX_TERMS = 5, 3
"""Options of a question; unknown terms that are looked up before the start."""
_LONGEST_MEANING = 400
_LONGEST_TERM = 100
_READ = 12
"""Passages of a search that are looked through for the term."""


async def decide(ctx: RunContext, question: Question, *, rounds: int = 0) -> Decision:
    """Return the decision on `question` after `rounds` clarifications (row A5).

    Unknown terms are looked up first.
    """
    template = choose(ctx.templates, question, named=ctx.settings.template)
    judged = await ctx.reasoner.decide(question, rounds=rounds, template=template)
    left = (Term(term=term, searched=False) for term in judged.unknown_terms[_MAX_TERMS:])
    terms = (*await look_up(ctx, judged.unknown_terms[:_MAX_TERMS]), *left)
    if terms:
        judged = await ctx.reasoner.decide(question, rounds=rounds, terms=terms, template=template)
    places = ctx.places_named(question.language)
    known = with_terms(judged, terms, question, places)
    return settle(known, question, ctx.settings, rounds=rounds, template=template, places=places)


async def look_up(ctx: RunContext, terms: Sequence[str]) -> tuple[Term, ...]:
    """Return each term in order, with verbatim text using it or marked as not found.

    It is looked for with the same search, journal and library as in the research.
    """
    wanted = list(dict.fromkeys(cut for term in terms if (cut := " ".join(term.split())[:_LONGEST_TERM])))
    if not wanted:
        return ()
    actions = [Action(id=f"v{number}", name="search", query=term) for number, term in enumerate(wanted, 1)]
    seen = await search.perform(ctx, actions) if ctx.outside.places else []
    if not seen:
        return tuple(Term(term=term, searched=False) for term in wanted)
    return tuple([await asyncio.to_thread(_known, ctx, t, o) for t, o in zip(wanted, seen, strict=True)])


def _known(ctx: RunContext, term: str, seen: Observation) -> Term:
    passages = [passage for key in seen.passages[:_READ] if (passage := ctx.library.passage(key)) is not None]
    meant = [(passage, *found) for passage in passages if (found := _meaning(term, passage)) is not None]
    if meant:  # a sentence says more than a heading
        passage, meaning, _ = next((one for one in meant if one[2]), meant[0])
        source = ctx.library.source(passage.source)
        title = attribute(source.title) if source else ""
        return Term(term=term, meaning=meaning, passage=passage.id, title=title)
    # A place that failed might have known it.
    return Term(term=term, searched=not seen.failure)


def _meaning(term: str, passage: Passage) -> tuple[str, bool] | None:
    """Return a passage's sentence with the term and True, or its text and False.

    None where it has not the term.
    """
    forms = [re.escape(normalise(form)) for form in (term, *codes(term))]
    used = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(forms)})(?![a-z0-9])")
    if not used.search(normalise(passage.text)):
        return None
    told = [passage.text[s.start : s.end].strip() for s in sentences(passage.text) if s.kind == "prose"]
    using = next((text for text in told if used.search(normalise(text))), "")
    return (using or passage.text.strip())[:_LONGEST_MEANING], bool(using)


def with_terms(judged: Decision, terms: Sequence[Term], question: Question, places: str) -> Decision:
    """Return the judgement with look-up results; only terms not found stay unknown."""
    language = question.language
    missing = {t.term for t in terms if t.searched and not t.found}
    said = list(judged.assumptions)
    for term in terms:
        if term.found:
            said.append(phrase("found_term", language, term=term.term, title=term.title))
        elif not term.searched:
            said.append(phrase("assumed_unchecked_term", language, term=term.term))
        elif term.term not in judged.unknown_terms or judged.next_action == "CANNOT_DO":
            said.append(phrase("assumed_term", language, term=term.term, places=places))
    return judged.model_copy(
        update={
            "unknown_terms": tuple(t for t in judged.unknown_terms if t in missing),
            "terms": tuple(terms),
            "assumptions": tuple(dict.fromkeys(said)),
        }
    )


def _has_all(judged: Decision, confidence: float, focus_points: int) -> bool:
    """Return whether goal, confidence and focus points suffice, with no unknown term."""
    is_clear = bool(judged.goal.strip()) and not judged.unknown_terms
    return is_clear and judged.confidence >= confidence and len(judged.research_focus) >= focus_points


def asks(judged: Decision, settings: Settings) -> bool:
    """Return whether the user should be asked; see the table of the module."""
    is_sure = judged.confidence >= settings.confidence_never_ask
    if is_sure or _has_all(judged, settings.confidence_start, settings.focus_points_start):
        return False
    return not (judged.assumptions and _has_all(judged, settings.confidence_ask, settings.focus_points_ask))


def settle(
    judged: Decision,
    question: Question,
    settings: Settings,
    *,
    rounds: int,
    template: Template | None = None,
    places: str = "",
) -> Decision:
    """Apply the thresholds of the settings to what the reasoner judged."""
    if judged.next_action == "CANNOT_DO":
        return judged
    may_ask = settings.allow_clarification and rounds < settings.max_clarification_rounds
    last = question.history[-1:]
    answers = [m.text for m in last if m.role == "user"]  # "B, just start"
    may_ask &= not any(split_start(said)[1] or (last and wants_to_skip(said)) for said in (question.text, *answers))
    if not asks(judged, settings):
        return _started(judged, question, places)
    if not may_ask:
        return start_anyway(judged, question, places=places)
    asked = clarification(judged, question, template, places)
    return judged.model_copy(update={"next_action": "NEED_CLARIFICATION", "clarification": asked})


def clarification(judged: Decision, question: Question, template: Template | None, places: str) -> Clarification:
    """Return the one question for missing information, with its options."""
    own, goal = judged.clarification, judged.goal.strip()
    if judged.unknown_terms:
        return _about_term(judged.unknown_terms[0], own, question.language, places)
    said = own.missing_info.strip() if own else ""
    missing = said if said in MISSING else "focus" if goal else "topic"
    ours = question_for(missing, goal or question.text, question.language, template, judged.research_focus)
    # What the reasoner misses in words of its own has no options of ours, unless the topic is known.
    options = (own and own.options) or (ours.options if goal or said in ("", missing) else ())
    options = tuple(dict.fromkeys(options))[:_MAX_OPTIONS]
    return (own or ours).model_copy(update={"options": options, "missing_info": said or missing})


def _about_term(term: str, own: Clarification | None, language: str, places: str) -> Clarification:
    said = phrase("term_missing", language, term=term, places=places)
    question = own.question if own and own.question else phrase("ask_meaning", language)
    options = own.options if own and own.options else (phrase("opt_mistyped", language),)
    return Clarification(
        question=f"{said} {question}",
        options=(*options[: _MAX_OPTIONS - 1], phrase("opt_as_written", language)),
        missing_info=term,
    )


def _started(judged: Decision, question: Question, places: str) -> Decision:
    language = question.language
    text = judged.refined_question.strip() or question.text
    unknown = [phrase("assumed_term", language, term=term, places=places) for term in judged.unknown_terms]
    action = "CONFIRM_PLAN" if judged.next_action == "CONFIRM_PLAN" else "START_RESEARCH"
    return judged.model_copy(
        update={
            "next_action": action,
            "refined_question": text,
            "goal": judged.goal.strip() or text,
            "assumptions": tuple(dict.fromkeys([*judged.assumptions, *unknown])),
            "verification": judged.verification.strip() or phrase("will_research", language, question=text),
            "clarification": None,
        }
    )


def start_anyway(judged: Decision, question: Question, *, places: str = "") -> Decision:
    """Start with the best guess, and say so among the assumptions."""
    text = judged.refined_question.strip() or question.text
    name = "assumed_default" if judged.goal.strip() else "started_unclear"
    started = _started(judged, question, places)
    if judged.unknown_terms:  # said already: it is taken as it is written
        return started
    said = phrase(name, question.language, question=text)
    return started.model_copy(update={"assumptions": tuple(dict.fromkeys([*started.assumptions, said]))})


def refuses(ctx: RunContext, answer: str, question: Question) -> bool:
    """Return whether a clarification's answer means to start the run without one.

    A bare yes or no is an answer to who can read it.
    """
    as_written = answer.strip() == phrase("opt_as_written", question.language)
    return as_written or (wants_to_skip if ctx.reasoner.reads_conversation else says_nothing)(answer)


def answered(question: Question, asked: str, answer: str) -> Question:
    """Return the question with one more round of the conversation."""
    turn = (Message(role="assistant", text=asked), Message(role="user", text=answer))
    return question.model_copy(update={"history": (*question.history, *turn)})
