"""The workflows as graphs of LangGraph.

LangGraph imports LangSmith and its own platform's client, of which it needs a few names: the data types of their web
interfaces, 320 modules, are loaded when something asks for them.
"""

from deep_research.graph.lazy_packages import defer_package

defer_package("langsmith.types")
defer_package("langgraph_sdk")
