"""The questions of ours to a user about what is missing, with their options."""

from collections.abc import Sequence

from deep_research.data import Clarification, Template
from deep_research.i18n.catalog import phrase

KINDS = ("kind_technology", "kind_medicine", "kind_product", "kind_event")
_ASPECTS = ("opt_progress", "opt_how", "opt_compare", "opt_overview")
_OPTIONS = {"topic": KINDS, "aspect": _ASPECTS, "focus": _ASPECTS, "referent": ("opt_newest",)}
MISSING = frozenset(_OPTIONS)  # what a question of ours can ask for


def question_for(
    missing: str, term: str, language: str, template: Template | None, points: Sequence[str] = ()
) -> Clarification:
    """Return the question for what is `missing` (of `MISSING`) about a `term`.

    Its options are the template's, then, where points of a topic are asked for, `points`, then ours.
    """
    own = next((c for c in template.clarifications if c.missing_info == missing), None) if template else None
    of_topic = ((template.focus if template else ()) or points) if _OPTIONS[missing] is _ASPECTS else ()
    offered = (own and own.options) or of_topic or [phrase(name, language) for name in _OPTIONS[missing]]
    asked = (own and own.question) or phrase(f"ask_{missing}", language, term=term)
    return Clarification(question=asked, options=tuple(offered), missing_info=missing)
