"""A report in other formats: one file a format, found by `registry.py`; `_modules` are what several of them share."""
