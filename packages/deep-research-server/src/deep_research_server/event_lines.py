"""What clients are told of a run that goes on, a line for each event."""

from deep_research.events import Event

_SAID = {
    "understood": "{verification}",
    "stage_started": "Stage: {stage}",
    "progress": "{what}: {done}",
    "planned": "Plan: {sections}",
    "section_started": "Researching “{section}”",
    "searched": "Searched {source}: {query} ({found} found)",
    "section_written": "Researched “{section}”: {passages} passages of {sources} sources",
    "reviewed": "Review: {score} of 10",
    "verified": "Verified: {statements} statements, {problems} problems",
    "revised": "Revised: {edits} edits",
    "gap_found": "Gap: {what}: {why}",
}


def describe_event(event: Event) -> str:
    """Return what happened in one line, "" for what a client need not know."""
    told = "" if event.kind == "reviewed" and not event.score else _SAID.get(event.kind, "")
    values = event.model_dump()
    if event.kind == "planned":
        values["sections"] = "; ".join(event.sections)
    return told.format_map(values)
