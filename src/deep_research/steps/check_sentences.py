"""What code can say of the sentences of a draft, each held against the passages it cites, then against its neighbours' and
the library's: a fact must be in them, a conclusion may bring nothing of its own, a computation is carried out."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from deep_research.data import Claim, ClaimKind, Computation, Passage, Verdict
from deep_research.data.evidence import Repair
from deep_research.i18n.catalog import verdict_of
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.search.source_standing import dated_source
from deep_research.steps.work_out import results_of, with_results
from deep_research.text.standing import UNDECIDED
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import CitedSentence, claim_text
from deep_research.verification.computations import ComputationError, Result
from deep_research.verification.conclusions import (
    BACKGROUND,
    FOLLOWS,
    bare_code,
    called_names,
    has_amounts,
    is_instruction,
    is_known_code,
    is_of_trade,
    is_too_specific,
    is_unfounded,
    left_to_judge,
    missing_names,
    open_instruction,
    with_general_mark,
    without_code,
)
from deep_research.verification.currency import Dated, flags_of, with_note
from deep_research.verification.drafts import (
    PLACEHOLDER,
    Draft,
    parse_draft,
    settle_marks,
    without_general_cells,
    without_id_columns,
)
from deep_research.verification.numbers import numbers_agree, quantities, same
from deep_research.verification.own_figures import without_true_sums
from deep_research.verification.procedures import steps_left_out
from deep_research.verification.quotations import unquoted
from deep_research.verification.verify import (
    VERBATIM,
    Evidence,
    certain_disproof,
    disproof,
    is_error_text,
    is_nearly_said,
    is_plainly_said,
    is_sentence_of,
    may_be_supported,
    verify,
)

PENDING = verdict_of("supported", "judged_later")
"""The verdict on a statement of a note that code has no doubt about, until it is judged with the report."""
LOOSE_CODE = verdict_of("unverified", "loose_code")
_UNCITED = verdict_of("unverified", "uncited")
OWN_VALUE = ("own_value",)
"""The flag of a thought that brings in a value of the writer's own."""
OWN_PART = ("own_part",)
"""The flag of a fact that ends with a thought of the writer's own."""
_LATIN_NAME = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z]+(?![a-z])")
_INLINE = re.compile(r"`([^`\n]+)`")
_WORDS_OF_A_THOUGHT = 2
_NAMED = 3
"""How many passages of the library are looked at for a name in code."""
_CANDIDATES = 8
"""How many passages of the library are tried in place of one that does not support its claim."""


class Ground(NamedTuple):
    """What a draft may use beside its passages: the arithmetic its writer asks for, what was `known` before (the
    question and the terms of the plan), what was `sought` (the facts planned and the searches made), what a conclusion may
    take names from (`named`: all that the draft cites), whether general knowledge may stand, the `language` of the report, and `today`, by which what sources say of their own time is dated
    (None: not at all); `told_date` is the date that the report names for the whole text; figures of the `question` may be
    reckoned with; `own` is the code of the report, which gives names of its own, and `chosen` what the report says without citing
    it, whose figures a cited sentence may repeat; `is_judged` tells that a judge decides on what is our own."""

    computations: Sequence[Computation] = ()
    known: str = ""
    sought: str = ""
    named: str = ""
    background: bool = False
    language: str = "en"
    today: date | None = None
    told_date: str = ""
    question: str = ""
    own: str = ""
    chosen: str = ""
    is_judged: bool = False

    @property
    def given(self) -> str:
        """What a thought of the writer's own may take its figures from besides its premises: what was known before and, where a
        judge decides on it, the report's own code."""
        return f"{self.known}\n{self.own}" if self.is_judged else self.known


NO_GROUND = Ground()
"""Passages alone."""


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence on its way through the checks. `shown` says whether it stays in the text.

    `context` is what a table cell is about; a cell that is a whole sentence of a passage needs none. `repair` says
    what was changed to make it stand. `bare` is a conclusion without the results of arithmetic in it. `joins` tells that it
    cites nothing itself and is judged as a thought about what its neighbours cite. `tail` is how it ends behind its last
    citation, where that is a thought of the writer's own ("… [s1p2], so set it in both").
    """

    text: str
    passages: tuple[str, ...]
    verdict: Verdict
    context: str = ""
    repair: Repair = ""
    kind: ClaimKind = "fact"
    bare: str = ""
    flags: tuple[str, ...] = ()
    joins: bool = False
    tail: str = ""

    @property
    def fact(self) -> str:
        """The text without the thought that it ends with."""
        return self.text.removesuffix(self.tail)

    @property
    def thought(self) -> str:
        """The thought of the writer's own that it ends with, as a statement."""
        return self.tail.lstrip(" ,，、;；")

    @property
    def claim(self) -> str:
        """The text with what a table cell is about."""
        return claim_text(self.text, self.context)

    @property
    def shown(self) -> bool:
        """Whether it stays in the text by its verdict."""
        return self.verdict.kind == "supported" or self.verdict == BACKGROUND

    def as_claim(self, key: str, section: str) -> Claim:
        """Return the sentence as a claim of `section` with the id `key`."""
        return Claim(
            id=key,
            section=section,
            text=self.claim,
            passages=self.passages,
            verdict=self.verdict,
            repair=self.repair if self.shown else "",
            kind=self.kind,
            flags=self.flags,
        )


def check_sentences(
    draft_markdown: str, library: Library, ground: Ground, *, has_judge: bool, is_note: bool = False
) -> tuple[Draft, list[CheckedSentence], list[int]]:
    """Return the draft, its sentences as the mechanical checks judge them, and which of them a judge may judge.

    Of a note, which is judged later, facts that may stand are not measured.
    """
    draft = parse_draft(without_id_columns(settle_marks(draft_markdown)), own_rows=ground.is_judged)
    said = "\n".join(s.text for s in draft.sentences if s.role != "limit")
    ground = ground._replace(
        sought=f"{ground.sought}\n{said}",
        named="\n".join(
            [
                ground.named,
                *(
                    p.text
                    for p in known_passages(dict.fromkeys(key for s in draft.sentences for key in s.passages), library)
                ),
                *(s.text for s in draft.sentences if s.kind == "code"),  # judged by itself; others speak of its names
            ]
        ),
    )
    results = results_of(ground.computations, library, ground.question)
    judged = [
        (is_note and _as_noted(s, library, ground))
        or (ground.is_judged and has_judge and _check_joined(s, library, ground))
        or _check_fact(s, library, ground, _beside(draft, i) if ground.is_judged else (), has_judge=has_judge)
        if s.role == "fact"
        else check_own(_as_own(s, draft, i) if ground.is_judged else s, library, ground, results)
        for i, s in enumerate(draft.sentences)
    ]
    for i, sentence in enumerate(draft.sentences):
        if sentence.kind == "code" and not judged[i].shown:
            before = next((s for s in reversed(draft.sentences[:i]) if s.kind != "code"), sentence)
            judged[i] = _put_together(judged[i], before, library, ground)
    judged = [replace(j, flags=_flags(j, library, ground)) for j in judged]
    for i in _steps_left_out(draft, judged, [i for i, j in enumerate(judged) if j.shown], library):
        judged[i] = replace(judged[i], flags=(*judged[i].flags, "steps"))
    return draft, judged, [i for i, j in enumerate(judged) if _is_for_judge(j, library, ground)]


def _put_together(judged: CheckedSentence, before: CitedSentence, library: Library, ground: Ground) -> CheckedSentence:
    """Return code that stands in no passage as the writer's own where all that it calls is in what the draft cites; it
    rests on what it cites, or on what the sentence before it does. Other code is general knowledge, where that may stand."""
    ids = judged.passages or cited_ids(before, library)
    if not ground.is_judged and any(map(is_error_text, bare_code(judged.text).splitlines())):
        return judged  # what it prints of failures is its subject
    general = replace(judged, passages=(), verdict=BACKGROUND, kind="background") if ground.background else judged
    if not ids:
        return general
    known = f"{ground.named.replace(judged.text, '')}\n{ground.known}"
    also = f"{known}\n{documents_of(ids, library)}"
    if not is_known_code(judged.text, known) and not is_known_code(judged.text, also):
        # A name that stands in another text of the run is no invention of the writer's.
        found = (hit.passage.text for name in called_names(judged.text) for hit in library.search(name, limit=_NAMED))
        if not is_known_code(judged.text, "\n".join([also, *found])):
            return general
    return replace(judged, passages=ids, verdict=FOLLOWS, kind="inference")


def _flags(judged: CheckedSentence, library: Library, ground: Ground) -> tuple[str, ...]:
    if judged.kind != "fact":
        return judged.flags
    own = OWN_PART if judged.tail else ()
    if ground.today is None or not judged.shown or judged.verdict == PENDING:
        return own
    said = "\n".join(passage.text for passage in known_passages(judged.passages, library))
    return (*flags_of(judged.claim, _dated(judged, library), ground.today, said), *own)


def _steps_left_out(
    draft: Draft, judged: Sequence[CheckedSentence], kept: Collection[int], library: Library
) -> dict[int, list[str]]:
    """Return, by the last sentence of each numbered list, the steps that its sources have and the text has not."""
    left: dict[int, list[str]] = {}
    for steps in draft.numbered_lists():
        told = [" ".join(judged[i].text for i in step if i in kept) for step in steps]
        numbers = [i for step in steps for i in step if i in kept]
        passages = known_passages(dict.fromkeys(key for i in numbers for key in judged[i].passages), library)
        said = [*told, *(judged[i].text for i in kept)]
        if missing := [step for passage in passages for step in steps_left_out(said, passage.text)]:
            left[numbers[-1]] = list(dict.fromkeys(missing))
    return left


def _dated(judged: CheckedSentence, library: Library) -> list[Dated]:
    return [dated_source(library, source) for source in dict.fromkeys(key.split("p")[0] for key in judged.passages)]


def with_notes(
    draft: Draft, judged: Sequence[CheckedSentence], kept: Collection[int], library: Library, ground: Ground
) -> list[CheckedSentence]:
    """Return the sentences with the date, standing or steps left out in brackets that a reader needs; a quotation stays
    as it is.

    That a source is a mere draft or proposal, or of what time it speaks, is said once in a draft, not behind each of its
    sentences.
    """
    done, told = list(judged), {ground.told_date}
    left_out = _steps_left_out(draft, judged, kept, library)
    for i, item in enumerate(judged):
        flags = (*_flags(item, library, ground), *(["steps"] if i in left_out else []))
        done[i] = replace(item, flags=flags)
        if item.verdict == VERBATIM or item.context:
            continue
        sources = list(_dated(item, library))
        about = {"relative_time": {source.date for source in sources}}
        if {source.standing.status for source in sources} <= UNDECIDED:
            about["not_current"] = {key.split("p")[0] for key in item.passages}
        noted = [flag for flag in flags if flag not in about or not about[flag] <= told]
        told |= {one for flag in noted for one in about.get(flag, ())}
        text = with_note(item.fact, noted, sources, ground.language, left_out.get(i, ()))
        done[i] = replace(done[i], text=f"{text}{item.tail}")
    return done


def check_own(
    sentence: CitedSentence, library: Library, ground: Ground, results: Mapping[str, Result | ComputationError]
) -> CheckedSentence:
    """Judge what is the writer's own: a conclusion, a computation, or general knowledge."""
    if sentence.role == "limit":
        return CheckedSentence(sentence.text, (), _open(sentence.text, ground), kind="limit")
    if sentence.role == "background":
        refused = (
            is_too_specific(sentence.text, ground.known) if ground.background else verdict_of("unverified", "uncited")
        )
        return CheckedSentence(sentence.text, (), refused or BACKGROUND, kind="background")
    bare = PLACEHOLDER.sub("", sentence.text)
    worked = with_results(sentence.text, results, ground.language)
    if isinstance(worked, Verdict):
        left_open = PLACEHOLDER.sub("…", sentence.text)
        return CheckedSentence(left_open, cited_ids(sentence, library), worked, kind="computed", bare=bare)
    ids = tuple(dict.fromkeys([*cited_ids(sentence, library), *worked.passages]))
    own = CheckedSentence(worked.text, ids, FOLLOWS, kind=sentence.role, bare=bare)
    return judge_own(own, library, ground, [ground.question] if worked.is_own else [])


def names_are_known(text: str, ids: Sequence[str], library: Library, also: str) -> bool:
    """Tell whether all names of a conclusion stand somewhere in the documents that these passages are of, or in `also`."""
    return not missing_names(text, f"{documents_of(ids, library)}\n{also}")


def stands_around(item: CheckedSentence, library: Library, named: str = "") -> bool:
    """Tell whether the name or number that the passages of a statement lack stands elsewhere in their documents; a name also
    in `named`. What it quotes in another language than theirs is its own wording."""
    lacking = set(item.verdict.codes)
    if not item.passages or item.kind not in ("fact", "inference"):
        return False
    if "name_missing" in lacking:
        return names_are_known(item.claim, item.passages, library, named)
    documents = documents_of(item.passages, library)
    if "quotation_missing" in lacking:
        told = replace(item, text=unquoted(item.text))
        wrong = certain_disproof(told.claim, [evidence_of(p, library) for p in known_passages(item.passages, library)])
        is_translated = detect(item.text) != detect(documents)
        return is_translated and (wrong is None or stands_around(replace(told, verdict=wrong), library, named))
    if not lacking & {"number_missing", "number_unit"}:
        return False
    there = {q.value for q in quantities(documents)}
    missing = numbers_agree(item.claim, documents).missing
    return all(q.value in there or q.unit == "ordinal" for q in missing)


def documents_of(ids: Sequence[str], library: Library) -> str:
    """Return the whole texts that passages are of."""
    sources = dict.fromkeys(key.split("p")[0] for key in ids)
    return "\n".join(snapshot.text for key in sources if (snapshot := library.snapshot(key)) is not None)


def _open(text: str, ground: Ground) -> Verdict:
    """Return whether a sentence may say that the sources read do not tell something: it is about what was looked for, and
    brings in no amount or quotation of its own."""
    terms, wanted = set(content_terms(text)), set(content_terms(f"{ground.sought}\n{ground.known}"))
    if is_error_text(text) or not terms & wanted:
        return verdict_of("unverified", "not_searched")
    return (
        verdict_of("unverified", "background_specific")
        if has_amounts(text, ground.known)
        else verdict_of("supported", "was_searched")
    )


def judge_own(judged: CheckedSentence, library: Library, ground: Ground, more: Sequence[str] = ()) -> CheckedSentence:
    """Judge what is the writer's own by what it rests on and what was known before; `more` are further premises."""
    evidence = [evidence_of(p, library) for p in known_passages(judged.passages, library)]
    premises = [*(f"{e.about}\n{e.text}" for e in evidence), *more] or [ground.known] * ground.is_judged
    bare = judged.bare or judged.text
    unfounded = is_unfounded(bare, premises, ground.given, ground.named, is_judged=ground.is_judged)
    is_value = ground.is_judged and unfounded is not None and unfounded.codes == ("number_missing",)
    if unfounded and not is_value and ground.background and is_instruction(bare):
        # What an instruction types may be general knowledge, marked as such; what it says besides may not.
        said = without_code(bare)
        unfounded = is_unfounded(said, premises, ground.given, ground.named, is_judged=ground.is_judged)
        if not unfounded and ground.is_judged:
            judged = replace(judged, text=with_general_mark(judged.text))
        elif not unfounded:
            judged = replace(judged, text=open_instruction(judged.text, "\n".join([*premises, ground.given])))
    # Where a judge decides, what a report advises may be about failures that any of its passages speaks of.
    if is_error_text(judged.text, [*premises, *([ground.named] if ground.is_judged else ())]):
        unfounded = verdict_of("unverified", "error_text")
    if unfounded and ground.is_judged and unfounded.codes != ("error_text",):
        own = left_to_judge(bare, premises, ground.given, ground.named, general=ground.background)
        if own is not None and bare in (own, judged.text):
            flags = OWN_VALUE if unfounded.codes == ("number_missing",) else ()
            return replace(judged, text=judged.text if own == bare else own, flags=flags)
    return replace(judged, verdict=unfounded) if unfounded else judged


def _beside(draft: Draft, number: int) -> tuple[str, ...]:
    """Return what is cited nearest to a sentence that cites nothing, before it or else behind: what a thought of the writer's in
    its place rests on."""
    before, behind = draft.sentences[:number][::-1], draft.sentences[number + 1 :]
    return next((ids for s in (*before, *behind) if (ids := s.passages or s.near)), ())


def _as_own(sentence: CitedSentence, draft: Draft, number: int) -> CitedSentence:
    """Return a conclusion that names no premises, such as a row of chosen values, on what is cited nearest to it; and so a lead
    before general knowledge that has no mark itself."""
    if sentence.role == "background" and sentence.kind in ("prose", "item") and "†" not in sentence.text:
        sentence = sentence._replace(role="inference")
    is_bare = sentence.role == "inference" and not (sentence.passages or sentence.near)
    return sentence._replace(near=_beside(draft, number)) if is_bare else sentence


def _check_fact(
    sentence: CitedSentence, library: Library, ground: Ground, beside: Sequence[str], *, has_judge: bool
) -> CheckedSentence:
    """Judge what is not marked as the writer's own. What joins the cited sentences around it and cites nothing itself ("so set
    it in both") is a thought of the writer's, on which a judge decides as on any other: it must follow from what they cite."""
    found = _check_sentence(sentence, library, ground, has_judge=has_judge)
    premises = found.passages or tuple(p.id for p in known_passages(beside, library))
    joins = not sentence.passages and sentence.kind != "code"
    if found.shown or not joins or not ground.is_judged or found.verdict.kind == "contradicted":
        return found
    thought = CheckedSentence(sentence.text, premises, FOLLOWS, sentence.context, kind="inference", joins=True)
    thought = judge_own(thought, library, ground)
    return thought if thought.shown else found


def _check_joined(sentence: CitedSentence, library: Library, ground: Ground) -> CheckedSentence | None:
    """Judge a fact that goes on behind its last citation with a thought of the writer's own: the fact by what it cites, the
    thought as any other; a judge decides on both. None where there is none, and where one of them may not stand."""
    tail = sentence.text[sentence.marks[-1][0] :] if sentence.marks and sentence.kind in ("prose", "item") else ""
    if len(set(content_terms(tail))) < _WORDS_OF_A_THOUGHT:
        return None
    said = sentence.text.removesuffix(tail)
    fact = _check_sentence(sentence._replace(text=said, raw=said), library, ground, has_judge=True)
    # What stands there word for word goes to the judge as well, for the sake of the thought.
    joined = replace(fact, text=sentence.text, tail=tail, verdict=FOLLOWS if fact.verdict == VERBATIM else fact.verdict)
    own = judge_own(CheckedSentence(joined.thought, fact.passages, FOLLOWS, kind="inference"), library, ground)
    is_open = fact.shown or _is_for_judge(fact, library, ground)
    is_as_cited = set(fact.passages) <= set(sentence.passages)
    return joined if is_open and is_as_cited and own.shown and own.text == joined.thought else None


def _check_sentence(sentence: CitedSentence, library: Library, ground: Ground, *, has_judge: bool) -> CheckedSentence:
    """Judge a sentence against what it cites, then what its neighbours cite, then what the library has.

    The library is not searched where a judge will decide on what is cited anyway.
    """
    cited = known_passages(sentence.passages, library)
    first = judge_text(sentence, cited, library, ground.known)
    if first.shown or is_error_text(sentence.text, [passage.text for passage in cited]):
        return first
    if first.verdict.kind == "contradicted" and first.verdict.score is not None:
        return first  # the passage says the opposite: agreement elsewhere would be an accident
    beside = known_passages(sentence.near, library)
    if sentence.kind == "cell" and beside:
        whole = judge_text(sentence, beside, library, ground.known)  # what a cell says may be told where its row cites
        if whole.shown:
            return whole
        first = replace(first, passages=whole.passages) if cited and has_judge else first
    near = [] if cited else beside
    for neighbour in near:
        if _may_support(sentence, neighbour, library):
            second = judge_text(sentence, [neighbour], library, ground.known)
            if second.verdict == VERBATIM:
                return second  # one citation at the end of a stretch stands for all of it
            if second.shown:
                return replace(second, repair="passage")
    if not sentence.passages:
        # What opens or joins a paragraph and cites nothing itself rests on what its neighbours cite: a judge may say so.
        first = replace(first, passages=tuple(p.id for p in near))
    leads = not sentence.passages and sentence.text.rstrip().endswith((":", "："))
    if (
        has_judge
        and _is_for_judge(first, library, ground)
        and (leads or _leaves_to_judge(sentence, cited or near, library))
    ):
        return first  # what leads to a list says nothing that another passage could carry
    return _supported_elsewhere(sentence, cited, library) or first


def _as_noted(sentence: CitedSentence, library: Library, ground: Ground) -> CheckedSentence | None:
    """Return a fact that is not certainly wrong by what it or its neighbours cite as it stands in a note; None for what a
    judge would not be asked as it is."""
    cited = known_passages(cited_ids(sentence, library), library)
    if verbatim := [p.id for p in cited if is_sentence_of(sentence.raw, p.text)]:
        return CheckedSentence(sentence.raw, tuple(verbatim), VERBATIM)
    if not cited or sentence.kind == "code" or not _may_be_judged(sentence.text, cited, library, ground):
        return None
    return CheckedSentence(sentence.text, tuple(p.id for p in cited), PENDING, sentence.context)


def _supported_elsewhere(sentence: CitedSentence, cited: Sequence[Passage], library: Library) -> CheckedSentence | None:
    """Return the sentence with another passage of the library that plainly says it, or None."""
    for candidate in _candidates(sentence, cited, library):
        if _may_support(sentence, candidate, library):
            second = judge_text(sentence, [candidate], library)
            if second.shown and is_plainly_said(second.claim, evidence_of(candidate, library)):
                return replace(second, repair="passage")
    return None


def _leaves_to_judge(sentence: CitedSentence, cited: Sequence[Passage], library: Library) -> bool:
    """Tell whether a cited passage makes nearly the statement of the sentence: no better passage is to be expected, and a
    judge decides."""
    claim = claim_text(sentence.text, sentence.context)
    return any(is_nearly_said(claim, evidence_of(p, library)) for p in cited)


def _candidates(sentence: CitedSentence, cited: Sequence[Passage], library: Library) -> list[Passage]:
    """Find passages that may support the sentence instead: of a source it names first, then of all."""
    tried = {p.id for p in cited}
    query = f"{sentence.context} {sentence.text}".strip()
    named = [key for key in sentence.passages if library.source(key) is not None]
    hits = [
        *(library.search(query, limit=_CANDIDATES, sources=named) if named else ()),
        *library.search(query, limit=_CANDIDATES),
    ]
    return list({hit.passage.id: hit.passage for hit in hits if hit.passage.id not in tried}.values())


def _may_support(sentence: CitedSentence, passage: Passage, library: Library) -> bool:
    """Tell whether a passage is worth a whole check: most that a search brings lack a name or number of the sentence."""
    claim = claim_text(sentence.text, sentence.context)
    return is_sentence_of(sentence.raw, passage.text) or may_be_supported(claim, evidence_of(passage, library))


def judge_text(
    sentence: CitedSentence, passages: Sequence[Passage], library: Library, known: str = ""
) -> CheckedSentence:
    """Judge the sentence as written where it is verbatim, else without the addresses and numbers it carries; `known` tells
    what its cells of general knowledge may take for a version."""
    ids = tuple(p.id for p in passages)
    if not passages:
        unknown = ", ".join(sentence.passages)
        verdict = verdict_of("unverified", "unknown_passage", ids=unknown) if unknown else _UNCITED
        return CheckedSentence(sentence.text, (), verdict)
    is_code = sentence.kind == "code"  # which may be signs without a word, but whole
    verbatim = [p for p in passages if is_sentence_of(sentence.raw, p.text) or (is_code and sentence.raw in p.text)]
    if verbatim:
        return CheckedSentence(sentence.raw, tuple(p.id for p in verbatim), VERBATIM)
    said, general = without_general_cells(sentence.text)
    if refused := next((bad for cell in general if (bad := is_too_specific(cell, known))), None):
        return CheckedSentence(sentence.text, ids, refused, sentence.context)
    claim = claim_text(said, sentence.context)
    evidence = [evidence_of(p, library) for p in passages]
    verdict = verify(claim, evidence)
    if verdict.kind == "contradicted" and sentence.context and disproof(sentence.text, evidence) is None:
        # Only the names of its row and column are not in the passage: they are no statement of their own.
        verdict = verdict.model_copy(update={"kind": "unverified"})
    if is_code and verdict != VERBATIM:
        verdict = LOOSE_CODE
    return CheckedSentence(sentence.text, _useful(claim, ids, passages, verdict, library), verdict, sentence.context)


def _useful(
    claim: str, ids: tuple[str, ...], passages: Sequence[Passage], verdict: Verdict, library: Library
) -> tuple[str, ...]:
    """Keep of several cited passages those that support the claim alone; all where it takes them together."""
    if verdict.kind != "supported" or len(passages) < 2:
        return ids
    alone = tuple(p.id for p in passages if verify(claim, [evidence_of(p, library)]).kind == "supported")
    return alone or ids


def evidence_of(passage: Passage, library: Library) -> Evidence:
    """Return a passage with what is known of it: its source's title, date and version, and its heading."""
    source = library.source(passage.source)
    told = dated_source(library, passage.source)
    known = (source.title if source is not None else "", told.standing.version, told.date, passage.heading)
    return Evidence(passage.text, " > ".join(filter(None, known)))


def _may_be_judged(text: str, cited: Sequence[Passage], library: Library, ground: Ground) -> bool:
    """Tell whether a statement of fact is not certainly wrong by these passages, so that a judge may decide.

    Of a table cell code settles its own text alone: the names of its row and column are context.
    """
    said = without_given(without_general_cells(text)[0], ground)
    return certain_disproof(said, [evidence_of(p, library) for p in cited]) is None


def without_given(text: str, ground: Ground) -> str:
    """Return a statement without what no source need have: names that the report's own code gives, amounts of the question."""
    text = _INLINE.sub(lambda code: " " if ground.own and _in_code(code[1], ground.own) else code[0], text)
    asked = [q for q in quantities(ground.question) if q.unit] if ground.question else []
    given = [q for q in quantities(text) if q.unit and any(same(q, other, ground.question) for other in asked)]
    if ground.chosen:
        own = {q.value for q in quantities(ground.chosen)}
        known = f"{ground.known}\n{ground.chosen}"
        text = _LATIN_NAME.sub(lambda name: " " if is_of_trade(name[0]) or _in_code(name[0], known) else name[0], text)
        text = without_true_sums(text)
        given = [*given, *(q for q in quantities(text) if q.value in own)]
    for start, end in sorted({(q.start, q.end) for q in given}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


def _in_code(name: str, code: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", code) is not None


def _is_for_judge(judged: CheckedSentence, library: Library, ground: Ground) -> bool:
    """Tell whether a claim needs the judge: it cites passages or is the writer's own, is not verbatim, and code could not settle it."""
    is_own = ground.is_judged and judged.kind in ("inference", "computed")
    if not (judged.passages or is_own) or judged.verdict in (VERBATIM, LOOSE_CODE):
        return False
    if judged.kind != "fact":
        return judged.shown
    return _may_be_judged(judged.fact, known_passages(judged.passages, library), library, ground)


def cited_ids(sentence: CitedSentence, library: Library) -> tuple[str, ...]:
    """Return the passages of the library that a sentence cites, or else those that its neighbours cite."""
    return tuple(p.id for p in known_passages(sentence.passages or sentence.near, library))


def known_passages(ids: Iterable[str], library: Library) -> list[Passage]:
    """Return those passages of the library that `ids` name."""
    return [passage for key in ids if (passage := library.passage(key)) is not None]


def claims_of(judged: Sequence[CheckedSentence], section: str) -> list[Claim]:
    """Return claims with ids that depend on section and text alone, so that a replay gives the same."""
    seen: Counter[str] = Counter()
    claims = []
    for item in judged:
        text = item.claim
        seen.update([text])
        claims.append(item.as_claim(claim_id(f"{section}\0{text}\0{seen[text]}"), section))
    return with_premises(claims, claims)


def claim_id(key: str) -> str:
    """Return the id of a claim by all that tells it from others."""
    return f"c{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:10]}"


def with_premises(claims: Sequence[Claim], facts: Sequence[Claim]) -> list[Claim]:
    """Return `claims`, conclusions with the ids of those `facts` that rest on the same passages."""
    return [
        claim
        if claim.kind == "fact"
        else claim.model_copy(
            update={
                "premises": tuple(
                    f.id for f in facts if f.kind == "fact" and f.stands and set(f.passages) & set(claim.passages)
                )
            }
        )
        for claim in claims
    ]
