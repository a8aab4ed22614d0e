"""`deep-research templates`: the focus templates, what each is for, and where it lies."""

import click


@click.command("templates")
@click.option("--json", "as_json", is_flag=True, help="Print the templates as JSON.")
@click.option("--language", default="en", metavar="CODE", help="Language of the points shown (default: en).")
def command(as_json: bool, language: str) -> None:
    """List all focus templates: name, what for, where it lies, words it applies to, focus points."""
    import json  # noqa: PLC0415

    from deep_research.settings import home  # noqa: PLC0415
    from deep_research.templates import load_templates, template_folders  # noqa: PLC0415

    folders = template_folders(home())
    found = load_templates(folders)
    if as_json:
        rows = [{**t.model_dump(mode="json"), "origin": t.origin} for t in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for template in found:
        click.echo(f"{template.name}  ({template.origin})")
        click.echo(f"    for: {template.purpose or '—'}; words: {', '.join(template.words) or '—'}")
        click.echo("".join(f"    - {point}\n" for point in template.spoken(language).focus))
    click.echo(f"Your own: {' or '.join(str(folder) for folder in folders)} (docs/templates.md)")
