"""The blocks that answer a question: each part's best first, nothing for a part that no block speaks of."""

from collections.abc import Sequence
from typing import NamedTuple

from deep_research.data import Passage
from deep_research.i18n.language import detect, is_cjk
from deep_research.ports import Library
from deep_research.reasoners.extractive.asked_words import Vocabulary, Word, asked_words
from deep_research.reasoners.extractive.block_ranking import Candidate, ranked, regions, weigh
from deep_research.text.question_parts import question_parts

_HITS = 30
_OTHER_PARTS = 0.45
"""What a word of another part of the question weighs."""
_ENOUGH, _ENOUGH_CJK = 0.62, 0.5
"""Share of a part's weight that one of its best blocks must speak of."""
_TRIED = 5
_GOOD = 0.6
"""A further block is quoted from this share of the best one's score on."""


class PartAnswer(NamedTuple):
    """A part of the question with its blocks, best first; without blocks, the closest one found (None: nothing)."""

    text: str
    blocks: tuple[Candidate, ...]
    closest: Candidate | None = None
    answered: bool = True


def answer_parts(
    question: str, language: str, passages: Sequence[Passage], library: Library, *, chars: int, most: int
) -> list[PartAnswer]:
    """Return the parts of `question` with the blocks that answer them; `passages` are what was found, best first.

    All blocks together have about `chars` characters; `most` bounds how many there are beyond one for each part.
    """
    own = detect(question, default=language)
    hits = _hits(question, passages, library)
    vocabulary = Vocabulary(library, hits)
    found = regions(hits, library)
    parts = question_parts(question, own)
    words = [asked_words(part, own, hits, vocabulary) for part in parts]
    answers: list[PartAnswer] = []
    for number, part in enumerate(parts):
        others = [w._replace(weight=w.weight * _OTHER_PARTS) for n, ws in enumerate(words) if n != number for w in ws]
        best = ranked(found, [*words[number], *others])
        if not words[number] or not best or not _speaks(best, words[number], own, hits):
            answers.append(PartAnswer(part, (), best[0] if best else None, answered=False))
        else:
            answers.append(PartAnswer(part, tuple(best[:_HITS])))
    return _chosen(answers, chars, most)


def _hits(question: str, passages: Sequence[Passage], library: Library) -> list[Passage]:
    """The passages found, in the order of one search over all sources; what that does not return comes last."""
    searched = [hit.passage for hit in library.search(question, limit=_HITS)]
    return list({p.id: p for p in [*searched, *passages]}.values())[:_HITS]


def _speaks(best: Sequence[Candidate], words: Sequence[Word], language: str, hits: Sequence[Passage]) -> bool:
    total = weigh(words, [1.0] * len(words))
    covered = max(weigh(words, c.said[: len(words)]) for c in best[:_TRIED])
    native = is_cjk(language)
    return covered >= (_ENOUGH_CJK if native else _ENOUGH) * total


def _chosen(answers: Sequence[PartAnswer], chars: int, most: int) -> list[PartAnswer]:
    """Of each part its best block, then the next ones that say something else while there is room."""
    taken: list[Candidate] = []
    firsts: list[list[Candidate]] = []
    for answer in answers:
        first = next((c for c in answer.blocks[:1]), None)
        new = first is not None and not any(_overlap(first, other) for other in taken)
        firsts.append([first] if first is not None and new else [])
        taken += [first] if first is not None and new else []
    more: list[list[Candidate]] = [[] for _ in answers]
    used = sum(c.length for c in taken)
    left = most
    for place, answer in enumerate(answers):
        for candidate in answer.blocks:
            if left <= 0 or candidate.score < _GOOD * answer.blocks[0].score:
                break
            if used + candidate.length > chars or any(_overlap(candidate, other) for other in taken):
                continue
            more[place].append(candidate)
            taken.append(candidate)
            used += candidate.length
            left -= 1
    return [a._replace(blocks=(*f, *m)) for a, f, m in zip(answers, firsts, more, strict=True)]


def _overlap(one: Candidate, other: Candidate) -> bool:
    """Whether two blocks quote the same sentence, or the same words in another document."""
    if one.region.source == other.region.source:
        a, b = one.region, other.region
        ones = {a.start + a.outline.atoms[n].start for n in one.block.atoms if a.outline.atoms[n].kind != "header"}
        return any(b.start + b.outline.atoms[n].start in ones for n in other.block.atoms)
    return one.text == other.text
