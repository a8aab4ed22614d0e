"""The nouns of a research, frozen. Import them from here: all that the modules below name."""

from deep_research.data.actions import *
from deep_research.data.brief import *
from deep_research.data.evidence import *
from deep_research.data.model_calls import *
from deep_research.data.result import *
from deep_research.data.verification import *
