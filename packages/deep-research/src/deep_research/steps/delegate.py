"""Supervision: topics delegated to researchers, topics that wait, and results."""

from collections.abc import Sequence
from typing import NamedTuple

from claimcheck.text.cleaning import shorten
from deep_research.data import Action, Brief, Observation, Section, Turn
from deep_research.i18n.catalog import gap_of
from deep_research.run_context.context import RunContext
from deep_research.steps.research import handed_back

_TITLE_CHARS = 100
_WAITS = (
    "Not begun: at most {limit} delegations run at the same time. It waits and comes first in the next round, "
    "unless you end the research before."
)


class Round(NamedTuple):
    """One round of delegations: sections begun, delegations waiting, and the turn."""

    begun: tuple[Section, ...]
    waiting: tuple[Action, ...]
    waiting_sections: tuple[Section, ...]
    turn: Turn


async def next_delegations(
    ctx: RunContext, brief: Brief, sections: Sequence[Section], turns: Sequence[Turn]
) -> list[Action]:
    """Return the supervisor's next delegations; on failure none, and report a gap."""
    try:
        return list(await ctx.reasoner.delegate(brief, sections, turns, ctx.library))
    except Exception as error:  # noqa: BLE001 - what the researchers have brought must still be written up
        ctx.report_failure("supervision", error)
        return []


def asked_for(sections: Sequence[Section], number: int) -> tuple[Action, ...]:
    """Return the delegations of user-added sections, for the turn `number`."""
    return tuple(
        Action(id=f"u{number}d{i}", name="conduct_research", query=s.description or s.title, source=s.title)
        for i, s in enumerate(sections, 1)
    )


def lay_out(actions: Sequence[Action], waiting: Sequence[Action], sections: Sequence[Section], limit: int) -> Round:
    """Return the next round, earlier topics first; beyond `limit` topics wait.

    A topic named twice is researched once. Thoughts and unknown tools are answered at once.
    """
    offered = [a.model_copy(update={"id": f"{a.id}w"}) for a in waiting]
    named = {title_of(a).casefold() for a in (*offered, *actions)}
    # The focus points of what the supervisor does not take from the plan: its first own topic searches for them.
    left = [query for s in sections if s.status == "pending" and s.title.casefold() not in named for query in s.focus]
    begun: dict[str, Section] = {}
    late: dict[str, tuple[Action, Section]] = {}
    seen: list[Observation] = []
    for action in (*offered, *actions):
        if action.name != "conduct_research":
            seen.append(Observation(action=action.id))
            continue
        title = title_of(action)
        section, key = _known(action, sections), title.casefold()
        if section is None:
            section = Section(title=title, subject=title, description=action.query, queries=(title,), focus=tuple(left))
            left = []
        if key in begun or key in late:
            seen.append(Observation(action=action.id, text="This topic was named twice; it is researched once."))
        elif len(begun) < limit:
            begun[key] = _begun(section, action)
        else:
            late[key] = (action, section)
            seen.append(Observation(action=action.id, text=_WAITS.format(limit=limit)))
    return Round(
        tuple(begun.values()),
        tuple(action for action, _ in late.values()),
        tuple(section for _, section in late.values()),
        Turn(actions=(*offered, *actions), observations=tuple(seen)),
    )


def title_of(action: Action) -> str:
    """Return the title of a delegation's section; without one, the topic."""
    return " ".join(action.source.split()) or shorten(action.query, _TITLE_CHARS)


def _known(action: Action, sections: Sequence[Section]) -> Section | None:
    wanted = title_of(action).casefold()
    return next((s for s in sections if s.title.casefold() == wanted), None)


def _begun(section: Section, action: Action) -> Section:
    """Return the section to research; the topic is its task, or on retry its notes.

    On a retry the topic says what the section still lacks.
    """
    said = action.query if action.query.casefold() != section.title.casefold() else ""
    told = {"notes" if section.attempts else "description": said} if said else {}
    return section.model_copy(update={"status": "researching", "attempts": section.attempts + 1, **told})


def observed(ctx: RunContext, turn: Turn, sections: Sequence[Section]) -> Turn:
    """Return the turn with its researchers' results: checked text or a failure's gap."""
    have = {seen.action for seen in turn.observations}
    new = [_brought(ctx, a, sections) for a in turn.actions if a.id not in have]
    return turn.model_copy(update={"observations": (*turn.observations, *new)})


def _brought(ctx: RunContext, action: Action, sections: Sequence[Section]) -> Observation:
    section = _known(action, sections)
    if section is None:
        return Observation(action=action.id)
    if section.status != "failed":
        return Observation(action=action.id, text=handed_back(section, ctx.library))
    failure = next((g.why for g in reversed(ctx.log.gaps) if g.what == section.title), "It failed.")
    return Observation(action=action.id, text=section.content, failure=failure)


def never_begun(
    ctx: RunContext,
    sections: Sequence[Section],
    asked: Sequence[Action],
    planned: Sequence[str],
    *,
    rounds_used_up: bool,
) -> list[Section]:
    """Return the sections without a researcher as failed, and log the reasons.

    `asked` are delegations that were not begun.

    `planned` are the titles of the plan: topics beside them are of the supervisor's own choice.
    """
    ended = "rounds_used_up" if rounds_used_up else "research_ended"
    code = "report_wanted" if ctx.steering.now.finishing else ended
    rounds = str(ctx.settings.max_researcher_iterations)
    left = {s.title: s for s in sections if s.status == "pending"}
    topics = [title_of(a) for a in asked if a.name == "conduct_research"]
    own = [s.title for s in sections if s.status == "completed" and s.title not in planned]
    replaced = [title for title in left if title not in topics] if code == "research_ended" and own else []
    if replaced:  # the supervisor found other topics fitter, and these are in the report
        ctx.report_gap(gap_of("; ".join(replaced), "replaced_by_own", titles="; ".join(own)))
    for title in dict.fromkeys([*(t for t in left if t not in replaced), *topics]):
        ctx.report_gap(gap_of(title, code, rounds=rounds))
    return [s.model_copy(update={"status": "failed"}) for s in left.values()]
