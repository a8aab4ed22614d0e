"""“How this was checked”: what became of the statements, who wrote and judged, and what was read. More is in the result."""

from collections import defaultdict
from collections.abc import Sequence

from deep_research.data import OWN_KINDS, Claim, Ledger, ReasonerInfo
from deep_research.i18n.catalog import bold_heading, bracket, explain, join_list, join_sentences, phrase
from deep_research.report.report_input import CheckedReport
from deep_research.verification.citations import claim_text
from deep_research.verification.drafts import parse_draft

LONG_QUESTION = 140
"""Characters of a question from which on it does not stand at the head of its report: whoever asked knows it, and the result has
it."""
_ROLES = {
    "research": "research",
    "read": "research",
    "write": "writing",
    "judge": "judge",
    "review": "review",
    "report": "report",
}
"""The roles of models, and the steps they are named after."""


def render_method_note(
    checked: CheckedReport, *, verbatim: int, general_marks: int = 0, workings: Sequence[str] = (), read_on: str = ""
) -> str:
    """Return the part of a report that says what its checks found; what was cut stands in the result, not in the text.

    An unsupported claim whose sentence is in a text of the report was left there. `verbatim` counts the claims that
    are word for word in a passage, `general_marks` what the text marks as general knowledge, `workings` say how
    its figures were reckoned, `read_on` is the day on which all sources were read, where it is one.
    """
    given, parts, reasoner, language = checked.given, checked.parts, checked.reasoner, checked.given.language
    shown = (parts.abstract, parts.conclusion, parts.table, *(s.content for s in given.sections))
    kept = {(claim_text(s.text, s.context), s.passages) for text in shown for s in parse_draft(text).sentences}
    general = [c for c in checked.claims if c.kind == "background" and "background" in c.verdict.codes]
    failed = [c for c in checked.claims if not c.stands and c not in general]
    left = [c for c in failed if (c.text, c.passages) in kept]
    listed = [c for c in left if c.kind != "background"]  # that is marked in the text itself
    cut = [c for c in failed if (c.text, c.passages) not in kept]
    total = len(checked.claims) - len(general)
    counts = {"claims": total, "supported": total - len(failed), "cut": len(cut), "left": len(left)}
    own = sum(claim.kind in OWN_KINDS for claim in checked.claims)
    computed = sum(claim.kind == "computed" for claim in checked.claims)
    kinds = {"facts": total - own - computed, "computed": computed, "own": own}
    lines = [phrase("checked_kinds" if own + computed else "checked_counts", language, **counts, **kinds)]
    lines += [phrase("checked_left", language, left=len(left))] * bool(left and own + computed)
    lines += [phrase("checked_general", language, count=general_marks)] * bool(general_marks)
    lines += [phrase("checked_verbatim", language, verbatim=verbatim)] * bool(
        verbatim and not reasoner.is_language_model
    )
    if reasoner.is_language_model:
        is_judge = any(claim.verdict.by_model for claim in checked.claims)
        lines += [_who(reasoner, language, is_judge=is_judge)] * bool(reasoner.models)
    else:
        lines.append(phrase("checked_how", language))
        lines += [phrase("ranked_by", language, ranker=reasoner.ranker)] * bool(reasoner.ranker)
    blocks = [
        f"## {phrase('checked', language)}",
        join_sentences(
            [*lines, *_cost(checked.ledger, read_on, language, is_told=not reasoner.is_language_model)], language
        ),
        *_left(listed, language),
        *[f"{bold_heading('workings', language)}{' · '.join(workings)}"] * bool(workings),
    ]
    return "\n\n".join(blocks)


def _who(reasoner: ReasonerInfo, language: str, *, is_judge: bool) -> str:
    """Say which models worked on the report; that one judged it only where it did."""
    models = {role: reasoner.models[role] for role in _ROLES if role in reasoner.models}
    if len(set(models.values())) == 1:
        name = "thought_by" if is_judge else "written_by"
        return phrase(name, language, model=next(iter(models.values())), provider=reasoner.provider)
    steps: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for role, model in models.items():
        steps[model][phrase(f"step_{_ROLES[role]}", language)] = None
    most = max(steps, key=lambda model: len(steps[model]), default="")  # did what no other is named for
    each = "; ".join(
        model if model == most else f"{model}{bracket(join_list(list(named), language), language)}"
        for model, named in steps.items()
    )
    return phrase("thought_by_each", language, models=each, provider=reasoner.provider)


def _cost(ledger: Ledger, read_on: str, language: str, *, is_told: bool) -> list[str]:
    """Return, where it `is_told`, how much was searched and read (the result has it too), and the day on which all was read."""
    lines = [phrase("cost", language, searches=ledger.searches, sources=ledger.fetches)] * is_told
    return lines + [phrase("all_retrieved", language, date=read_on)] * bool(read_on)


def _left(claims: Sequence[Claim], language: str) -> list[str]:
    """List what was left in the text, by the reason for which it could not be judged."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for claim in claims:
        by_reason[explain(claim.verdict, language)].append(f"- {claim.text}")
    return [
        part
        for why, texts in by_reason.items()
        for part in (f"{phrase('left_list', language)} {why}", "\n".join(texts))
    ]
