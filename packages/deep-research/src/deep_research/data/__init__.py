"""The nouns of a research, frozen. Import them from here."""

from .actions import *  # noqa: F403
from .brief import *  # noqa: F403
from .evidence import *  # noqa: F403
from .model_calls import *  # noqa: F403
from .result import *  # noqa: F403
from .verification import *  # noqa: F403
