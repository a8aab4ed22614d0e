"""The route of verifications: a report that somebody else wrote becomes a run, which is followed like any other."""

import asyncio
from functools import partial
from pathlib import Path

from fastapi import APIRouter, Response

from deep_research import api
from deep_research.data import GivenReport
from deep_research.errors import ConfigError
from deep_research.settings import Settings
from deep_research.worker_pool import in_worker_thread
from deep_research_server.api_models import NewVerification, RunView
from deep_research_server.http_context import Context, Home, Owner, problems, settings_of_client
from deep_research_server.run_routes import Key, id_of_key, tell_begun
from deep_research_server.uploads import UploadedDocuments

router = APIRouter(prefix="/api/v1", tags=["runs"])


@router.post(
    "/verifications",
    status_code=201,
    responses={200: {"model": RunView, "description": "The run of this Idempotency-Key"}, **problems(404, 429)},
)
async def create_verification(
    new: NewVerification, response: Response, context: Context, owner: Owner, home: Home, key: Key = ""
) -> RunView:
    """Begin to verify a report, or to compare two: their text, or uploaded documents that are the reports."""

    uploaded = UploadedDocuments(home, context.uploads)
    paths = await asyncio.to_thread(uploaded.paths_of, new.reports)
    # Who waits for a worker takes no thread from other requests.
    reports = [await in_worker_thread(api.read_report_file, path) for path in paths]

    def prepare() -> tuple[GivenReport, Settings, list[Path]]:
        texts = [text for text in (new.text, *reports) if text.strip()]
        if not 1 <= len(texts) <= 2:
            raise ConfigError("Give one report, or two to be compared: text, or reports.", setting="report", value="")
        other = texts[1] if len(texts) > 1 else ""
        given = GivenReport(text=texts[0], other=other, question=new.question, revises=new.revise)
        return given, settings_of_client(new.settings()), uploaded.paths_of(new.documents)

    given, settings, docs = await asyncio.to_thread(prepare)
    make = partial(api.start_verification, given, settings, docs=docs)
    begun = context.service.begin(owner, make, wanted_id=id_of_key(owner, key, new))
    return await tell_begun(context, home, response, *await begun)
