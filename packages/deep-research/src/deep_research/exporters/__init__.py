"""Report exports, found by `registry.py`: a file per format or format family."""

FAMILIES = {
    "plain_formats": ("json", "markdown"),
    "reference_formats": ("bibtex", "csl", "ris"),
    "table_formats": ("csv", "xlsx"),
}
"""The modules that hold several components, with the names of these."""
