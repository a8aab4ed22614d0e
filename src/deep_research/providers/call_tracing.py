"""Model calls as LangChain's callbacks see them: for streams of tokens and for tracers, in a graph that runs in LangGraph.

A call inside a node becomes a run of a chat model with the node's tags and metadata: LangSmith and other tracers get
its prompt, its answer and its tokens, and the stream mode `messages` gets the text of sections and of the report while
it is written. Structured answers are tagged `nostream`, as LangGraph's users expect of them. Models of LangChain have
runs of their own. Nothing is sent anywhere unless the program or LANGSMITH_TRACING asked for it.
"""

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from deep_research.data import ModelAnswer, ModelRequest, Role
from deep_research.providers.langchain_model import LangChainModel, message_of
from deep_research.providers.token_stream import streaming_to
from deep_research.text.prose_in_json import ProseReader

if TYPE_CHECKING:
    from deep_research.providers.model_client import OpenModel

_STREAMED: frozenset[Role] = frozenset({"write", "report"})
"""Roles whose answers are prose for the reader."""


async def show_call(
    request: ModelRequest, role: Role, model: "OpenModel", ask: Callable[[], Awaitable[ModelAnswer]]
) -> ModelAnswer:
    """Return what `ask` answers, and show the call to the callbacks of the node that it is made in."""
    if "langgraph" not in sys.modules or isinstance(model, LangChainModel):
        return await ask()
    from langchain_core.runnables.config import (  # noqa: PLC0415 - it is loaded already
        get_async_callback_manager_for_config,
        var_child_runnable_config,
    )

    config = var_child_runnable_config.get()
    manager = get_async_callback_manager_for_config(config) if config else None
    if manager is None or not manager.handlers:
        return await ask()
    return await _shown(request, role, model, ask, manager)


async def _shown(
    request: ModelRequest, role: Role, model: "OpenModel", ask: Callable[[], Awaitable[ModelAnswer]], manager: Any
) -> ModelAnswer:
    from langchain_core.messages import AIMessageChunk  # noqa: PLC0415
    from langchain_core.outputs import ChatGenerationChunk, LLMResult  # noqa: PLC0415

    streams = role in _STREAMED
    manager.add_tags([f"deep_research:{role}", *(() if streams else ("nostream", "langsmith:nostream"))])
    names = {"ls_provider": model.provider, "ls_model_name": model.model, "ls_model_type": "chat"}
    manager.add_metadata({**names, "ls_max_tokens": request.max_output_tokens, "deep_research_role": role})
    run_id = uuid4()
    kind = request.schema_name or ("turn" if request.tools else "text")
    (run,) = await manager.on_chat_model_start(
        {"name": model.model, "id": ["deep_research", model.provider]},
        [[message_of(message) for message in request.messages]],
        run_id=run_id,
        name=f"{role}: {kind}",
        invocation_params={"model": model.model, "tools": [tool.model_dump() for tool in request.tools]},
    )
    prose, message_id = ProseReader(), f"run-{run_id}"

    async def show(piece: str) -> None:
        if said := prose.feed(piece):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=said, id=message_id))
            await run.on_llm_new_token(said, chunk=chunk)

    try:
        with streaming_to(show if streams else None):
            answer = await ask()
    except BaseException as error:
        await run.on_llm_error(error)
        raise
    await run.on_llm_end(LLMResult(generations=[[_generation(answer, message_id)]], llm_output=dict(names)))
    return answer


def _generation(answer: ModelAnswer, message_id: str) -> Any:
    from langchain_core.messages import AIMessage  # noqa: PLC0415
    from langchain_core.messages.ai import UsageMetadata  # noqa: PLC0415
    from langchain_core.outputs import ChatGeneration  # noqa: PLC0415

    used = answer.usage
    message = AIMessage(
        content=answer.text,
        id=message_id,
        tool_calls=[{"name": c.name, "args": c.arguments or {}, "id": c.id} for c in answer.tool_calls],
        usage_metadata=UsageMetadata(
            input_tokens=used.prompt_tokens,
            output_tokens=used.completion_tokens,
            total_tokens=used.prompt_tokens + used.completion_tokens,
            input_token_details={"cache_read": used.cached_tokens},
        ),
        response_metadata={"model_name": answer.model, "finish_reason": answer.finish_reason},
    )
    return ChatGeneration(message=message)
