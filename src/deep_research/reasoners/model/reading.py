"""Reading a page for a section: a model sees all of it, part by part, and names the passages that answer."""

from collections.abc import Sequence
from itertools import zip_longest

from deep_research.concurrency import side_by_side
from deep_research.data import Brief, ModelMessage, Passage, Section
from deep_research.errors import ContextTooLong, LimitReached, ModelError
from deep_research.ports import Library
from deep_research.reasoners.model.answers import ReadAnswer
from deep_research.reasoners.model.showing import fenced_passage
from deep_research.reasoners.model.thinker import Thinker, told_plainly, user
from deep_research.text.budget import estimate_tokens
from deep_research.text.told import gap_from

_PARTS = 4
"""Calls that the reading of one page may take."""
_MOST = 8
"""Passages named of each part."""


class Reading(Thinker):
    """The thought of a researcher that opens a long page."""

    async def read_page(
        self, section: Section, brief: Brief, passages: Sequence[Passage], library: Library
    ) -> Sequence[str]:
        """See `ports.Reasoner.read_page`. The parts are read at the same time, at most four.

        Of a page that is longer still, the passages with the section's words are read, from all over the page.
        """
        ranked = await self._fallback.read_page(*told_plainly(section, brief), passages, library)

        async def make() -> Sequence[str]:
            parts = _parts(passages, ranked, library, budget=self._passage_tokens)
            system = self._system(brief.question or brief.title, brief.language, brief)
            named = await side_by_side(
                self._tried(system, section, part, (n, len(parts))) for n, part in enumerate(parts, 1)
            )
            failed = [answer for answer in named if isinstance(answer, ModelError | LimitReached)]
            if len(failed) == len(named):
                raise failed[0]
            for error in failed:
                self._on_gap(gap_from(f"reading: {section.title}", error, "part_unread"))
            rows = zip_longest(*(answer for answer in named if isinstance(answer, list)))
            return list(dict.fromkeys(key for row in rows for key in row if key is not None))

        async def instead() -> Sequence[str]:
            return ranked

        return await self._or_else(f"reading: {section.title}", make(), instead)

    async def _tried(
        self, system: ModelMessage, section: Section, part: dict[str, str], place: tuple[int, int]
    ) -> list[str] | ModelError | LimitReached:
        """A part that fails costs only itself."""
        try:
            return await self._relevant(system, section, part, place)
        except (ModelError, LimitReached) as error:
            return error

    async def _relevant(
        self, system: ModelMessage, section: Section, part: dict[str, str], place: tuple[int, int]
    ) -> list[str]:
        """The ids of a part that answer; `place` is its number and that of all. Too long a part is read in halves."""
        text = self._render(
            "read_page",
            section=section,
            passages="\n".join(part.values()),
            part=place[0],
            parts=place[1],
            most=_MOST,
        )
        try:
            answer = await self._ask.structured("research", [system, user(text)], ReadAnswer, max_output_tokens=400)
        except ContextTooLong:
            if len(part) < 2:
                raise
            rows = list(part.items())
            halves = (dict(rows[: len(rows) // 2]), dict(rows[len(rows) // 2 :]))
            return [key for half in halves for key in await self._relevant(system, section, half, place)]
        return [key for key in (one.strip("[] ") for one in answer.relevant) if key in part][:_MOST]


def _parts(
    passages: Sequence[Passage], ranked: Sequence[str], library: Library, *, budget: int
) -> list[dict[str, str]]:
    """A page in parts of about `budget` tokens, in the order of its text; what does not fit goes by rank."""
    blocks = {p.id: fenced_passage(p, library) for p in passages}
    sizes = {key: estimate_tokens(block) for key, block in blocks.items()}
    kept, left = set[str](), _PARTS * budget
    for key in dict.fromkeys([*(key for key in ranked if key in blocks), *blocks]):
        left -= sizes[key]
        if left < 0 and kept:
            break
        kept.add(key)
    parts: list[dict[str, str]] = []
    room = 0
    for key, block in blocks.items():
        if key not in kept:
            continue
        if not parts or (sizes[key] > room and len(parts) < _PARTS):
            parts.append({})
            room = budget
        parts[-1][key] = block
        room -= sizes[key]
    return parts
