"""The writer of a document's light Markdown, for readers: see `deep_research.text.light_markdown`."""

from deep_research.text.light_markdown import DocumentBuilder

__all__ = ["DocumentBuilder"]
