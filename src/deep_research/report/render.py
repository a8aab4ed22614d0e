"""Rendering a report as Markdown: passage ids become numbered references, in order of first use."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from deep_research.data import (
    Advice,
    Changes,
    Claim,
    Contradiction,
    Gap,
    Limit,
    Passage,
    ReasonerInfo,
    Reference,
    Side,
    Source,
)
from deep_research.i18n.catalog import (
    bold_heading,
    bracket,
    colon_of,
    explain,
    join_list,
    join_sentences,
    list_languages,
    name_subject,
    phrase,
)
from deep_research.i18n.language import detect, is_cjk
from deep_research.ports import Library
from deep_research.report.method_note import LONG_QUESTION, render_method_note
from deep_research.report.repeated_text import marks_in_heads, without_lone_marks, without_repeats
from deep_research.report.report_input import CheckedReport
from deep_research.search.source_standing import dated_source, standing_of_most, uniform_standing
from deep_research.text.cleaning import fold
from deep_research.text.inert_markdown import make_inert
from deep_research.text.sentences import sentences
from deep_research.text.tokens import content_terms
from deep_research.text.workings import RECKONED, workings_apart
from deep_research.verification.citations import ids_in, lift, render_citations
from deep_research.verification.currency import Dated, written_date
from deep_research.verification.quotations import is_verbatim

_NAVIGATION = re.compile(r" \| .* \| |»")
_QUOTED_CHARS = 300
"""How many characters of a source its reference quotes. Where the list would be more than its share of the report, the second
sentences go, then those of the sources that carry least: a piece of a sentence tells nothing."""
_SEVERAL = 4
"""From this number of references on, the one day on which all were read is said once, in the method note."""
_REFERENCES = 1 / 3
"""Characters of the list of references for one of what stands before it: a quarter of the whole."""
_MOST_QUOTES, _FEW_TERMS, _LEAST_SHARED, _LONG_NAME = 2, 3, 2, 9
_QUOTED_SHARE = 0.3
"""Share of the terms of a claim that a sentence has which is quoted for it."""
_CONCLUDED = re.compile(r"(?:^\s*(?:[-*+]|\d+[.)])?\s*|[.!?。！？†\]*]\s*)→ ", re.MULTILINE)
"""The mark of a conclusion, at the beginning of a paragraph, point or sentence: within one an arrow is the writer's ("4.2 → 5.2")."""
_LETTERS, _FEW_WORDS = 0.75, 5
"""Share of letters and spaces in a sentence that is no code and no address; words of one that is no mere pointer."""
_ASSIGNED, _ASSIGNMENTS = re.compile(r"\w ?=(?!=) ?[\w\"'\[(]"), 2
"""What code without its line breaks is full of ("x = f(y=1)"), and how often a sentence of prose does not have it."""


class Rendered(NamedTuple):
    """The report's Markdown, the sections' Markdown with `[n]`, and the reference list."""

    markdown: str
    contents: dict[str, str]
    findings: dict[str, tuple[str, ...]]
    references: tuple[Reference, ...]


class References:
    """Numbers sources in the order they are first cited, and remembers which passages were."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._numbers: dict[str, int] = {}
        self._passages: dict[str, dict[str, None]] = defaultdict(dict)
        self._retrieved: dict[str, str] = {}

    def cite(self, ids: Sequence[str], *, ascending: bool = False) -> str:
        """Return the numbered citation of passage ids, such as `[1][3]`; ids that do not exist give nothing."""
        numbers: list[int] = []
        for key in ids:
            passage = self._library.passage(key)
            if passage is None:
                continue
            number = self._numbers.setdefault(passage.source, len(self._numbers) + 1)
            self._passages[passage.source][key] = None
            numbers.append(number)
        distinct = dict.fromkeys(numbers)
        return "".join(f"[{n}]" for n in (sorted(distinct) if ascending else distinct))

    def entries(self) -> tuple[Reference, ...]:
        """Return the numbered list."""
        return tuple(self._entry(key, number) for key, number in self._numbers.items())

    def languages(self, claims: Sequence[Claim]) -> set[str]:
        """Return the languages of the documents that supported claims cite; whole texts tell them, sentences do not."""
        sources = dict.fromkeys(p.split("p")[0] for c in claims if c.stands for p in c.passages)
        snapshots = (self._library.snapshot(source) for source in sources)
        return {detect(snapshot.text[:3000]) for snapshot in snapshots if snapshot is not None}

    def uniform(self, claims: Sequence[Claim]) -> str:
        """Return the version or date that nearly all cited sources have (`uniform_standing`); "" where they differ."""
        cited = tuple(dict.fromkeys(p.split("p")[0] for c in claims if c.stands for p in c.passages))
        return uniform_standing(self._library, cited) if cited else ""

    def verbatim(self, claim: Claim) -> bool:
        """Return whether the claim is word for word in a passage that it cites."""
        found = (self._library.passage(p) for p in claim.passages)
        return any(is_verbatim(claim.text, p.text) for p in found if p is not None)

    def quotes(self, entry: Reference, claims: Sequence[Claim]) -> list[str]:
        """Return the one or two sentences of a source that carry most of the claims that rest on it: the facts, if any."""
        own = [claim for claim in claims if not set(entry.passages).isdisjoint(claim.passages)]
        facts = [claim for claim in own if claim.kind in ("fact", "computed")]
        said: defaultdict[str, list[Claim]] = defaultdict(list)
        for claim in facts or own:
            for key in claim.passages:
                said[key].append(claim)
        return _carrying([p for key in entry.passages if (p := self._library.passage(key)) is not None], said)

    def one_day(self, entries: Sequence[Reference]) -> str:
        """Return the day on which all of several sources were read, ISO 8601; "" where it differs or there are few."""
        snapshots = (self._library.snapshot(entry.source) for entry in entries)
        days = {snapshot.retrieved_at[:10] for snapshot in snapshots if snapshot is not None}
        return min(days) if len(days) == 1 and len(entries) >= _SEVERAL else ""

    def listed(self, entry: Reference, language: str, *, is_dated: bool = True) -> str:
        """Return one entry of the reference list without quotations: title, place, date and standing.

        With `is_dated` it says when the source was read.
        """
        source = self._library.source(entry.source)
        if source is None:
            raise KeyError(entry.source)
        if entry.source not in self._retrieved:
            snapshot = self._library.snapshot(entry.source)
            self._retrieved[entry.source] = snapshot.retrieved_at if snapshot else ""
        passages = [p for key in entry.passages if (p := self._library.passage(key)) is not None]
        place = _place_of(source, passages, self._retrieved[entry.source] if is_dated else "", language)
        if noted := _standing_of(dated_source(self._library, entry.source), language):
            place = f"{place} · {noted}"
        return f"{entry.number}. **{source.title}** — {place}"

    def contradiction_tables(self, contradictions: Sequence[Contradiction], language: str) -> str:
        """Return where sources disagree: what each says, beside its title and date."""
        head = f"| {' | '.join(phrase(name, language) for name in ('statement', 'source', 'date'))} |"
        blocks = [f"## {phrase('conflict', language)}"]
        for found in contradictions:
            rows = [self._side(side, language) for side in found.sides]
            blocks += [f"**{fold(found.topic)}**"] * bool(found.topic) + ["\n".join([head, "|---|---|---|", *rows])]
            if found.prevails:
                blocks.append(f"→ {found.prevails} {self.cite([p for side in found.sides for p in side.passages])}")
        return "\n\n".join(blocks)

    def _side(self, side: Side, language: str) -> str:
        sources = [
            s for key in dict.fromkeys(p.split("p")[0] for p in side.passages) if (s := self._library.source(key))
        ]
        found = [dated_source(self._library, source.id).date for source in sources]
        dates = "; ".join(written_date(day, language) if day else phrase("no_date", language) for day in found)
        cells = (f"{fold(side.statement)} {self.cite(side.passages)}", "; ".join(s.title for s in sources), dates)
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    def _entry(self, key: str, number: int) -> Reference:
        source = self._library.source(key)
        if source is None:
            raise KeyError(key)
        return Reference(
            number=number,
            source=key,
            title=source.title,
            url=source.url,
            location=source.location,
            published=source.published,
            passages=tuple(self._passages[key]),
        )


def _state_of(uniform: str, language: str) -> str:
    """Return the sentence that names the version or date of nearly all sources; "" for none."""
    version = uniform.removeprefix("version ")
    if version != uniform:
        return f"*{phrase('uniform_version', language, version=version)}*"
    return f"*{phrase('uniform_date', language, date=written_date(uniform, language))}*" if uniform else ""


def render_report(checked: CheckedReport, library: Library) -> Rendered:
    """Return the whole report; every citation is numbered, every frame sentence comes from the message catalogue."""
    given, parts, language = checked.given, checked.parts, checked.given.language
    references, own = References(library), checked.reasoner.is_language_model
    blocks = [
        _head(checked, references),
        *_opening(checked, references),
    ]
    steps = render_advice(parts.advice, references, language)
    titles = [section.title for section in given.sections if section.content]
    after = parts.advice_after if parts.advice_after in titles else titles[-1] if titles else ""
    blocks += [] if after else steps
    if not checked.is_answered:
        blocks.append(_nothing(checked))
    body, contents, found = _body(checked, references, {after: steps} if after else {})
    blocks += body
    if untold := [found for found in checked.contradictions if not _is_told(found, checked)]:
        blocks.append(references.contradiction_tables(untold, language))
    if parts.conclusion:
        told = _cited(parts.conclusion, references, language, own=own)
        blocks.append(f"## {phrase('conclusion', language)}\n\n{told}")
    elif checked.is_answered and not checked.reasoner.is_language_model and checked.workflow != "quick":
        blocks.append(f"## {phrase('conclusion', language)}\n\n{_standing_of_parts(checked, references)}")
    entries = references.entries()
    listed = [gap for gap in checked.gaps if not _is_silent(gap, checked.reasoner)]  # these stand at the top
    if not checked.is_answered:  # that nothing was found is said above, of all sections
        listed = [gap for gap in listed if not {"section_empty", "review_open"} & {*gap.codes}]
    if not checked.reasoner.is_language_model:
        # What another section quotes under the same heading, or from the document of that name, is not missing.
        told = [gap.what for gap in listed if any(f"**{gap.what}**" in text for text in contents.values())]
        told += [entry.title for entry in entries]
        listed = [gap for gap in listed if gap.what not in told or not {"section_empty", "review_open"} & {*gap.codes}]
    none = "no_gaps" if checked.reasoner.is_language_model else "no_gaps_noticed"
    blocks.append(_gaps(listed, parts.limits, language, none=none))
    verbatim, day = sum(references.verbatim(c) for c in checked.claims if c.stands), references.one_day(entries)
    key = f"*{_marks(checked)}*"
    marks = sum(text.count(_GENERAL) for text in blocks if text != key)
    told, workings = workings_apart("\n\n".join(blocks), is_own=own)
    blocks = [told, render_method_note(checked, verbatim=verbatim, general_marks=marks, workings=workings, read_on=day)]
    if entries:
        room = int(_REFERENCES * sum(map(len, blocks)))
        blocks.append(_reference_list(entries, checked.claims, references, language, room, is_dated=not day))
    text = "\n\n".join(blocks).strip()
    text = _LONE_GENERAL.sub("", text)  # the line that explains the marks says it of all code
    return Rendered(make_inert(text) + "\n", contents, found, entries)


def _is_told(found: Contradiction, checked: CheckedReport) -> bool:
    """Tell whether a section of the report cites each side of a disagreement in one paragraph: it says what holds."""
    sides = [{*side.passages} for side in found.sides]
    paragraphs = (part for section in checked.given.sections for part in section.content.split("\n\n"))
    return any(all(side & {*ids_in(paragraph)} for side in sides) for paragraph in paragraphs)


def _body(
    checked: CheckedReport, references: References, behind: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the blocks of the body, with what stands `behind` a section by its title, and by the titles of the sections their
    texts and key findings with `[n]`."""
    given, parts, language = checked.given, checked.parts, checked.given.language
    blocks: list[str] = []
    contents: dict[str, str] = {}
    found: dict[str, tuple[str, ...]] = {}
    state, own = _common_state(checked, references), checked.reasoner.is_language_model
    for section in given.sections:
        contents[section.title] = make_inert(_cited(section.content, references, language, own=own))
        found[section.title] = tuple(make_inert(_cited(f, references, language, own=own)) for f in section.key_findings)
        shown = without_lone_marks(contents[section.title])
        shown = marks_in_heads(shown) if checked.reasoner.is_language_model else shown
        if shown and not checked.reasoner.is_language_model:  # what is quoted in front is not quoted again
            shown = without_repeats(shown, make_inert(_cited(parts.abstract, references, language, own=own)))
            # A heading of the documents says where to look; one of the program's own, with nothing below it, says nothing.
            is_own = section.title in (phrase("answer", language), phrase("head_to_head", language))
            shown = shown or ("" if is_own else phrase("said_above", language))
        if shown:
            blocks.append(f"## {section.title}")
            if section.as_of and section.as_of != state:
                blocks.append(_state_of(section.as_of, language))  # its writer was told that this is said
            blocks.append(shown)
        blocks += behind.get(section.title, ())
    return blocks, contents, found


ADVICE = "advice"
"""How a part of the question is said to be answered by the steps of what to do."""
_MARK = re.compile(r" ?(?:\[\d+\])+")
_WIDE_STOPS = ("。", "！", "？")


def _cited(markdown: str, references: References, language: str, *, own: bool) -> str:
    """Render the citations of a text; of sentences of a paragraph that follow one another and rest on the same sources the
    last one carries the numbers. A conclusion that closes a paragraph becomes one of its own: its mark begins a line; what it is
    drawn from stands behind it as that, not as what says it. Where a sentence without a number is `own`, each keeps its numbers."""
    lines = render_citations(markdown, references.cite).split("\n")
    told = "\n".join(_apart(line if own else _once(line)) for line in lines)
    return _DRAWN.sub(lambda found: f"{found[1]}{phrase('rests_on', language, cited=found[2])}", told)


def _apart(line: str) -> str:
    return line if _NO_PROSE.match(line) else _CLOSING.sub("\n\n→ ", line, count=1)


_NO_PROSE = re.compile(r"\s|[-*+|>#→`~]|\d+[.)]")
_DRAWN = re.compile(r"^((?:\s*(?:[-*+]|\d+[.)])\s+)?→ .*?\S) ?((?:\[\d+\])+)[ \t]*$", re.MULTILINE)
"""A conclusion, with the numbers at its end."""
_CLOSING = re.compile(r"(?<=[\].。！？!?†]) ?→ ")


def _once(line: str) -> str:
    """Leave out each citation of a line that the next one repeats."""
    if line.lstrip().startswith("|"):
        return line
    marks = list(_MARK.finditer(line))
    for mark, following in reversed(list(itertools.pairwise(marks))):
        if mark[0].strip() == following[0].strip():
            before, rest = line[: mark.start()], line[mark.end() :]
            is_wide = before.endswith(_WIDE_STOPS) and not rest.startswith(" →")
            line = before + (rest.lstrip(" ") if is_wide else rest)
    return line


def _head(checked: CheckedReport, references: References) -> str:
    """Render title, question, and what the user changed; without a model, that there was none."""
    given, language = checked.given, checked.given.language
    blocks = [f"# {given.brief.title}"]
    silent = [gap for gap in checked.gaps if _is_silent(gap, checked.reasoner)]
    blocks += [f"> **{explain(gap, language)}**" for gap in silent]
    if not checked.reasoner.is_language_model:
        foreign = sorted(references.languages(checked.claims) - {language})
        notice = [f"> {phrase('no_model', language)}"]
        if foreign:
            notice.append(f"> {phrase('no_model_foreign', language, languages=list_languages(foreign))}")
        if checked.workflow in ("loop", "supervisor"):
            notice.append(f"> {phrase('no_model_workflow', language, workflow=checked.workflow)}")
        blocks.append("\n".join(notice))
    if len(given.original) <= LONG_QUESTION:
        blocks.append(f"{bold_heading('question', language)}{given.original}")
    if given.found_in:
        name = given.found_in if given.found_in == "library" or checked.is_answered else "neither"
        blocks.append(f"*{phrase(f'from_{name}', language, searches=checked.ledger.searches)}*")
    return "\n\n".join([*blocks, *_changes(checked.changes, language)])


def _is_silent(gap: Gap, reasoner: ReasonerInfo) -> bool:
    """Return whether a gap tells of a model that has answered nothing."""
    named = f"{gap.values.get('model')} ({gap.values.get('provider')})"
    return "model_silent" in gap.codes and named not in reasoner.calls


def _changes(changes: Changes, language: str) -> list[str]:
    """Render the user's changes: a line for each kind that there was."""
    lists = {"remarks": changes.remarks, "added_sections": changes.added, "dropped_sections": changes.dropped}
    lines = [f"**{phrase(name, language)}:** {' · '.join(said)}" for name, said in lists.items() if said]
    return [*lines, phrase("finished_early", language)] if changes.finished_early else lines


def _opening(checked: CheckedReport, references: References) -> list[str]:
    """Render the answer, how its marks are read where there are any, what was assumed, and the table."""
    parts, language = checked.parts, checked.given.language
    shown = (("abstract", parts.abstract), ("at_a_glance", parts.table))
    own = checked.reasoner.is_language_model
    texts = ((name, _cited(text, references, language, own=own)) for name, text in shown if text)
    told = marks_in_heads if own else str  # what is quoted keeps its citations where they are
    blocks = [f"## {phrase(name, language)}\n\n{told(text)}" for name, text in texts]
    notes = [f"*{marks}*"] if (marks := _marks(checked)) else []
    if state := _state_of(_common_state(checked, references), language):
        notes.append(state)
    if assumed := checked.given.decision.assumptions:
        notes.append(f"{bold_heading('assumptions', language)}{join_list(assumed, language)}")
    place = 1 if parts.abstract else 0
    return [*blocks[:place], *notes, *blocks[place:]]


def _common_state(checked: CheckedReport, references: References) -> str:
    """Return the version or date of nearly all sources of the report, or of most of its sections; "" where there is none."""
    return references.uniform(checked.claims) or standing_of_most(checked.given.sections)


def _marks(checked: CheckedReport) -> str:
    """Return the line that explains the marks of this report; "" where all statements are facts."""
    parts = checked.parts
    general = [claim.text for claim in checked.claims if claim.kind == "background"]
    advised = " ".join(f"{a.why}{a.how}{a.fallback}{a.condition}{a.action}" for a in parts.advice)
    typed = [line for step in parts.advice for line in step.commands]
    bodies = [section.content for section in checked.given.sections]
    whole = "\n".join((parts.abstract, parts.conclusion, parts.table, advised, *bodies))
    used = {
        "marks_own": bool(parts.advice) or any(claim.kind == "inference" and claim.stands for claim in checked.claims),
        "marks_inference": any(map(_CONCLUDED.search, (parts.abstract, parts.conclusion, *bodies))),
        "marks_reckoned": RECKONED in workings_apart(whole, is_own=checked.reasoner.is_language_model)[0],
        "marks_background": _GENERAL in advised or any("```" not in text for text in general),
        "marks_code": any(line.endswith(_GENERAL) for line in typed) or any("```" in text for text in general),
    }
    return " · ".join(phrase(name, checked.given.language) for name, is_used in used.items() if is_used)


def render_advice(advice: Sequence[Advice], references: References, language: str) -> list[str]:
    """Return the heading and the steps in their order; one for a single case begins with it."""
    if not advice:
        return []
    blocks, items = [f"## {phrase('advice', language)}"], list[str]()
    for number, step in enumerate(advice, 1):
        told, before, behind = _step(step, references, language)
        items += [f"{number}. {told}", *before]
        if step.commands:  # a block of its own: the list goes on behind it with the next number
            blocks += ["\n".join(items), *_typed(step.commands)]
            items = []
        items += behind
    return [*blocks, *["\n".join(items)] * bool(items)]


def _typed(lines: Sequence[str]) -> list[str]:
    """Return lines to type as a block of code. Where some are general knowledge the mark stands below it, for all of them:
    within a script it would be in the way."""
    shown = [re.sub(rf"[\s#]*{_GENERAL}$", "", line) for line in lines]
    block = "\n".join(["```", *shown, "```"])
    return [block, _GENERAL] if any(line.endswith(_GENERAL) for line in lines) else [block]


_ENDS = (".", "!", "?", "。", "！", "？", "”", '"', "」", ")", "）")
"""What a whole sentence ends with: a piece that breaks off at the markup of a page says nothing."""
_STOPS = (".", "!", "?", "。", "！", "？", ":", "：", "†")
_IN_ONE_BREATH = 420
"""Characters of what a step says besides its action; half as many ideographs."""
_GENERAL = "†"
"""Ends a line to type that is general knowledge."""
_LONE_GENERAL = re.compile(rf"(?<=```)\n\n{_GENERAL}$", re.MULTILINE)
"""The mark below a piece of code."""


def _step(advice: Advice, references: References, language: str) -> tuple[str, list[str], list[str]]:
    """Render one step: for whom, what to do and why; and its points (how, what must be true first, what to do else), those
    before its lines to type and those behind. What leads to the lines ends with a colon."""
    said = [f"*{fold(advice.case).rstrip(' ,，、;；:：.。')}{colon_of(language).rstrip()}*"] * bool(advice.case)
    action = fold(advice.action)
    said.append(f"**{action if action.endswith(_STOPS) else action + phrase('full_stop', language)}**")
    why = [_once(render_citations(fold(advice.why), references.cite))] * bool(advice.why)
    colon = colon_of(language)
    needed = [f"*{phrase('condition', language)}*{colon}{fold(advice.condition)}"] * bool(advice.condition)
    otherwise = [fold(advice.fallback)] * bool(advice.fallback)  # it says itself for whom it is: "Without a key, …"
    points = [*needed, *map(fold, advice.how), *otherwise]
    if not advice.commands and _is_brief(points, language):
        rest = join_sentences((_whole(text, language) for text in points), language)
        more = [_once(render_citations(rest, references.cite))] * bool(rest)
        return " ".join([*said, join_sentences([*why, *more], language)]).rstrip(), [], []
    shown = [f"   - {_once(render_citations(text, references.cite))}" for text in points]
    leads = (at for at, text in enumerate(points, 1) if _leads_on(text))
    cut = next(leads, len(points)) if advice.commands else len(points)
    return " ".join([*said, *why]), shown[:cut], shown[cut:]


def _whole(text: str, language: str) -> str:
    """Return a point as a sentence of running text."""
    return text if text.endswith((*_ENDS, *_STOPS, "]")) else text + phrase("full_stop", language)


def _is_brief(texts: Sequence[str], language: str) -> bool:
    """Tell whether what a step says besides is read in one breath, so that points would only tear it apart."""
    most = _IN_ONE_BREATH // 2 if is_cjk(language) else _IN_ONE_BREATH
    return sum(map(len, texts)) <= most and not any(map(_leads_on, texts))


def _leads_on(text: str) -> bool:
    """Tell whether a point leads to what stands behind it."""
    return lift(text)[0].rstrip().endswith((":", "："))


def _standing_of_parts(checked: CheckedReport, references: References) -> str:
    """Return how many parts of the question are answered, by which sources, and what stays open, where nothing else
    concludes."""
    language, parts = checked.given.language, checked.question_parts
    answering = {key for part in parts for key in part.claims}
    cited = references.cite([p for c in checked.claims if c.id in answering for p in c.passages], ascending=True)
    open_parts = [part.text for part in parts if part.answered != "yes"]
    if not open_parts:
        return f"{phrase('parts_none_open', language)} {cited}".strip()
    said = phrase("parts_answered", language, answered=len(parts) - len(open_parts), parts=len(parts))
    told = f"{said} {cited}" if cited else said
    return join_sentences((told, phrase("parts_open", language, parts=join_list(open_parts, language))), language)


def _nothing(checked: CheckedReport) -> str:
    language = checked.given.language
    queries = "; ".join(dict.fromkeys(q for s in checked.given.brief.sections for q in s.queries))
    places = phrase("searched_places", language, places=checked.searched_places)
    said = phrase("searched_queries", language, queries=queries)
    return f"{phrase('nothing_found', language)}\n\n{places} {said}"


def _gap_line(alike: Sequence[Gap], language: str) -> str:
    """Return one line for gaps with one reason; that a place is not asked again says its failures as well."""
    told = next((gap for gap in alike if "given_up" in gap.codes), alike[0])
    if "few_sources" in told.codes:
        if len(alike) == 1:
            return f"- {fold(explain(told, language))}"  # it names the section itself
        names = join_list([f"**{fold(name_subject(gap, language))}**" for gap in alike], language)
        return f"- {names}{colon_of(language)}{phrase('few_sources_each', language)}"
    count = len(alike) - ("given_up" in told.codes)
    times = f" (×{count})" if count > 1 else ""
    return f"- **{fold(name_subject(told, language))}**{times}{colon_of(language)}{fold(explain(told, language))}"


def _gaps(gaps: Sequence[Gap], limits: Sequence[Limit], language: str, *, none: str) -> str:
    alike: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for gap in gaps:
        if limits and ("review_open" in gap.codes or gap.what == "review"):
            continue  # what matters of it to the reader the limits say; the result has all of it
        is_narrow = "few_sources" in gap.codes
        why = gap.values["error"] if "given_up" in gap.codes else "few_sources" if is_narrow else gap.why
        alike["" if is_narrow else gap.source or gap.what, why].append(gap)
    limited = [f"- {fold(limit.text)}" for limit in limits]
    lines = [*limited, *(_gap_line(same, language) for same in alike.values())] or [phrase(none, language)]
    return f"## {phrase('gaps', language)}\n\n" + "\n".join(lines)


def _reference_list(
    entries: Sequence[Reference],
    claims: Sequence[Claim],
    references: References,
    language: str,
    room: int,
    *,
    is_dated: bool,
) -> str:
    """Return the list of references, its quotations as long and as many as they may be in `room` characters."""
    told = {entry.number: references.listed(entry, language, is_dated=is_dated) for entry in entries}
    quoted = {entry.number: references.quotes(entry, claims) for entry in entries}
    weights = {entry.number: sum(not set(entry.passages).isdisjoint(c.passages) for c in claims) for entry in entries}
    least_first = sorted(weights, key=lambda number: (weights[number], -number))
    spared = [*((number, 1) for number in least_first), *((number, 0) for number in least_first)]
    while True:
        text = "\n\n".join(told[number] + quoted_line(quoted[number], _QUOTED_CHARS) for number in told)
        if len(text) <= room or not spared:
            return f"## {phrase('references', language)}\n\n{text}"
        number, left = spared.pop(0)
        quoted[number] = quoted[number][:left]


def _place_of(source: Source, passages: Sequence[Passage], retrieved: str, language: str) -> str:
    """Return where a source lies, when it was published and when it was read, for the reference list."""
    pages = sorted({p.page for p in passages if p.page})
    facts = [source.location or source.url]
    if pages:
        facts.append(phrase("page", language, page=", ".join(str(p) for p in pages)))
    if source.published:
        facts.append(phrase("published", language, date=source.published))
    facts += [phrase("retrieved", language, date=retrieved[:10])] * bool(retrieved)
    return " · ".join(fact for fact in facts if fact)


def _standing_of(dated: Dated, language: str) -> str:
    """Return what a source says of its standing, where a reader should know."""
    status, by = dated.standing.status, dated.standing.by
    if not status or status == "active":
        return ""
    said = phrase(f"standing_{status}", language)
    return f"**{said}{bracket(by, language) if by else ''}**" if status != "final" else said


def _carrying(passages: Sequence[Passage], said: Mapping[str, Sequence[Claim]]) -> list[str]:
    """Return the sentences of passages that carry most of the claims on them: those that a judge has named, or else the nearest."""
    named: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    for passage in passages:
        text = _prose(passage.text)
        for claim in said.get(passage.id, []):
            if claim.verdict.carrier and claim.verdict.carrier in text:
                named[claim.verdict.carrier] += 1
            elif place := _nearest(claim.text, text):
                counted[text[place[0] : place[1]].strip()] += 1
    best = dict.fromkeys(text for text, _ in [*named.most_common(), *counted.most_common()])
    return list(best)[:_MOST_QUOTES]


def quoted_line(quotes: Sequence[str], most: int) -> str:
    """Return the line of an entry that quotes its source in `most` characters; "" without quotations."""
    text = " … ".join(f"“{quote}”" for quote in _within(quotes, most))
    return f"  \n   {text}" if text else ""


def _within(quotes: Sequence[str], most: int) -> list[str]:
    """Return the quotations that fit in so many characters together; a single one that does not is shortened."""
    found: list[str] = []
    for text in quotes:
        if len(text) + sum(map(len, found)) <= most:
            found.append(text)
    return found or [f"{text[: _to_word(text, most - 2)].rstrip()} …" for text in quotes[:1]]


def _prose(text: str) -> str:
    """Return the paragraphs of a passage, each on one line, without headings and the marks of a web page."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith(("#", "```")))
    paragraphs = (" ".join(part.replace("¶", " ").split()) for part in re.split(r"\n\s*\n", kept))
    return "\n\n".join(part for part in paragraphs if part and not _NAVIGATION.search(part))


def _nearest(claim: str, text: str) -> tuple[int, int] | None:
    """Return the sentence of `text` that shares most terms with `claim`, if any; a sentence said word for word is itself.

    A term counts by how few sentences of the text have it: what all speak of leads to none.
    """
    at = text.find(claim)
    terms = set(content_terms(claim))
    if at >= 0 and len(terms) > _FEW_TERMS:
        return at, at + len(claim)

    def shared(span: tuple[int, int]) -> tuple[float, bool]:
        there = spans[span]
        says_more = len(there) > _FEW_TERMS  # "--unshallow" alone quotes nothing
        return sum(1 / had[term] for term in terms & there), says_more

    spans = _prose_sentences(text)
    had = Counter(term for there in spans.values() for term in there)
    best = max(spans, key=shared, default=None)
    if best is None:
        return None
    is_near = len(terms & spans[best]) >= max(1, min(_LEAST_SHARED, len(terms)), _QUOTED_SHARE * len(terms))
    if detect(claim) == detect(text):
        return best if is_near else None
    # Across languages names and numbers are what is shared, and most of them have to be: one alone may be of anything. Without
    # most of them it takes a name that this sentence alone has, and no plain word.
    named = {term for term in terms if term.isascii()}
    is_named = any(had[term] == 1 and (not term.isalpha() or len(term) >= _LONG_NAME) for term in named & spans[best])
    return best if (is_near or is_named) and len(named & spans[best]) * 2 >= max(1, len(named)) else None


@lru_cache(maxsize=200)
def _prose_sentences(text: str) -> dict[tuple[int, int], frozenset[str]]:
    """Return the sentences of a text that say something, by their places, with their terms: many claims cite one passage."""
    places = [(s.start, s.end) for s in sentences(text)]
    return {
        (start, end): frozenset(content_terms(text[start:end])) for start, end in places if _is_prose(text[start:end])
    }


def _is_prose(sentence: str) -> bool:
    """Tell whether a sentence says something by itself: no code, no address, no pointer ("See also: …")."""
    plain = sum(c.isalpha() or c.isspace() for c in sentence)
    words = len(sentence.split()) if not is_cjk(detect(sentence)) else len(sentence)
    is_told = plain >= _LETTERS * len(sentence) and words >= _FEW_WORDS and sentence.rstrip().endswith(_ENDS)
    return is_told and len(_ASSIGNED.findall(sentence)) < _ASSIGNMENTS


def _to_word(text: str, end: int) -> int:
    """Return the last word border before `end`, or the end of the text."""
    if len(text) <= end:
        return len(text)
    space = text.rfind(" ", end // 2, end)
    return space if space > 0 else end
