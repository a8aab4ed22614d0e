"""What bytes are, whatever a server says, and how they are encoded."""

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
        (b"<html>", "text/plain", "text/plain"),
        (b'<?xml version="1.0"?><rss version="2.0">', "text/html", "application/xml"),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "text/plain; charset=utf-8", "text/plain"),
        (
            _zip("word/document.xml"),
            "application/zip",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (b"x", ";;;,", "text/plain"),
    ],
)
def test_media_types(body, said, kind):
    assert media_type_of(body, said) == kind


@pytest.mark.parametrize(
    ("body", "said", "charset"),
    [
        (b"plain", "", "utf-8"),
        ("ä".encode("latin-1"), "text/html; charset=ISO-8859-1", "cp1252"),
        ("中文".encode("gb18030"), "text/html; charset=GB2312", "gb18030"),
        (
            b'<meta http-equiv="content-type" content="text/html; charset=shift_jis">' + "日本".encode("cp932"),
            "",
            "cp932",
        ),
        ("ä".encode("utf-16"), "", "utf-16"),
        (b"x", "text/html; charset=zlib", "utf-8"),
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
