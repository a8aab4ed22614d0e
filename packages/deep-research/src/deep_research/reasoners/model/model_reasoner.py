"""The reasoner that thinks with a language model: few prompts, free text, structure only where a program needs it."""

from deep_research.reasoners.model.judging import Judging
from deep_research.reasoners.model.planning import Planning
from deep_research.reasoners.model.researching import Researching
from deep_research.reasoners.model.writing import Writing


class ModelReasoner(Planning, Researching, Writing, Judging):
    """Implements `ports.Reasoner` with a language model."""
