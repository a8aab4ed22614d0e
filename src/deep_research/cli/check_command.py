"""`deep-research check`: judge one claim against a file of evidence."""

import sys
from pathlib import Path

import click


def read_evidence(name: str) -> str:
    """Return the text of the file `name` (- for standard input). Raises ConfigError, Unreadable."""
    from deep_research.errors import ConfigError  # noqa: PLC0415
    from deep_research.registry import reader_for  # noqa: PLC0415

    if name == "-":
        return sys.stdin.read()
    path = Path(name).expanduser()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"Cannot read {name!r}: {error.strerror or error}.", setting="evidence", value=name
        ) from error
    reader = reader_for(path.name, data[:4096])
    if reader is None:
        raise ConfigError(f"{name!r} is of no format that is read.", setting="evidence", value=name)
    return reader.read(data, name=path.name).text


@click.command("check")
@click.option("--claim", required=True, help="The sentence to judge.")
@click.option(
    "--evidence", required=True, metavar="FILE", help="The file it should be supported by; - for standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def command(claim: str, evidence: str, as_json: bool) -> int:
    """Judge whether FILE supports a claim, without a model: numbers, names, quotations, support."""
    from deep_research.steps.check_claims import check_claim  # noqa: PLC0415

    verdict = check_claim(claim, read_evidence(evidence))
    if as_json:
        click.echo(verdict.model_dump_json())
    else:
        score = "" if verdict.score is None else f" (score {verdict.score:.2f})"
        click.echo(f"{verdict.kind}{score}: {verdict.reason}")
    return 0
