"""Detect media types by signature and look, and encodings, whatever is declared.

Signatures are those of the WHATWG MIME Sniffing standard; encodings are told by byte-order mark, header, document, with
labels read as browsers read them (https://encoding.spec.whatwg.org/#names-and-labels).
"""

import codecs
import re

OCTETS, ZIP = "application/octet-stream", "application/zip"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_SIGNATURES = (
    (b"%PDF-", "application/pdf"), (b"\x1f\x8b", "application/gzip"), (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ", "application/x-xz"), (b"7z\xbc\xaf", "application/x-7z-compressed"), (b"Rar!", "application/vnd.rar"),
    (b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "application/x-riff"),
    (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"), (b"{\\rtf", "application/rtf"), (b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),
    (b"SQLite format 3", "application/vnd.sqlite3"), (b"\x7fELF", "application/x-executable"), (b"%!PS", "application/postscript"),
)  # fmt: skip
_ZIPPED = (
    (b"mimetypeapplication/epub+zip", "application/epub+zip"),
    *(
        (f"mimetypeapplication/vnd.oasis.opendocument.{kind}".encode(), f"application/vnd.oasis.opendocument.{kind}")
        for kind in ("text", "spreadsheet", "presentation")
    ),
    (b"word/", f"{_OFFICE}wordprocessingml.document"),
    (b"xl/", f"{_OFFICE}spreadsheetml.sheet"),
    (b"ppt/", f"{_OFFICE}presentationml.presentation"),
)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|h1|p|a|br|iframe|style)[\s/>]", re.IGNORECASE
)
_FEED = re.compile(rb"<(rss|feed|rdf:RDF)[\s>]")
_JSON = re.compile(rb'[{\[]\s*["{}\[\]]')
_MAILBOX = re.compile(rb"From [^\n]{3,200}\d{4}[^\n]{0,20}\r?\n[\w-]+: ")
_MANUAL = re.compile(rb"^\.(?:TH|Dd|so)[ \t]+\S", re.MULTILINE)
_CHARSET = re.compile(r";\s*+charset\s*+=\s*+[\"']?\s*+([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_CHARSET = re.compile(r"<meta[^>]{0,200}charset\s*+=\s*+[\"']?\s*+([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML_CHARSET = re.compile(r"^<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{1,40})[\"']")
BOMS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
"""Byte-order marks and the encodings they announce, longer marks first."""
_SUPERSETS = {
    "gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "euc_kr": "cp949",
    "shift_jis": "cp932", "big5": "big5hkscs",
}  # fmt: skip
# Encodings of Python that no browser knows; some take quadratic time.
_NOT_OF_THE_WEB = frozenset({"utf-7", "punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined"})
_VAGUE_TYPES = ("", OCTETS, "application/x-unknown", "text/plain", "unknown/unknown", "text/html")
_SAMPLE = 4_096
CONTROLS = bytes(byte for byte in range(32) if byte not in b"\b\t\n\f\r\x1b")


def media_type_of(body: bytes, content_type: str) -> str:
    """Return a body's media type, in lower case: by signature, else as declared."""
    declared = re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()
    signed = signed_media_type(body)
    if signed == ZIP and "zip" in declared:
        return declared
    if signed:
        return signed
    if declared == "text/plain" and is_text(body):
        return declared  # a page that shows the source of HTML says so
    if declared in _VAGUE_TYPES:
        looks = text_media_type(body)
        return declared if declared == "text/html" and looks in ("text/plain", "application/json") else looks
    return declared


def signed_media_type(data: bytes) -> str | None:
    """Return the media type that the bytes prove, a ZIP file's by the names in it."""
    if data.startswith(b"PK\x03\x04"):
        names = data[:8192] + data[-65_536:]
        return next((kind for name, kind in _ZIPPED if name in names), ZIP)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    head = _head(data)
    return next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)


def text_media_type(data: bytes) -> str:
    """Return the text type bytes look like (HTML, XML, JSON, plain); else `OCTETS`."""
    if not is_text(data):
        return OCTETS
    head = _head(data)
    if head.startswith((b"<?xml", b"<rss", b"<feed", b"<rdf:RDF")):
        return "application/xml" if _FEED.search(head) or not _HTML.search(head) else "text/html"
    if _HTML.match(head) or b"<html" in head[:1024].lower():
        return "text/html"
    if _MAILBOX.match(head):
        return "application/mbox"
    if head[:1] in (b".", b"'", b"\\") and _MANUAL.search(data):
        return "text/troff"
    return "application/json" if _JSON.match(head) else "text/plain"


def is_text(data: bytes) -> bool:
    """Tell whether the bytes are text: few control characters, or a byte-order mark."""
    head = data[:_SAMPLE]
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        len(head.translate(None, CONTROLS)) >= 0.98 * len(head)
    )


def charset_of(body: bytes, content_type: str) -> str | None:
    """Return the declared encoding that really decodes the body, or None to guess it."""
    for bom, name in BOMS:
        if body.startswith(bom):
            return name
    head = body[:_SAMPLE].decode("latin-1")
    found = (_CHARSET.search(content_type, 0, 1_000), _XML_CHARSET.search(head), _META_CHARSET.search(head))
    labels = [*(match[1] for match in found if match), "utf-8"]
    return next((name for label in labels if (name := _decoding_codec(body, label))), None)


def codec_of(label: str) -> str:
    """Return the Python codec of an encoding label, as browsers read it; "" if none."""
    label = label.strip().strip("'\"").lower().removeprefix("x-")
    try:
        name = codecs.lookup(label).name.replace("unicode-escape", "unicode_escape")
        b"".decode(name)  # rot13 and hex are codecs, but of no text
    except LookupError:
        return ""
    return "" if name in _NOT_OF_THE_WEB else _SUPERSETS.get(name, name)


def _head(data: bytes) -> bytes:
    return data[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n\f\x04")


def _decoding_codec(body: bytes, label: str) -> str:
    """Return the codec of a label if it decodes the body, else ""."""
    name = codec_of(label)
    try:
        text = body.decode(name, "strict") if name else ""
    except (LookupError, UnicodeError, ValueError):
        return ""
    # A single-byte encoding decodes everything; valid multi-byte UTF-8 in it was UTF-8 all along.
    if name.startswith(("cp125", "iso8859")) and not text.isascii() and _decoding_codec(body, "utf-8"):
        return "utf-8"
    return name


def text_of(data: bytes) -> str:
    """Decode by byte-order mark, else UTF-8; UnicodeError says a user what to do."""
    encoding = next((encoding for bom, encoding in BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise UnicodeError(f"it is not UTF-8 text (byte {error.start}); save it with the encoding UTF-8") from error
    if "\0" in text or (not text and encoding != "utf-8"):
        raise UnicodeError("it is UTF-16 without a byte-order mark, or no text; save it with the encoding UTF-8")
    return text
