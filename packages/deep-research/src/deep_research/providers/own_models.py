"""Chat models that a program hands over: LangChain's, or any object of our port (`OpenModel`)."""

from typing import TYPE_CHECKING, Any

from deep_research.errors import ConfigError
from deep_research.providers.model_families import Family, family_of
from deep_research.providers.provider_catalog import NamedModel, open_model

if TYPE_CHECKING:
    from deep_research.providers.model_client import OpenModel

OWN = "own"
"""The provider of a run whose model a program has handed over."""


def model_name_of(model: Any) -> str:
    """Return how a model that was handed over is called. Raises ConfigError for what is no chat model."""
    if not (
        _is_ours(model) or (hasattr(model, "ainvoke") and hasattr(model, "bind_tools") and not isinstance(model, type))
    ):
        message = (
            f"{type(model).__name__} is no chat model. Hand over one of LangChain's (ChatOpenAI(…)), an object with "
            "`complete(ModelRequest) -> ModelAnswer`, or the name of a model."
        )
        raise ConfigError(message, setting="model", value=type(model).__name__)
    names = (getattr(model, name, None) for name in ("model", "model_name", "model_id", "deployment_name"))
    return next((name for name in names if isinstance(name, str) and name), type(model).__name__)


def open_own(model: Any) -> "OpenModel":
    """Return a model that was handed over behind our port; it is never closed. Raises ConfigError."""
    name = model_name_of(model)
    if not _is_ours(model):
        return open_model("langchain", name, chat_model=model)
    family = getattr(model, "family", None)
    known = family if isinstance(family, Family) else family_of(name)
    return NamedModel(str(getattr(model, "provider", "") or type(model).__name__), name, known, model.complete)


def _is_ours(model: Any) -> bool:
    return callable(getattr(model, "complete", None)) and not isinstance(model, type)
