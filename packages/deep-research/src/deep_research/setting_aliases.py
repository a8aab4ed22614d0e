"""Names of settings in Open Deep Research, so that its configurations can be used as they are."""

from collections.abc import Callable, Mapping
from typing import Any

SETTING_ALIASES = {
    "research_model_max_tokens": "research_max_tokens",
    "summarization_model": "write_model",
    "summarization_model_max_tokens": "write_max_tokens",
    "compression_model": "write_model",
    "compression_target_tokens": "write_max_tokens",
    "compression_model_max_tokens": "write_max_tokens",
    "final_report_model": "report_model",
    "final_report_model_max_tokens": "report_max_tokens",
    "max_react_tool_calls": "max_tool_calls_per_researcher",
    "search_api": "sources",
}
"""Names of settings in Open Deep Research (`Configuration`), with ours."""
FORMER_SETTINGS = frozenset(
    (
        "background confirm_high_value judge_max_tokens keep_runs_days "
        "max_concurrent_researchers max_file_megabytes max_model_requests max_question_chars max_runs_per_owner "
        "max_sections obey_robots read_full_papers read_max_tokens read_model review_max_tokens review_model "
        "search_results send_private_text sources_per_search streaming_review web_timeout_seconds"
    ).split()
)
"""Names that were settings once, or are in documents for what is not done here; they are taken and change nothing."""
_SEARCH_APIS = {"openai": "openai_web_search", "anthropic": "anthropic_web_search", "none": ""}


def own_names(values: Mapping[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """Return settings under our names; ours count before theirs, the later alias before one of the same, which is told."""
    named: dict[str, Any] = {}
    for theirs, ours in SETTING_ALIASES.items():
        if theirs not in values or ours in values:
            continue
        value = values[theirs]
        if theirs == "search_api" and isinstance(value, str):
            value = _SEARCH_APIS.get(value.lower(), value.lower())
        if named.get(ours, value) != value:
            tell(f"{theirs} counts as the setting {ours}; what else is given for it, {named[ours]!r}, is not used.")
        named[ours] = value
    return named | {name: value for name, value in values.items() if name not in SETTING_ALIASES}
