"""Check what a report advises and what it says it did not find: our own statements, never passed off as a source's."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deep_research.concurrency import in_background
from deep_research.data import Advice, Claim, Gap, Limit, Verdict
from deep_research.errors import LimitReached, ModelError
from deep_research.i18n.catalog import colon_of, gap_from, gap_of, join_sentences, phrase, verdict_of
from deep_research.ports import Library
from deep_research.steps.advice_sentences import as_judged, sentences_of
from deep_research.steps.check_claims import Judge, Rewrite
from deep_research.steps.check_sentences import OWN_VALUE, Ground, claim_id, names_are_known
from deep_research.steps.work_out import results_of, with_results
from deep_research.text.sentences import split
from deep_research.text.tokens import content_terms, normalise
from deep_research.verification.citations import cite_ids, ids_in, lift
from deep_research.verification.conclusions import (
    FOLLOWS,
    are_known_commands,
    is_too_specific,
    is_unfounded,
    left_to_judge,
    with_general_mark,
    with_open_values,
    without_code,
    without_placeholders,
)
from deep_research.verification.drafts import PLACEHOLDER, parse_draft, settle_marks
from deep_research.verification.verify import is_error_text

_MARK = "†"
_REASONS = ("why", "how", "condition", "fallback")
_COMMAND, _BLOCK = re.compile(r"`([^`]+)`"), re.compile(r"```\n(.*?)\n```", re.DOTALL)
_BEFORE_LABEL = r".!?。！？…†\])）」\"'”’`"
"""What a sentence of a piece of advice ends with."""
_LEADS = re.compile(r"([:：])[.。]$")
"""What leads to the lines to type, with the full stop that it gets in the text that a judge reads."""
_ENDS = (".", "!", "?", "。", "！", "？", "†")
_UNQUOTED = str.maketrans("", "", "\"'")
"""Quotation marks are syntax in a line to type."""
_ABOUT_SEARCH, _SHARES = 0.5, 3
"""From this share of its words on, or this many of them, a limit is about what was searched for."""
_CLOSEST, _TOUCHES = 2, 0.4
"""How many passages are held against a limit, and the share of its words that one has."""


@dataclass(frozen=True)
class CheckedAdvice:
    """Advice that stands, the claims it makes (also those that were cut), and what failed; `numbers` gives the number that a
    step has now by the one it was written with."""

    advice: tuple[Advice, ...]
    claims: tuple[Claim, ...]
    failures: tuple[Gap, ...] = ()
    numbers: Mapping[int, int] = field(default_factory=dict)


async def check_advice(
    given: Sequence[Advice],
    facts: Sequence[Claim],
    library: Library,
    ground: Ground,
    judge: Judge | None,
    rewrite: Rewrite | None = None,
) -> CheckedAdvice:
    """Return the advice that follows from its premises for all that code and judge can say.

    Code: premises exist, and no figure, date, name or quotation comes in that they lack; a reason, condition or fallback
    that brings one in is left out. Then the judge: does it follow for a careful expert? A name that the premises lack and
    their documents have is for the judge to decide on. What does not stand is put right as the judge says, where it says
    so (`rewrite`). What a failed judge left open stays, marked as unverified.
    """
    pairs = [await in_background(_by_code, advice, facts, library, ground) for advice in given]
    given, judged = [advice for advice, _ in pairs], [claim for _, claim in pairs]
    if judge is None:
        kept = [i for i, claim in enumerate(judged) if claim.stands]
        return CheckedAdvice(
            tuple(_known_only(given[i], judged[i]) for i in kept), tuple(judged), (), _numbers(len(given), kept)
        )
    failures: list[Gap] = []
    # What code refuses goes along, with the reason: a step is missed by those behind it, so the judge says what it should be.
    asked = [i for i, claim in enumerate(judged) if claim.stands or (claim.passages and not is_error_text(claim.text))]
    standing = {
        i
        for i in asked
        if judged[i].stands
        or (_lacks_name(judged[i]) and await in_background(_is_named, judged[i], facts, library, ground))
    }
    said = {i: await in_background(sentences_of, given[i], library) for i in asked}
    stated = [fact.as_claim(f"f{i}", "") for i in asked for sentence in said[i] for fact in sentence.facts]
    cited: list[Claim] = []
    try:
        verdicts = await judge([*(judged[i] for i in asked), *stated], library) if asked else []
        failed = None if len(verdicts) == len(asked) + len(stated) else gap_of("judge", "judge_count")
    except (ModelError, LimitReached) as error:
        verdicts, failed = [], gap_from("judge", error)
    if failed is not None:
        failures.append(failed)
        asked = kept = [i for i in asked if judged[i].stands]
        verdicts = [Verdict(kind="unverified", reason=FOLLOWS.reason, codes=FOLLOWS.codes)] * len(asked)
    else:
        of_facts = iter(verdicts[len(asked) :])
        verdicts = verdicts[: len(asked)]
        for i in asked:
            given[i], claims = as_judged(given[i], said[i], of_facts, ground.language)
            cited += claims
        kept = [i for i, verdict in zip(asked, verdicts, strict=True) if verdict.kind == "supported" and i in standing]
    for i, verdict in zip(asked, verdicts, strict=True):
        if i in standing or verdict.kind != "supported":
            judged[i] = judged[i].model_copy(update={"verdict": verdict})
    wrong = [i for i in asked if i not in kept]
    if rewrite is not None and wrong:
        try:
            texts = await rewrite([judged[i] for i in wrong], library)
        except (ModelError, LimitReached) as error:
            failures.append(gap_from("rewrite", error))
            texts = []
        for i, text in zip(wrong, texts, strict=False):
            if (advice := _read_again(text, given[i], ground.language)) is None:
                continue
            mended, claim = await in_background(_by_code, advice, facts, library, ground)
            if claim.stands:
                given[i], judged[i] = mended, claim.model_copy(update={"repair": "rewritten"})
                kept.append(i)
    steps = tuple(_known_only(given[i], judged[i]) for i in sorted(kept))
    shown = {
        key for step in steps for text in (step.why, *step.how, step.condition, step.fallback) for key in ids_in(text)
    }
    stated = [claim for claim in cited if shown & {*claim.passages}]
    return CheckedAdvice(steps, (*judged, *stated), tuple(failures), _numbers(len(given), kept))


def _numbers(given: int, kept: Sequence[int]) -> dict[int, int]:
    """Return the new number of each step that was kept, by its old one; nothing where all were."""
    return {} if len(kept) == given else {old + 1: new for new, old in enumerate(sorted(kept), 1)}


def _lacks_name(claim: Claim) -> bool:
    """Tell whether code refuses a piece of advice for a name alone: it may be a plain word, or another form of one."""
    return claim.verdict.codes == ("name_missing",)


def _is_named(claim: Claim, facts: Sequence[Claim], library: Library, ground: Ground) -> bool:
    """Tell whether the documents behind the premises, or the report, have the names of a piece of advice."""
    also = "\n".join([ground.known, *(fact.text for fact in facts if fact.stands)])
    named = f"{claim.text[:1].lower()}{claim.text[1:]}"
    return names_are_known(named, claim.passages, library, also)


def _read_again(text: str, before: Advice, language: str) -> Advice | None:
    """Return a piece of advice as a judge has worded it anew, in the form of `_as_text`; None where it says nothing new."""
    names = {phrase(name, language): name for name in (*_REASONS, "commands")}
    labels = "|".join(map(re.escape, names))
    # A label begins the text or stands behind a sentence: within one it is part of a name ("see “Another how: …”").
    pieces = re.split(rf"(?:^|(?<=[{_BEFORE_LABEL}])\s+)({labels})\s?[:：]\s?", lift(text)[0].strip())
    fields = {names[label]: said.strip() for label, said in zip(pieces[1::2], pieces[2::2], strict=True)}
    case, action = _case_and_action(pieces[0].strip(), before, language)
    new: dict[str, Any] = {"case": case, "action": action, **{name: fields.get(name, "") for name in _REASONS}}
    new["how"] = [_LEADS.sub(r"\1", said) for said in split(new["how"])]
    # What it leaves as it was keeps what it cites.
    cited = {
        _bare(said).rstrip(".。"): said
        for text in (before.why, *before.how, before.condition, before.fallback)
        for said in _cited_sentences(text)
    }
    new["how"] = _in_points(new["how"], cited, before, language)
    for name in ("why", "condition", "fallback"):
        new[name] = join_sentences([cited.get(said.rstrip(".。"), said) for said in split(new[name])], language)
    # A step that is worded anew without a word on its commands keeps them: code looks at them again.
    new["commands"] = _lines_in(fields["commands"]) if "commands" in fields else before.commands
    return (
        None
        if not action or all(getattr(before, name) == said for name, said in new.items())
        else before.model_copy(update=new)
    )


def _in_points(said: Sequence[str], cited: Mapping[str, str], before: Advice, language: str) -> tuple[str, ...]:
    """Return the sentences of `how` as points, each with what it cites: those of one point before are one now."""
    old = [_bare(point) for point in before.how]
    points: list[list[str]] = []
    place: int | None = None
    for sentence in said:
        words = sentence.rstrip(".。")
        now = next((n for n, point in enumerate(old) if words in point), None)
        if now is None or now != place:
            points.append([])
        points[-1].append(cited.get(words, sentence))
        place = now
    return tuple(join_sentences(point, language) for point in points)


def _cited_sentences(text: str) -> list[str]:
    """Return the sentences of a text with what each cites."""
    return [f"{s.text} {cite_ids(s.passages)}".strip() for s in parse_draft(settle_marks(text)).sentences]


def _case_and_action(said: str, before: Advice, language: str) -> tuple[str, str]:
    """Return the case and the action of a piece of advice that was worded anew; its case may have got a condition more."""
    if said.startswith(case := _ended(before.case, language)):
        return before.case, said.removeprefix(case).strip()
    first, *rest = split(said)
    terms = set(content_terms(before.case))
    if rest and len(terms & set(content_terms(first))) * 2 >= len(terms):
        return first.rstrip("".join(_ENDS)), " ".join(rest)
    return before.case, said


def _known_only(advice: Advice, claim: Claim) -> Advice:
    ids = dict.fromkeys((*claim.passages, *(key for text in (advice.why, *advice.how) for key in ids_in(text))))
    return advice.model_copy(update={"premises": tuple(ids)})


@dataclass(frozen=True)
class _CodeCheck:
    """What code can say of the sentences of a step: the texts of its premises (`grounds`, of the passages `ids`), what is `known`
    besides, and the sentences of `general` knowledge that the step has."""

    grounds: Sequence[str]
    ids: Sequence[str]
    known: str
    general: Sequence[str]
    library: Library
    ground: Ground

    def refused(self, text: str, also: Sequence[str] = ()) -> Verdict | None:
        """Return why code refuses a text of the step, or None."""
        if is_error_text(text, self.grounds):
            return verdict_of("unverified", "error_text")
        if PLACEHOLDER.search(text):
            return verdict_of("unverified", "computation_missing")
        said, loose = _parted(text)
        own = without_placeholders(f"{said[:1].lower()}{said[1:]}")  # its first word is a verb, not a name
        told = "\n".join([self.known, self.ground.given, *also])
        grounds = self.grounds or [self.known] * self.ground.is_judged  # a plan may carry out what sections design
        return is_unfounded(own, grounds, told, self.ground.named, is_judged=self.ground.is_judged) or next(
            (bad for sentence in loose if (bad := is_too_specific(sentence, self.ground.known))), None
        )

    def stands(self, sentence: str) -> bool:
        """Tell whether a sentence may stand; a name that the documents of the premises have is for the judge."""
        bad = self.refused(sentence)
        return bad is None or (
            bad.codes == ("name_missing",) and names_are_known(sentence, self.ids, self.library, self.known)
        )

    def marked(self, sentence: str) -> str:
        """Return a sentence that is refused with what it brings in marked as the writer's own, where a judge decides on it and
        marks make it right; else ""."""
        if not self.ground.is_judged or PLACEHOLDER.search(sentence) or _MARK in sentence:
            return ""
        if is_error_text(sentence, self.grounds) or without_placeholders(sentence) != sentence:
            return ""
        known = "\n".join([self.known, self.ground.given])
        grounds = self.grounds or [self.known]
        own = left_to_judge(sentence, grounds, known, self.ground.named, general=self.ground.background)
        bare = without_code(sentence)
        is_typed = own is not None and left_to_judge(bare, grounds, known, self.ground.named, general=False) is not None
        return sentence if is_typed else own or ""  # a step says what to do: what it types needs no mark

    def standing(self, text: str) -> str:
        """Return a text without the sentences that are refused; each keeps what it cites."""
        said: list[str] = []
        for sentence in parse_draft(settle_marks(text)).sentences:
            cited = cite_ids([key for key in sentence.passages if key in self.ids])
            if self.stands(sentence.text):
                said.append(f"{sentence.text} {cited}".strip())
            elif self.general and self.refused(sentence.text, self.general) is None:
                said.append(with_general_mark(sentence.text))
            elif marked := self.marked(sentence.text):
                said.append(f"{marked} {cited}".strip())
        return join_sentences(said, self.ground.language)


def _by_code(given: Advice, facts: Sequence[Claim], library: Library, ground: Ground) -> tuple[Advice, Claim]:
    """Return one piece of advice without what code refuses of its reasons and conditions, and as a claim with the verdict
    on what it says to do."""
    given, reckoned = _with_results(given, library, ground)
    fields = (given.action, given.why, *given.how, given.condition, given.fallback)
    named = dict.fromkeys((*given.premises, *(key for text in fields for key in ids_in(text)), *reckoned))
    passages = [p for key in named if (p := library.passage(key)) is not None]
    ids = tuple(dict.fromkeys(p.id for p in passages))
    premises = [fact for fact in facts if fact.stands and set(fact.passages) & set(ids)]
    grounds = [*(p.text for p in passages), *(fact.text for fact in premises)]
    grounds += [source.title for p in passages if (source := library.source(p.source)) is not None]
    known = f"{ground.known}\n{' '.join(f.text for f in facts if f.stands)}"
    check = _CodeCheck(grounds, ids, known, _general(fields, ground), library, ground)
    kept: dict[str, Any] = {name: check.standing(getattr(given, name)) for name in _REASONS if name != "how"}
    kept["how"] = tuple(said for text in given.how if (said := check.standing(text)))
    marked = check.marked(given.action) if check.refused(given.action) is not None else ""
    action = kept["action"] = marked or given.action
    told = "\n".join([given.action, kept["why"], *kept["how"]])
    kept["commands"] = _fit_commands(given.commands, [*grounds, known], told, ground)
    if given.commands and not kept["commands"]:  # what led to them would lead nowhere
        kept["how"] = tuple(text for text in kept["how"] if not _bare(text).endswith((":", "：")))
    advice = given.model_copy(update=kept)
    text = _as_text(advice, ground.language)
    bad = check.refused("\n".join([action, kept["why"], *kept["how"]]))
    claim = Claim(
        id=claim_id(f"advice\0{text}"),
        section="",
        text=text,
        passages=ids,
        verdict=(None if marked else check.refused(action))
        or (check.refused(advice.case) if advice.case else None)
        or FOLLOWS,
        kind="advice",
        premises=tuple(fact.id for fact in premises),
        flags=OWN_VALUE if bad is not None and bad.codes == ("number_missing",) else (),
    )
    return advice, claim


def _general(texts: Sequence[str], ground: Ground) -> list[str]:
    """Return the sentences of general knowledge that may stand in a step: a version that one names is that of the step."""
    loose = (s for text in texts for s in _parted(text)[1]) if ground.background else ()
    return [s for s in loose if not is_too_specific(s, ground.known)]


def _with_results(given: Advice, library: Library, ground: Ground) -> tuple[Advice, tuple[str, ...]]:
    """Return a piece of advice with the results of arithmetic in it, and the passages of their operands. What cannot be
    computed keeps its {k1}."""
    results = results_of(ground.computations, library, ground.question)
    used: dict[str, None] = {}

    def worked(text: str) -> str:
        said = with_results(text, results, ground.language)
        if isinstance(said, Verdict):
            return text
        used.update(dict.fromkeys(said.passages))
        return said.text

    changed: dict[str, Any] = {
        name: worked(getattr(given, name)) for name in ("action", "case", *_REASONS) if name != "how"
    }
    changed["how"] = tuple(map(worked, given.how))
    return given.model_copy(update=changed), tuple(used)


def _fit_commands(lines: Sequence[str], known: Sequence[str], said: str, ground: Ground) -> tuple[str, ...]:
    """Return the lines to type that may stand: all or none, since they belong together. A line that no source has is marked as
    general knowledge (†), where that is wanted; a value that it brings in, and what is `said` of it does not reckon from a
    known one, is left for the reader to fill in, but where a judge decides on what the writer chooses."""
    known_lines = {line for line in lines if are_known_commands([line], known)}
    if not ground.background:
        return tuple(lines) if known_lines.issuperset(lines) else ()
    told = "\n".join(known)
    marked = (line if line in known_lines else f"{line.removesuffix(_MARK).rstrip(' #')} {_MARK}" for line in lines)
    return tuple(
        line if line in known_lines or ground.is_judged else with_open_values(line, told, said) for line in marked
    )


def _parted(text: str) -> tuple[str, list[str]]:
    """Return what a text says of its sources, and its sentences of general knowledge (marked †)."""
    parts = split(settle_marks(text))
    return " ".join(part for part in parts if _MARK not in part), [part for part in parts if _MARK in part]


def _as_text(advice: Advice, language: str) -> str:
    reasons = {name: _bare(getattr(advice, name)) for name in _REASONS if name != "how"}
    reasons["how"] = " ".join(_ended(_bare(text), language) for text in advice.how)
    named = [f"{phrase(name, language)}{colon_of(language)}{text}" for name, text in reasons.items() if text]
    said = [_ended(part, language) for part in (_bare(advice.case), _bare(advice.action), *named) if part]
    if advice.commands:
        said.append(f"{phrase('commands', language)}{colon_of(language)}{_as_typed(advice.commands)}")
    return " ".join(said)


def _as_typed(lines: Sequence[str]) -> str:
    """Return lines to type within a text; a script, whose indents and blank lines count, as a block with one mark for all."""
    if all(line and line == line.strip() and "`" not in line for line in lines):
        return " ".join(f"`{line.removesuffix(_MARK).rstrip()}`{f' {_MARK}' * line.endswith(_MARK)}" for line in lines)
    script = "\n".join(line.removesuffix(_MARK).rstrip() for line in lines)
    return f"\n```\n{script}\n```" + f" {_MARK}" * any(line.endswith(_MARK) for line in lines)


def _lines_in(text: str) -> tuple[str, ...]:
    """Return the lines to type that stand in a text, in one of the forms of `_as_typed`."""
    block = _BLOCK.search(text)
    return tuple(block[1].split("\n")) if block else tuple(_COMMAND.findall(text))


def _bare(text: str) -> str:
    """Return a text without what it cites."""
    return lift(text)[0].strip()


def _ended(text: str, language: str) -> str:
    return text if not text or text.rstrip().endswith(_ENDS) else f"{text.rstrip()}{phrase('full_stop', language)}"


@dataclass(frozen=True)
class CheckedLimits:
    """What was not found and stays, the claims it makes (also those that were cut), and what failed."""

    limits: tuple[Limit, ...]
    claims: tuple[Claim, ...]
    failures: tuple[Gap, ...] = ()


async def check_limits(
    given: Sequence[Limit], searched: Sequence[str], library: Library, judge: Judge | None = None
) -> CheckedLimits:
    """Return the limits that the searches really made bear out, and that nothing speaks against which was read.

    A limit stands where a search that was made has most of its words; it keeps only searches that were made. Then the
    judge: do the passages that come closest tell it after all? Where it fails, the limits stay.
    """
    kept, claims = _borne_out(given, searched)
    near = {limit.text: await in_background(_closest, limit, library) for limit in kept} if judge is not None else {}
    asked = [c.model_copy(update={"passages": near[c.text]}) for c in claims if near.get(c.text)]
    if judge is None or not asked:
        return CheckedLimits(tuple(kept), tuple(claims))
    try:
        verdicts = await judge(asked, library)
        failure = None if len(verdicts) == len(asked) else gap_of("judge", "judge_count")
    except (ModelError, LimitReached) as error:
        verdicts, failure = (), gap_from("judge", error)
    if failure is not None:
        return CheckedLimits(tuple(kept), tuple(claims), (failure,))
    refused = {
        claim.id: claim.model_copy(update={"verdict": verdict})
        for claim, verdict in zip(asked, verdicts, strict=True)
        if verdict.kind != "supported"
    }
    gone = {claim.text for claim in refused.values()}
    return CheckedLimits(
        tuple(limit for limit in kept if limit.text not in gone), tuple(refused.get(c.id, c) for c in claims)
    )


def _closest(limit: Limit, library: Library) -> tuple[str, ...]:
    """Return the ids of the passages that have most words of what was not found, or of a search for it, which may be in the
    language of the sources: one of them may tell it."""
    found: dict[str, None] = {}
    for query in (limit.text, *limit.searched[:2]):
        wanted = set(content_terms(query))
        for hit in library.search(query, limit=_CLOSEST):
            terms = set(content_terms(f"{hit.passage.heading} {hit.passage.text}"))
            if len(wanted & terms) >= _TOUCHES * len(wanted):
                found.setdefault(hit.passage.id)
    return tuple(found)[: 2 * _CLOSEST]


def _borne_out(given: Sequence[Limit], searched: Sequence[str]) -> tuple[list[Limit], list[Claim]]:
    """Return the limits for which searches were made, with these, and all of them as claims."""
    made = {normalise(query): query for query in searched}
    kept: list[Limit] = []
    claims: list[Claim] = []
    for limit in given:
        own = tuple(dict.fromkeys(made[key] for query in limit.searched if (key := normalise(query)) in made))
        about = set(content_terms(limit.text))
        near = tuple(q for q in searched if _shares_most(set(content_terms(q)), about))
        stands = bool(own or near) and not is_error_text(limit.text)
        verdict = verdict_of("supported", "was_searched") if stands else verdict_of("unverified", "not_searched")
        key = claim_id(f"limit\0{limit.text}")
        claims.append(Claim(id=key, section="", text=limit.text, passages=(), verdict=verdict, kind="limit"))
        if stands:
            kept.append(limit.model_copy(update={"searched": own or near[:3]}))
    return kept, claims


def _shares_most(query: set[str], about: set[str]) -> bool:
    shared = len(query & about)
    return bool(query) and (shared >= _ABOUT_SEARCH * len(query) or shared >= _SHARES)
