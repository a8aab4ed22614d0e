"""Tools of MCP servers and LangChain; each call brings sources, not instructions."""
