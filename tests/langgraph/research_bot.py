"""A program as a user of LangGraph writes one: its own checkpointer, streams, an interrupt, a resume in another process.

python research_bot.py ask DATABASE DOCS "question"
python research_bot.py answer DATABASE "what is meant"
"""

import asyncio
import sys

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from deep_research import build_deep_research_graph


async def main(what: str, database: str, *words: str) -> None:
    config: dict = {"configurable": {"thread_id": "customer-7", "user_id": "u1"}, "tags": ["bot"]}
    if what == "ask":
        docs, question = words
        config["configurable"]["docs"] = [docs]
        given = {"messages": [HumanMessage(question)]}
    else:
        given = Command(resume=words[0])
    async with AsyncSqliteSaver.from_conn_string(database) as checkpointer:
        graph = build_deep_research_graph(checkpointer=checkpointer)
        async for mode, data in graph.astream(given, config, stream_mode=["updates", "messages", "custom"]):
            if mode == "custom":
                print("event", data["kind"])
            elif mode == "updates":
                for node, update in data.items():
                    print("update", node)
                    if node == "__interrupt__":
                        print("question", update[0].value["question"])
        state = await graph.aget_state(config)
        print("report", state.values.get("final_report", "").partition("\n")[0])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
