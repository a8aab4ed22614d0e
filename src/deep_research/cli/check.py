"""`deep-research check`: judge one claim against a file of evidence."""

import click


@click.command("check")
@click.option("--claim", required=True, help="The sentence to judge.")
@click.option(
    "--evidence", required=True, metavar="FILE", help="The file it should be supported by; - for standard input."
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
def command(claim: str, evidence: str, as_json: bool) -> int:
    """Judge whether FILE supports a claim, without a model: numbers, names, quotations, support."""
    from deep_research.cli.evidence import read_evidence  # noqa: PLC0415
    from deep_research.steps.check import check_claim  # noqa: PLC0415

    verdict = check_claim(claim, read_evidence(evidence))
    if as_json:
        click.echo(verdict.model_dump_json())
    else:
        score = "" if verdict.score is None else f" (score {verdict.score:.2f})"
        click.echo(f"{verdict.kind}{score}: {verdict.reason}")
    return 0
