"""Answer the rig's question with another program's Python: rig_peer.py KIND RUNS.

KIND is a report type of gpt-researcher, `plain_agent` (LangGraph's prebuilt agent with a search tool), or
`open_deep_research` (from a checkout on the module path).

The environment says where model, retriever and embeddings are (rig.py sets it). Prints one JSON object.
"""

import asyncio
import json
import os
import resource
import sys
import time

QUESTION = "How far have the ways of generating electricity from the sea been developed?"


class _Letters:
    """Counts a token per four letters; tiktoken would download its vocabulary."""

    def encode(self, text: str, **_options: object) -> list[int]:
        return [0] * (len(text) // 4)


class _Watchdog:
    longest = 0.0

    async def watch(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.002)
            self.longest = max(self.longest, time.monotonic() - began - 0.002)


async def _research(kind: str) -> str:
    if kind == "plain_agent":
        return await _agent()
    if kind == "open_deep_research":
        return await _open_deep_research()
    import tiktoken

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_: _Letters()
    from gpt_researcher import GPTResearcher

    peer = GPTResearcher(QUESTION, report_type=kind, verbose=False)
    await peer.conduct_research()
    return await peer.write_report()


async def _agent() -> str:
    import httpx
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    async with httpx.AsyncClient() as web:

        @tool
        async def search(query: str) -> str:
            """Search the web: pages with their text."""
            found = await web.get(os.environ["RETRIEVER_ENDPOINT"], params={"query": query})
            return "\n\n".join(f"{row['title']} ({row['url']})\n{row['raw_content']}" for row in found.json())

        prompt = "You research a question and write a report. Search first; cite the addresses of pages."
        agent = create_react_agent(ChatOpenAI(model="scripted"), [search], prompt=prompt)
        done = await agent.ainvoke({"messages": [("user", QUESTION)]}, {"recursion_limit": 60})
        return str(done["messages"][-1].content)


async def _open_deep_research() -> str:
    import tavily

    at = os.environ["TAVILY_BASE"]
    made = tavily.AsyncTavilyClient
    tavily.AsyncTavilyClient = lambda api_key=None: made(api_key=api_key, api_base_url=at)
    from open_deep_research.deep_researcher import deep_researcher

    roles = ("summarization_model", "research_model", "compression_model", "final_report_model")
    config = {"configurable": dict.fromkeys(roles, "openai:scripted"), "recursion_limit": 100}
    done = await deep_researcher.ainvoke({"messages": [("user", QUESTION)]}, config)
    return str(done["final_report"])


async def _all(runs: int, kind: str) -> tuple[list[object], float]:
    watchdog = _Watchdog()
    watching = asyncio.create_task(watchdog.watch())
    try:
        done = await asyncio.gather(*(_research(kind) for _ in range(runs)), return_exceptions=True)
    finally:
        watching.cancel()
    return done, watchdog.longest


def main() -> None:
    kind, runs = sys.argv[1], int(sys.argv[2])
    needed = {
        "plain_agent": ("langgraph.prebuilt", "langchain_openai"),
        "open_deep_research": ("langchain.chat_models",),
    }
    for name in needed.get(kind, ("gpt_researcher",)):
        __import__(name)
    began, worked = time.monotonic(), time.process_time()
    reports, stall = asyncio.run(_all(runs, kind))
    figures = {
        "wall_seconds": time.monotonic() - began,
        "cpu_seconds": (time.process_time() - worked) / runs,
        "max_stall_ms": stall * 1000,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "reports": sum(isinstance(report, str) for report in reports),
        "failures": sorted({str(report) for report in reports if isinstance(report, BaseException)}),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
