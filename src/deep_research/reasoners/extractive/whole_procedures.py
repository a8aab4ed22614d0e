"""Procedures: the steps that answer how to do something, whole, and what the same page has to be done beside them."""

import re
from collections.abc import Sequence

from deep_research.i18n.lexicon import any_word
from deep_research.ports import Library
from deep_research.reasoners.extractive.answer_blocks import PartAnswer, in_context, overlap
from deep_research.reasoners.extractive.block_ranking import Candidate, Region, regions
from deep_research.text.cleaning import plain_heading
from deep_research.text.question_parts import answer_shape
from deep_research.text.quotable_blocks import QuotableBlock

_STEPS_CHARS = 4000
"""How long a procedure may be with what stands around it."""
_BESIDE_CHARS, _BESIDE_MOST = 1000, 2
"""How much is quoted of another procedure of the page, and of how many."""
_SETS_UP = re.compile(any_word("asking.setup_patterns"), re.IGNORECASE)
_DOES = re.compile(any_word("headings.action_patterns"), re.IGNORECASE)
_AIMS = re.compile(any_word("quoting.aim_patterns"), re.IGNORECASE)


def with_all_steps(part: PartAnswer, library: Library) -> PartAnswer:
    """Return what answers how to do something with its steps whole, and what is said around them. Where that has none, as
    what tells how something works, the further blocks stay.

    Setting something up takes what the page has to be done beside it ("Preparing the server"), in the order of the page.
    """
    if answer_shape(part.text) != "steps" or not part.blocks:
        return part
    best = max(part.blocks, key=lambda block: block.score)
    whole = in_context([best], (), chars=_STEPS_CHARS)
    if not any(block.region.outline.atoms[n].kind in ("item", "code") for block in whole for n in block.block.atoms):
        whole += [block for block in part.blocks if not _is_told(block, whole)]
    if _SETS_UP.search(part.text):
        beside = [*whole, *_done_beside(best, whole, library)]
        whole = sorted(beside, key=lambda b: (b.region.source != best.region.source, b.start))
    return part._replace(blocks=tuple(whole))


def _is_told(block: Candidate, told: Sequence[Candidate]) -> bool:
    return any(overlap(block, other) for other in told)


def _done_beside(best: Candidate, told: Sequence[Candidate], library: Library) -> list[Candidate]:
    """Return how the other procedures begin that stand beside the one of `best` on its page."""
    around = best.heading.rpartition(" > ")[0]
    passages = [p for p in library.passages(best.region.source) if around and p.heading.rpartition(" > ")[0] == around]
    found: list[Candidate] = []
    for path in dict.fromkeys(p.heading for p in passages):
        if path == best.heading or not _DOES.match(plain_heading(path.rsplit(" > ", 1)[-1])):
            continue
        for region in regions([p for p in passages if p.heading == path], library):
            blocks = [b for b in region.blocks if region.passage(b.atoms[0]).heading == path and b.kind != "row"]
            aims = [b for b in blocks if _begins_paragraph(region, b) and _AIMS.match(region.outline.of(b.atoms[0]))]
            first = min(aims or blocks, key=lambda b: b.atoms, default=None)
            if first is not None:
                found += in_context([Candidate(region, first, 0.0, (), ())], (), chars=_BESIDE_CHARS)
    return [block for block in found if not _is_told(block, told)][:_BESIDE_MOST]


def _begins_paragraph(region: Region, block: QuotableBlock) -> bool:
    first, atoms = block.atoms[0], region.outline.atoms
    return not first or atoms[first - 1].unit != atoms[first].unit
