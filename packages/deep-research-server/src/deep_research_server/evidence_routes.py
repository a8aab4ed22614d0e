"""Routes of a run's results: report, sources, passages in snapshots, exports."""

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response

from deep_research.api import charts_of, verdict_counts
from deep_research.concurrency import in_export
from deep_research.data import Gap, Report
from deep_research.data.noun import copy_fields
from deep_research.errors import RunNotFound
from deep_research.i18n.catalog import explain, name_subject
from deep_research_server.api_models import PassageView, ReportView, SnapshotView, SourceView
from deep_research_server.fair_turns import OwnersRoute
from deep_research_server.http_context import OwnRun, problems

if TYPE_CHECKING:
    from deep_research.api import SourceFacts

router = APIRouter(prefix="/api/v1/runs/{run_id}", tags=["evidence"], route_class=OwnersRoute)
_SourceId = Annotated[str, Path(pattern=r"^s[1-9][0-9]{0,6}$", description="Id of a source, such as s7.")]
_PassageId = Annotated[str, Path(pattern=r"^s[1-9][0-9]{0,6}p[1-9][0-9]{0,6}$", description="Such as s7p3.")]


@router.get("/report", responses=problems(404))
def show_report(
    run: OwnRun,
    language: Annotated[
        str | None, Query(pattern="^[a-z]{2}$", description="Give the reasons of verdicts and gaps in this language.")
    ] = None,
) -> ReportView:
    """Show the report as an object: Markdown, claims, verdicts, references, charts."""
    return view_of_report(run.report, language)


@router.get(
    "/report.md",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}, **problems(404)},
)
def show_markdown(run: OwnRun) -> Response:
    """Show the report as Markdown."""
    return Response(run.report.report, media_type="text/markdown; charset=utf-8")


@router.get(
    "/export/{format}",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        **problems(404),
    },
)
async def export_report(
    run: OwnRun,
    format: Annotated[str, Path(pattern=r"^[a-z0-9-]{1,40}$", description="A name of `exports` in the options.")],  # noqa: A002 - the name in the path
    follow_up: Annotated[int | None, Query(ge=1, le=100_000, description="Number of a follow-up.")] = None,
) -> Response:
    """Return the report, or the answer to a follow-up, as a file."""
    made = await in_export(run.export, format, followup=follow_up)
    named = f"attachment; filename=\"{made.file_name.encode('ascii', 'replace').decode().replace('?', '_')}\"; filename*=UTF-8''{quote(made.file_name)}"
    return Response(made.data, media_type=made.media_type, headers={"content-disposition": named})


@router.get("/sources", responses=problems(404))
def list_sources(
    run: OwnRun,
    everything: Annotated[bool, Query(alias="all", description="Also those that were found and not read.")] = False,
) -> list[SourceView]:
    """List a run's sources read, with date, standing and number of cited passages."""
    references = run.report.references if run.has_report else ()
    cited = {one.source: len(one.passages) for one in references}
    found = run.list_sources(everything=everything)
    return [_source_view(facts, cited.get(facts.source.id, 0)) for facts in found]


@router.get("/sources/{source}", responses=problems(404))
def show_source(run: OwnRun, source: _SourceId) -> SourceView:
    """Show a source."""
    return _source_view(run.read_source(source)[0])


@router.get("/sources/{source}/snapshot", responses=problems(404))
def show_snapshot(
    run: OwnRun,
    source: _SourceId,
    start: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
    length: Annotated[int, Query(ge=1, le=200_000)] = 50_000,
) -> SnapshotView:
    """Show a stretch of the text of a source as it was read."""
    facts, snapshot = run.read_source(source)
    if snapshot is None:
        raise RunNotFound(f"No text of the source {source!r} was read.", run_id=run.id)
    end = min(len(snapshot.text), start + length)
    return SnapshotView(
        source=_source_view(facts), start=min(start, end), end=end, total=len(snapshot.text),
        text=snapshot.text[start:end], headings=list(snapshot.headings[:2000]), pages=list(snapshot.pages[:5000]),
    )  # fmt: skip


@router.get("/passages/{passage}", responses=problems(404))
def show_passage(
    run: OwnRun,
    passage: _PassageId,
    around: Annotated[int, Query(ge=0, le=20_000, description="Characters of context on each side.")] = 600,
) -> PassageView:
    """Show a passage in its context."""
    found = run.read_passage(passage, around=around)
    around_it = {"before": found.before, "after": found.after, "is_current": found.is_current}
    return copy_fields(PassageView, found.passage, **around_it, source=_source_view(found.facts))


def _source_view(facts: "SourceFacts", cited: int = 0) -> SourceView:
    """Return a source as clients see it; the server's own paths are left out."""
    source, known = facts.source, facts.model_dump(exclude={"source"})
    own = {"title": source.title or source.location or source.id, "url": web_address(source.url), "cited": cited}
    return copy_fields(SourceView, source, **known, **own, published=source.published or "")


def web_address(url: str) -> str:
    """Return an address of the web, "" in place of one of the server's own files."""
    return url if url.lower().startswith(("http://", "https://")) else ""


def gap_in(gap: Gap, language: str) -> Gap:
    """Return a gap that says itself in `language`, as far as the program said it."""
    return gap.model_copy(update={"what": name_subject(gap, language), "why": explain(gap, language)})


def view_of_report(report: Report, language: str | None = None) -> ReportView:
    """Return a report as clients see it, with the program's reasons in `language`."""
    claims, gaps = report.claims, report.gaps
    if language:
        said = ((c, c.verdict.model_copy(update={"reason": explain(c.verdict, language)})) for c in claims)
        claims = tuple(claim.model_copy(update={"verdict": verdict}) for claim, verdict in said)
        gaps = tuple(gap_in(gap, language) for gap in gaps)
    return copy_fields(
        ReportView,
        report,
        claims=claims,
        gaps=gaps,
        counts=verdict_counts(report),
        charts=charts_of(report.report),
        # Addresses of the server's own files are left out.
        references=tuple(r.model_copy(update={"url": web_address(r.url)}) for r in report.references),
        sources={key: one.model_copy(update={"url": web_address(one.url)}) for key, one in report.sources.items()},
    )
