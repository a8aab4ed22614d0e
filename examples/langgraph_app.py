"""The graph that `langgraph dev` serves (langgraph.json names it); settings come from the environment or the assistant."""

from deep_research import build_deep_research_graph

graph = build_deep_research_graph()
