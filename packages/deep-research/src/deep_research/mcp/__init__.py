"""Tools of others: those of MCP servers, and LangChain's; each call brings sources, never an instruction."""
