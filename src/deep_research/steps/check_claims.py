"""Checking: every sentence of a draft is judged against the passages it cites, before anyone sees it.

A sentence that its passages do not support gets a better passage from the library; a judge, where there is
one, decides on what the mechanical checks leave open (`check_sentences`); what fails then is rewritten where there is a
model, else cut from the text and listed with its verdict. A judge that fails leaves its claims unverified, never
contradicted.
"""

import itertools
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from deep_research.concurrency import in_background
from deep_research.data import AskedClaim, Claim, Gap, Verdict
from deep_research.errors import LimitReached, ModelError
from deep_research.i18n.catalog import gap_from, gap_of, verdict_of
from deep_research.ports import Library
from deep_research.steps.check_repairs import check_again, text_around
from deep_research.steps.check_sentences import (
    NO_GROUND,
    PENDING,
    CheckedSentence,
    Ground,
    check_sentences,
    cited_ids,
    claims_of,
    stands_around,
    with_notes,
)
from deep_research.steps.sourced_knowledge import as_facts, first_supported
from deep_research.text.cleaning import fold
from deep_research.text.tokens import content_terms, normalise
from deep_research.verification.citations import CitedSentence, cite_ids, lift
from deep_research.verification.conclusions import BACKGROUND, is_too_specific, with_general_mark
from deep_research.verification.drafts import Draft
from deep_research.verification.negation import negated
from deep_research.verification.numbers import quantities
from deep_research.verification.quotations import unquoted
from deep_research.verification.verify import VERBATIM, is_error_text, verify_against_document

Judge = Callable[[Sequence[Claim], Library], Awaitable[Sequence[Verdict]]]
"""Judges claims against their passages, in order (`Reasoner.judge`). Raises ModelError."""


Rewrite = Callable[[Sequence[Claim], Library], Awaitable[Sequence[str]]]
"""Says what the passages support of each claim, as one sentence without citations; "" when nothing. Raises ModelError."""


_STOPS = (".", "!", "?", "。", "！", "？")
_SAID = 0.9
"""Share of the words of a repaired sentence that another one has which says it already."""


class Checked(NamedTuple):
    """A draft after its check: Markdown with passage ids, every claim with its verdict, and why judge or rewrite failed."""

    content: str
    claims: tuple[Claim, ...]
    failures: tuple[Gap, ...]


class _Work(NamedTuple):
    """What the check of one draft shares; `gaps` collects what failed."""

    section: str
    library: Library
    ground: Ground
    gaps: list[Gap]


def check_claim(text: str, evidence_text: str) -> Verdict:
    """Judge one sentence against one text, without library or model."""
    return verify_against_document(text.strip(), evidence_text)


async def check_draft(
    draft_markdown: str,
    *,
    section: str,
    library: Library,
    judge: Judge | None = None,
    rewrite: Rewrite | None = None,
    settled: Collection[Claim] = (),
    ground: Ground = NO_GROUND,
) -> Checked:
    """Return the draft with only what stands by the measure of its kind, and a claim for every sentence it had.

    `section` is the title the claims belong to; `settled` are claims judged before, which need no judge
    again. Never raises for what a model did: a failed judge or rewrite is a gap.
    """
    gaps: list[Gap] = []
    work = _Work(section, library, ground, gaps)
    # In a thread: this is arithmetic over words, and other sections wait for the event loop.
    draft, judged, open_ = await in_background(
        check_sentences, draft_markdown, library, ground, has_judge=judge is not None
    )
    if judge is not None:
        judged = _with_all_cited(draft, judged, open_, library)
    judged = _as_settled(judged, settled)
    known = {(c.text, c.passages) for c in settled if _is_settled(c)}
    unsure = {i for i in open_ if (judged[i].text, judged[i].passages) not in known}
    unsure |= {i for i, j in enumerate(judged) if j.verdict == BACKGROUND}
    kept = {i for i, j in enumerate(judged) if j.shown}
    heard: dict[int, bool] = {}
    if judge is not None and unsure:
        # What code has refused already goes along where there is a rewrite: the judge says what it should be.
        told = (i for i, j in enumerate(judged) if i not in kept and (j.passages or j.kind == "computed"))
        refused = set(told) if rewrite is not None else set()
        judged, kept, heard = await _ask(judge, draft, judged, unsure, refused, kept, work)
    failed = [i for i, j in enumerate(judged) if i not in kept and _may_be_put_right(j)]
    if rewrite is not None:
        judged = await _rewritten(rewrite, judged, failed, heard, work)
        kept |= {i for i in failed if judged[i].shown}
    kept |= {i for i, j in enumerate(judged) if _is_doubted_code(j, draft.sentences[i])}
    for i in failed:
        if i not in kept and (general := _as_general_cell(judged[i], draft.sentences[i], ground)) is not None:
            judged[i] = general
            kept.add(i)
    return await in_background(_rendered, draft, judged, kept, work)


def _may_be_put_right(failed: CheckedSentence) -> bool:
    """Tell whether a judge or rewrite can say what should stand in place of a sentence: it rests on something or is the writer's
    own, or a judge has found general knowledge wrong."""
    is_refuted = failed.kind == "background" and failed.verdict.by_model
    is_own = failed.kind in ("computed", "inference")
    return bool(failed.passages) or failed.joins or is_own or is_refuted


def _as_general_cell(failed: CheckedSentence, sentence: CitedSentence, ground: Ground) -> CheckedSentence | None:
    """Return a cell that a judge does not find in what it cites as general knowledge (†), where it may be some: without it the
    rest of its row would speak of nothing. None for what is wrong, and for all else."""
    is_part = sentence.kind == "cell" and bool(sentence.context) and "|" not in sentence.raw
    is_missing = failed.kind == "fact" and failed.verdict.kind == "unverified" and failed.verdict.by_model
    if not (is_part and is_missing and ground.is_judged and ground.background):
        return None
    if is_too_specific(failed.text, ground.known) or is_error_text(failed.text):
        return None
    return replace(failed, text=with_general_mark(failed.text), passages=(), verdict=BACKGROUND, kind="background")


async def note_draft(
    draft_markdown: str, *, section: str, library: Library, settled: Collection[Claim] = (), ground: Ground = NO_GROUND
) -> Checked:
    """Return a draft that is judged later, with the report that is made from it, as far as code can say something of it.

    What code is certain to be wrong is cut. The rest stays as it was written, with the ids that it cites, and is `PENDING`
    where a judge will have to decide; so is a statement whose name or number stands in the cited document around the
    passage: what an entry of a manual is about is often told further up, and a cut takes the sense from its neighbours.
    """
    draft, checked, open_ = await in_background(
        check_sentences, draft_markdown, library, ground, has_judge=True, is_note=True
    )
    noted = await in_background(_noted, draft, checked, open_, library, ground)
    judged = _as_settled(noted, settled)
    kept = {i for i, j in enumerate(judged) if j.shown}
    return await in_background(_rendered, draft, judged, kept, _Work(section, library, ground, []))


def _noted(
    draft: Draft, checked: Sequence[CheckedSentence], open_: Collection[int], library: Library, ground: Ground
) -> list[CheckedSentence]:
    """Return the sentences of a note: pending where a judge will have to decide, and so is code that stands in no passage.

    A name may be a term of the question, or of another passage of the note.
    """
    cited = dict.fromkeys(key for sentence in draft.sentences for key in sentence.passages)
    named = "\n".join([ground.known, *(p.text for key in cited if (p := library.passage(key)) is not None)])
    noted: list[CheckedSentence] = []
    for i, (sentence, item) in enumerate(zip(draft.sentences, checked, strict=True)):
        is_loose = sentence.kind == "code" and item.passages and not item.shown and not is_error_text(item.text)
        is_open = i in open_ and item.shown
        # What joins its neighbours rests on what they cite; without it these lose what they speak of.
        is_joint = not sentence.passages and bool(item.passages) and sentence.kind in ("prose", "item")
        is_joint = is_joint and not is_error_text(item.text)
        is_pending = is_open or is_loose or (not item.shown and (is_joint or stands_around(item, library, named)))
        # What is quoted in other words than the source's is no quotation.
        text = unquoted(item.text) if "quotation_missing" in item.verdict.codes else item.text
        is_pending = is_pending and item.kind != "computed"
        noted.append(replace(item, text=text, verdict=PENDING) if is_pending else item)
    return noted


def _rendered(draft: Draft, judged: Sequence[CheckedSentence], kept: Collection[int], work: _Work) -> Checked:
    """Return the draft with the sentences that are kept, and with what a reader must know of their time and standing."""
    if work.ground.today is not None:
        judged = with_notes(draft, judged, kept, work.library, work.ground)
    shown = {i: _shown_ids(i, draft, judged, kept, is_judged=work.ground.is_judged) for i in kept}
    changes = {i: _worded(j, draft.sentences[i], shown[i]) if i in shown else None for i, j in enumerate(judged)}
    return Checked(draft.render(changes), tuple(claims_of(judged, work.section)), tuple(dict.fromkeys(work.gaps)))


def _worded(judged: CheckedSentence, sentence: CitedSentence, ids: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the text of a sentence with the ids that stand behind it; where its fact is worded anew before a thought of the
    writer's own, they stand between the two."""
    if judged.tail and judged.text != sentence.text:
        return f"{judged.fact} {cite_ids(ids)}{judged.tail}", ()
    return _marked(judged, sentence), ids


def _marked(judged: CheckedSentence, sentence: CitedSentence) -> str:
    """Return the text of a sentence; of code that is general knowledge with the mark for it below, and with what a judge holds
    against it."""
    if _is_doubted_code(judged, sentence):
        return f"{judged.text}\n\n† {fold(judged.verdict.reason)}"
    is_general = sentence.kind == "code" and judged.kind == "background"
    return f"{judged.text}\n\n†" if is_general else judged.text


def _is_doubted_code(judged: CheckedSentence, sentence: CitedSentence) -> bool:
    """Tell whether a judge has said what is amiss with code: the text around leads to it, so it stands with the doubt."""
    verdict = judged.verdict
    return (
        sentence.kind == "code" and verdict.kind == "unverified" and verdict.by_model and bool(verdict.reason.strip())
    )


def _with_all_cited(
    draft: Draft, judged: Sequence[CheckedSentence], open_: Collection[int], library: Library
) -> list[CheckedSentence]:
    """Return the sentences, of those left open with all that they cite: what code takes for enough may be half of it."""
    return [
        replace(j, passages=cited_ids(draft.sentences[i], library))
        if i in open_ and set(j.passages) < set(draft.sentences[i].passages)
        else j
        for i, j in enumerate(judged)
    ]


def _as_settled(judged: Sequence[CheckedSentence], settled: Collection[Claim]) -> list[CheckedSentence]:
    """Return the sentences, those that were judged before with that verdict."""
    known = {(c.text, c.passages): c.verdict for c in settled if _is_settled(c)}
    computed = {c.text: c for c in settled if c.kind == "computed" and _is_settled(c)}
    # The working of a computation stands in its text, where it is read as a fact.
    again = [replace(j, passages=c.passages, kind=c.kind) if (c := computed.get(j.text)) else j for j in judged]
    return [
        replace(j, context="", verdict=known[j.text, j.passages]) if (j.text, j.passages) in known else j for j in again
    ]


def _is_settled(claim: Claim) -> bool:
    return claim.stands and claim.verdict != PENDING


def _shown_ids(
    number: int, draft: Draft, judged: Sequence[CheckedSentence], kept: Collection[int], *, is_judged: bool
) -> tuple[str, ...]:
    """Return what a sentence cites in the text: nothing inside a verbatim stretch that was written with one citation at its
    end, as long as the next kept sentence of the paragraph cites the same."""
    own = judged[number].passages
    sentence = draft.sentences[number]
    is_reckoned_own = is_judged and sentence.role == "computed" and sentence.kind != "item" and not sentence.passages
    if judged[number].joins or is_reckoned_own:
        return ()  # what cites nothing is the writer's own: a number would make it a source's
    if sentence.kind == "cell" and (cited := tuple(key for key in own if key in sentence.passages)):
        return cited  # the others stand in the cells beside it
    is_reckoned = sentence.role == "computed" and sentence.kind == "item"
    if (sentence.role == "inference" or is_reckoned) and not sentence.passages:
        # It sums up its paragraph, or stands in a list: what follows, or what stands before it, cites.
        return tuple(key for key in own if is_reckoned and key not in sentence.near)
    if sentence.kind == "code" and not sentence.passages and judged[number].kind == "inference":
        return ()  # the sentence that leads to it cites
    if sentence.passages or (sentence.role == "background" and judged[number].kind == "fact"):
        return own  # of general knowledge that a passage of the run says after all: that passage
    if judged[number].verdict == PENDING and sentence.kind != "cell":
        return ()
    beside = [i for i in draft.paragraph_of(number) if i != number]
    others = [i for i in beside if i in kept]
    if judged[number].verdict.by_model and any(
        draft.sentences[i].passages and set(judged[i].passages) & set(own) for i in others
    ):
        return ()  # a judge let it stand beside what its neighbours cite, which none of them need say alone
    following = next((i for i in others if i > number), None)
    is_inside = judged[number].verdict == VERBATIM and following is not None and judged[following].passages == own
    return () if is_inside else own


async def _ask(
    judge: Judge,
    draft: Draft,
    judged: Sequence[CheckedSentence],
    unsure: Collection[int],
    refused: Collection[int],
    kept: set[int],
    work: _Work,
) -> tuple[list[CheckedSentence], set[int], dict[int, bool]]:
    """Let the judge decide on `unsure`: the sentences, which are kept, and of those the judge was heard on, whether it
    found that they stand.

    Where it fails, what passed the scorer is marked unverified. `refused` are shown to it as well, with the reason; its
    verdicts on them do not bind code.
    """
    asked = sorted({*unsure, *refused})
    claims = [
        AskedClaim(
            **dict(judged[i].as_claim(f"c{i}", work.section)),
            lead=_lead_of(draft, i, judged[i]),
            thought=judged[i].thought,
        )
        for i in asked
    ]
    known = await in_background(_sourced, draft, judged, asked, work.library)
    facts = [fact.as_claim(f"k{i}", work.section) for i, found in known.items() for fact in found]
    try:
        verdicts = list(await judge([*claims, *facts], work.library))
        failure = None if len(verdicts) == len(claims) + len(facts) else gap_of("judge", "judge_count")
    except (ModelError, LimitReached) as error:
        verdicts, failure = [], gap_from("judge", error)
    verdicts, of_facts = verdicts[: len(claims)], iter(verdicts[len(claims) :])
    done = list(judged)
    if failure is not None:
        work.gaps.append(failure)
        for i in unsure:
            if judged[i].verdict != BACKGROUND:
                done[i] = replace(judged[i], verdict=_not_judged(failure, judged[i].verdict.score))
        return done, {i for i in kept if not judged[i].joins}, {}
    for i, verdict in zip(asked, verdicts, strict=True):
        if i in unsure and not (judged[i].verdict == BACKGROUND and verdict.kind == "supported"):
            done[i] = replace(judged[i], verdict=verdict)  # general knowledge stays marked: nobody has a source for it
    for i, found in known.items():
        told = first_supported(found, list(itertools.islice(of_facts, len(found))))
        done[i] = told if told is not None and done[i].verdict == BACKGROUND else done[i]
    stands = {i: verdict.kind == "supported" for i, verdict in zip(asked, verdicts, strict=True)}
    return done, {i for i, j in enumerate(done) if j.shown}, stands


def _lead_of(draft: Draft, number: int, judged: CheckedSentence) -> str:
    """Return what a sentence stands under; of a row or cell of the writer's own the headings of its columns as well."""
    columns = draft.sentences[number].context if judged.kind in ("inference", "computed") else ""
    return " > ".join(filter(None, (draft.lead_of(number), columns)))


def _sourced(
    draft: Draft, judged: Sequence[CheckedSentence], asked: Sequence[int], library: Library
) -> dict[int, list[CheckedSentence]]:
    """Return the sentences of general knowledge as facts, each on the passages that may say it."""
    general = [i for i in asked if judged[i].verdict == BACKGROUND and draft.sentences[i].kind in ("prose", "item")]
    found = {i: as_facts(judged[i].text, library) for i in general}
    return {i: facts for i, facts in found.items() if facts}


def _not_judged(failure: Gap, score: float | None) -> Verdict:
    codes = ("not_judged", *failure.codes)
    return verdict_of("unverified", *codes, score=score, **failure.values)


async def _rewritten(
    rewrite: Rewrite,
    judged: Sequence[CheckedSentence],
    failed: Sequence[int],
    heard: Mapping[int, bool],
    work: _Work,
) -> list[CheckedSentence]:
    """Ask once for sentences that the passages do support; each goes through the mechanical checks again.

    Of those in `heard` the judge has said whether they stand, and it is the judge who says what the passages support. A
    fact that it finds supported, having been told why code refused it, is not asked about again.
    """
    done = list(judged)
    others = {j.claim for i, j in enumerate(judged) if i not in failed}
    left: list[int] = []
    for i in failed:
        # What nobody said in these words, and holds, is no quotation.
        said = unquoted(judged[i].text) if "quotation_missing" in judged[i].verdict.codes else judged[i].text
        stands = heard.get(i) and (judged[i].kind == "fact" or said != judged[i].text)
        second = await _confirmed(said, judged[i], work) if stands else None
        if second is None or not second.shown:
            left.append(i)
        else:
            done[i] = second if said == judged[i].text else replace(second, repair="rewritten")
            others.add(second.claim)
    if not left:
        return done
    try:
        texts = await rewrite([judged[i].as_claim(f"c{i}", work.section) for i in left], work.library)
    except (ModelError, LimitReached) as error:
        work.gaps.append(gap_from("rewrite", error))
        return done
    for i, said in zip(left, texts, strict=False):
        text = _ended_as(judged[i].text, said)
        repeated = text.strip() in (judged[i].text, judged[i].claim)
        if repeated and (heard.get(i) is False or judged[i].kind == "computed"):
            continue  # what a judge has refused, or has a hole for its figure, does not stand because it is said again
        if repeated:
            second = await _confirmed(text, judged[i], work)
        else:
            second = await in_background(
                check_again, text, judged[i], work.library, work.ground, by_judge=i in heard, known=""
            )
            second = second and replace(second, repair="rewritten")
        # What another sentence says already is not said twice.
        if second is not None and second.shown and not _is_said(second.claim, others):
            done[i] = second
            others.add(second.claim)
    return done


def _ended_as(before: str, text: str) -> str:
    """Return a sentence that was worded anew with the full stop of the one before, where it has none."""
    stop, said = before.rstrip()[-1:], lift(text)[0].rstrip()
    is_open = said and stop in _STOPS and not said.endswith((*_STOPS, "|", "†", "```"))
    return f"{text.rstrip()}{stop}" if is_open else text


def _is_said(claim: str, others: Collection[str]) -> bool:
    """Tell whether another claim has nearly all words of a claim and all its figures, and denies where it denies."""
    terms, figures = set(content_terms(claim)), {q.value for q in quantities(claim)}
    denies = bool(negated(normalise(claim)))
    return claim in others or any(
        len(terms & set(content_terms(other))) >= _SAID * len(terms)
        and figures <= {q.value for q in quantities(other)}
        and denies == bool(negated(normalise(other)))
        for other in (others if terms else ())
    )


async def _confirmed(text: str, before: CheckedSentence, work: _Work) -> CheckedSentence | None:
    """Return a sentence that the judge confirms as it is, as the mechanical checks judge it with what is known besides."""
    known = f"{work.ground.known}\n{work.ground.named}\n{text_around(before.passages, work.library)}"
    return await in_background(check_again, text, before, work.library, work.ground, by_judge=True, known=known)
