"""Sections written by quoting whole blocks: the answer to a question, or what the documents say about one thing."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial

from deep_research.data import Brief, Gap, Passage, Section, SectionDraft
from deep_research.i18n.catalog import gap_of, phrase
from deep_research.i18n.language import detect
from deep_research.i18n.lexicon import any_word
from deep_research.ports import Library
from deep_research.reasoners.extractive.answer_blocks import (
    PartAnswer,
    answer_parts,
    below_choosing,
    in_context,
    is_answered,
    overlap,
    section_blocks,
    stands_beside,
    telling_how,
    with_named_tables,
    with_told_items,
)
from deep_research.reasoners.extractive.asked_words import Word, says_each, terms_of
from deep_research.reasoners.extractive.block_ranking import (
    Candidate,
    enumerated,
    key_of,
    named,
    phrased,
    regions,
    weigh,
)
from deep_research.reasoners.extractive.document_headings import is_telling
from deep_research.reasoners.extractive.document_names import announced_titles, called
from deep_research.reasoners.extractive.question_analysis import analyze, topic_of
from deep_research.reasoners.extractive.question_reading import NO_ORDER, Order, Part, Reading, part_of, read_around
from deep_research.reasoners.extractive.quoting import first_sentence, label_of, quoted
from deep_research.reasoners.extractive.whole_answers import with_all_kinds, with_all_steps, with_both_sides
from deep_research.search.title_names import bare_title
from deep_research.text.cleaning import plain_heading
from deep_research.text.question_parts import answer_shape, asks_for_choice, question_parts

ANSWER_CHARS, SUPPORTING = 1200, 3
"""How long an answer may be, and how many blocks it may have beyond one for each part of the question."""
_BESIDE_CHARS, _BESIDE_MOST, _CHOICE_CHARS = 1200, 2, 4000
"""How much is quoted of what stands beside an answer, and from how many sections; of a section that helps to choose."""
_SECTION_CHARS, _SECTION_BLOCKS, _BODY_CHARS = 1800, 5, 9000
"""How long a section may be, how many blocks it may have, and how long all of them may be: the fewer, the longer each."""
_ANNOUNCED = 2
"""How many of the pages that an introduction announces are quoted."""
_MANY_PARTS = 3
"""From this number of parts on each stands below its question."""
_NAMED_SECTIONS, _PAGE_SECTIONS = 8, 20
"""How many sections are named that are not quoted, and how many there may be beside each other: more are a book."""
_PART_CHARS, _PART_BLOCKS = 900, 2
"""How long what answers each of many parts of a question may be, and how many further blocks it may have."""
_OWN_CHARS = 500
"""From this length on, what stands under headings of its name alone makes the section about a thing."""
_UNDER = 12
"""Passages under the heading a section is named after that are read whether a search found them or not."""
_SPEAKS_OF = 0.6
_HEADED, _AMONG_OTHERS = 1.6, 0.6
"""What a block is worth to the section about a thing that a heading above it names, or that stands in it among others."""
_OPENING, _OPENING_PASSAGES, _OWN_PAGES = 1.5, 5, 2
"""What a block is worth at the beginning of a page of the thing's name; how many passages that is, and of how many pages."""
_PLAINLY = 0.75
"""Share of a heading that must be the name of what a section is about."""
_COMPARES = re.compile(any_word("quoting.comparing_patterns"), re.IGNORECASE)
_SUBTITLE = re.compile(r"[:：]\s|\s[—–-]\s")


def write_section(
    section: Section, brief: Brief, passages: Sequence[Passage], library: Library, order: Order = NO_ORDER
) -> SectionDraft:
    """Return the section as draft Markdown of verbatim blocks that cite their passages; "" where nothing answers.

    `order` is what a ranker says of the blocks that answer the question.
    """
    language = brief.language
    question = brief.question or brief.title
    if section.title == phrase("answer", language):
        return answer(brief, passages, library, order)
    facets = topic_of(question).facets if section.subject else ()
    room = max(_SECTION_CHARS, _BODY_CHARS // max(1, len(brief.sections)))
    query = " ".join([section.subject or section.title, *section.queries[:1]])
    own = own_opening(section.subject, library) if section.subject else []
    first = [*own, *_under_heading(section.title, passages, library)]
    reading = read_around(query, language, passages, library, first=first)
    if not is_answered(question, reading):
        return SectionDraft(content="", missing=(section.title,))
    asked = reading.words(question)
    subjects = [s.subject for s in brief.sections if s.subject]
    if section.subject:
        part = subject_part(section.subject, asked, reading)
        if told := _told_on_facets(section, facets, subjects, library, language, room):
            return _drafted(section, told)
        its_own = located(section.subject, library) if facets else frozenset[str]()
        worth = _opening_first(own, about(section.subject, subjects, reading, asked, its_own))
    elif section.title == phrase("head_to_head", language):
        part, worth = part_of(section.title, asked, ()), _compares(subjects, reading)
    else:
        part = part_of(section.title, reading.words(section.title), asked, "statement")
        worth = _stands_under(section.title, [s.title for s in brief.sections])
        worth = telling_how(worth, question)
    said: list[Candidate] = []
    if any(s.title == phrase("answer", language) for s in brief.sections):
        said = _answer_blocks(brief, passages, library)
        worth = _unsaid_by(said, worth)
    blocks = section_blocks(part, reading, worth, chars=room, most=_SECTION_BLOCKS)
    if sum(block.length for block in blocks if worth(block) >= _HEADED) >= _OWN_CHARS:
        # What has pages or headings of its own is told by these; what else mentions it stands elsewhere for a reason.
        worth = partial(_only, worth)
        blocks = section_blocks(part, reading, worth, chars=room, most=_SECTION_BLOCKS)
    if section.title != phrase("head_to_head", language):
        blocks = in_context(blocks, said, chars=room)
    return _drafted(section, blocks)


def _drafted(section: Section, blocks: Sequence[Candidate]) -> SectionDraft:
    """Return a section as draft Markdown of `blocks`."""
    findings = tuple(dict.fromkeys(text for block in blocks[:1] if (text := first_sentence(block))))
    missing = () if blocks else (section.title,)
    return SectionDraft(
        content=quoted(with_named_tables(blocks), below=section.title), key_findings=findings, missing=missing
    )


def _only(worth: Callable[[Candidate], float], found: Candidate) -> float:
    return worth(found) if worth(found) >= _HEADED else 0.0


def _answer_blocks(brief: Brief, passages: Sequence[Passage], library: Library) -> list[Candidate]:
    """Return the blocks that the section in front quotes, as far as the same passages are known here."""
    reading = read_around(brief.question or brief.title, brief.language, passages, library)
    return [block for part in _answered_parts(brief, reading) for block in part.blocks]


def _unsaid_by(said: Sequence[Candidate], worth: Callable[[Candidate], float]) -> Callable[[Candidate], float]:
    return lambda found: 0.0 if any(overlap(found, other) for other in said) else worth(found)


def _answered_parts(brief: Brief, reading: Reading) -> list[PartAnswer]:
    """Return what answers the question of a report: of one that lists things, the blocks that name most of them."""
    question = brief.question or brief.title
    asked = len(question_parts(question, brief.language).parts) if brief.question else 1
    chars, most = (_PART_CHARS * asked, _PART_BLOCKS * asked) if asked > _MANY_PARTS else (ANSWER_CHARS, SUPPORTING)
    parts = answer_parts(question, reading, chars=chars, most=most)
    subjects = [s.subject for s in brief.sections if s.subject]
    if len(subjects) < 2 or len(parts) != 1 or parts[0].answered == "no":
        return parts
    if any(enumerated(block.region.outline, block.block) for block in parts[0].blocks):
        return parts
    part = part_of(question, reading.words(question), (), "list")
    blocks = section_blocks(part, reading, _names_several(subjects, reading), chars=ANSWER_CHARS, most=1)
    own, named = (
        any(detect(block.text, default=brief.language) == brief.language for block in some)
        for some in (parts[0].blocks, blocks)
    )
    # What the reader can read is worth more than what names most.
    kept = not parts[0].blocks or not blocks or (own and not named)
    return parts if kept else [parts[0]._replace(blocks=blocks)]


def answer(brief: Brief, passages: Sequence[Passage], library: Library, order: Order = NO_ORDER) -> SectionDraft:
    """Return the blocks that answer a question, part by part, and a gap for each part that none answers."""
    question, language = brief.question or brief.title, brief.language
    reading = read_around(question, language, passages, library)._replace(order=order)
    parts = _answered_parts(brief, reading)
    if not parts:
        return SectionDraft(content="", gaps=(gap_of(question, "too_vague"),))
    parts = [with_both_sides(with_all_kinds(part, reading, library)) for part in parts]
    spelled = reading.vocabulary.corrected(question)
    respelled = [gap_of(question, "respelled", spelled=spelled)] if spelled != question else []
    gaps = (*respelled, *(_not_found(part, library) for part in parts if part.answered != "yes"))
    missing = tuple(part.text for part in parts if part.answered != "yes")
    is_headed = bool(brief.question) and len(parts) >= _MANY_PARTS
    # A report that is one answer has room for the text around it; a quick answer, which has no plan, has not.
    beside: Sequence[Candidate] = ()
    if brief.question and len(brief.sections) == 1 and not missing:
        if any(answer_shape(part.text) == "steps" for part in parts):
            parts = [with_all_steps(part, library) for part in parts]
        else:
            beside = stands_beside(parts, reading.words(question), chars=_BESIDE_CHARS, most=_BESIDE_MOST)
        if asks_for_choice(question):
            beside = [*beside, *below_choosing(parts[0], reading, chars=_CHOICE_CHARS, most=_BESIDE_MOST)]
    if brief.question:
        said: list[Candidate] = []
        for place, part in enumerate(parts):
            parts[place] = part._replace(blocks=with_named_tables(with_told_items(part.blocks), said))
            said += parts[place].blocks
    if beside and all(part.answered == "yes" for part in parts) and not is_headed:
        texts = [quoted([*(block for part in parts for block in part.blocks), *beside])]  # in the order of the document
    else:
        texts = [answered_text(parts, language, headed=is_headed), quoted(beside)]
    if brief.question:
        gaps = (*gaps, *_not_quoted(parts, beside, brief, library))
    return SectionDraft(content="\n\n".join(filter(None, texts)), gaps=gaps, missing=missing)


def _not_quoted(parts: Sequence[PartAnswer], beside: Sequence[Candidate], brief: Brief, library: Library) -> list[Gap]:
    """Return for each document that answers what asks for more than a fact which sections it has beside the quoted ones,
    under the same heading: the reader is to know what was left out."""
    found: dict[str, Gap] = {}
    told = tuple(section.title.casefold() for section in brief.sections)
    used = [block for part in parts for block in (*part.blocks, *beside)]
    for part in parts:
        best = max(part.blocks, key=lambda block: block.score, default=None)
        asks_much = answer_shape(part.text) in ("list", "steps") or analyze(part.text).query_type == "deep_dive"
        if best is None or part.answered != "yes" or not asks_much:
            continue
        around = best.heading.rpartition(" > ")[0] or best.heading
        paths = dict.fromkeys(p.heading for p in library.passages(best.region.source))
        inside = (
            path.removeprefix(f"{around} > ").split(" > ")[0] for path in paths if path.startswith(f"{around} > ")
        )
        quoted_here = {
            plain_heading(part)
            for b in used
            if b.region.source == best.region.source
            for part in b.heading.split(" > ")
        }
        titles = [title for title in dict.fromkeys(map(plain_heading, inside)) if title not in quoted_here]
        telling = [each for each in titles if is_telling(each) and not each.casefold().startswith(told)]
        title = plain_heading(best.region.title)
        if telling and len(titles) <= _PAGE_SECTIONS:
            found.setdefault(title, gap_of(title, "not_quoted", headings="; ".join(telling[:_NAMED_SECTIONS])))
    return list(found.values())


def answered_text(parts: Sequence[PartAnswer], language: str, *, labelled: bool = True, headed: bool = False) -> str:
    """Return the blocks of all parts as draft Markdown, those that only come close below a line that says so; `headed`
    parts stand below their question."""
    texts: list[str] = []
    headed = headed and sum(bool(part.blocks) for part in parts) > 1
    for part in parts:
        texts += [f"### {part.text}"] if headed and part.blocks else []
        if part.blocks and part.answered == "partly":
            texts.append(f"**{phrase('unsaid' if part.is_corrected else 'only_closest', language)}**")
        if part.blocks:
            # A label with another one below it would be taken for one without a text.
            is_labelled = part.answered == "partly"
            texts.append(quoted(part.blocks, below=label_of(part.blocks[0]) if is_labelled else "", labelled=labelled))
    return "\n\n".join(texts)


def _not_found(part: PartAnswer, library: Library) -> Gap:
    if part.closest is None:
        return gap_of(part.text, "part_absent")
    source = library.source(part.closest.source)
    return gap_of(part.text, "part_not_found", title=source.title if source else "", passage=part.closest.id)


def own_opening(subject: str, library: Library) -> list[Passage]:
    """Return how the documents begin that have the name of a thing, with or without a subtitle behind it."""
    sources = library.sources()
    titles = ((s.id, _SUBTITLE.split(bare_title(s.title))[0]) for s in sources)
    named = called(subject, sources) | {key for key, title in titles if title.casefold() == subject.casefold()}
    return [p for source in sorted(named)[:_OWN_PAGES] for p in library.passages(source)[:_OPENING_PASSAGES]]


def _opening_first(own: Sequence[Passage], worth: Callable[[Candidate], float]) -> Callable[[Candidate], float]:
    """Return `worth` with more for what stands at the beginning of the thing's own page."""
    places = {p.id for p in own}

    def more(found: Candidate) -> float:
        return worth(found) * (_OPENING if found.region.passage(found.block.atoms[0]).id in places else 1.0)

    return more


def _under_heading(title: str, passages: Sequence[Passage], library: Library) -> list[Passage]:
    """Return what stands under the heading `title` in the documents of `passages`."""
    found: list[Passage] = []
    for source in dict.fromkeys(p.source for p in passages):
        found += [p for p in library.passages(source) if _is_under(title, p.heading)][:_UNDER]
    return found


def _is_under(title: str, path: str) -> bool:
    return any(plain_heading(part).casefold() == title.casefold() for part in path.split(" > "))


def _stands_under(title: str, titles: Sequence[str]) -> Callable[[Candidate], float]:
    """Return whether `title` is the nearest heading above a block that a section of the report (`titles`) is named after."""

    def worth(found: Candidate) -> float:
        path = [plain_heading(part) for part in (found.region.title, *found.heading.split(" > "))]
        return float(next((part for part in reversed(path) if part in titles), "") == title)

    return worth


def subject_part(subject: str, asked: Sequence[Word], reading: Reading) -> Part:
    """Return what a section about one thing must find: the thing, and what it is."""
    return part_of(subject, reading.words(subject), asked, "definition")


def located(subject: str, library: Library) -> frozenset[str]:
    """Return the ids of the sources that lie in a folder or on a host with the name of a thing; none where all do."""
    name = subject.casefold()
    folders = {s.id: re.split(r"[/.\\]", (s.url or s.location or "").casefold())[:-1] for s in library.sources()}
    found = frozenset(key for key, parts in folders.items() if any(part.startswith(name) for part in parts))
    return found if len(found) < len(folders) else frozenset()


def read_on_facet(subject: str, facet: str, language: str, library: Library) -> Reading:
    """Return what the documents have about one point of a thing."""
    return read_around(
        f"{subject} {facet} {_as_one_word(facet)}", language, (), library, first=own_opening(subject, library)
    )


def _as_one_word(facet: str) -> str:
    """Return a point as some documents write it ("datatypes"), which neither a search nor its words know."""
    return facet.replace(" ", "").casefold()


def facet_blocks(
    subject: str, facet: str, worth: Callable[[Candidate], float], reading: Reading, library: Library, chars: int
) -> tuple[Candidate, ...]:
    """Return what stands below headings about a point in the documents of a thing; `worth` tells what is about the thing."""
    own, wanted = reading.words(subject), reading.words(facet)

    def headed(found: Candidate) -> float:
        path = [found.region.title, *found.heading.split(" > ")]
        about_it = [p for p in path if says_each(wanted, p) or _as_one_word(facet) in p.casefold()]
        says = [named(part, [*own, *wanted]) for part in about_it]
        # A page about something else has a part on the point too: "An Asynchronous I/O Module for SQLite".
        return worth(found) * (1.0 + 2 * max(says) + named(found.region.title, [*own, *wanted])) if says else 0.0

    part = part_of(subject, [*own, *wanted], (), "definition")
    blocks = section_blocks(part, reading, headed, chars=chars, most=_SECTION_BLOCKS)
    return _led_on(blocks, library, chars) or tuple(in_context(blocks, (), chars=chars))


def _led_on(blocks: Sequence[Candidate], library: Library, chars: int) -> tuple[Candidate, ...]:
    """Return how the pages begin that the introduction announces which the first of `blocks` stands in, if it does."""
    titles = announced_titles(blocks[0].region.source, library) if blocks else ()
    pages = [source.id for title in titles for source in library.sources() if source.title == title]
    return tuple(opening for page in pages[:_ANNOUNCED] for opening in _opening_of(page, library, chars // _ANNOUNCED))


def _opening_of(source: str, library: Library, chars: int) -> list[Candidate]:
    """Return the first paragraphs of a page."""
    found = regions(library.passages(source)[:_OPENING_PASSAGES], library)
    first = next((block for block in found[0].blocks if block.kind == "paragraph"), None) if found else None
    return in_context([Candidate(found[0], first, 1.0, (), ())], (), chars=chars) if first else []


def _told_on_facets(
    section: Section, facets: Sequence[str], subjects: Sequence[str], library: Library, language: str, room: int
) -> tuple[Candidate, ...]:
    """Return for each point that is compared what the documents of a thing have under headings of it."""
    its_own, found = located(section.subject, library), list[Candidate]()
    for facet in facets if its_own else ():
        reading = read_on_facet(section.subject, facet, language, library)
        worth = about(section.subject, subjects, reading, reading.words(facet), its_own)
        found += facet_blocks(section.subject, facet, worth, reading, library, room // len(facets))
    return tuple(found)


def about(
    subject: str,
    subjects: Sequence[str],
    reading: Reading,
    asked: Sequence[Word] = (),
    its_own: Collection[str] = (),
) -> Callable[[Candidate], float]:
    """Return how far a block is about a thing: most on a page or under a heading of that name, little among others.

    What `its_own` documents say, which lie in a folder of that name, is about it anyway.
    A heading that says more than the thing and what is `asked` of all ("GIN functions") is about something else.
    """
    own = reading.words(subject)
    known = frozenset(term for word in (*own, *asked) for way in word.ways for term in way)
    others = [words for other in subjects if other != subject and (words := reading.words(other))]

    def worth(found: Candidate) -> float:
        path = [plain_heading(part) for part in (found.region.title, *found.heading.split(" > "))]
        text = found.text
        if found.region.source in its_own:
            return 1.0
        if not _says(own, "\n".join([*path, text])):
            return 0.0
        headings = (_SUBTITLE.split(part)[0] for part in path)
        headed = any(_is_named(part, own, known) and not any(_says(w, part) for w in others) for part in headings)
        if any(named(path[-1], words) >= _PLAINLY for words in others) and named(path[-1], own) < _PLAINLY:
            return 0.0  # what stands under the name of another is told in the section about that
        key, first = key_of(found), text.partition("\n")[0]
        begins = _names(own, first)
        if not headed and any(
            named(key, words) > max(named(key, own), _PLAINLY) or (not begins and _names(words, first))
            for words in others
        ):
            return 0.0
        if headed:  # what stands there under the name of another too is told in the comparison
            return _AMONG_OTHERS if any(_says(words, path[-1]) for words in others) else _HEADED
        rivals = sum(_says(words, text) for words in others)
        spoken = 1.0 if phrased("\n".join([*path, text]), own) else _AMONG_OTHERS
        return spoken * (_AMONG_OTHERS if rivals > 1 else 1.0)

    return worth


def _is_named(heading: str, own: Sequence[Word], known: frozenset[str]) -> bool:
    """Return whether a heading names a thing and says little else."""
    terms = terms_of(heading)
    return _says(own, heading) and len(terms & known) >= _PLAINLY * len(terms)


def _names_several(subjects: Sequence[str], reading: Reading) -> Callable[[Candidate], float]:
    """Return how many of the subjects a block itself names, if two or more."""
    words = [own for subject in subjects if (own := reading.words(subject))]

    def worth(found: Candidate) -> float:
        text = found.text
        there = sum(_names(own, text) for own in words)
        return there / len(words) if there > 1 else 0.0

    return worth


def _compares(subjects: Sequence[str], reading: Reading) -> Callable[[Candidate], float]:
    """Return how many of the subjects a sentence of a block names that compares; one that only lists them does not."""
    words = [own for subject in subjects if (own := reading.words(subject))]

    def worth(found: Candidate) -> float:
        comparing = [text for text in found.text.split("\n") if _COMPARES.search(text)]
        there = max((sum(_names(own, text) for own in words) for text in comparing), default=0)
        return there / len(words) if there > 1 else 0.0

    return worth


def _names(words: Sequence[Word], text: str) -> bool:
    """Return whether a text says a name, its words together."""
    return _says(words, text) and phrased(text, words)


def _says(words: Sequence[Word], text: str) -> bool:
    terms = terms_of(text)
    return weigh(words, [word.share(terms) for word in words]) >= _SPEAKS_OF * weigh(words, [1.0] * len(words))
