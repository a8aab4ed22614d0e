"""Read what a run has gathered: sources, passages, cost; export its report."""

import re
from base64 import b64decode, b64encode
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from deep_research import registry
from deep_research.data import Export, ExportInput, Ledger, Passage, PassageContext, Report, Snapshot, Source
from deep_research.data.noun import Noun, copy_fields
from deep_research.errors import ResearchError, RunNotFound
from deep_research.ports import Library
from deep_research.report.ledger import ledger_of
from deep_research.safe_text import safe_noun
from deep_research.search.source_standing import dated_source
from deep_research.stores.run_store import RunStore
from deep_research.worker_child import Limits
from deep_research.worker_pool import own_worker

_CONTEXT_CHARS = 600  # so much of a snapshot is shown before and after a passage


class SourceFacts(Noun):
    """A source with known time and standing; `date` is the ISO date it speaks of.

    `status` is what its own head says of it ("superseded", "rejected", "draft", …), `by` what replaced it. `read`
    says that a text of it is kept; `characters` is its length.
    """

    source: Source
    date: str = ""
    status: str = ""
    by: str = ""
    read: bool = False
    retrieved_at: str = ""
    media_type: str = ""
    sha256: str = ""
    characters: int = 0


class PassageInContext(Noun):
    """A passage in its context: `before`, `passage.text`, `after`, in their order.

    `is_current` is False when the page was read again later: what surrounds the passage is then not given.
    """

    passage: Passage
    facts: SourceFacts
    before: str = ""
    after: str = ""
    is_current: bool = True


class RunEvidence:
    """What a run has gathered, as it lies in its store."""

    _store: RunStore

    def list_sources(self, *, everything: bool = False) -> list[SourceFacts]:
        """Return the sources read, with date and standing; with `everything` all found."""
        with closing(self._store.open_library("")) as library:
            found = [_facts(library, source) for source in library.sources()]
        return [facts for facts in found if facts.read or everything]

    def read_source(self, source: str) -> tuple[SourceFacts, Snapshot | None]:
        """Return a source with its newest snapshot. Raises RunNotFound for an unknown id."""
        with closing(self._store.open_library(source)) as library:
            return _facts(library, _known(library, source)), library.snapshot(source)

    def read_passage(self, passage: str, *, around: int = 0) -> PassageInContext:
        """Return a passage with up to `around` characters per side; or raise RunNotFound."""
        with closing(self._store.open_library(passage.partition("p")[0])) as library:
            found = library.passage(passage)
            if found is None:
                raise RunNotFound(f"The run has no passage {passage!r}.", run_id=self._store.run_id)
            facts = _facts(library, _known(library, found.source))
            snapshot = library.snapshot(found.source)
        if snapshot is None or snapshot.sha256 != found.sha256:
            return PassageInContext(passage=found, facts=facts, is_current=False)
        before = snapshot.text[max(0, found.start - around) : found.start]
        after = snapshot.text[found.end : found.end + around]
        return PassageInContext(passage=found, facts=facts, before=before, after=after)

    def cost_so_far(self) -> Ledger:
        """Return what the run has cost until now, also while it goes on."""
        with closing(self._store.open_journal()) as journal:
            return ledger_of(journal, sources=0, seconds=self._store.load().seconds)


def _known(library: Library, source: str) -> Source:
    found = library.source(source)
    if found is None:
        raise RunNotFound(f"The run has no source {source!r}.", run_id="")
    return found


def _facts(library: Library, source: Source) -> SourceFacts:
    snapshot = library.snapshot(source.id)
    if snapshot is None:
        return SourceFacts(source=source, date=source.published or "")
    dated = dated_source(library, source.id)
    told = {"date": dated.date, "status": dated.standing.status, "by": dated.standing.by}
    return copy_fields(SourceFacts, snapshot, source=source, read=True, characters=len(snapshot.text), **told)


def export_report(store: RunStore, report: Report, to: str, *, font_folder: Path | None = None) -> Export:
    """Return a report of the run in `store` in the format `to`. Raises ConfigError."""
    exporter = registry.component("exporters", to)()
    given = safe_noun(_collect(store, report, str(font_folder or "")))
    # A file name without blanks or marks, of the title and the run's id.
    name = re.sub(r"\W+", "-", report.title[:60]).strip("-_") or "report"
    name += f"-{report.run_id}" if len(report.run_id) < 40 else ""
    is_large = to in _LARGE or len(report.report) > _LONG
    data = _exported_apart(to, given) if is_large else exporter.export(given)
    return Export(data=data, media_type=exporter.media_type, file_name=f"{name}{exporter.suffix}")


_LARGE = ("pdf", "docx", "pptx", "xlsx")
_LONG = 300_000  # characters of a report from which every format is made apart: marks take hundreds of bytes each
_LIMITS = Limits(memory=1_500_000_000, cpu_seconds=300.0)
"""What makes these takes minutes for a report at its bound, and memory that a process does not give back."""


def _exported_apart(to: str, given: ExportInput) -> bytes:
    try:
        with TemporaryDirectory() as folder, own_worker(folder) as worker:
            worker.send(_exported, to, given, limits=_LIMITS)
            return b64decode(worker.result(str, _LIMITS.wall_seconds))
    except OSError as error:
        raise ResearchError(f"no process could be started for it ({error})") from error


def _exported(to: str, given: ExportInput) -> str:
    """Return a report in a format, in base 64: results of a process are JSON."""
    return b64encode(registry.component("exporters", to)().export(given)).decode()


def _collect(store: RunStore, report: Report, font_folder: str) -> ExportInput:
    with closing(store.open_library("")) as library:
        sources = (library.source(reference.source) for reference in report.references)
        authors = {source.id: source.authors for source in sources if source is not None}
        texts = {key: library.snapshot(key) for key in {passage.source for passage in report.passages.values()}}
    contexts: dict[str, PassageContext] = {}
    for key, passage in report.passages.items():
        snapshot = texts[passage.source]
        if snapshot is not None and snapshot.text[passage.start : passage.end] == passage.text:
            contexts[key] = PassageContext(
                before=snapshot.text[max(0, passage.start - _CONTEXT_CHARS) : passage.start],
                after=snapshot.text[passage.end : passage.end + _CONTEXT_CHARS],
            )
    return ExportInput(report=report, authors=authors, contexts=contexts, font_folder=font_folder)
