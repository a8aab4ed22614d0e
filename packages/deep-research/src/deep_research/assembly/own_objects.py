"""Objects a program passes besides settings: chat models by role, and tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deep_research.data import Role

MODEL_SETTINGS: Mapping[Role, str] = {
    "research": "research_model",
    "read": "write_model",
    "write": "write_model",
    "review": "judge_model",
    "report": "report_model",
    "judge": "judge_model",
}
"""The setting that names the model of each role: who takes notes also reads, who verifies also reviews."""
MODEL_NAMES = ("model", *dict.fromkeys(MODEL_SETTINGS.values()))  # arguments that take the name of a model, or a model
OWN_ARGUMENTS = ("model", "tools", "hn_mcp_tools")  # arguments that hold objects, and are no settings


@dataclass(frozen=True)
class OwnObjects:
    """Models by argument name (`model`, `write_model`, …), and tools."""

    models: Mapping[str, Any] = field(default_factory=dict)
    tools: Sequence[Any] = ()
    hn_tools: Sequence[Any] = ()


NOTHING = OwnObjects()


def take_objects(values: Mapping[str, Any]) -> tuple[dict[str, Any], OwnObjects]:
    """Return the settings and the objects among arguments. Raises ConfigError."""
    settings = {name: value for name, value in values.items() if name not in OWN_ARGUMENTS and value is not None}
    models: dict[str, Any] = {}
    for name in MODEL_NAMES:
        if (given := values.get(name)) is None:
            continue
        if isinstance(given, str):
            settings["model_name" if name == "model" else name] = given
            continue
        from deep_research.providers.provider_catalog import OWN, model_name_of  # noqa: PLC0415 - only with one

        models[name] = given
        called = model_name_of(given)
        settings |= {"model_provider": OWN, "model_name": called} if name == "model" else {name: called}
    own = OwnObjects(models, tuple(values.get("tools") or ()), tuple(values.get("hn_mcp_tools") or ()))
    return settings, own
