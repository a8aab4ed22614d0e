"""Abstract, conclusion and table of a report, quoted from its sections and documents; nothing new is said here."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from deep_research.data import AnsweredPart, Brief, Claim, Composition, QueryAnalysis, Section
from deep_research.i18n.catalog import phrase
from deep_research.i18n.lexicon import any_word
from deep_research.ports import Library
from deep_research.reasoners.extractive.answer_blocks import PartAnswer, answer_parts, section_blocks
from deep_research.reasoners.extractive.asked_words import Word, says_each
from deep_research.reasoners.extractive.block_ranking import DEFINES, KEY, Candidate, key_of, named, weigh
from deep_research.reasoners.extractive.document_headings import says_all
from deep_research.reasoners.extractive.question_analysis import topic_of
from deep_research.reasoners.extractive.question_reading import Reading, part_of, read_around
from deep_research.reasoners.extractive.quoting import cited_sentences
from deep_research.reasoners.extractive.section_writing import (
    ANSWER_CHARS,
    SUPPORTING,
    about,
    answered_text,
    facet_blocks,
    located,
    own_opening,
    read_on_facet,
)
from deep_research.text.question_parts import asks_for_choice
from deep_research.text.quotable_blocks import is_sentence, points_back, turns
from deep_research.verification.citations import cite_ids

_FRONT_CHARS, _FRONT_MOST, _CELL_CHARS = 900, 0, 300
_ABSTRACT_CHARS, _ENOUGH, _ROUNDS = 1150, 650, 4
"""How long an abstract may be (about 180 words), and from where on no section says more in it (about 100)."""
_TURN_CHARS, _SENTENCE_CHARS = 260, 420
_CONCLUSION_CHARS, _CONCLUDING = 700, 4
_CELLS_CHARS, _CELL_BLOCKS = 3000, 5
"""Where the sentence for a cell is looked for."""
_OPENING, _NAMES, _ARTICLES = 80, 0.6, 2
"""How near to its beginning the verb of a definition stands, how much of what stands before it is the name, and how many
words may stand beside a name with which a sentence opens."""
_RECOGNISED = 60
"""Letters by which a block is recognised in a section."""
_FEW_PARTS, _BEGINS_CHARS = 3, 220
"""Parts up to which an abstract quotes whole blocks; how much it quotes of each part beyond that."""
_ROW_NAMES, _WITH_VALUES = 0.33, ("row", "table", "list", "item")
"""How much of the key of a row is asked for that is shown in front; what has its values itself."""
_NONE = "—"
_NUMBER_OF_A_TABLE = re.compile(r"\w+ (?:[A-Z]\.)?\d[\d.-]*\W*")
"""What the first sentence of a caption is: "Table K.1."."""
_ENDS = re.compile(r"[.!?。！？]\W*$|^\S+(?: \S+)? [—–-] ")
"""What a sentence ends with, or how a line begins that says what something is ("git-merge - Join two histories")."""
_EXCLUDING = any_word("quoting.excluding_patterns")
_CONCLUDES = re.compile(any_word("headings.concluding_patterns"), re.IGNORECASE)
_SUITS = re.compile(any_word("quoting.suiting_patterns"), re.IGNORECASE)
_WEIGHS = re.compile(any_word("quoting.weighing_patterns"), re.IGNORECASE)


def compose(
    question: str,
    analysis: QueryAnalysis,
    brief: Brief,
    sections: Sequence[Section],
    claims: Sequence[Claim],
    library: Library,
) -> Composition:
    """Return what stands around the sections: abstract, conclusion and table, and which parts are answered."""
    written = [section for section in sections if section.content]
    if not written:
        return Composition()
    reading = read_around(question, brief.language, (), library)
    parts = answer_parts(question, reading, chars=_FRONT_CHARS, most=_FRONT_MOST)
    said = [_statements(section, claims) for section in written]
    subjects = [s.subject for s in written if s.subject]
    tells = [_telling(s.subject, subjects, reading) if s.subject else None for s in written]
    answer = next((n for n, s in enumerate(written) if s.title == phrase("answer", brief.language)), None)
    front = _front(parts, written[answer], reading) if answer is not None else ""
    opened = [_opened(own, tell, library) for own, tell in zip(said, tells, strict=True)]
    if asks_for_choice(question):
        opened = [_suited_early(own) if tell else own for own, tell in zip(opened, tells, strict=True)]
    if answer is not None:
        # Beside the answer only what each thing is.
        opened = [own[:1] if tell else [] for own, tell in zip(opened, tells, strict=True)]
        opened[answer] = [] if front else said[answer]
    abstract = _abstract([[c for c in own if c.text not in front] for own in opened], _ABSTRACT_CHARS - len(front))
    table = _table(question, brief, written, said, library) if analysis.output_format in ("table", "list") else ""
    return Composition(
        abstract="\n\n".join(filter(None, (front, *_paragraphs(abstract)))) or answered_text(parts, brief.language),
        conclusion=_cited(_conclusion(said, abstract, library)),
        table=table,
        parts=tuple(
            AnsweredPart(text=part.text, answered=part.answered, where=_where(part, written)) for part in parts
        ),
    )


def _front(parts: Sequence[PartAnswer], answer: Section, reading: Reading) -> str:
    """Return what answers a question in short: the best blocks of its answer, or of many parts the sentence of the best block
    of each that says most of it, with what follows."""
    there = [p._replace(blocks=tuple(b for b in p.blocks if _quotes(answer, b))) for p in parts]
    if len(parts) <= _FEW_PARTS:
        if not any(p.blocks for p in there):
            return _first_quotation(answer)
        return answered_text([_with_row(p, answer, reading) for p in there], reading.language, labelled=False)
    begun = [_telling_sentence(p, reading) for p in there if p.answered == "yes" and p.blocks]
    return "\n".join(f"- {first}" for first in begun if first)


def _first_quotation(answer: Section) -> str:
    """Return what an answer quotes first, below its label, if an abstract has room for it."""
    first = answer.content.split("\n\n**")[0]
    text = first.partition("\n")[2].strip() if first.startswith("**") else first
    return text if len(text) <= _FRONT_CHARS else ""


def _with_row(part: PartAnswer, answer: Section, reading: Reading) -> PartAnswer:
    """Return what answers a part with the row of a table on the same page that names what it asks for, put first: a value
    that a text only speaks of."""
    if not part.blocks or part.answered != "yes" or any(b.block.kind in _WITH_VALUES for b in part.blocks):
        return part
    sources, words = {block.region.source for block in part.blocks}, reading.words(part.text)
    blocks = [b for p in answer_parts(part.text, reading, chars=ANSWER_CHARS, most=SUPPORTING) for b in p.blocks]
    rows = [b for b in blocks if b.block.kind == "row" and b.region.source in sources and _quotes(answer, b)]
    best = max(rows, key=lambda row: named(key_of(row), words), default=None)
    if best is None or named(key_of(best), words) < _ROW_NAMES:
        return part
    return part._replace(blocks=(best, *part.blocks))


def _telling_sentence(part: PartAnswer, reading: Reading) -> str:
    """Return the sentence of the best block of a part that says most of what it asks, with what follows."""
    best = max(part.blocks, key=lambda block: block.score)
    words = reading.words(part.text)
    says = {n: weigh(words, best.region.share(n, words)) for n in best.block.atoms}
    telling = best.region.outline.of(max(says, key=lambda n: says[n]))
    return cited_sentences(best, _BEGINS_CHARS, partial(str.__eq__, telling)) or cited_sentences(best, _BEGINS_CHARS)


def _quotes(section: Section, block: Candidate) -> bool:
    """Return whether a section quotes how a block begins."""
    return block.text.partition("\n")[0][:_RECOGNISED] in " ".join(section.content.split())


def _opened(own: Sequence[Claim], tells: "_Telling | None", library: Library) -> list[Claim]:
    """Return the sentences of a section, from the one on that says what its thing is, where there is one."""
    first = _statement_list(own, (), tells, library) if tells else []
    start = list(own).index(first[0]) if first else 0
    return list(own[start:])


def _suited_early(own: Sequence[Claim]) -> list[Claim]:
    """Return sentences with those that say what a thing is good for, and what the first of them turns, behind the first."""
    if not own:
        return []
    suits = next((n for n, claim in enumerate(own) if n and _SUITS.search(claim.text)), 0)
    end = suits + 1
    while end < len(own) and turns(own[end].text):
        end += 1
    moved = list(own[suits:end]) if suits else []
    return [own[0], *moved, *(c for c in own[1:] if c not in moved)]


def _statements(section: Section, claims: Sequence[Claim]) -> list[Claim]:
    """Return the whole sentences of a section that stand, in its order."""
    own = [c for c in claims if c.section == section.title and c.stands and c.passages]
    whole = [c for c in own if "|" not in c.text and len(c.text) <= _SENTENCE_CHARS and _ENDS.search(c.text)]
    return [c for c in whole if not _NUMBER_OF_A_TABLE.fullmatch(c.text.strip())]


def _abstract(said: Sequence[Sequence[Claim]], chars: int) -> list[Claim]:
    """Return how each section begins, one after another, in `chars` characters; more of each while that is short."""
    taken: list[list[Claim]] = [[] for _ in said]
    used = 0
    for _ in range(_ROUNDS):
        for own, statements in zip(taken, said, strict=True):
            known = {c.text for some in taken for c in some}
            more = _next_statements([c for c in statements if c.text not in known], goes_on=bool(own))
            length = sum(len(c.text) for c in more)
            if used + length <= chars:
                own.extend(more)
                used += length
        if used >= _ENOUGH:
            break
    return [claim for own in taken for claim in own]


def _next_statements(left: Sequence[Claim], *, goes_on: bool) -> list[Claim]:
    """Return the first sentences of `left` that can stand alone, or after what was said before (`goes_on`)."""
    first = next((i for i, claim in enumerate(left) if goes_on or not points_back(claim.text)), len(left))
    chosen = list(left[first : first + 1])
    for claim in left[first + 1 :]:
        fits = sum(len(c.text) for c in chosen) + len(claim.text) <= _TURN_CHARS
        if claim.passages != chosen[0].passages or not (fits or turns(claim.text)):
            break
        chosen.append(claim)
    return chosen


def _conclusion(said: Sequence[Sequence[Claim]], abstract: Sequence[Claim], library: Library) -> list[Claim]:
    """Return sentences that weigh or limit below a heading about limits, costs or a choice: one of each section, none of
    the abstract. Without any there is no conclusion: a sentence from elsewhere concludes nothing."""
    known = {c.text for c in abstract}
    chosen: list[Claim] = []
    for own in said:
        weighing = (c for c in own if c.text not in known and not points_back(c.text) and _WEIGHS.search(c.text))
        best = next((c for c in weighing if _is_concluding(c, library)), None)
        used = sum(len(c.text) for c in chosen)
        if best is not None and used + len(best.text) <= _CONCLUSION_CHARS and len(chosen) < _CONCLUDING:
            chosen.append(best)
            known.add(best.text)
    return chosen


def _is_concluding(claim: Claim, library: Library) -> bool:
    """Return whether a sentence stands below a heading about limits, costs or a choice."""
    passage = library.passage(claim.passages[0])
    return passage is not None and _CONCLUDES.search(passage.heading.rsplit(" > ", maxsplit=1)[-1]) is not None


def _paragraphs(claims: Sequence[Claim]) -> list[str]:
    """Return sentences as a paragraph for each section; a line without a full stop stands by itself."""
    groups: list[list[Claim]] = []
    for claim in claims:
        before = groups[-1][-1] if groups else None
        if before is None or before.section != claim.section or not is_sentence(before.text):
            groups.append([])
        groups[-1].append(claim)
    return [_cited(group) for group in groups]


def _cited(claims: Sequence[Claim]) -> str:
    return " ".join(f"{claim.text} {cite_ids(claim.passages)}" for claim in claims)


def _where(part: PartAnswer, sections: Sequence[Section]) -> tuple[str, ...]:
    """Return the title of the first section that quotes what answers a part."""
    return tuple(s.title for s in sections if any(_quotes(s, block) for block in part.blocks))[:1]


def _table(
    question: str, brief: Brief, sections: Sequence[Section], said: Sequence[Sequence[Claim]], library: Library
) -> str:
    """Return one row for each section about a thing: what it is, or what is said of each point the question names."""
    facets = topic_of(question).facets
    subjects = [section.subject for section in sections if section.subject]
    rows: list[str] = []
    for section, own_statements in zip(sections, said, strict=True):
        subject = section.subject
        if not subject:
            continue
        if facets:
            cells = [_on_facet(subject, facet, subjects, brief.language, library) for facet in facets]
        else:
            first = own_opening(subject, library)
            reading = read_around(f"{subject} {question}", brief.language, (), library, first=first)
            is_about = about(subject, subjects, reading, reading.words(question))
            others = [c for statements in said if statements is not own_statements for c in statements]
            tells = _telling(subject, subjects, reading)
            cells = [
                _statement(own_statements, others, tells, library) or _looked_up(subject, reading, is_about, tells)
            ]
        rows.append(f"| {subject} | {' | '.join(cell or _NONE for cell in cells)} |")
    if len(rows) < 2 or all(row.endswith(f"| {_NONE} |") for row in rows):
        return ""
    head = [phrase("subject", brief.language), *(facets or (phrase("what_it_is", brief.language),))]
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *rows])


class _Telling(NamedTuple):
    """Whether a sentence defines a thing, whether it begins with its name and with no other's, and whether it names it."""

    defines: Callable[[str], bool]
    begins: Callable[[str], bool]
    names: Callable[[str], bool]


def _telling(subject: str, subjects: Sequence[str], reading: Reading) -> _Telling:
    own = reading.words(subject)
    others = [words for other in subjects if (words := reading.words(other)) and not says_all(words, subject)]

    def defines(sentence: str) -> bool:
        verb = DEFINES.search(sentence[:_OPENING])
        return verb is not None and named(sentence[: verb.start()], own) >= _NAMES

    def begins(sentence: str) -> bool:
        beginning = " ".join(sentence.split(" ")[: len(own) + _ARTICLES])
        alone = says_all(own, beginning) and not any(says_all(words, beginning) for words in others)
        return (
            alone
            and is_sentence(sentence)
            and not KEY.match(sentence)
            and sentence != beginning
            and not points_back(sentence)
        )

    return _Telling(defines, begins, partial(says_all, own))


def _statement(own: Sequence[Claim], others: Sequence[Claim], tells: _Telling, library: Library) -> str:
    """Return the sentence of a section that says what its thing is, or else one of another section."""
    return _cited(_statement_list(own, others, tells, library))


def _statement_list(own: Sequence[Claim], others: Sequence[Claim], tells: _Telling, library: Library) -> list[Claim]:
    for tell in (tells.defines, tells.begins):
        for statements in (own, others):
            for number, claim in enumerate(statements):
                if tell(claim.text):
                    return _adjacent(_next_statements(statements[number:], goes_on=True), library)
    return _adjacent(own[:1], library) if own and tells.names(own[0].text) else []


def _adjacent(claims: Sequence[Claim], library: Library) -> list[Claim]:
    """Return the first of `claims` with those that follow it directly in its passage: one quotation."""
    passage = library.passage(claims[0].passages[0])
    text = " ".join(passage.text.split()) if passage is not None else ""
    together = [n for n in range(1, len(claims) + 1) if " ".join(c.text for c in claims[:n]) in text]
    return list(claims[: max(together, default=1)])


def _looked_up(subject: str, reading: Reading, worth: Callable[[Candidate], float], tells: _Telling) -> str:
    """Return the sentence of the documents that says what a thing is, where no section has it."""
    blocks = section_blocks(
        part_of(subject, reading.words(subject), (), "definition"),
        reading,
        worth,
        chars=_CELLS_CHARS,
        most=_CELL_BLOCKS,
    )
    cells = (cited_sentences(b, _CELL_CHARS, begin) for begin in (tells.defines, tells.begins) for b in blocks)
    return next(filter(None, cells), "")


def _on_facet(subject: str, facet: str, subjects: Sequence[str], language: str, library: Library) -> str:
    """Return what stands first below a heading about a point in the documents of a thing, or else a sentence that names
    both."""
    reading = read_on_facet(subject, facet, language, library)
    own, wanted = reading.words(subject), reading.words(facet)
    is_about = about(subject, subjects, reading, wanted, located(subject, library))

    def names_both(found: Candidate) -> float:
        return is_about(found) if says_each(wanted, found.text) else 0.0

    below = facet_blocks(subject, facet, is_about, reading, library, _CELLS_CHARS)
    part = part_of(subject, [*own, *wanted], (), "definition")
    naming = section_blocks(part, reading, names_both, chars=_CELLS_CHARS, most=_CELL_BLOCKS)

    def tells(words: Sequence[Word]) -> Callable[[str], bool]:
        return lambda sentence: says_each(words, sentence) and not _tells_of_others(sentence, subject)

    cells = [cited_sentences(b, _CELL_CHARS, begin) for begin in (tells(own), bool) for b in below]
    cells += [cited_sentences(b, _CELL_CHARS, tells([*own, *wanted])) for b in naming]
    return next(filter(None, cells), "")


def _tells_of_others(sentence: str, subject: str) -> bool:
    """Return whether a sentence tells something of all others but a thing ("every engine other than SQLite")."""
    return re.search(_EXCLUDING.replace("{thing}", re.escape(subject)), sentence, re.IGNORECASE) is not None
