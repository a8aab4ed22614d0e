"""Let a writer or verifier make look-ups until it returns its text or findings."""

from collections.abc import Awaitable, Callable, Sequence

from deep_research.data import Move, Turn
from deep_research.run_context.context import RunContext
from deep_research.steps import search
from deep_research.steps.research import within_calls

NextMove = Callable[[Sequence[Turn]], Awaitable[Move]]
_NO_MORE = "No more look-ups are left. Answer now."


async def converse(ctx: RunContext, next_move: NextMove, *, most: int) -> tuple[Move, list[Turn]]:
    """Return the last move and the turns before it: at most `most` look-ups are made.

    One that goes on calling afterwards is told so once, and is then taken at its text.
    """
    turns: list[Turn] = []
    while True:
        move = await next_move(turns)
        if not move.actions:
            return move, turns
        wanted = [a for a in move.actions if a.name != "research_complete"]
        actions = tuple(within_calls(ctx, wanted, turns, most))
        if any(a.name != "unknown" for a in actions):
            turns.append(Turn(actions=actions, observations=tuple(await search.perform(ctx, actions))))
        elif turns and turns[-1].remarks:
            return move.model_copy(update={"actions": ()}), turns
        else:
            turns.append(Turn(remarks=(_NO_MORE,)))
