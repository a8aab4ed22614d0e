"""All settings in one frozen object, and the only reader of the environment.

Order: argument or flag over environment (`DEEP_RESEARCH_…`) over file (`deep-research.toml` in the
current folder, else `settings.toml` in the state folder) over default. Unknown names are refused,
every number is bounded.
"""

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from deep_research.data import Workflow
from deep_research.data.outside_tools import SERVER_NAME, McpServer
from deep_research.errors import ConfigError

PREFIX = "DEEP_RESEARCH_"
_NOT_SETTINGS = {"DEEP_RESEARCH_HOME", "DEEP_RESEARCH_CONFIG"}
_MOST_SERVERS = 32


class Settings(BaseModel):
    """Everything that can be set; each field says what it is, with its unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())

    workflow: Workflow = Field("sections", description="How a run is organised.")
    model_provider: str = Field(
        "auto",
        description="Who thinks: a provider's name; auto: the first whose key is set, else extractive (no model).",
    )
    model_name: str | None = Field(None, description="Model of the provider; empty: its default.")
    model_base_url: str = Field("", description="Base address of the model server; empty: the provider's own.")
    research_model: str | None = Field(None, description="Model that plans and searches; empty: model_name.")
    write_model: str | None = Field(None, description="Model that writes sections; empty: model_name.")
    review_model: str | None = Field(None, description="Model that reviews; empty: model_name.")
    report_model: str | None = Field(None, description="Model that writes abstract and conclusion; empty: model_name.")
    judge_model: str | None = Field(None, description="Model that judges claims; empty: model_name.")
    research_max_tokens: int = Field(
        4096, ge=256, le=200_000, description="Longest answer of a planning or searching call, tokens."
    )
    write_max_tokens: int = Field(
        4096, ge=256, le=200_000, description="Longest answer of the writing of a section, tokens."
    )
    review_max_tokens: int = Field(4096, ge=256, le=200_000, description="Longest answer of a review, tokens.")
    report_max_tokens: int = Field(
        4096, ge=256, le=200_000, description="Longest answer of abstract and conclusion, tokens."
    )
    judge_max_tokens: int = Field(4096, ge=256, le=200_000, description="Longest answer of a judgement, tokens.")
    fallback_models: tuple[str, ...] = Field(
        (), description="Models that stand in when one fails: MODEL or PROVIDER:MODEL, separated by commas."
    )
    max_structured_output_retries: int = Field(
        2, ge=0, le=10, description="How often an answer that does not fit its schema is asked for again."
    )
    model_timeout_seconds: float = Field(120, ge=1, le=3600, description="Longest silence of a model, seconds.")
    max_model_requests: int = Field(
        16,
        ge=1,
        le=256,
        description="Requests in flight at one model provider at most, all runs of a process together.",
    )
    max_model_tokens_in_flight: int = Field(
        0, ge=0, le=100_000_000, description="Prompt tokens in flight at one model provider at most; 0: no limit."
    )
    budget_usd: float | None = Field(None, gt=0, le=10_000, description="Most a run may cost, US dollars.")
    budget_tokens: int | None = Field(None, ge=5_000, le=1_000_000_000, description="Most tokens a run may use.")
    enable_thinking: bool = Field(False, description="Let models that can think before they answer.")
    speculate: bool = Field(
        True, description="Whether the analysis and the first search begin while the question is still being judged."
    )
    allow_clarification: bool = Field(True, description="Whether the user may be asked something.")
    max_clarification_rounds: int = Field(3, ge=0, le=10, description="Questions to the user before guessing.")
    max_tool_calls_per_researcher: int = Field(10, ge=1, le=100, description="Tool calls per section and attempt.")
    max_react_tool_calls: int = Field(
        10, ge=1, le=100, description="The same in the `supervisor` workflow: tool calls per delegation."
    )
    max_researcher_iterations: int = Field(
        6, ge=1, le=20, description="Rounds of delegations in the `supervisor` workflow."
    )
    max_concurrent_research_units: int = Field(
        5, ge=1, le=64, description="Delegations of one round of the `supervisor` workflow; the others wait."
    )
    max_review_iterations: int = Field(2, ge=0, le=10, description="How often weak sections are sent out again.")
    streaming_review: bool = Field(
        True,
        description="Whether a section is reviewed, and sent out again, as soon as it is written; off: when all are.",
    )
    section_patience: float = Field(
        2.0,
        ge=0,
        le=100,
        description="How many times as long as the middle one of the finished sections a section may be researched,"
        " once half of them are finished; then it is closed with what it has (a section that is researched again: 0.7 times"
        " that). 0: as long as it likes.",
    )
    section_patience_seconds: float = Field(
        10, ge=0, le=86_400, description="How long a section may be researched in any case, seconds."
    )
    max_discover_iterations: int = Field(5, ge=1, le=20, description="Rounds of searches that look for entities.")
    max_iterations: int = Field(5, ge=1, le=10, description="Rounds of the `loop` workflow.")
    max_context_tokens: int = Field(
        100_000, ge=4_000, le=10_000_000, description="Context window of the model, tokens."
    )
    depth: Literal["brief", "standard", "deep"] = Field(
        "standard", description="Length and depth of the report: about 500, 1,500 to 3,000, or 5,000 to 10,000 words."
    )
    background: Literal["none", "advice", "all"] = Field(
        "advice",
        description="Where the model may add general knowledge without a source, marked with †: nowhere, in advice, or anywhere.",
    )
    compression_target_tokens: int = Field(
        8_000, ge=500, le=200_000, description="Passages given to the writer, tokens."
    )
    max_sections: int = Field(7, ge=3, le=7, description="Sections of a plan at most.")
    max_concurrent_researchers: int = Field(8, ge=1, le=64, description="Sections researched at the same time.")
    strategy: str = Field(
        "",
        description="Which web sources are searched (deep-research sources); empty: none, or auto with a model and no --docs.",
    )
    sources: tuple[str, ...] = Field((), description="Web sources to search, by name, separated by commas.")
    source_options: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Options of single sources, by name (in the file: [source_options.NAME])."
    )
    read_full_papers: bool = Field(
        True, description="Whether a researcher that reads a paper gets its full text (arXiv), not only the abstract."
    )
    sources_per_search: int = Field(
        3, ge=1, le=20, description="Web sources asked at once; others when these find little."
    )
    web_timeout_seconds: float = Field(
        30, ge=1, le=600, description="Longest silence of a web source or page, seconds."
    )
    contact: str = Field("", description="Address or e-mail told to the APIs that ask for one.")
    allowed_internal_hosts: tuple[str, ...] = Field((), description="Internal hosts that pages may be read from.")
    obey_robots: bool = Field(True, description="Whether robots.txt is obeyed.")
    proxy: str = Field("", description="Address of an HTTP proxy for everything that goes out.")
    mcp_servers: dict[str, McpServer] = Field(
        default_factory=dict, description="MCP servers by name (in the file: [mcp_servers.NAME]); docs/mcp.md."
    )
    mcp_prompt: str = Field(
        "", max_length=4_000, description="What researchers should know about the tools of MCP servers."
    )
    search_results: int = Field(8, ge=1, le=50, description="Documents taken from one search.")
    max_file_megabytes: int = Field(64, ge=1, le=4096, description="Files larger than this are not read, megabytes.")
    max_question_chars: int = Field(20_000, ge=100, le=100_000, description="Longest question, characters.")
    confidence_start: float = Field(
        0.7, ge=0, le=1, description="Confidence from which a run starts, given a goal and focus points."
    )
    confidence_ask: float = Field(0.5, ge=0, le=1, description="Confidence below which the user must be asked.")
    confidence_never_ask: float = Field(
        0.9, ge=0, le=1, description="Confidence from which the user is never asked what is meant."
    )
    focus_points_start: int = Field(
        3, ge=0, le=20, description="Focus points with which a run starts without further thought."
    )
    focus_points_ask: int = Field(2, ge=0, le=20, description="Focus points with fewer of which the user is asked.")
    max_verified_terms: int = Field(3, ge=0, le=10, description="Unknown terms looked up before the start.")
    confirm_plan: bool = Field(False, description="Whether the plan is shown and must be confirmed.")
    confirm_high_value: bool = Field(
        True,
        description="Whether a reasoner may have the plan confirmed when much depends on it; never without a user.",
    )
    max_plan_rounds: int = Field(20, ge=1, le=100, description="Answers to a shown plan before the run is given up.")
    template: str = Field(
        "", description="Focus template (deep-research templates); empty: by the question's words; none: no template."
    )

    @property
    def tool_calls_per_researcher(self) -> int:
        """Tool calls that one researcher may make in this workflow."""
        return self.max_react_tool_calls if self.workflow == "supervisor" else self.max_tool_calls_per_researcher

    @field_validator("fallback_models", "sources", "allowed_internal_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """A list in one string, as flags and the environment give it."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("mcp_servers")
    @classmethod
    def _named(cls, value: dict[str, McpServer]) -> dict[str, McpServer]:
        """The names of servers become part of names of tools."""
        if unfit := [name for name in value if not SERVER_NAME.fullmatch(name)]:
            raise ValueError(f"the name {unfit[0]!r} is not made of at most 32 letters, digits, - and _")
        if len(value) > _MOST_SERVERS:
            raise ValueError(f"at most {_MOST_SERVERS} servers are taken")
        return value


def load_keys(variables: Iterable[str]) -> dict[str, str]:
    """Return those of `variables` (keys and addresses of services) that are set; they are never stored."""
    return {name: value for name in variables if (value := os.environ.get(name, "").strip())}  # noqa: TID251


def editor_command() -> str:
    """Return the command of the user's editor, `VISUAL` before `EDITOR`; "" when neither is set."""
    return os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()  # noqa: TID251


def home() -> Path:
    """Return the folder that holds all state: `DEEP_RESEARCH_HOME`, or the platform's user data folder."""
    named = os.environ.get("DEEP_RESEARCH_HOME")  # noqa: TID251 - the one place
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - not needed when the folder is named

    return user_data_path("deep-research", appauthor=False)


def load_settings(**arguments: Any) -> Settings:
    """Return the settings in force; `arguments` that are None count as not given.

    The name of an argument may be `source_options.NAME.OPTION`, which sets that option beside others. Raises ConfigError for an unknown name, a value that does not fit, or an unreadable file.
    """
    values: dict[str, Any] = {}
    came_from: dict[str, str] = {}
    given = {name: value for name, value in arguments.items() if value is not None}
    layers = [_from_file(), _from_environment(), ("argument", given)]
    for origin, layer in layers:
        for path, value in layer.items():
            name, _, inside = path.partition(".")
            _refuse_unknown(name, value, origin)
            values[name] = _set_inside(values.get(name), path, inside.split("."), value) if inside else value
            came_from[name] = origin
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _explain(error, came_from) from None


def _from_file() -> tuple[str, dict[str, Any]]:
    named = os.environ.get("DEEP_RESEARCH_CONFIG")  # noqa: TID251 - the one place
    candidates = [Path(named)] if named else [Path("deep-research.toml"), home() / "settings.toml"]
    for path in candidates:
        try:
            return str(path), _trusted(tomllib.loads(path.read_text("utf-8")), path, named)
        except (FileNotFoundError, NotADirectoryError):
            if named:
                message = f"The settings file {named!r} of DEEP_RESEARCH_CONFIG does not exist."
                raise ConfigError(message, setting="DEEP_RESEARCH_CONFIG", value=named) from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            message = f"The settings file {str(path)!r} cannot be read: {error}."
            raise ConfigError(message, setting="file", value=str(path)) from error
    return "", {}


def _set_inside(table: object, path: str, keys: Sequence[str], value: object) -> dict[str, Any]:
    """Return `table` with the option of a source set. Raises ConfigError for a path that is not one."""
    if not path.startswith("source_options.") or len(keys) != 2 or not all(keys):
        message = f"Unknown setting {path!r}. Options of sources are set as source_options.NAME.OPTION."
        raise ConfigError(message, setting=path, value=value)
    options = dict(table) if isinstance(table, dict) else {}
    return {**options, keys[0]: {**options.get(keys[0], {}), keys[1]: value}}


_LEADS_OUT = ("mcp_servers", "model_base_url", "proxy", "allowed_internal_hosts")
"""Settings that start programs, or say where keys and requests go."""


def _trusted(values: dict[str, Any], path: Path, named: str | None) -> dict[str, Any]:
    """Return the values of a file. Raises ConfigError for what a folder's own file may not say unless it was named.

    A folder that was downloaded must not bring along a program that is started, or an address that gets keys.
    """
    if named or path.is_absolute():
        return values
    options = values.get("source_options")
    bases = [
        f"source_options.{source}.base_url"
        for source, given in (options.items() if isinstance(options, dict) else ())
        if isinstance(given, dict) and "base_url" in given
    ]
    for name in [*(name for name in _LEADS_OUT if name in values), *bases]:
        message = (
            f"The setting {name} is not taken from {str(path)!r} of the current folder, because it starts programs or "
            f"says where keys and requests go. Put it into {str(home() / 'settings.toml')!r}, or name the file with "
            "DEEP_RESEARCH_CONFIG if you trust it."
        )
        raise ConfigError(message, setting=name, came_from=str(path))
    return values


def _from_environment() -> tuple[str, dict[str, Any]]:
    values = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in os.environ.items()  # noqa: TID251 - the one place
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS and value != ""
    }
    return "environment", values


def _refuse_unknown(name: str, value: object, origin: str) -> None:
    if name in Settings.model_fields:
        return
    near = difflib.get_close_matches(name, Settings.model_fields, n=1)
    shown = PREFIX + name.upper() if origin == "environment" else name
    hint = f" Did you mean {PREFIX + near[0].upper() if origin == 'environment' else near[0]!r}?" if near else ""
    message = f"Unknown setting {shown!r} ({origin}).{hint} `deep-research settings` lists all of them."
    raise ConfigError(message, setting=name, value=value, came_from=origin)


def _explain(error: ValidationError, came_from: Mapping[str, str]) -> ConfigError:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    origin = came_from.get(name, "default")
    if name == "mcp_servers":  # what stands there may be secret
        place = ".".join(str(part) for part in first["loc"])
        message = f"The setting {place} ({origin}) does not fit: {first['msg'].removeprefix('Value error, ').lower()}."
        return ConfigError(message, setting=place, came_from=origin)
    message = f"The setting {name} = {first['input']!r} ({origin}) does not fit: {first['msg'].lower()}."
    return ConfigError(message, setting=name, value=first["input"], came_from=origin)


def workflows() -> tuple[str, ...]:
    """Return the names of the workflows."""
    return get_args(Workflow)
