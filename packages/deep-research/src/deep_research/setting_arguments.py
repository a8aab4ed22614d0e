"""Settings as keyword arguments of the front door; written by `make docs`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from deep_research.data.outside_tools import McpServer
    from deep_research.providers.model_client import OpenModel

# fmt: off


class SettingArguments(TypedDict, total=False):
    """Any of the settings, by name; docs/settings.md says what each does.

    `home` is the state folder. `model` is a chat model of LangChain, an object of our port, or the name of a model;
    models of single roles may be given in the same ways. `tools` are tools of LangChain or of MCP adapters, and plain
    functions with a docstring.
    """

    home: "str | PathLike[str]"
    model: "str | OpenModel | BaseChatModel"
    tools: "Sequence[Any]"
    model_provider: "str"
    model_name: "str | None"
    model_base_url: "str"
    fallback_models: "Sequence[str] | str"
    ranker: "str"
    ranker_base_url: "str"
    enable_thinking: "bool"
    research_model: "str | OpenModel | BaseChatModel | None"
    write_model: "str | OpenModel | BaseChatModel | None"
    report_model: "str | OpenModel | BaseChatModel | None"
    judge_model: "str | OpenModel | BaseChatModel | None"
    model_timeout_seconds: "float"
    max_context_tokens: "int"
    research_max_tokens: "int"
    write_max_tokens: "int"
    report_max_tokens: "int"
    max_structured_output_retries: "int"
    strategy: "str"
    sources: "Sequence[str] | str"
    source_options: "Mapping[str, Mapping[str, Any]]"
    contact: "str"
    proxy: "str"
    mcp_servers: "Mapping[str, McpServer | Mapping[str, Any]]"
    mcp_prompt: "str"
    allowed_internal_hosts: "Sequence[str] | str"
    workflow: 'Literal["sections", "loop", "supervisor", "quick", "verify", "desk"]'
    template: "str"
    allow_clarification: "bool"
    max_clarification_rounds: "int"
    confirm_plan: "bool"
    confirm_review: "bool"
    max_tool_calls_per_researcher: "int"
    max_discover_iterations: "int"
    max_iterations: "int"
    max_researcher_iterations: "int"
    max_concurrent_research_units: "int"
    confidence_start: "float"
    confidence_ask: "float"
    confidence_never_ask: "float"
    focus_points_start: "int"
    focus_points_ask: "int"
    max_review_iterations: "int"
    depth: 'Literal["brief", "standard", "deep"]'
    budget_usd: "float | None"
    budget_tokens: "int | None"
