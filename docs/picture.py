"""Draws docs/run.svg: the live view of a real run on the bundled library, half way and at its end."""

import asyncio
import tempfile
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.rule import Rule

from deep_research import Report, stream
from deep_research.cli.progress_table import Board

QUESTION = "What are the main ways to make large language model inference faster?"


async def draw(path: Path) -> None:
    """Run the question and save what a terminal shows."""
    console = Console(record=True, width=118, force_terminal=True, file=Path("/dev/null").open("w"))  # noqa: ASYNC230
    board = Board(overview="Overview")
    console.print(f'$ deep-research "{QUESTION}"', style="bold green")
    console.print()
    with tempfile.TemporaryDirectory() as home:
        report: Report | None = None
        async for event in stream(QUESTION, home=home):
            if isinstance(event, Report):
                report = event
            else:
                board.take(event)
    console.print(board.render())
    console.print()
    if report:
        head = report.report.split("\n## ")
        shown = "\n## ".join(head[:4])
        console.print(Rule(style="dim"))
        console.print(Markdown(shown[:3600]))
    console.save_svg(str(path), title="deep-research")


if __name__ == "__main__":
    asyncio.run(draw(Path(__file__).parent / "run.svg"))
