"""The workflows as graphs of LangGraph."""
