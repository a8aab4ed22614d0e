"""The model reasoner: the same thoughts as the extractive one, by prompts with typed answers.

An answer that stays malformed is a gap of its step, and the extractive reasoner does that step instead:
never a crash, never a made-up value.
"""

from deep_research.reasoners.model.planning_calls import Intake, Planning
from deep_research.reasoners.model.reporting_calls import Judging, Reporting
from deep_research.reasoners.model.research_calls import Reading, Researching


class ModelReasoner(Intake, Planning, Researching, Reading, Judging, Reporting):
    """Implements `ports.Reasoner` with a language model."""
