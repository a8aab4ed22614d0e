"""The reasoner with a language model: few prompts, free text, little structure."""

from deep_research.reasoners.model.judging import Judging
from deep_research.reasoners.model.planning import Planning
from deep_research.reasoners.model.researching import Researching
from deep_research.reasoners.model.writing import Writing


class ModelReasoner(Planning, Researching, Writing, Judging):
    """Implements `ports.Reasoner` with a language model."""
