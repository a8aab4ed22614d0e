"""The blocks that answer a question: each part's best first, nothing unrelated for a part that no block speaks of."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from deep_research.data import Passage
from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word
from deep_research.reasoners.extractive.asked_words import Word, terms_of
from deep_research.reasoners.extractive.block_ranking import (
    KEY,
    Candidate,
    Region,
    is_history,
    key_of,
    named,
    ranked,
    weigh,
)
from deep_research.reasoners.extractive.question_analysis import topic_of
from deep_research.reasoners.extractive.question_reading import (
    CHOOSES,
    NAMED,
    Part,
    Reading,
    parts_of,
    says_message,
)
from deep_research.text.question_parts import (
    asks_something,
    decided,
    messages_in,
)
from deep_research.text.quotable_blocks import (
    QuotableBlock,
    annotates,
    announces,
    is_record,
    is_sentence,
    named_table,
    points_back,
    telling_units,
    whole_end,
    with_told_titles,
)

_ANSWERS, _CLOSE = 0.6, 0.36
"""Share of a part's weight that one of its best blocks must speak of to answer it, and to be shown as the closest."""
_WITHOUT_NAME = 0.55
"""The same where a name that is asked about stands nowhere: the capital of one country is not that of another."""
_IN_TEXT = 0.25
"""What a name counts that the text around a block has."""
_TRIED = 5
_VAGUE_WORDS, _ABOUT = 2, 0.6
"""A question of more words, however plain, is not vague where one of them is telling."""
_NEAR, _AS_GOOD = 1.15, 0.95
"""What standing under the heading of the best block is worth to a further one; what is nearly as good as the best."""
_WHOLE_LIST = 0.75
"""From which share of the score of its best item on a list is quoted whole."""
_GOOD, _LACKING = 0.6, 0.45
"""A further block is quoted from this share of the best one's score on; less where it says a word that is missing."""
_TELLS = 0.4
"""Share of the weight of what is asked that a paragraph beside an answer must say."""
_HEADS, _HEADED_CHARS = 0.75, 4000
"""Share of that weight from which a heading says what is asked, and how much is quoted of what stands below it."""
_TABLE_CHARS = 3500
"""How long a table may be that stands with the text that names it."""
_TELLING = 40
"""Letters from which on the same sentence in two documents is a copy."""

JUDGED = 30
"""How many of a part's best blocks a ranker is shown."""
_ROW_CHARS = 400
"""How much longer all that is quoted may get by a row: a shorter one beside it has the value of something else."""
_SHOWN_CHARS, _PART_CHARS = 2000, 400

_FOREIGN, _DETECTED = 0.85, 2000
"""What a block in English is worth to a reader of another language; how much of a text tells its language."""

_CHOSEN, _CHOSEN_LIST, _TURNED_DOWN = 1.3, 2.0, 0.6
"""What a block is worth below a heading that says when what is asked about is used, what a list there is, which has all the
cases, and what a block is worth below a heading about what is turned down."""
_NOT = re.compile(any_word("asking.unsuited_patterns"), re.IGNORECASE)
_SPEAKS_AGAINST = re.compile(any_word("headings.unsuited_patterns"), re.IGNORECASE)
_WORKS = re.compile(any_word("asking.working_patterns"), re.IGNORECASE)
_GOES_ON = re.compile(any_word("quoting.mechanism_patterns"), re.IGNORECASE)
_DIFFERS = re.compile(any_word("quoting.differing_patterns"), re.IGNORECASE)
_HOW, _DIFFERENCE = 1.5, 1.5
"""What a block is worth that tells how something goes on where a question asks how it works, and one that says how all that
a comparison names differs."""
_WEIGHS = re.compile(any_word("quoting.weighing_patterns"), re.IGNORECASE)
_DECIDES, _QUOTED = 1.3, 1.5
"""What a block is worth that weighs or recommends where a question asks whether to do something, and one that has word for
word what a question quotes."""
_FORMAL = re.compile(any_word("headings.formal_patterns"), re.IGNORECASE)

Answered = Literal["yes", "partly", "no"]


class PartAnswer(NamedTuple):
    """A part of the question with its blocks, best first.

    `partly`: the blocks are only the closest ones, for nothing says the words `missing`. `no`: there are none, and
    `closest` is the nearest passage, if anything was found.
    """

    text: str
    answered: Answered
    blocks: tuple[Candidate, ...] = ()
    missing: tuple[str, ...] = ()
    closest: Passage | None = None
    is_corrected: bool = False
    """Whether the blocks correct what the question takes for granted."""


def answer_parts(question: str, reading: Reading, *, chars: int, most: int) -> list[PartAnswer]:
    """Return the parts of `question` with the blocks that answer them; none where it is too vague to be answered.

    All blocks together have about `chars` characters; `most` bounds how many there are beyond one for each part.
    """
    parts = parts_of(question, reading)
    if not parts or _is_vague(parts, reading.regions):
        return []
    return _chosen(
        [(part, *_answered(part, reading, said)) for part, said in _with_messages(question, parts)],
        max(chars, _PART_CHARS * len(parts)),
        most,
    )


def blocks_to_rank(question: str, reading: Reading) -> dict[str, list[str]]:
    """Return for each part of `question` its best blocks, as a ranker is to see them."""
    parts = _with_messages(question, parts_of(question, reading))
    best = {part.text: _answered(part, reading, said)[1][:JUDGED] for part, said in parts}
    return {text: list(dict.fromkeys(map(_with_headings, blocks))) for text, blocks in best.items() if len(blocks) > 1}


def _with_headings(candidate: Candidate) -> str:
    return f"{candidate.region.title} > {candidate.heading}\n{candidate.text}"[:_SHOWN_CHARS]


def _in_order(best: list[Candidate], worth: Mapping[str, float]) -> list[Candidate]:
    """Return blocks with those that a ranker has judged in its order, which takes over the scores of ours."""
    judged = [c for c in best[:JUDGED] if _with_headings(c) in worth]
    scores = [c.score for c in judged]
    ordered = sorted(judged, key=lambda c: -worth[_with_headings(c)])
    known = {id(c) for c in judged}
    rest = [c for c in best if id(c) not in known]
    return sorted([*(c._replace(score=s) for c, s in zip(ordered, scores, strict=True)), *rest], key=lambda c: -c.score)


def is_answered(question: str, reading: Reading) -> bool:
    """Return whether some part of `question` is spoken of in what was read."""
    parts = parts_of(question, reading)
    return not parts or any(_answered(part, reading, said)[0] != "no" for part, said in _with_messages(question, parts))


def section_blocks(
    part: Part, reading: Reading, worth: Callable[[Candidate], float], *, chars: int, most: int
) -> tuple[Candidate, ...]:
    """Return the best blocks for one part, whole, whatever they leave unsaid; those of one document in its order.

    `worth` says how well a block belongs to the section; its score is multiplied by it, and 0 keeps it out.
    """
    found = _readable(ranked(reading.regions, part.words, part.shape, dated=part.is_dated), reading.language)
    own = [c._replace(score=c.score * w) for c in found if (w := worth(c)) and _is_worded(c, part)]
    (answer,) = _chosen([(part, "yes", sorted(own, key=lambda c: -c.score))], chars, most)
    return answer.blocks


def in_context(blocks: Sequence[Candidate], said: Sequence[Candidate], *, chars: int) -> list[Candidate]:
    """Return the sections that `blocks` stand in, the best of them first, from their beginning where a block is near enough
    to it, as far as there is room in about `chars` characters, without what `said` quotes already."""
    places: dict[tuple[str, tuple[int, ...]], list[Candidate]] = {}
    for block in blocks:
        section = next(s for s in block.region.outline.sections if block.block.atoms[0] in s)
        places.setdefault((block.region.source, section), []).append(block)
    widened: dict[tuple[str, tuple[int, ...]], Candidate] = {}
    left = chars
    for place, some in sorted(places.items(), key=lambda item: -max(c.score for c in item[1])):
        room = left if len(widened) + 1 == len(places) else max(left * 2 // 3, chars // 3)
        found = _widened(place[1], some, said, room) if left > 0 else None
        if found is not None:
            widened[place] = found
            left -= found.length
    return [widened[place] for place in places if place in widened]


def _widened(
    section: Sequence[int], blocks: Sequence[Candidate], said: Sequence[Candidate], chars: int
) -> Candidate | None:
    """Return the paragraphs, lists and tables of a section in a row: those of `blocks` with what stands before and behind."""
    region = blocks[0].region
    atoms = region.outline.atoms
    inside = {n for block in region.blocks for n in block.atoms if n in set(section)}
    wanted = {n for block in blocks for n in block.block.atoms}
    units = [list(group) for _, group in groupby(sorted(inside), key=lambda n: atoms[n].unit)]
    kept = {n for block in blocks if block.block.kind != "run" for n in block.block.atoms}
    units = [u for u in telling_units(region.outline, units, kept) if not _is_quoted(region, u, said)]
    asked = [place for place, unit in enumerate(units) if wanted & set(unit)]
    if not asked:
        return None
    near = region.outline.length([n for u in units[: asked[0] + 1] for n in u]) <= chars
    start = end = 0 if near else asked[0]
    length = 0
    while end < len(units) and (length <= 0 or length + region.outline.length(units[end]) <= chars):
        length += region.outline.length(units[end])
        end += 1
    # What comes next stands below another heading, or has no room: it is not announced either way.
    numbers = whole_end(region.outline, [n for u in units[start:end] for n in u])
    return blocks[0]._replace(block=QuotableBlock("run", tuple(numbers))) if numbers else None


def _is_quoted(region: Region, unit: Sequence[int], said: Sequence[Candidate]) -> bool:
    return any(
        other.region.source == region.source and not offsets.isdisjoint(_quoted_offsets(other))
        for other in said
        for offsets in [{region.start + region.outline.atoms[n].start for n in unit}]
    )


def with_named_tables(blocks: Sequence[Candidate], said: Sequence[Candidate] = ()) -> tuple[Candidate, ...]:
    """Return blocks with the tables that they speak of by number and that stand under the same heading; a table is quoted
    whole instead of one of its rows, also where `said` has it."""
    tables = [block for block in said if block.block.kind == "table"]
    found: list[Candidate] = []
    for block in blocks:
        table = named_table(block.region.outline, block.block, _TABLE_CHARS) if block.block.kind != "row" else None
        beside = [block._replace(block=table)] if table else []
        told = [other for other in (*blocks, *tables) if other.block.kind != "row"]
        beside = [b for b in beside if not any(overlap(b, other) for other in told)]
        tables += beside
        found += [block, *beside]
    kept = tuple(b for b in found if b.block.kind != "row" or not any(overlap(b, table) for table in tables))
    return kept or tuple(found)


def with_told_items(blocks: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return blocks, of a list of mere names each with the sentence that begins to tell of it."""
    return tuple(b._replace(block=with_told_titles(b.region.outline, b.block, _TABLE_CHARS)) for b in blocks)


def below_choosing(part: PartAnswer, reading: Reading, *, chars: int, most: int) -> list[Candidate]:
    """Return how the other sections begin of the document that answers best whose headings say when something is used: what
    speaks against it, what helps to choose."""
    best = max(part.blocks, key=lambda block: block.score, default=None)
    found: dict[str, Candidate] = {}
    for region in reading.regions if best is not None else ():
        for block in region.blocks if best is not None and region.source == best.region.source else ():
            first = Candidate(region, block, 0.0, (), ())
            if first.heading not in found and CHOOSES.search(first.heading.rsplit(" > ", 1)[-1]):
                found[first.heading] = first
    told = {block.heading for block in part.blocks}
    beside = [first for heading, first in found.items() if heading not in told and " > " in heading][:most]
    return [block for first in beside for block in with_told_items(in_context([first], part.blocks, chars=chars))]


def stands_beside(parts: Sequence[PartAnswer], words: Sequence[Word], *, chars: int, most: int) -> list[Candidate]:
    """Return what stands in the same sections as the paragraphs that answer, in order and after what is quoted first: it
    often says the rest. A row, a list or a procedure is whole by itself. What says little of `words` is left out, unless it
    goes on with what was said before.

    It has about `chars` characters for each of at most `most` sections, and more where the heading of a section says what is
    asked: then all of it is about that.
    """
    taken = [block for part in parts for block in part.blocks]
    found: list[Candidate] = []
    naming = [word for word in words if not word.light]
    total = weigh(naming, [1.0] * len(naming))

    def tells(candidate: Candidate) -> bool:
        terms = terms_of(candidate.text)
        return points_back(candidate.text) or weigh(naming, [w.share(terms) for w in naming]) >= _TELLS * total

    sections: set[tuple[str, tuple[int, ...]]] = set()
    for block in taken:
        place = (block.region.source, next(s for s in block.region.outline.sections if block.block.atoms[0] in s))
        if (
            block.block.kind not in ("paragraph", "run")
            or is_history(block)
            or place in sections
            or len(sections) == most
        ):
            continue
        sections.add(place)
        heading = terms_of(block.heading.rsplit(" > ", 1)[-1])
        if weigh(naming, [w.share(heading) for w in naming]) >= _HEADS * total:
            found += _rest_of(block, place[1], [*taken, *found], lambda _: True, _HEADED_CHARS)
        else:
            found += _rest_of(block, place[1], [*taken, *found], tells, chars)
    return found


def _rest_of(
    block: Candidate,
    section: Sequence[int],
    taken: Sequence[Candidate],
    tells: Callable[[Candidate], bool],
    chars: int,
) -> list[Candidate]:
    """Return the blocks of a section that `tells` lets through and that quote none of `taken`: those behind `block`, then
    those before it."""
    inside = [b for b in block.region.blocks if set(b.atoms) <= set(section) and b.kind not in ("row", "code")]
    inside.sort(key=lambda b: (b.atoms[0] < block.block.atoms[0], b.atoms[0], -len(b.atoms)))
    rest: list[Candidate] = []
    for other in inside:
        candidate = block._replace(block=other)
        fits = sum(c.length for c in rest) + candidate.length <= chars and not annotates(candidate.text)
        if fits and tells(candidate) and not any(overlap(candidate, known) for known in (*taken, *rest)):
            rest.append(candidate)
    return rest


def _is_worded(candidate: Candidate, part: Part) -> bool:
    """Return whether a block says something in a sentence or in a row that names the part: no contents, no record."""
    outlined, numbers = candidate.region.outline, candidate.block.atoms
    rows = [n for n in numbers if outlined.atoms[n].kind == "row"]
    if rows:
        return any(any(candidate.region.share(n, part.own)) for n in rows)
    if is_record(outlined, candidate.block) or _FORMAL.match(candidate.heading.rsplit(" > ", 1)[-1]):
        return False
    return any(is_sentence(text) or _names_it(text, part) for text in map(outlined.of, numbers))


def _names_it(text: str, part: Part) -> bool:
    """Return whether a text is the line that says what a thing is ("git-merge - Join two histories")."""
    key = KEY.match(text)
    return part.shape == "definition" and key is not None and named(key[1], part.own) >= NAMED


def _of_choice(candidate: Candidate, part: Part) -> Candidate:
    """Return a block with more for a heading that says when a thing is used, and less for one about what is turned down."""
    heading = candidate.heading.rsplit(" > ", 1)[-1] or candidate.region.title
    terms = terms_of(heading)
    about, against = (weigh(words, [w.share(terms) for w in words]) for words in (part.own, part.against))
    titled = CHOOSES.search(candidate.region.title) and any(w.share(terms_of(candidate.region.title)) for w in part.own)
    fits = part.is_choice and (about or titled) and CHOOSES.search(heading)
    worth = 1.0 if not fits else _CHOSEN_LIST if candidate.block.kind == "list" else _CHOSEN
    if fits and _NOT.search(part.text):
        worth *= _CHOSEN if _SPEAKS_AGAINST.search(heading) else _TURNED_DOWN
    return candidate._replace(score=candidate.score * (_TURNED_DOWN if against > about else worth))


def _is_vague(parts: Sequence[Part], found: Sequence[Region]) -> bool:
    """Whether a question names nothing, or one plain word that is neither to be defined nor what a text is about."""
    every = {word.ways: word for part in parts for word in part.words}
    words = {ways: word for ways, word in every.items() if not word.light}
    if not words:
        return True
    if len(words) > 1 or len(every) > _VAGUE_WORDS or any(part.shape == "definition" for part in parts):
        return False
    (word,) = words.values()
    foreign = word.text.isascii() and not all(part.text.isascii() for part in parts)
    if foreign or any(sign.isupper() or not sign.isalpha() for sign in word.text):
        return False
    headed = {region.title for region in found} | {h for r in found for p in r.passages for h in p.heading.split(" > ")}
    # "How do I print?" and "Network setup" are about something where a text has a heading about that.
    is_about = any(word.share(terms_of(head)) >= _ABOUT for head in headed)
    if any(asks_something(part.text) for part in parts):
        return len(every) == 1 and all(part.shape == "steps" for part in parts) and not is_about
    return not (is_about and len(every) > 1) and not any(named(head, [word]) == 1.0 for head in headed)


def _with_messages(question: str, parts: Sequence[Part]) -> list[tuple[Part, tuple[str, ...]]]:
    """Return each part with the messages it quotes; one that stands alone asks about those told before it too."""
    return [(part, messages_in(part.text if len(parts) > 1 else question)) for part in parts]


def _answered(part: Part, reading: Reading, messages: Sequence[str]) -> tuple[Answered, list[Candidate]]:
    """Whether the blocks found speak of what a part names and quotes, and these, best first."""
    best = _readable(ranked(reading.regions, part.words, part.shape, dated=part.is_dated), reading.language)
    total = weigh(part.own, [1.0] * len(part.own))
    if part.is_choice or part.against:
        best = sorted((_of_choice(c, part) for c in best), key=lambda c: -c.score)
    how = telling_how(lambda _: 1.0, part.text)
    if messages:
        best = [c._replace(score=c.score * (_QUOTED if says_message(c.text, messages) else 1.0)) for c in best]
    if decided(part.text) and not part.is_choice:
        best = [c._replace(score=c.score * _worth_for_deciding(c, part)) for c in best]
    if len(topic_of(part.text).subjects) > 1:
        best = [c._replace(score=c.score * _DIFFERENCE) if _tells_difference(c, part) else c for c in best]
    best = sorted((c._replace(score=c.score * how(c)) for c in best), key=lambda c: -c.score)
    if part.beside:
        # What speaks of the parts beside it alone does not answer this one.
        best = [c for c in best if weigh(part.own, c.said[: len(part.own)]) >= _CLOSE * total] or best
    about = [c for c in best if _is_about(c, part.topic) and not is_history(c)] if part.topic else []
    best = about or best
    said = max((weigh(part.own, _said_around(c, part)) for c in best[:_TRIED]), default=0.0)
    share = said / total if total else 0.0
    if part.unsaid and share >= _ANSWERS:
        return "partly", _in_order(best, reading.order.get(part.text, {}))
    absent = share < _WITHOUT_NAME and any(_is_absent_name(i, part, best) for i in range(len(part.own)))
    enough, close = (_CLOSE, _CLOSE / 2) if part.is_situation else (_ANSWERS, _CLOSE)
    answered: Answered = "yes" if share >= enough else "partly" if share >= close else "no"
    is_said = not messages or any(says_message(c.text, messages) for c in best[:_TRIED])
    if answered == "yes" and ((part.topic and not about) or not is_said):
        answered = "partly"
    return "no" if absent else answered, _in_order(best, reading.order.get(part.text, {}))


def _is_about(candidate: Candidate, topic: Sequence[Word]) -> bool:
    """Return whether a block, its headings and the title of its document name enough of a topic."""
    terms = terms_of(f"{candidate.region.title}\n{candidate.heading}\n{candidate.text}")
    return weigh(topic, [word.share(terms) for word in topic]) >= _TELLS * weigh(topic, [1.0] * len(topic))


def _worth_for_deciding(candidate: Candidate, part: Part) -> float:
    """Return what a block is worth that weighs or recommends: a list that is led in as advantages or drawbacks, in a text
    about what is asked, the most."""
    if not weighs(candidate):
        return 1.0
    if candidate.block.kind != "list":
        return _DECIDES
    is_about = named(candidate.region.title, [w for w in part.own if not w.light]) or any(candidate.said)
    return _CHOSEN_LIST if is_about else 1.0


def weighs(candidate: Candidate) -> bool:
    """Return whether a block weighs one thing against another or recommends; a list is what it is led in as."""
    block, outline = candidate.block, candidate.region.outline
    return _WEIGHS.search(outline.of(block.atoms[0]) if block.kind == "list" else candidate.text) is not None


def _said_around(candidate: Candidate, part: Part) -> list[float]:
    """Return how far a block says each word of a part, and a little for a name that the text around it has: what is about a
    product seldom repeats its name."""
    region = candidate.region
    return [
        max(said, _IN_TEXT * any(word.share(terms) for terms in region.terms) if word.text[:1].isupper() else 0.0)
        for word, said in zip(part.own, candidate.said, strict=False)
    ]


def _tells_difference(candidate: Candidate, part: Part) -> bool:
    """Return whether a paragraph of a text speaks of everything that a comparison names and says how it differs, or whether
    the heading above a text that does says so."""
    if candidate.block.kind not in ("paragraph", "run", "list"):
        return False
    naming = [word for word in part.own if not word.light]
    region, heading = candidate.region, candidate.heading.rsplit(" > ", 1)[-1]
    units = [list(unit) for _, unit in groupby(candidate.block.atoms, key=lambda n: region.outline.atoms[n].unit)]
    texts = [heading + "\n" + candidate.text] if _DIFFERS.search(heading) else []
    texts += [text for unit in units if _DIFFERS.search(text := " ".join(map(region.outline.of, unit)))]
    return any(all(word.share(terms_of(text)) for word in naming) for text in texts)


def telling_how(worth: Callable[[Candidate], float], question: str) -> Callable[[Candidate], float]:
    """Return `worth` with more for blocks without a key that say how something goes on, where a question asks how it works."""
    if not _WORKS.search(question):
        return worth

    def more(found: Candidate) -> float:
        return worth(found) * (_HOW if not key_of(found) and _GOES_ON.search(found.text) else 1.0)

    return more


def _is_absent_name(number: int, part: Part, best: Sequence[Candidate]) -> bool:
    """Return whether a word is written as a name within the question ("… of Norway") and no block speaks of it."""
    text = part.own[number].text
    named = text[:1].isupper() and not part.text.startswith(text)
    return named and not any(c.said[number] for c in best)


def _readable(best: list[Candidate], language: str) -> list[Candidate]:
    """Return the blocks in the reader's language first, those in English next; others where there are none of these."""
    regions_found = {id(c.region): c.region for c in best}
    tongues = {key: detect(r.outline.text[:_DETECTED], default=language) for key, r in regions_found.items()}
    worth = {
        tongue: 1.0 if tongue == language else _FOREIGN for tongue in tongues.values() if tongue in (language, "en")
    }
    kept = [c for c in best if tongues[id(c.region)] in worth] if worth else best
    kept = [c._replace(score=c.score * worth.get(tongues[id(c.region)], 1.0)) for c in kept]
    return sorted(kept, key=lambda c: -c.score)


def _chosen(answers: Sequence[tuple[Part, Answered, list[Candidate]]], chars: int, most: int) -> list[PartAnswer]:
    """Choose of each part its best block, then blocks that say what is still missing, then others while there is room."""
    taken: list[Candidate] = []
    chosen: list[list[Candidate]] = [[] for _ in answers]

    def take(place: int, candidates: Iterable[Candidate], *, least: float) -> bool:
        candidates = [
            c for c in candidates if not is_record(c.region.outline, c.block) or named(key_of(c), answers[place][0].own)
        ]
        if answers[place][0].shape == "list":
            candidates = [c for c in candidates if not _is_step(c)]
        near = [c._replace(score=c.score * _NEAR) if _is_beside(c, chosen[place]) else c for c in candidates]
        further = _fitting([c for c in near if c.score >= least], taken, chars)
        if further is not None:
            chosen[place].append(further)
            taken.append(further)
        return further is not None

    open_ = [place for place, (_, answered, best) in enumerate(answers) if answered != "no" and best]
    for place in open_:
        part, _, best = answers[place]
        first = _beginning(best, part)
        if not any(overlap(first, other) for other in taken):
            chosen[place].append(first)
            taken.append(first)
    for place in open_:
        part, _, best = answers[place]
        lacking = _unsaid(part, taken)
        telling = [c for c in best if any(c.own[i] for i in lacking)]
        if lacking and take(place, telling, least=_LACKING * best[0].score):
            most -= 1
    while most > 0 and open_:
        for place in list(open_):
            if most > 0 and take(place, answers[place][2], least=_GOOD * answers[place][2][0].score):
                most -= 1
            else:
                open_.remove(place)
    return [_part_answer(*answer, blocks) for answer, blocks in zip(answers, chosen, strict=True)]


def _is_step(candidate: Candidate) -> bool:
    """Return whether a block is a step by itself, or ends with one that announces what is not quoted."""
    atoms = candidate.region.outline.atoms
    numbered = [n for n in candidate.block.atoms if atoms[n].numbered]
    return bool(numbered) and (
        candidate.block.kind == "item" or announces(candidate.region.outline.of(candidate.block.atoms[-1]))
    )


def _fitting(candidates: Sequence[Candidate], taken: Sequence[Candidate], chars: int) -> Candidate | None:
    """Return the best block that quotes none of `taken` and has room beside them; None where there is none."""
    used = sum(c.length for c in taken)
    sources: set[str] = set()
    for candidate in sorted(candidates, key=lambda c: -c.score):
        if any(overlap(candidate, other) for other in taken):
            continue
        if taken and used + candidate.length > chars + (_ROW_CHARS if candidate.block.kind == "row" else 0):
            # Where the better one is too long, another page has nothing better for being shorter.
            sources = {c.region.source for c in taken}
        elif not sources or candidate.region.source in sources:
            return candidate
    return None


def _is_beside(candidate: Candidate, taken: Sequence[Candidate]) -> bool:
    """Return whether a block stands under the same heading as one that was taken."""
    return any(c.region.source == candidate.region.source and c.heading == candidate.heading for c in taken)


def _beginning(best: Sequence[Candidate], part: Part) -> Candidate:
    """Return the best block; of procedures the first of those under its heading that are nearly as good, and of an item
    that is asked for a list all of it."""
    if part.shape == "list" and best[0].block.kind == "item":
        first, region = best[0].block.atoms[0], best[0].region
        wholes = (c for c in best if c.block.kind == "list" and c.region is region and first in c.block.atoms)
        return next((c for c in wholes if c.score >= _WHOLE_LIST * best[0].score), best[0])
    if part.shape != "steps":
        return best[0]
    near = [
        c for c in best if c.score >= _AS_GOOD * best[0].score and _is_beside(c, best[:1]) and c.block.kind == "run"
    ]
    return min([best[0], *near], key=lambda c: c.start)


def _part_answer(part: Part, answered: Answered, best: Sequence[Candidate], blocks: Sequence[Candidate]) -> PartAnswer:
    closest = best[0].region.passage(best[0].block.atoms[0]) if best else None
    missing = (
        (part.unsaid,)
        if part.unsaid
        else ()
        if answered == "yes"
        else tuple(part.own[i].text for i in _unsaid(part, blocks or best[:1]))
    )
    sources = list(dict.fromkeys(block.region.source for block in blocks))
    # Lines such as "Published: 2022-11" stand at the head of a page, and are what a reader looks for last.
    ordered = sorted(
        blocks, key=lambda b: (is_record(b.region.outline, b.block), sources.index(b.region.source), b.start)
    )
    return PartAnswer(part.text, answered, tuple(ordered), missing, closest, is_corrected=bool(part.unsaid))


def _unsaid(part: Part, blocks: Sequence[Candidate]) -> list[int]:
    """Return the numbers of the words that a part names and none of the blocks says, itself or in its headings."""
    said = [terms_of(f"{block.region.title}\n{block.heading}\n{block.text}") for block in blocks]
    named = [(i, word) for i, word in enumerate(part.own) if not word.light]
    return [i for i, word in named if not any(word.share(terms) for terms in said)]


def overlap(one: Candidate, other: Candidate) -> bool:
    """Return whether two blocks quote the same sentence, or the same words in another document."""
    if one.region.source == other.region.source:
        return not _quoted_offsets(one).isdisjoint(_quoted_offsets(other))
    return not _signless(one).isdisjoint(_signless(other))


def _signless(candidate: Candidate) -> set[str]:
    """Return the longer sentences of a block without the signs in which two formats of a document differ."""
    outlined = candidate.region.outline
    said = ["".join(filter(str.isalnum, outlined.of(n))) for n in candidate.block.atoms]
    return {text for text in said if len(text) >= _TELLING} or {"".join(said)}


def _quoted_offsets(candidate: Candidate) -> set[int]:
    """Return where the atoms of a block begin in the snapshot; of a table its rows alone, which share caption and header."""
    atoms = [candidate.region.outline.atoms[n] for n in candidate.block.atoms]
    rows = [atom for atom in atoms if atom.kind == "row"]
    return {candidate.region.start + atom.start for atom in rows or atoms}
