"""What is typed while a run goes on, said to the run: a remark, or a command."""

from deep_research.errors import ResearchError
from deep_research.runs.folder import RunFolder
from deep_research.runs.steering import steer

HINT = "type to the run: a remark, /drop 2, /add Title: what, /finish"
_KINDS = {"/drop": "drop", "/add": "add", "/finish": "finish", "/remark": "remark"}


def say(folder: RunFolder, line: str) -> str:
    """Say a line to a run and return what to tell the user: that it was noted, or why it cannot be done."""
    name, _, words = line.partition(" ")
    kind = _KINDS.get(name.lower()) if line.startswith("/") else "remark"
    if kind is None:
        return f"There is no {name[:40]!r} while a run goes on; {HINT}. Ctrl-C stops the run."
    if kind == "drop" and not words.strip():
        return "Use: /drop NUMBER or /drop TITLE."
    try:
        noted = steer(folder, kind, words if line.startswith("/") else line)
    except ResearchError as error:
        return error.message
    return "Noted: " + " ".join(part for part in (noted.kind, noted.section, noted.text) if part)
