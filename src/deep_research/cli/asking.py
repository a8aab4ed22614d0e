"""Asking the user at the terminal what a run asks: by number or in words, a plan also in the editor."""

import sys

import click

from deep_research.cli.editor import edited
from deep_research.cli.prompting import Prompt
from deep_research.data import Asked, Brief
from deep_research.errors import ConfigError
from deep_research.text.answers import chosen
from deep_research.text.plan_outline import numbered, outline

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
