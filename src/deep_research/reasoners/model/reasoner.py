"""The model reasoner: the same thoughts as the extractive one, by prompts with typed answers.

An answer that stays malformed is a gap of its step, and the extractive reasoner does that step instead:
never a crash, never a made-up value.
"""

from deep_research.reasoners.model.intake import Intake
from deep_research.reasoners.model.judging import Judging
from deep_research.reasoners.model.planning import Planning
from deep_research.reasoners.model.reading import Reading
from deep_research.reasoners.model.reporting import Reporting
from deep_research.reasoners.model.researching import Researching


class ModelReasoner(Intake, Planning, Researching, Reading, Judging, Reporting):
    """Implements `ports.Reasoner` with a language model."""
