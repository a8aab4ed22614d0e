"""Editing a text in the user's editor."""

import shlex
import subprocess
import tempfile
from pathlib import Path

from deep_research.errors import ConfigError
from deep_research.settings import editor_command


def edited(text: str, *, suffix: str = ".md") -> str:
    """Return `text` as the user left it in `$VISUAL` or `$EDITOR`.

    Raises ConfigError when no editor is named, when it cannot be started or fails, and when what it left is no text.
    """
    command = editor_command()
    if not command:
        message = "No editor is named. Set EDITOR (or VISUAL), for example: export EDITOR=nano"
        raise ConfigError(message, setting="EDITOR", value="")
    with tempfile.TemporaryDirectory(prefix="deep-research-") as folder:
        path = Path(folder) / f"plan{suffix}"
        path.write_text(text, "utf-8")
        try:
            code = subprocess.run([*shlex.split(command), str(path)], check=False).returncode  # noqa: S603 - the user's own
            left = path.read_text("utf-8")
        except (OSError, ValueError) as error:  # ValueError: unbalanced quotes, or a file that is not UTF-8
            message = f"The editor {command!r} (EDITOR) did not work: {error}."
            raise ConfigError(message, setting="EDITOR", value=command) from error
    if code:
        message = f"The editor {command!r} (EDITOR) ended with code {code}; nothing was changed."
        raise ConfigError(message, setting="EDITOR", value=command)
    return left
