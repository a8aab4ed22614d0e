"""The reasoner of a run, from its settings."""

from deep_research.errors import ConfigError
from deep_research.ports import Reasoner
from deep_research.reasoners.extractive.reasoner import ExtractiveReasoner
from deep_research.settings import Settings


def open_reasoner(settings: Settings) -> Reasoner:
    """Return who thinks. Raises ConfigError for a provider we do not have."""
    if settings.model_provider == "extractive":
        return ExtractiveReasoner()
    message = f"Unknown provider {settings.model_provider!r}. Available: 'extractive' (needs no model)."
    raise ConfigError(message, setting="model_provider", value=settings.model_provider)
