"""Report exports, found by `registry.py`: a file per format or format family.

The formats of a family share their rows.
"""

FAMILIES = {
    "plain_formats": ("json", "markdown"),
    "reference_formats": ("bibtex", "csl", "ris"),
    "table_formats": ("csv", "xlsx"),
}
"""The modules that hold several components, with the names of these; any other holds the one that it is named after."""
