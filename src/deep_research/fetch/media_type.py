"""What a body really is: servers often say too little or something else.

Signatures after the WHATWG MIME Sniffing standard, reduced to what the readers of this program tell
apart; encodings after the order byte-order mark, header, document, with labels read as browsers read them.
"""

import codecs
import re
from email.message import Message

_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
)
_ZIP = b"PK\x03\x04"
_OFFICE = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|table|h1|p|a|br|iframe|style)[\s/>]", re.I
)
_FEED = re.compile(rb"<(rss|feed|rdf:RDF)[\s>]")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_XML_CHARSET = re.compile(rb"^<\?xml[^>]{0,200}encoding\s*=\s*[\"']([A-Za-z0-9_:.-]{1,40})[\"']")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252", "ascii": "cp1252", "euc_kr": "cp949",
              "shift_jis": "cp932", "big5": "big5hkscs"}  # fmt: skip
# Encodings of Python that no browser knows; some take quadratic time.
_NOT_OF_THE_WEB = frozenset({"utf-7", "punycode", "idna", "unicode_escape", "raw_unicode_escape", "undefined"})
_SAMPLE = 4_096
_BINARY = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b")


def media_type_of(body: bytes, content_type: str) -> str:
    """Return what the body is, in lower case: by its signature first, then as the server says."""
    said = _said(content_type)
    head = body[:_SAMPLE].removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n\f")
    if found := next((kind for magic, kind in _SIGNATURES if head.startswith(magic)), None):
        return found
    if head.startswith(_ZIP):
        return _zip_kind(body, said)
    if said in ("", "application/octet-stream", "application/x-unknown", "text/plain", "unknown/unknown", "text/html"):
        return _text_kind(head, said)
    return said


def charset_of(body: bytes, content_type: str) -> str | None:
    """Return the encoding the body is declared in and really decodes in, or None when that must be guessed."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name
    declared = (_parameter(content_type, "charset"), _inner(_XML_CHARSET, body), _inner(_META_CHARSET, body))
    for label in (*declared, "utf-8"):
        if label and (name := _decodes(body, label)):
            return name
    return None


def _said(content_type: str) -> str:
    return re.split("[;,]", content_type, maxsplit=1)[0].strip().lower()


def _parameter(content_type: str, name: str) -> str:
    message = Message()
    message["content-type"] = content_type
    value = message.get_param(name)
    return value if isinstance(value, str) else ""


def _inner(pattern: re.Pattern[bytes], body: bytes) -> str:
    match = pattern.search(body[:_SAMPLE])
    return match.group(1).decode("ascii") if match else ""


def _decodes(body: bytes, label: str) -> str | None:
    try:
        name = codecs.lookup(label.strip().lower()).name.replace("unicode-escape", "unicode_escape")
        if name in _NOT_OF_THE_WEB:
            return None
        name = _SUPERSETS.get(name, name)
        text = body.decode(name, "strict")
    except (LookupError, UnicodeError, ValueError):
        return None
    # A single-byte encoding decodes everything; valid multi-byte UTF-8 in it was UTF-8 all along.
    if name.startswith(("cp125", "iso8859")) and not text.isascii() and _decodes(body, "utf-8"):
        return "utf-8"
    return name


def _zip_kind(body: bytes, said: str) -> str:
    if body[30:58] == b"mimetypeapplication/epub+zip":
        return "application/epub+zip"
    names = body[:_SAMPLE] + body[-65_536:]
    return next((kind for name, kind in _OFFICE if name in names), said if "zip" in said else "application/zip")


def _text_kind(head: bytes, said: str) -> str:
    if len(head.translate(None, _BINARY)) < 0.95 * len(head) and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "application/octet-stream"
    if said == "text/plain":
        return said  # a page that shows the source of HTML says so
    if head.startswith((b"<?xml", b"<rss", b"<feed", b"<rdf:RDF")):
        return "application/xml" if _FEED.search(head) or not _HTML.search(head) else "text/html"
    if said == "text/html" or _HTML.match(head) or (head.startswith(b"<!--") and _HTML.search(head)):
        return "text/html"
    return "application/json" if head[:1] in (b"{", b"[") else "text/plain"
