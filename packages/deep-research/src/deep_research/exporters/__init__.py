"""A report in other formats, found by `registry.py`: one file a format, or a family of formats that share their rows."""

FAMILIES = {
    "plain_formats": ("json", "markdown"),
    "reference_formats": ("bibtex", "csl", "ris"),
    "table_formats": ("csv", "xlsx"),
}
"""The modules that hold several components, with the names of these; any other holds the one that it is named after."""
