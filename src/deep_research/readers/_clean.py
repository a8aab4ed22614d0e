"""Clean text, for readers: see `deep_research.text.cleaning`."""

from deep_research.text.cleaning import clean, fold

__all__ = ["clean", "fold"]
