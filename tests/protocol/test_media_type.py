"""What bytes are, whatever a server says, and how they are encoded."""

import gzip
import io
import zipfile

import pytest

from deep_research.protocol.media_type import charset_of, codec_of, media_type_of, signed_media_type, text_media_type


def _zip(*names: str, first: tuple[str, str] | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in filter(None, [first]):
            archive.writestr(name, content)
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "said", "kind"),
    [
        (b"%PDF-1.7 ...", "text/html", "application/pdf"),
        (b"%PDF-1.7 ...", "application/octet-stream", "application/pdf"),
        (b"\n<!DOCTYPE html><p>x", "", "text/html"),
        (b"\xef\xbb\xbf  <html><p>x", "application/octet-stream", "text/html"),
        (b"<!-- a --><html>", "", "text/html"),
        (b"<html>", "text/plain", "text/plain"),
        (b"<html>", "TEXT/HTML; charset=utf-8", "text/html"),
        (b"just words", "text/html", "text/html"),
        (b"just words", "", "text/plain"),
        (b'{"a": 1}', "", "application/json"),
        (b'{"a": 1}', "application/json; charset=utf-8", "application/json"),
        (b'<?xml version="1.0"?><rss version="2.0">', "text/html", "application/xml"),
        (b'<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html >', "", "text/html"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "text/plain; charset=utf-8", "text/plain"),
        (b"<rss>", "application/rss+xml", "application/rss+xml"),
        (b"\x89PNG\r\n\x1a\n....", "text/html", "image/png"),
        (gzip.compress(b"x", mtime=0), "text/html", "application/gzip"),
        (bytes(range(256)) * 10, "text/html", "application/octet-stream"),
        ("ä中".encode("utf-16"), "text/plain", "text/plain"),
        (
            _zip("word/document.xml"),
            "application/zip",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (_zip("xl/workbook.xml"), "", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        (_zip("x", first=("mimetype", "application/epub+zip")), "text/html", "application/epub+zip"),
        (_zip("x"), "", "application/zip"),
        (b"", "", "text/plain"),
        (b"x", ";;;,", "text/plain"),
    ],
)
def test_media_types(body, said, kind):
    assert media_type_of(body, said) == kind


@pytest.mark.parametrize(
    ("body", "said", "charset"),
    [
        (b"plain", "", "utf-8"),
        ("ä".encode(), "text/html; charset=utf-8", "utf-8"),
        ("ä".encode(), "text/html; charset=iso-8859-1", "utf-8"),
        ("ä".encode("latin-1"), "text/html; charset=ISO-8859-1", "cp1252"),
        ("ä".encode("latin-1"), "text/html; charset=utf-8", None),
        ("中文".encode("gb18030"), "text/html; charset=GB2312", "gb18030"),
        (b'<meta charset="gbk">' + "中文".encode("gbk"), "text/html", "gb18030"),
        (b'<meta charset="gbk">' + "中文".encode("gbk"), "text/html; charset=utf-8", "gb18030"),
        (
            b'<meta http-equiv="content-type" content="text/html; charset=shift_jis">' + "日本".encode("cp932"),
            "",
            "cp932",
        ),
        (b'<?xml version="1.0" encoding="euc-kr"?>' + "한국".encode("cp949"), "", "cp949"),
        ("ä".encode("utf-8-sig"), "text/html; charset=gbk", "utf-8"),
        ("ä".encode("utf-16"), "", "utf-16"),
        (b"+ADw-", "text/html; charset=utf-7", "utf-8"),
        (b"x", "text/html; charset=zlib", "utf-8"),
        (b"x", "text/html; charset=unicode-escape", "utf-8"),
        (b"x", "text/html; charset=nonsense", "utf-8"),
        (b"\x80\x81", "", None),
    ],
)
def test_encodings(body, said, charset):
    assert charset_of(body, said) == charset


@pytest.mark.parametrize(
    ("label", "codec"),
    [("GBK", "gb18030"), ("x-sjis", "cp932"), ("ks_c_5601-1987", "cp949"), ("latin1", "cp1252"), ("'utf8'", "utf-8"),
     ("utf-7", ""), ("wordstar", ""), ("", "")],
)  # fmt: skip
def test_labels_mean_what_browsers_take_them_for(label: str, codec: str) -> None:
    assert codec_of(label) == codec


@pytest.mark.parametrize(
    "data",
    [b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"RIFF\x00\x00\x00\x00WEBPVP8 ", b"{\\rtf1 text}", b"SQLite format 3\x00"],
)
def test_formats_that_are_never_read_are_known_by_their_first_bytes(data: bytes) -> None:
    assert signed_media_type(data) not in (None, "text/plain")
    assert media_type_of(data, "text/plain") == signed_media_type(data)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"[1] Smith, J. (2020)", "text/plain"),
        (b"{curly} words", "text/plain"),
        (b'{"a": 1}\n{"a": 2}', "application/json"),
        (b'[{"a": 1}]', "application/json"),
        (b"Warning: line 3\n<html><body>", "text/html"),
        (b"\x00\x01\x02\x03" * 100, "application/octet-stream"),
        ("日本".encode("utf-16"), "text/plain"),
    ],
)
def test_text_is_told_by_its_look(data: bytes, kind: str) -> None:
    assert text_media_type(data) == kind
