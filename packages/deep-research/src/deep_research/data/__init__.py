"""The nouns of a research, frozen. Import them from here."""

from deep_research.data.actions import *  # noqa: F403
from deep_research.data.brief import *  # noqa: F403
from deep_research.data.evidence import *  # noqa: F403
from deep_research.data.model_calls import *  # noqa: F403
from deep_research.data.result import *  # noqa: F403
from deep_research.data.verification import *  # noqa: F403
