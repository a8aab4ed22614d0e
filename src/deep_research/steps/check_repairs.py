"""What is put in place of a sentence that did not stand, held against the same checks as the sentence before it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from deep_research.data import Passage
from deep_research.i18n.catalog import verdict_of
from deep_research.i18n.language import detect
from deep_research.ports import Library
from deep_research.steps.check_sentences import (
    LOOSE_CODE,
    CheckedSentence,
    Ground,
    check_own,
    documents_of,
    evidence_of,
    judge_own,
    judge_text,
    known_passages,
    names_are_known,
    without_given,
)
from deep_research.text.tokens import content_terms
from deep_research.verification.citations import CitedSentence, cite_ids, claim_text, lift
from deep_research.verification.conclusions import (
    BACKGROUND,
    FOLLOWS,
    is_known_code,
    is_too_specific,
    with_general_mark,
)
from deep_research.verification.drafts import parse_draft, without_general_cells
from deep_research.verification.verify import (
    VERBATIM,
    Evidence,
    certain_disproof,
    disproof,
    is_error_text,
    terms_shared,
)

_BY_JUDGE = verdict_of("supported", "worded_by_judge").model_copy(update={"by_model": True})
_ROW_BORDER = re.compile(r"\s\|\s?")
_FENCED = re.compile(r"\s*(?:```|~~~)")
_FEW = 3
"""How many sentences a judge may put in place of one."""


def check_again(
    text: str, before: CheckedSentence, library: Library, ground: Ground, *, by_judge: bool, known: str
) -> CheckedSentence | None:
    """Return a rewritten sentence as the mechanical checks judge it; None where it is none, or more than a judge may put in
    its place.

    Words that claim and passage share can be too few, above all across languages; then what the judge
    says stands where nothing speaks against it. In a sentence that the judge confirms as it is, names may come from what
    is `known`: the report's own terms, and the text just before and behind its passages.
    """
    if before.kind in ("inference", "background") and _FENCED.match(before.text):
        return _code_again(text, before, library, ground)
    bare, _places, citations = lift(text)
    if before.kind == "background":
        if citations:  # worded anew after a passage, and cited
            return check_again(text, replace(before, kind="fact"), library, ground, by_judge=by_judge, known=known)
        said = with_general_mark(_without_label(" ".join(bare.split()), before))
        stands = ground.background and is_too_specific(said, ground.known) is None and not is_error_text(said)
        return replace(before, text=said, verdict=BACKGROUND) if stands else None
    if before.joins and any(
        _shares_words(bare, p) for _at, keys, _end in citations for p in known_passages(keys, library)
    ):
        before = replace(before, kind="fact", joins=False)  # worded anew after its passages, and cited: what they say
    if before.kind in ("inference", "computed"):
        ids = dict.fromkeys((*before.passages, *(key for _at, keys, _end in citations for key in keys)))
        passages = tuple(p.id for p in known_passages(ids, library))
        said = _without_label(" ".join(bare.split()).lstrip("→ "), before)
        own = replace(before, text=said, passages=passages, bare="", verdict=FOLLOWS, kind="inference")
        judged = judge_own(own, library, ground)
        also = f"{ground.known}\n{ground.named}\n{known}"
        if known and judged.verdict.codes == ("name_missing",) and names_are_known(said, passages, library, also):
            judged = own  # the judge has confirmed it as it is, and the name stands elsewhere in its sources
        return judged if own.text else None
    if before.tail and (said := text.rstrip()).endswith(before.tail):  # the thought stays, and is judged
        fact = replace(before, text=before.fact, tail="")
        second = check_again(said.removesuffix(before.tail), fact, library, ground, by_judge=by_judge, known=known)
        return second and replace(second, text=f"{second.text.rstrip('.。')}{before.tail}", tail=before.tail)
    again = _sentence_of(text, before)
    if again is None:
        return _several_again(text, before, library, ground, known) if by_judge else None
    # Ids that come with the new words may be those of all passages that carry them, or of further ones.
    again = again._replace(context=before.context)
    passages = known_passages(again.passages, library)
    second = judge_text(again, passages, library, ground.known) if passages else None
    if second is None or not second.shown:
        passages = known_passages(dict.fromkeys((*before.passages, *again.passages)), library)
        second = judge_text(again, passages, library, ground.known)
    if by_judge and second.shown and second.verdict != VERBATIM:
        # A part that code takes for enough may be half of what the judge's sentence rests on.
        second = replace(second, passages=tuple(p.id for p in passages))
    if by_judge and not second.shown and _may_stand(second, passages, library, known, ground):
        return replace(second, verdict=_BY_JUDGE)
    return second


def _shares_words(text: str, passage: Passage) -> bool:
    """Tell whether a passage has half of the terms of a text that it could have."""
    shared, wanted = terms_shared(text, Evidence(passage.text, passage.heading))
    return shared * 2 >= max(2, wanted)


def _code_again(text: str, before: CheckedSentence, library: Library, ground: Ground) -> CheckedSentence | None:
    """Return code that was put right: with nothing in it that its sources lack, or, where a judge decides and general knowledge
    may stand, most of its lines as they were."""
    if not _FENCED.match(text):
        return None
    known = f"{ground.named}\n{ground.known}\n{documents_of(before.passages, library)}"
    if before.kind == "inference" and is_known_code(text, known):
        return replace(before, text=text.strip(), verdict=FOLLOWS)
    old, new = ({line.strip() for line in code.splitlines()} - {""} for code in (before.text, text))
    is_mended = len(old & new) * 2 >= len(old)
    general = replace(before, text=text.strip(), passages=(), verdict=BACKGROUND, kind="background")
    return general if is_mended and ground.is_judged and ground.background else None


def _several_again(
    text: str, before: CheckedSentence, library: Library, ground: Ground, known: str
) -> CheckedSentence | None:
    """Return what a judge has put into a few sentences in place of one: those of them that stand, the first among them; else None."""
    said = parse_draft(text.strip()).sentences
    if before.context or not 1 < len(said) <= _FEW:
        return None
    each = [
        check_own(s, library, ground, {})
        if s.role == "background"
        else judge_own(replace(before, text=s.text, verdict=FOLLOWS, kind="inference"), library, ground)
        if ground.is_judged and not s.passages and any(other.passages for other in said)
        else check_again(f"{s.text} {cite_ids(s.passages)}", before, library, ground, by_judge=True, known=known)
        for s in said
    ]
    stand = [one for one in each if one is not None and one.shown]
    if not stand or each[0] is not stand[0]:
        return None  # what follows may speak of what the first one names
    own = [one for one in stand if one.kind in ("inference", "background")]
    facts = [one for one in stand if one not in own]
    ids = tuple(dict.fromkeys(key for one in facts or own for key in one.passages))
    if not ids:
        return None
    if not facts:  # what is the writer's own cites nothing
        base = next(one for one in own if one.kind == "inference")
        return replace(base, text=" ".join(one.text for one in stand), passages=ids, joins=True)
    # The ids stand behind what sources say: before the writer's own, or at the end.
    is_behind = bool(own) and stand == [*facts, *own]
    text = " ".join(one.text for one in (stand if is_behind else [*own, *facts]))
    tail = "".join(f" {one.text}" for one in own) if is_behind else ""
    return replace(facts[0], text=text, passages=ids, verdict=_BY_JUDGE, tail=tail)


def _sentence_of(text: str, before: CheckedSentence) -> CitedSentence | None:
    """Return a rewritten statement as one sentence; None where it is several, or a row with other columns."""
    bare = _without_label(text, before)
    if _ROW_BORDER.search(before.text):
        row, _places, citations = lift(bare)
        row = row.strip("| ")
        if len(_ROW_BORDER.split(row)) != len(_ROW_BORDER.split(before.text.strip("| "))):
            return None
        row += " |" * before.text.endswith(" |")  # a column of its own for the ids
        ids = tuple(dict.fromkeys(key for _at, keys, _end in citations for key in keys))
        return CitedSentence(row, ids, 0, len(row), "cell", row)
    if before.context and _ROW_BORDER.search(bare):
        bare = _cell_like(before.text, bare)  # a judge gives the whole row, where a cell was asked about
    again = parse_draft(bare).sentences
    return again[0] if len(again) == 1 else None


def _without_label(text: str, before: CheckedSentence) -> str:
    """Return what a cell was worded anew as without the names of its row and column, under which it was shown."""
    return text.strip().removeprefix(f"{before.context}:").strip() if before.context else text.strip()


def _cell_like(cell: str, row: str) -> str:
    """Return the cell of a row that has most words of `cell`."""
    words = set(content_terms(cell))
    return max(_ROW_BORDER.split(row.strip("| ")), key=lambda text: len(words & set(content_terms(text))))


def text_around(ids: Sequence[str], library: Library) -> str:
    """Return the text of the passages next to these: a border may part what is said from what it is said of."""
    texts: list[str] = []
    for key in ids:
        source, _, number = key.partition("p")
        beside = (f"{source}p{int(number) + step}" for step in (-1, 1))
        texts += [passage.text for other in beside if (passage := library.passage(other)) is not None]
    return "\n".join(texts)


def _may_stand(
    judged: CheckedSentence, passages: Sequence[Passage], library: Library, known: str, ground: Ground
) -> bool:
    """Tell whether nothing mechanical speaks against a claim; in its passages' language negation counts as well."""
    evidence = [*(evidence_of(p, library) for p in passages), Evidence(known)]
    said = without_given(without_general_cells(judged.text)[0], ground)
    if judged.verdict == LOOSE_CODE or certain_disproof(said, evidence) is not None:
        return False
    if known:
        return True  # the judge has said that it stands as it is: only what code is certain of binds it
    foreign = detect(judged.text) != detect(" ".join(p.text for p in passages))
    return foreign or (
        judged.verdict.kind != "contradicted" and disproof(claim_text(said, judged.context), evidence) is None
    )
