"""Ask the user at the terminal what a run asks: by number, in words, or (for a plan) in the editor."""

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from deep_research.cli.line_input import Prompt
from deep_research.conversation.plan_outline import numbered, outline
from deep_research.conversation.replies import chosen
from deep_research.data import Asked, Brief
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


_HOW_TO_EDIT = (
    "<!-- Change, reorder, add or remove sections (## Title); text below a title says what to look for,\n"
    "     lines with - are searches. Save and close the editor; an empty file cancels the change. -->\n\n"
)


def ask_user(asked: Asked) -> str:
    """Return what the user answers. Raises EOFError at Ctrl-D and KeyboardInterrupt at Ctrl-C."""
    say_asked(asked)
    prompt = Prompt()
    try:
        while True:
            if (answer := _answer(asked, prompt.line("answer> "))) is not None:
                return answer
    finally:
        prompt.close()


def say_asked(asked: Asked) -> None:
    """Show a question of a run with its options, on standard error."""
    lines = ["", numbered(asked.brief), ""] if asked.brief is not None else [""]
    lines.append(asked.question)
    lines += [f"  {number}. {option}" for number, option in enumerate(asked.options, 1)]
    if sys.stdin.isatty():
        lines.append(_how(asked))
    click.echo("\n".join(lines), err=True)


def _how(asked: Asked) -> str:
    if asked.kind == "plan":
        return "(a number, a change in words, /edit for your editor; Enter confirms; Ctrl-C stops)"
    number = "a number or " if asked.options else ""
    return f"({number}your own words; Enter starts with a best guess; Ctrl-C stops)"


def _answer(asked: Asked, line: str) -> str | None:
    """What a line answers; None when it only asked for help or the editor brought nothing."""
    if line == "/edit" and asked.brief is not None:
        return _edited(asked.brief)
    if line.startswith("/"):
        hint = "/edit opens the plan in your editor." if asked.brief is not None else "There are no commands here."
        click.echo(f"{hint} {_how(asked)}", err=True)
        return None
    if asked.options and line.isdigit() and not 1 <= int(line) <= len(asked.options):
        click.echo(f"There are the options 1 to {len(asked.options)}.", err=True)
        return None
    return chosen(line, asked.options)


def _edited(brief: Brief) -> str | None:
    before = _HOW_TO_EDIT + outline(brief)
    try:
        after = edited(before)
    except ConfigError as error:
        click.echo(error.message, err=True)
        return None
    if not after.strip() or after == before:
        click.echo("The plan was not changed. Confirm it with Enter.", err=True)
        return None
    return after
