"""The research desk as MCP tools: search, open, note, verify and export."""

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from deep_research import api
from deep_research.api import Begun, CheckedReport, GivenVerdict, Looked, Noted
from deep_research.errors import ConfigError
from deep_research.settings import load_settings
from deep_research_server.request_bodies import ListOf
from deep_research_server.run_service import RunService

if TYPE_CHECKING:
    from deep_research.api import ResearchDesk

_T = TypeVar("_T")
_PART_CHARS = 30_000
MOST_ENCODED = 4_000_000
"""Bytes of a file or result that is handed over in an answer."""
_REACHES_OUT = ToolAnnotations(open_world_hint=True)
_READS = ToolAnnotations(read_only_hint=True)
SessionId = Annotated[str, Field(description="Id that begin_research gave.", max_length=80)]
_Query = Annotated[str, Field(min_length=1, max_length=400)]
_Start = Annotated[int, Field(ge=0, le=10_000_000, description="`next` of the part before; 0 for the first.")]


class ExportedReport(BaseModel):
    """A report as a file: `text` in parts, or binary `base64`.

    `next` is where the next part begins.
    """

    run_id: str
    file_name: str
    media_type: str
    text: str = ""
    base64: str = ""
    saved_at: str = ""
    next: int | None = None


class DeskTools:
    """The desk's tools; `home_of` gives a request's owner and state folder."""

    def __init__(self, home_of: Callable[[Context], tuple[str, Path]], service: RunService) -> None:
        self._home_of, self._service = home_of, service

    def register(self, server: MCPServer) -> None:
        """Offer the tools."""
        server.tool(title="Begin to research by yourself")(self.begin_research)
        server.tool(title="Search sources", annotations=_REACHES_OUT)(self.search)
        server.tool(title="Open a source, passage or address", annotations=_REACHES_OUT)(self.open)
        server.tool(title="Find words in a source", annotations=_READS)(self.find)
        server.tool(title="Keep a note")(self.note)
        server.tool(title="Verify a report")(self.verify_report)
        server.tool(title="Hand in verdicts")(self.record_verdicts)
        server.tool(title="Export the report")(self.export_report)

    async def begin_research(
        self,
        context: Context,
        question: Annotated[str, Field(min_length=1, max_length=4000)],
        docs: Annotated[ListOf[str] | None, Field(description="Files and folders of this machine to search.")] = None,
        sources: Annotated[
            ListOf[str] | None, Field(description="Web sources by name (deep-research sources); default: what fits.")
        ] = None,
    ) -> Begun:
        """Begin a session to research by yourself, kept as a run; resume it by run_id.

        Then: search, open, find; note what you learn with passage ids like [s7p3]; write a report that cites them;
        verify_report, record_verdicts, revise; export_report.
        """
        owner, home = self._home_of(context)
        if docs and owner:
            raise ToolError("Documents of the server's machine are searched for its own user alone.")
        given: dict[str, Any] = {"sources": sources} if sources else {}
        settings = await asyncio.to_thread(lambda: load_settings(**given))
        async with self._service.room_for_one(home):
            return await api.begin_desk(question, settings, home=home, docs=docs or [])

    async def search(
        self,
        context: Context,
        run_id: SessionId,
        queries: Annotated[ListOf[_Query], Field(min_length=1, max_length=6)],
        source: Annotated[
            str, Field(description='A source of begin_research, "library" for what was read so far, or "" for all.')
        ] = "",
    ) -> Looked:
        """Search with short queries; return passages with ids, date and standing.

        A query of a few words is best. The same search is made only once.
        """
        return await self._at(context, run_id, lambda desk: desk.search(queries, source))

    async def open(
        self,
        context: Context,
        run_id: SessionId,
        what: Annotated[
            str,
            Field(description="A source (s7), a passage to read on from (s7p3), or a web address.", max_length=8000),
        ],
    ) -> Looked:
        """Read a source from its start or a passage on; a web page is fetched and kept."""
        return await self._at(context, run_id, lambda desk: desk.open(what))

    async def find(
        self,
        context: Context,
        run_id: SessionId,
        words: _Query,
        source: Annotated[str, Field(description='A source (s7); "" for all that was read.', max_length=40)] = "",
    ) -> Looked:
        """Return the passages that contain words, in one source or in all sources read."""
        return await self._at(
            context, run_id, lambda desk: desk.open(source, words) if source else desk.search([words], "library")
        )

    async def note(
        self,
        context: Context,
        run_id: SessionId,
        text: Annotated[str, Field(min_length=1, max_length=50_000, description="Markdown with passage ids.")],
    ) -> Noted:
        """Keep your findings, each with its passage ids; unknown ids are reported."""
        return await self._at(context, run_id, lambda desk: desk.add_note(text))

    async def verify_report(
        self,
        context: Context,
        run_id: SessionId,
        report: Annotated[
            str,
            Field(
                description='Markdown that cites passage ids [s7p3], web pages in any style, or both; "" for a further part '
                "of the one handed in before.",
                max_length=500_000,
            ),
        ] = "",
        start: _Start = 0,
    ) -> CheckedReport:
        """Check a report against its cited passages: code's flags, statements, passages.

        Where no model has judged (is_judged is false), judge each statement yourself: do its passages say all of it?
        Hand the verdicts in with record_verdicts; put wrong statements right and verify again.
        """
        return await self._at(context, run_id, lambda desk: desk.verify_report(report, start))

    async def record_verdicts(
        self,
        context: Context,
        run_id: SessionId,
        verdicts: Annotated[ListOf[GivenVerdict], Field(min_length=1, max_length=200)],
    ) -> CheckedReport:
        """Record verdicts on statements (c12) of the last verified report for the export."""
        return await self._at(context, run_id, lambda desk: desk.record_verdicts(verdicts))

    async def export_report(
        self,
        context: Context,
        run_id: SessionId,
        format: Annotated[  # noqa: A002 - the word of those who call it
            str, Field(description="markdown, html, docx, pdf, json, …", max_length=40)
        ] = "markdown",
        save_to: Annotated[str, Field(description="A new file of this machine to write it to.", max_length=1000)] = "",
        start: _Start = 0,
    ) -> ExportedReport:
        """Finish: return the verified report with references, evidence and verdicts.

        The report verified last is exported, in the format given.
        """
        owner, _ = self._home_of(context)
        if save_to and owner:
            raise ToolError("Files of the server's machine are written for its own user alone.")
        made = await self._at(context, run_id, lambda desk: desk.export_report(format))
        known: dict[str, Any] = {"run_id": run_id, "file_name": made.file_name, "media_type": made.media_type}
        if save_to:
            path = await asyncio.to_thread(_saved, save_to, made.file_name, made.data)
            return ExportedReport(**known, saved_at=path)
        try:
            text = made.data.decode()
        except UnicodeDecodeError:
            if len(made.data) > MOST_ENCODED:
                raise ToolError("The file is too large for an answer: give save_to, or another format.") from None
            return ExportedReport(**known, base64=base64.b64encode(made.data).decode())
        end = start + _PART_CHARS
        return ExportedReport(**known, text=text[start:end], next=end if end < len(text) else None)

    async def _at(self, context: Context, run_id: str, work: "Callable[[ResearchDesk], Awaitable[_T]]") -> _T:
        return await work(await asyncio.to_thread(api.open_desk, run_id, home=self._home_of(context)[1]))


def _saved(name: str, file_name: str, data: bytes) -> str:
    """Write a new file of the suffix of `file_name`. Raises ConfigError, StoreError."""
    # The name is checked because the client has read untrusted text.
    path, suffix = Path(name).expanduser().absolute(), Path(file_name).suffix
    if not path.parent.is_dir() or os.path.lexists(path) or path.suffix.lower() != suffix:
        message = f"{name!r} is no new file that ends in {suffix}, or there is no folder for it: choose another name."
        raise ConfigError(message, setting="save_to", value=name)
    api.write_bytes_atomically(path, data)
    return str(path)
