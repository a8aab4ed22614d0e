"""`deep-research completion`: commands, flags and runs by the Tab key. Loaded with the help of every command that takes a run."""

from pathlib import Path

import click

from deep_research.cli.lazy_modules import api
from deep_research.cli.wrapped_text import echo_wrapped

_PLACES = {
    "bash": ".local/share/bash-completion/completions/deep-research",
    "fish": ".config/fish/completions/deep-research.fish",
    "zsh": ".zfunc/_deep-research",
}
_AFTERWARDS = {
    "bash": "It works in new shells, where the package bash-completion is installed.",
    "fish": "It works in new shells.",
    "zsh": "Put this into ~/.zshrc, before compinit is called:  fpath+=~/.zfunc",
}


def complete_run_ids(_context: object, _parameter: object, incomplete: str) -> list[str]:
    """Return the ids of runs that begin so, for the shell."""
    return sorted((run_id for run_id in api.run_ids() if run_id.startswith(incomplete)), reverse=True)


@click.command("completion")
@click.argument("shell", type=click.Choice(sorted(_PLACES)))
@click.option("--install", is_flag=True, help="Write the script to where the shell looks for it.")
def completion_command(shell: str, install: bool) -> None:
    """Print the completion script of SHELL, or install it.

    \b
    deep-research completion bash --install
    deep-research completion zsh > ~/.zfunc/_deep-research
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - only here

    from deep_research.cli.main import cli  # noqa: PLC0415

    made = get_completion_class(shell)
    assert made is not None
    script = made(cli, {}, "deep-research", "_DEEP_RESEARCH_COMPLETE").source()
    if not install:
        click.echo(script)
        return
    path = Path.home() / _PLACES[shell]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, "utf-8")
    echo_wrapped(f"Written: {path}\n{_AFTERWARDS[shell]}")
