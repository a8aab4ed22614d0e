"""The texts that a user gives as bytes: settings, templates, prompts, questions."""

from deep_research.protocol.media_type import BOMS


def text_of(data: bytes) -> str:
    """Return bytes in UTF-8, or as their byte-order mark says, as text. Raises UnicodeError that says what to do."""
    encoding = next((encoding for bom, encoding in BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnicodeError(f"it is not UTF-8 text (byte {error.start}); save it with the encoding UTF-8") from error
    if "\0" in text or (not text and encoding != "utf-8"):
        raise UnicodeError("it is UTF-16 without a byte-order mark, or no text; save it with the encoding UTF-8")
    return text
