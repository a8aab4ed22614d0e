"""What the shell completes; loaded with the help of every command, so it imports nothing."""


def complete_run_ids(_context: object, _parameter: object, incomplete: str) -> list[str]:
    """Return the ids of runs that begin so, for the shell."""
    from deep_research import api  # noqa: PLC0415 - only while the shell completes

    return [record.run_id for record in api.list_runs() if record.run_id.startswith(incomplete)]
