"""Use LangChain's chat models as ours, and show model calls to its callbacks.

The models are those that `init_chat_model` knows by name, or one that is handed over. Callbacks serve streams of
tokens and tracers, in a graph that runs in LangGraph.

A call inside a node becomes a run of a chat model with the node's tags and metadata: LangSmith and other tracers get
its prompt, its answer and its tokens, and the stream mode `messages` gets the text of sections and of the report while
it is written. Structured answers are tagged `nostream`, as LangGraph's users expect of them. Models of LangChain have
runs of their own. Nothing is sent anywhere unless the program or LANGSMITH_TRACING asked for it.
"""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from deep_research.address_credentials import with_credentials
from deep_research.data import ModelAnswer, ModelMessage, ModelRequest, Role, Usage
from deep_research.errors import ConfigError, ModelError
from deep_research.providers.answer_parsing import Heard, RawCall, as_text, in_words, understood
from deep_research.providers.http_wire import WireFailure
from deep_research.providers.model_families import Family
from deep_research.providers.provider_catalog import NamedModel
from deep_research.providers.provider_failures import About, translate
from deep_research.providers.token_stream import streaming_to
from deep_research.providers.tools_in_text import tools_in_text

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage

    from deep_research.providers.model_client import OpenModel

_STREAMED: frozenset[Role] = frozenset({"write", "report"})
"""Roles whose answers are prose for the reader."""
_FOUND, _MOST_OPENED = frozenset({"url_citation", "citation", "server_tool_result", "tool_outputs"}), 4
"""Kinds of blocks that name what a vendor's own search has found, and how many of its pages are opened."""


def init_model(name: str, *, max_tokens: int, timeout_seconds: float, base_url: str = "") -> "BaseChatModel":
    """Return LangChain's model of a name such as `google_genai:gemini-2.5-flash`.

    Its keys are read by LangChain's own packages. Raises ConfigError when a package is missing or the name unknown.
    """
    try:
        from langchain.chat_models import init_chat_model  # noqa: PLC0415
    except ImportError as error:
        message = "Models of LangChain need the package: pip install 'deep-research[langchain]'."
        raise ConfigError(message, setting="model_provider", value="langchain") from error
    options: dict[str, Any] = {"base_url": with_credentials(base_url)} if base_url else {}
    try:
        return init_chat_model(name, max_tokens=max_tokens, timeout=timeout_seconds, max_retries=0, **options)
    except (ImportError, ValueError) as error:
        message = f"LangChain cannot make the model {name!r}: {str(error)[:300]}"
        raise ConfigError(message, setting="model_name", value=name) from error


def wrap_model(
    chat_model: "BaseChatModel | None", about: About, family: Family, *, base_url: str, timeout_seconds: float
) -> NamedModel:
    """Wrap a LangChain chat model (None: that of the name) behind our port.

    Any with `ainvoke` will do; tools need `bind_tools`.
    """
    limit = family.output_tokens
    asked = chat_model or init_model(about.model, max_tokens=limit, timeout_seconds=timeout_seconds, base_url=base_url)

    async def complete(request: ModelRequest) -> ModelAnswer:
        try:
            answer = await _asked(asked, request if request.schema_ is None else in_words(request))
        except Exception as error:
            raise _translated(error, about) from error
        return await understood(_read(answer, request), request, about)

    return NamedModel(about.provider, about.model, family, complete)


async def _asked(model: Any, request: ModelRequest) -> "AIMessage":
    """Return the answer; put tools in words if they cannot be bound to the model."""
    if request.tools:
        tools = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
        try:
            # Beside tools of the vendor's own that the caller has bound, such as its web search.
            model = model.bind_tools([*getattr(model, "kwargs", {}).get("tools", ()), *tools])
        except NotImplementedError:
            request = tools_in_text(request)
    return await model.ainvoke([message_of(message) for message in request.messages])


def _translated(error: Exception, about: About) -> Exception:
    if failure := failure_of(error):
        return translate(failure, about)
    if isinstance(error, (ConfigError, ModelError)):
        return error
    message = f"{about.provider} ({about.model}) failed: {type(error).__name__}: {str(error)[:300]}"
    return ModelError(message, provider=about.provider, model=about.model)


def failure_of(error: Any) -> WireFailure | None:
    """Convert a vendor SDK's error by its attributes; None where they tell nothing."""
    name, response = type(error).__name__, getattr(error, "response", None)
    if response is not None and hasattr(error, "body"):
        headers = {name.lower(): value for name, value in response.headers.items()}
        status = response.status_code if response.status_code >= 400 else 0
        is_bare = isinstance(error.body, dict) and "error" not in error.body  # openai takes the envelope off
        return WireFailure("", status=status, headers=headers, body={"error": error.body} if is_bare else error.body)
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return WireFailure("timeout", body=name)
    if isinstance(error, OSError) or "Connect" in name:
        return WireFailure("connection", body=name)
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    return WireFailure("", status=status, body=str(error)) if isinstance(status, int) else None


def message_of(message: ModelMessage) -> "BaseMessage":
    """Return one of our messages as LangChain's."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage  # noqa: PLC0415

    if message.role == "tool":
        return ToolMessage(content=message.text, tool_call_id=message.tool_call_id)
    if message.role == "assistant":
        calls = [{"name": call.name, "args": call.arguments or {}, "id": call.id} for call in message.tool_calls]
        return AIMessage(content=message.text, tool_calls=calls)
    return (SystemMessage if message.role == "system" else HumanMessage)(content=message.text)


def _searched(value: Any, within: bool = False, deepest: int = 8) -> Iterator[str]:
    """Yield the addresses that a vendor's own web search has found or cited."""
    if isinstance(value, Mapping):
        kind, url = str(value.get("type", "")), str(value.get("url", ""))
        within |= "web_search" in kind or kind in _FOUND
        if within and url.startswith(("https://", "http://")):
            yield url
        value = [*value.values()]
    if isinstance(value, list) and deepest:
        for part in value:
            yield from _searched(part, within, deepest - 1)


def _read(answer: "AIMessage", request: ModelRequest) -> Heard:
    content = answer.content
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block if isinstance(block, str) else block.get("text", "") for block in blocks]
    thoughts = [block.get("thinking") or block.get("reasoning") or "" for block in blocks if isinstance(block, dict)]
    extra = answer.additional_kwargs.get("reasoning_content") or ""
    asked: list[Any] = [*answer.tool_calls, *answer.invalid_tool_calls]
    calls = [RawCall(id=call.get("id"), name=call.get("name"), raw=call.get("args")) for call in asked]
    is_researcher = {"open", "research_complete"} <= {tool.name for tool in request.tools}
    if is_researcher and not calls:  # what a vendor's own web search has found is opened, so that it can be cited
        found = list(dict.fromkeys(_searched([*blocks, answer.additional_kwargs])))[:_MOST_OPENED]
        calls = [RawCall(id=f"native{n}", name="open", raw=as_text({"source": url})) for n, url in enumerate(found)]
    about = answer.response_metadata
    return Heard(
        text="".join(text for text in texts if text),
        reasoning="\n".join(part for part in (*thoughts, extra) if part),
        calls=tuple(calls),
        finish=str(about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason") or ""),
        usage=_usage(answer),
        model=str(about.get("model_name") or about.get("model") or ""),
        request_id=str(answer.id or ""),
    )


def _usage(answer: "AIMessage") -> Usage | None:
    given = answer.usage_metadata
    if not given:
        return None
    read = given.get("input_token_details", {})
    wrote = given.get("output_token_details", {})
    return Usage(
        prompt_tokens=given["input_tokens"],
        cached_tokens=read.get("cache_read", 0),
        cache_write_tokens=read.get("cache_creation", 0),
        completion_tokens=given["output_tokens"],
        reasoning_tokens=wrote.get("reasoning", 0),
    )


async def show_call(
    request: ModelRequest, role: Role, model: "OpenModel", ask: Callable[[], Awaitable[ModelAnswer]]
) -> ModelAnswer:
    """Return the answer of `ask`, and show the call to the callbacks of its node."""
    if "langgraph" not in sys.modules or model.provider == "langchain":
        return await ask()
    from langchain_core.runnables import config as configs  # noqa: PLC0415 - it is loaded already

    config = configs.var_child_runnable_config.get()
    manager: Any = configs.get_async_callback_manager_for_config(config) if config else None
    if manager is None or not manager.handlers:
        return await ask()
    from langchain_core.messages import AIMessageChunk  # noqa: PLC0415
    from langchain_core.outputs import ChatGenerationChunk, LLMResult  # noqa: PLC0415

    streams = role in _STREAMED and request.schema_ is None and request.is_prose
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
    message_id = f"run-{run_id}"

    async def show(piece: str) -> None:
        chunk = ChatGenerationChunk(message=AIMessageChunk(content=piece, id=message_id))
        await run.on_llm_new_token(piece, chunk=chunk)

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
    from langchain_core.outputs import ChatGeneration  # noqa: PLC0415

    used = answer.usage
    message = AIMessage(
        content=answer.text,
        id=message_id,
        tool_calls=[{"name": c.name, "args": c.arguments or {}, "id": c.id} for c in answer.tool_calls],
        usage_metadata={
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.prompt_tokens + used.completion_tokens,
            "input_token_details": {"cache_read": used.cached_tokens},
        },
        response_metadata={"model_name": answer.model, "finish_reason": answer.finish_reason},
    )
    return ChatGeneration(message=message)
