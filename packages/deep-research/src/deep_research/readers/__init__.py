"""Readers of files, one module per format or kind; `_modules` are parts of them."""

FAMILIES = {
    "code": ("code", "notebook"),
    "compressed": ("gzip",),
    "data_files": ("jsonl", "table"),
    "html": ("epub", "html"),
    "office": ("docx", "pptx", "xlsx"),
}
"""The modules that are not named after their one reader, with the names of their readers."""
