"""Research a section in one growing conversation; its researcher writes notes."""

import asyncio
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence

from deep_research.data import Action, Brief, Move, Section, Turn, calls_left
from deep_research.data.actions import OF_FOCUS
from deep_research.data.noun import copy_fields
from deep_research.events import SectionWritten
from deep_research.i18n.catalog import gap_of
from deep_research.ports import Library
from deep_research.run_context.context import RunContext
from deep_research.steps import search
from deep_research.text.prompt_fencing import attribute
from deep_research.verification.citations import cited_ids

_HEADING = re.compile(r"^#{1,4} [^\n]+$", re.MULTILINE)
_ITEM = re.compile(r"^[-*+] (.+(?:\n[ \t]{2,}\S.*)*)", re.MULTILINE)
_MOST_FINDINGS, _LOST_TURNS = 8, 3
_MOST_CHARS = 100_000
"""Of the notes of a section, all attempts together: five times what good ones have."""
_MOST_SOURCES = 40
"""Of those that a researcher has seen, in what it hands back."""


async def next_move(ctx: RunContext, section: Section, brief: Brief, turns: Sequence[Turn]) -> Move:
    """Return a researcher's next move, within the tool calls that are left.

    Research ends with a move of notes, or an empty one.

    It does not end before something was searched for: where none of its calls could be read, the planned searches are made.
    """
    if _reached_nothing(ctx, turns):
        return Move()  # other words for the same search would reach nothing either
    move = Move() if _is_lost(turns) else await ctx.reasoner.next_move(section, brief, turns, ctx.library)
    actions = list(move.actions)
    looked = seen_passages(turns) or any(a.name in ("search", "call_tool") for turn in turns for a in turn.actions)
    if not actions and not looked and ctx.reasoner.info.is_language_model:
        planned = "\n".join(section.queries or (section.title,))
        return Move(actions=(Action(id=f"p{len(turns)}", name="search", query=planned),))
    # Each focus point is searched for, in their order, beside what the researcher itself begins with.
    own = {query for action in actions for query in action.query.split("\n")}
    if left := [query for query in section.focus if actions and not turns and query not in own]:
        actions.append(Action(id=OF_FOCUS, name="search", query="\n".join(left)))
    most = section.calls(ctx.settings.max_tool_calls_per_researcher)
    return move.model_copy(update={"actions": tuple(within_calls(ctx, actions, turns, most))})


def within_calls(ctx: RunContext, actions: Iterable[Action], turns: Sequence[Turn], most: int) -> Iterator[Action]:
    """Yield the actions within `most` calls (`calls_left`); others as calls not made."""
    left, free, answered = calls_left(turns, most)
    made = dict[Hashable, bool]()
    for action in actions:
        if action.call not in made:  # else it is a copy
            is_free = action.counts and free > 0 and (action.call in answered or search.is_free(ctx, action))
            free -= is_free
            left -= action.counts and not is_free
            made[action.call] = is_free or left >= 0 or not action.counts
        if made[action.call]:
            yield action
        else:
            yield action.model_copy(update={"name": "unknown", "query": f"no calls are left for this {action.name}"})


def _is_lost(turns: Sequence[Turn]) -> bool:
    """Return whether the last turns all had unreadable calls or the same search."""
    last = [{(a.name, a.name == "search" and a.call) for a in turn.actions} for turn in turns[-_LOST_TURNS:]]
    same = len(last) == _LOST_TURNS and set.intersection(*last) == set.union(*last)
    return same and {name for name, _ in last[0]} in ({"search"}, {"unknown"})


def _reached_nothing(ctx: RunContext, turns: Sequence[Turn]) -> bool:
    """Return whether every place failed in all turns, with no user remark since."""
    seen = [observation for turn in turns for observation in turn.observations]
    places = {place.name for place in ctx.outside.places}
    failed = bool(places) and all(places <= set(o.failed) and not o.passages for o in seen)
    return bool(seen) and failed and not turns[-1].remarks


def is_complete(actions: Iterable[Action]) -> bool:
    """Return whether a researcher says that it has enough."""
    return any(action.name == "research_complete" for action in actions)


async def write_notes(
    ctx: RunContext, section: Section, brief: Brief, turns: Sequence[Turn], *, notes: str = ""
) -> Section:
    """Return the section with its researcher's notes, given already or requested.

    Those of a further attempt are added to the earlier ones. A section for which nothing was seen has none, which is a gap.
    """
    seen = seen_passages(turns)
    if not notes and seen:
        asked = ctx.steering.now.brief_with_remarks(brief)
        notes = await ctx.reasoner.take_notes(section, asked, turns, ctx.library)
    text = "\n\n".join(filter(None, (section.content, notes.strip())))[:_MOST_CHARS]
    known = [key for key in await asyncio.to_thread(cited_ids, text) if ctx.library.passage(key) is not None]
    if not known:
        is_unread = bool(seen) and section.title in ctx.reasoner.unanswered
        ctx.report_gap(gap_of(section.title, "without_model" if is_unread else "section_empty"))
    done = section.model_copy(
        update={
            "content": text,
            "key_findings": tuple(dict.fromkeys([*section.key_findings, *key_findings(notes, ctx.library)])),
            "sources": tuple(dict.fromkeys(key.partition("p")[0] for key in known)),
            "status": "completed",
            "tool_calls": _calls_made(section, turns),
            "searched": _queries_made(section, turns, {place.name for place in ctx.outside.places}),
            "failed": tuple(dict.fromkeys(name for turn in turns for o in turn.observations for name in o.failed)),
            "passages": tuple(dict.fromkeys([*known, *seen])),
        }
    )
    counts = {"sources": len(done.sources), "passages": len(known)}
    ctx.emit(copy_fields(SectionWritten, done, section=done.title, **counts))
    return done


def seen_passages(turns: Iterable[Turn]) -> list[str]:
    """Return the ids of all passages in the turns, opened passages first."""
    turns = list(turns)
    opened = {a.id for turn in turns for a in turn.actions if a.name == "open"}
    seen = [o for turn in turns for o in turn.observations]
    ordered = [*(o for o in seen if o.action in opened), *(o for o in seen if o.action not in opened)]
    return list(dict.fromkeys(key for o in ordered for key in o.passages))


def _queries_made(section: Section, turns: Iterable[Turn], places: set[str]) -> tuple[str, ...]:
    """Return a section's answered queries, each once, earlier attempts first."""
    calls = ((a, o) for turn in turns for a, o in zip(turn.actions, turn.observations, strict=False))
    answered = (a for a, o in calls if o.found or not ({a.source} if a.source else places) <= set(o.failed))
    made = (line for a in answered if a.name == "search" for line in a.query.split("\n"))
    return tuple(dict.fromkeys([*section.searched, *made]))


def _calls_made(section: Section, turns: Iterable[Turn]) -> tuple[str, ...]:
    """Return a section's look-up calls, a line each, those of earlier attempts first."""
    made = list(section.tool_calls)
    for action in (a for turn in turns for a in turn.actions if a.name in ("search", "open", "call_tool")):
        place = f" ({action.source})" if action.source not in ("", action.tool) else ""
        made.append(f"{action.tool}{place}: {action.query}".replace("\n", " · "))
    return tuple(dict.fromkeys(made))


def handed_back(section: Section, library: Library) -> str:
    """Return a researcher's calls, findings and seen sources, cited sources first."""
    keys = dict.fromkeys([*section.sources, *(key.partition("p")[0] for key in section.passages)])
    seen = (source for key in list(keys)[:_MOST_SOURCES] if (source := library.source(key)) is not None)
    parts = {
        "Queries and tool calls made": section.tool_calls,
        "Findings": [section.content],
        "Sources": [f"[{s.id}] {attribute(s.title)}: {s.url or s.location}" for s in seen],
    }
    return "\n\n".join("\n".join([f"**{name}**", *told]) for name, told in parts.items() if any(told))


def key_findings(notes: str, library: Library) -> tuple[str, ...]:
    """Return list points under the first heading of notes that name their passages.

    One that names a passage which does not exist is none: it stays in the notes alone, where it is flagged.
    """
    begin = _HEADING.match(notes.lstrip())
    points = _ITEM.findall(_HEADING.split(notes, maxsplit=2)[1]) if begin else []
    cited = ((" ".join(point.split()), cited_ids(point)) for point in points)
    return tuple(said for said, keys in cited if keys and all(map(library.passage, keys)))[:_MOST_FINDINGS]
