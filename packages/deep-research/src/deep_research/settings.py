"""All settings in one frozen object, and the only reader of the environment.

Order: argument or flag over environment (`DEEP_RESEARCH_…`) over file (`settings.toml` in the state
folder, and over it what `deep-research.toml` in the current folder may say) over default. Unknown names
are refused, every number is bounded.
"""

import difflib
import logging
import os
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from deep_research.address_credentials import hide_credentials, without_credentials
from deep_research.data import Role, Workflow
from deep_research.data.outside_tools import SERVER_NAME, McpServer
from deep_research.errors import ConfigError
from deep_research.foreign_settings import name_all, read_toml, take_over
from deep_research.protocol.media_type import text_of
from deep_research.safe_text import register_secrets

PREFIX = "DEEP_RESEARCH_"
_SNAPSHOTS = "DEEP_RESEARCH_SNAPSHOTS_URL"
_NOT_SETTINGS = {"DEEP_RESEARCH_HOME", "DEEP_RESEARCH_CONFIG", "DEEP_RESEARCH_DATABASE_URL", _SNAPSHOTS}
_MOST_SERVERS = 32
_AROUND, _PLACES = " \t\r\n\"'", ("_HOST", "_URL")
FOLDER_FILE = "deep-research.toml"
_told: set[str] = set()  # what was said of settings that do not hold, so that it is said once
_log = logging.getLogger(__name__)

GROUPS = ("models", "search", "research", "review", "report", "limits")
"""The groups of settings, in the order of the page; advanced settings are listed after all others."""
_OUTPUT_TOKENS: Mapping[Role, int] = {"read": 8_192, "review": 4_096, "judge": 8_192}
"""The output of roles whose answers are lists of a bounded length: forty verdicts, or the entries of a list."""
ADDRESSES = ("model_base_url", "ranker_base_url", "proxy", "contact", "source_options")
"""Settings that are addresses, or hold some."""
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
_SEARCH_APIS = {"openai": "openai_web_search", "anthropic": "anthropic_web_search"}


def _setting(default: Any, group: str, *, advanced: bool = False, **bounds: Any) -> Any:
    """Declare a setting of a group, its meaning below it; `bounds` are pydantic's."""
    if isinstance(default, type):
        bounds["default_factory"] = default
    else:
        bounds["default"] = default
    return Field(json_schema_extra={"group": group, "advanced": advanced}, **bounds)


class Settings(BaseModel):
    """All settings, by group; every number is bounded.

    A name that is none is passed over here, for records of earlier versions; `load_settings` refuses it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", protected_namespaces=(), use_attribute_docstrings=True)

    model_provider: str = _setting("auto", "models")
    """Model provider, `auto` (the first whose key is set, else `finder`), or `finder` (no model)."""
    model_name: str | None = _setting(None, "models")
    """Model. Empty: the provider's default."""
    model_base_url: str = _setting("", "models")
    """Base address of the model server. Empty: the provider's own."""
    fallback_models: tuple[str, ...] = _setting((), "models")
    """Models to use when the model fails: MODEL or PROVIDER:MODEL, separated by commas."""
    ranker: str = _setting("", "models")
    """Ranker of what is quoted without a model: `openai`, `compatible`, `ollama` (embeddings), `jina`, `cohere` (rerank) or `model`, each with `:MODEL`. Empty: none."""
    ranker_base_url: str = _setting("", "models")
    """Base address of the ranker's server. Empty: the provider's own."""
    enable_thinking: bool = _setting(False, "models")
    """Let models reason before they answer, where they can."""
    research_model: str | None = _setting(None, "models")
    """Model for planning and searching: MODEL or PROVIDER:MODEL. Empty: `model_name`."""
    write_model: str | None = _setting(None, "models")
    """Model for taking notes at the end of a research, and for naming the entries of a list: MODEL or PROVIDER:MODEL. Empty: `model_name`. Also `compression_model`, and `summarization_model`: pages are quoted, never summarised, so there is no other model for it."""
    report_model: str | None = _setting(None, "models")
    """Model that writes and revises the report: MODEL or PROVIDER:MODEL. Empty: `model_name`."""
    judge_model: str | None = _setting(None, "models")
    """Model that reviews notes and verifies the report: MODEL or PROVIDER:MODEL. Empty: `model_name`."""
    model_timeout_seconds: float = _setting(120, "models", ge=1, le=3600)
    """Timeout: the longest wait for more output of a model, in seconds; of a web source or page, at most 30."""
    max_context_tokens: int = _setting(100_000, "models", ge=4_000, le=10_000_000)
    """Context window of the model, in tokens; an answer takes at most a quarter of it. Unless it is set, what is known of the model (131,072 of unknown ones; 32,768 at Ollama)."""
    research_max_tokens: int = _setting(10_000, "models", advanced=True, ge=256, le=200_000)
    """Maximum output of a planning or research call, in tokens; of a model that is not known at most 8,192."""
    write_max_tokens: int = _setting(8_000, "models", advanced=True, ge=256, le=200_000)
    """Maximum length of the notes of a section, in tokens; of a model that is not known at most 8,192."""
    report_max_tokens: int = _setting(16_000, "models", advanced=True, ge=256, le=200_000)
    """Maximum output of a call that writes, in tokens; of a model that is not known at most 8,192."""
    max_structured_output_retries: int = _setting(2, "models", advanced=True, ge=0, le=10)
    """Retries when an answer does not fit its schema."""

    strategy: str = _setting("", "search")
    """Set of web sources (`deep-research sources`). Empty: none, or `auto` with a model and no documents."""
    sources: tuple[str, ...] = _setting((), "search")
    """Web sources to search, by name, separated by commas."""
    source_options: dict[str, dict[str, Any]] = _setting(dict, "search")
    """Options of single sources, by name (in the file: [source_options.NAME])."""
    contact: str = _setting("", "search")
    """E-mail or web address to give to the APIs that ask for one."""
    proxy: str = _setting("", "search")
    """Address of an HTTP proxy for all outgoing requests; none is taken from the environment."""
    mcp_servers: dict[str, McpServer] = _setting(dict, "search")
    """MCP servers by name (in the file: [mcp_servers.NAME]); see docs/mcp.md."""
    mcp_prompt: str = _setting("", "search", max_length=4_000)
    """What the model should know about the tools of the MCP servers."""
    allowed_internal_hosts: tuple[str, ...] = _setting((), "search", advanced=True)
    """Internal hosts that pages may be read from, separated by commas."""

    workflow: Workflow = _setting("sections", "research")
    """How a run works: sections in parallel, one loop, a supervisor, or one quick answer."""
    template: str = _setting("", "research")
    """Focus template (`deep-research templates`). Empty: chosen by the question. `none`: no template."""
    allow_clarification: bool = _setting(True, "research")
    """Ask the user when the question is unclear."""
    max_clarification_rounds: int = _setting(3, "research", ge=0, le=10)
    """Maximum number of questions to the user before a best guess is used."""
    confirm_plan: bool = _setting(False, "research")
    """Show the plan, and wait until the user confirms it."""
    confirm_review: bool = _setting(False, "research")
    """Show the review of the sections (workflow `sections`), and wait for what the user decides."""
    max_tool_calls_per_researcher: int = _setting(10, "research", ge=1, le=100)
    """Maximum number of tool calls per section or topic, and attempt."""
    max_discover_iterations: int = _setting(5, "research", advanced=True, ge=1, le=20)
    """Maximum rounds of searching for the entries of a list question."""
    max_iterations: int = _setting(5, "research", ge=1, le=10)
    """Maximum rounds of the `loop` workflow."""
    max_researcher_iterations: int = _setting(6, "research", ge=1, le=20)
    """Maximum rounds of delegation in the `supervisor` workflow."""
    max_concurrent_research_units: int = _setting(5, "research", ge=1, le=64)
    """Maximum number of topics delegated at the same time by the `supervisor`."""
    confidence_start: float = _setting(0.7, "research", advanced=True, ge=0, le=1)
    """Minimum confidence to start without asking."""
    confidence_ask: float = _setting(0.5, "research", advanced=True, ge=0, le=1)
    """Always ask below this confidence."""
    confidence_never_ask: float = _setting(0.9, "research", advanced=True, ge=0, le=1)
    """Never ask at this confidence or above."""
    focus_points_start: int = _setting(3, "research", advanced=True, ge=0, le=20)
    """Minimum number of focus points to start without asking."""
    focus_points_ask: int = _setting(2, "research", advanced=True, ge=0, le=20)
    """Always ask when the question has fewer focus points."""

    max_review_iterations: int = _setting(2, "review", ge=0, le=10)
    """Maximum number of times that weak sections are researched again."""

    depth: Literal["brief", "standard", "deep"] = _setting("standard", "report")
    """Length of the report: about 500, 1,500 to 3,000, or 5,000 to 10,000 words."""

    budget_usd: float | None = _setting(None, "limits", gt=0, le=10_000)
    """Maximum cost of a run, in US dollars."""
    budget_tokens: int | None = _setting(None, "limits", ge=5_000, le=1_000_000_000)
    """Maximum number of tokens that a run may use."""

    def output_tokens(self, role: Role) -> int:
        """Return the maximum output of a call in a role, in tokens."""
        return _OUTPUT_TOKENS[role] if role in _OUTPUT_TOKENS else getattr(self, f"{role}_max_tokens")

    @field_validator("fallback_models", "sources", "allowed_internal_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """Split a list in one string, as flags and the environment give it."""
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("proxy")
    @classmethod
    def _is_http(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and not (
            parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and " " not in value
        ):
            raise ValueError("it is not of the form http://host:port")
        return value

    @field_validator(*ADDRESSES, mode="before")
    @classmethod
    def _keep_apart(cls, value: object) -> object:
        """Remove credentials from addresses: settings are kept with runs and shown."""
        return without_credentials(value)

    @field_validator("mcp_servers")
    @classmethod
    def _named(cls, value: dict[str, McpServer]) -> dict[str, McpServer]:
        """Check the names of servers: they become part of the names of tools."""
        if unfit := [name for name in value if not SERVER_NAME.fullmatch(name)]:
            raise ValueError(f"the name {unfit[0]!r} is not made of at most 32 letters, digits, - and _")
        if len(value) > _MOST_SERVERS:
            raise ValueError(f"at most {_MOST_SERVERS} servers are taken")
        return value


def settings_of(group: str, *, advanced: bool = False) -> list[str]:
    """Return the names of a group's settings: the usual ones, or the advanced ones."""
    wanted = {"group": group, "advanced": advanced}
    return [name for name, field in Settings.model_fields.items() if field.json_schema_extra == wanted]


def load_keys(variables: Iterable[str]) -> dict[str, str]:
    """Return the keys and addresses of services that are set; never stored or shown.

    Google's own programs name the key of Gemini GOOGLE_API_KEY; with GOOGLE_CSE_ID that is the key of its search.
    Quotes around a value are none of it: Docker's --env-file and Windows' `set` keep them.
    """
    environ = os.environ  # noqa: TID251
    other = {} if environ.get("GOOGLE_CSE_ID") else {"GEMINI_API_KEY": environ.get("GOOGLE_API_KEY", "").strip(_AROUND)}
    found = {name: value for name in variables if (value := environ.get(name, "").strip(_AROUND) or other.get(name))}
    register_secrets(hide_credentials(one) for name, one in found.items() if "@" in one or not name.endswith(_PLACES))
    return {name: without_credentials(value) if value.startswith("http") else value for name, value in found.items()}


def editor_command() -> str:
    """Return the command of the user's editor, `VISUAL` before `EDITOR`, or ""."""
    return os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip()  # noqa: TID251


def is_paging_wanted() -> bool:
    """Return whether a long text may be paged: not with NO_PAGER or an empty PAGER."""
    return not os.environ.get("NO_PAGER") and os.environ.get("PAGER") != ""  # noqa: TID251


_FOR_CHILDREN = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONUTF8", "SYSTEMROOT")


def bare_environment() -> dict[str, str]:
    """Return the environment of a child for hostile data: no keys, our own modules."""
    kept = {name: os.environ[name] for name in _FOR_CHILDREN if name in os.environ}  # noqa: TID251
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}


def home() -> Path:
    """Return the state folder: `DEEP_RESEARCH_HOME`, or the user data folder."""
    named = os.environ.get("DEEP_RESEARCH_HOME")  # noqa: TID251 - the one place
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - not needed when the folder is named

    return user_data_path("deep-research", appauthor=False)


BUDGETS = ("budget_usd", "budget_tokens")
_ROUNDS = {"loop": "max_iterations", "supervisor": "max_researcher_iterations"}
"""The setting that limits the rounds of a workflow; that of the others is `max_review_iterations`."""


def limit_rounds(number: int | None, workflow: str | None = None) -> dict[str, Any]:
    """Return the setting of a workflow's rounds (None: the one in force) if limited."""
    if number is None:
        return {}
    return {_ROUNDS.get(workflow or load_settings().workflow, "max_review_iterations"): number}


def is_setting(name: str) -> bool:
    """Return whether `load_settings` knows the name of an argument."""
    return SETTING_ALIASES.get(name, name).partition(".")[0] in Settings.model_fields


def database_url() -> str:
    """Return the runs' PostgreSQL address (`DEEP_RESEARCH_DATABASE_URL`), or ""."""
    return hide_credentials(os.environ.get("DEEP_RESEARCH_DATABASE_URL", "").strip())  # noqa: TID251 - the one place


def snapshots_url() -> str:
    """Return where texts of database runs lie (`DEEP_RESEARCH_SNAPSHOTS_URL`, or "")."""
    return hide_credentials(os.environ.get(_SNAPSHOTS, "").strip())  # noqa: TID251 - the one place


def telemetry_endpoint() -> str:
    """Return where traces are sent (`OTEL_EXPORTER_OTLP_ENDPOINT`); "" for nowhere."""
    return hide_credentials(os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip())  # noqa: TID251 - the one place


def load_settings(**arguments: Any) -> Settings:
    """Return the settings in force; `arguments` that are None count as not given.

    The name of an argument may be `source_options.NAME.OPTION`, which sets that option beside others, or one of
    SETTING_ALIASES. Raises ConfigError for an unknown name, a value that does not fit, or an unreadable file.
    """
    values: dict[str, Any] = {}
    came_from: dict[str, str] = {}
    given = {name: value for name, value in arguments.items() if value is not None}
    layers = [*_from_files(), _from_environment(), ("argument", given)]
    for origin, layer in layers:
        told = _own_names(layer)
        if (named := told.get("model_provider")) and values.get("model_provider", "auto") not in ("auto", named):
            values = _without_server(values)
        for path, value in told.items():
            name, _, inside = path.partition(".")
            refuse_unknown(name, value, origin)
            values[name] = _set_inside(values.get(name), path, inside.split("."), value) if inside else value
            came_from[name] = origin
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _explain(error, came_from) from None


def _own_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under our names, which win; of two aliases the later counts."""
    named: dict[str, Any] = {}
    for theirs, ours in SETTING_ALIASES.items():
        if theirs not in values or ours in values:
            continue
        value = values[theirs]
        if theirs == "search_api" and isinstance(value, str):
            value = _SEARCH_APIS.get(value.lower(), value.lower())
        name = "strategy" if (theirs, value) == ("search_api", "none") else ours
        if named.get(name, value) != value:
            _tell_once(
                f"{theirs} counts as the setting {name}; what else is given for it, {named[name]!r}, is not used."
            )
        named[name] = value
    return named | {name: value for name, value in values.items() if name not in SETTING_ALIASES}


def _without_server(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without model and address, so that no other key is sent there."""
    return {name: value for name, value in values.items() if name not in ("model_name", "model_base_url")}


def _from_files() -> list[tuple[str, dict[str, Any]]]:
    """Return the files that hold, each with its origin, the one that wins last."""
    named = os.environ.get("DEEP_RESEARCH_CONFIG")  # noqa: TID251 - the one place
    if named:
        found = _from_file(Path(named))
        if found is None:
            message = f"The settings file {named!r} of DEEP_RESEARCH_CONFIG does not exist."
            raise ConfigError(message, setting="DEEP_RESEARCH_CONFIG", value=named)
        return [(named, found)]
    own = home() / "settings.toml"
    return [
        (str(own), _from_file(own) or {}),
        (FOLDER_FILE, _of_stranger(_from_file(Path(FOLDER_FILE), is_foreign=True) or {})),
    ]


def _from_file(path: Path, *, is_foreign: bool = False) -> dict[str, Any] | None:
    """Return a file's settings, or None without a file; raise ConfigError on failure."""
    try:
        return read_toml(path) if is_foreign else tomllib.loads(text_of(path.read_bytes()))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        message = f"The settings file {str(path)!r} cannot be read: {why}."
        raise ConfigError(message, setting="file", value=str(path)) from error


def _of_stranger(values: dict[str, Any]) -> dict[str, Any]:
    """Return what a file of the current folder, maybe a stranger's, sets; warn once."""
    known = {name: value for name, value in values.items() if is_setting(name)}
    kept, left_out = take_over(_own_names(known))
    if left_out:
        _tell_once(
            f"Left out of {FOLDER_FILE} in this folder, because a folder may come from somebody else: "
            f"{name_all(left_out)}. Put it into {home() / 'settings.toml'}, or name the file with DEEP_RESEARCH_CONFIG "
            "if you trust it."
        )
    return kept | {name: value for name, value in values.items() if name not in known}


def _tell_once(message: str) -> None:
    if message not in _told:
        _told.add(message)
        _log.warning("%s", message)


def _set_inside(table: object, path: str, keys: Sequence[str], value: object) -> dict[str, Any]:
    if not path.startswith("source_options.") or len(keys) != 2 or not all(keys):
        message = f"Unknown setting {path!r}. Options of sources are set as source_options.NAME.OPTION."
        raise ConfigError(message, setting=path, value=value)
    options = dict(table) if isinstance(table, dict) else {}
    return {**options, keys[0]: {**options.get(keys[0], {}), keys[1]: value}}


def _from_environment() -> tuple[str, dict[str, Any]]:
    values = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in os.environ.items()  # noqa: TID251 - the one place
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS and value != ""
    }
    return "environment", values


def refuse_unknown(name: str, value: object, origin: str) -> None:
    """Raise ConfigError for an unknown setting; `origin` is where it was given."""
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
    value, shown = first["input"], f" = {first['input']!r}"
    if name == "mcp_servers":  # its values may be secret
        name, value, shown = ".".join(map(str, first["loc"])), None, ""
    why = first["msg"].removeprefix("Value error, ").lower()
    return ConfigError(
        f"The setting {name}{shown} ({origin}) does not fit: {why}.", setting=name, value=value, came_from=origin
    )
