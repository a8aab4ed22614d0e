"""Choose searches and passages without a model: the plan's queries first, then other words for what is missing."""

from collections.abc import Sequence

from deep_research.data import Action, Brief, Passage, QueryAnalysis, Question, Section, Turn
from deep_research.ports import Library
from deep_research.text.question_terms import topic_words, with_translations, without_furniture
from deep_research.text.tokens import content_terms

MAX_PARALLEL = 4
_ENOUGH_PASSAGES, _ENOUGH_SOURCES = 6, 2


def scouting(question: Question, analysis: QueryAnalysis, turns: Sequence[Turn]) -> list[Action]:
    """Return the searches that show what there is before planning; one round, a second for thin results."""
    text = question.text
    if not turns:
        queries = [without_furniture(text), analysis.discovery_target, *analysis.subjects]
        return _searches([with_translations(q, question.language) for q in queries if q], "d1")
    if len(turns) == 1 and len(_passages(turns)) < _ENOUGH_PASSAGES:
        return _searches([topic_words(analysis.discovery_target or text)], "d2")
    return []


def researching(section: Section, brief: Brief, turns: Sequence[Turn], library: Library) -> list[Action]:
    """Return a researcher's next actions: the planned queries, then broader ones, then completion.

    What the user has remarked since the last search is searched for as it stands.
    """
    prefix = f"a{section.attempts}t{len(turns)}"
    made = {action.query for turn in turns for action in turn.actions}
    said = _remarked(turns)
    turns = [turn for turn in turns if turn.actions]
    if said and turns:
        return _searches([q for q in (with_translations(r, brief.language) for r in said) if q not in made], prefix)
    if not turns:
        queries = list(section.queries) or [section.title]
        if section.attempts > 1:
            queries = [*queries[:1], *_other_words(section, brief, library)]
        wanted = [with_translations(q, brief.language) for q in queries]
        # Of many parts each has a search of its own.
        first = _searches([q for q in wanted if q not in made], prefix, most=max(MAX_PARALLEL, len(section.queries)))
        return [*first, *_searches(said, f"{prefix}r")]
    passages = _passages(turns)
    sources = {passage.split("p")[0] for passage in passages}
    if len(turns) == 1 and (spelled := _respelled(section, passages, library)):
        return _searches([spelled], prefix)
    if len(turns) == 1 and (len(passages) < _ENOUGH_PASSAGES or len(sources) < _ENOUGH_SOURCES):
        queries = [q for q in _other_words(section, brief, library) if q not in made]
        return _searches(queries[:2], prefix)
    return []


def _respelled(section: Section, passages: Sequence[str], library: Library) -> str:
    """Return the first query as the documents found spell its words; "" where they spell it so."""
    query = section.queries[0] if section.queries else ""
    found = [p for key in passages if (p := library.passage(key)) is not None]
    spelled = query
    if found:
        from deep_research.reasoners.extractive.asked_words import Vocabulary  # noqa: PLC0415 - not beside a model

        spelled = Vocabulary(library, found).corrected(query)
    return spelled if spelled != query else ""


def _remarked(turns: Sequence[Turn]) -> list[str]:
    """Return what was remarked since the last action."""
    last = max((i for i, turn in enumerate(turns) if turn.actions), default=-1)
    return [remark for turn in turns[last + 1 :] for remark in turn.remarks]


def _other_words(section: Section, brief: Brief, library: Library) -> list[str]:
    """Other ways to ask: the subject alone, the bare terms, and in a further attempt the titles of what was found nearby."""
    # A title such as "Overview" is the program's own word: searched for, it would find what nobody asked.
    own = section.subject or (section.queries[-1] if section.queries else section.title)
    notes = section.notes if section.notes != section.title else ""
    # As they are written: a search engine knows no stems.
    terms = " ".join(dict.fromkeys(topic_words(f"{own} {notes}").split()))
    wanted = [own, f"{own} {brief.title}", terms]
    if section.attempts > 1:
        wanted += [s.title for s in library.sources() if set(content_terms(s.title)) & set(content_terms(own))][:2]
    return list(dict.fromkeys(q for q in wanted if q.strip()))


def _searches(queries: Sequence[str], prefix: str, *, most: int = MAX_PARALLEL) -> list[Action]:
    distinct = list(dict.fromkeys(q.strip() for q in queries if q.strip()))[:most]
    return [Action(id=f"{prefix}q{i}", name="search", query=q) for i, q in enumerate(distinct, 1)]


def _passages(turns: Sequence[Turn]) -> list[str]:
    return list(dict.fromkeys(p for turn in turns for seen in turn.observations for p in seen.passages))


_MOST = 40


def read_page(section: Section, brief: Brief, passages: Sequence[Passage], library: Library) -> list[str]:
    """Return the ids of the passages that answer the section, best first; all, in order, where none has its words."""
    asked = without_furniture(
        " ".join([section.subject or section.title, section.description, *section.covers, *section.queries])
    )
    query = with_translations(asked, brief.language)
    sources = tuple(dict.fromkeys(passage.source for passage in passages))
    there = {passage.id for passage in passages}
    hits = library.search(query, limit=_MOST, sources=sources) if passages else ()
    return [hit.passage.id for hit in hits if hit.passage.id in there] or [passage.id for passage in passages]
