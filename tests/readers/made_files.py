"""Files of formats that have no writer among the libraries: mail, OpenDocument, books."""

import io
import mailbox
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

_NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)


def message(subject: str, *, attached: tuple[str, bytes] | None = None) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Jörg Müller <j@example.com>", "Ann <a@example.com>", subject
    made["Date"] = "Thu, 12 Nov 2026 09:30:00 +0100"
    made.set_content(f"Über {subject}.\n\nFrom Monday on all is new.\n", cte="quoted-printable")
    made.add_alternative(f"<p>Über <b>{subject}</b>.</p>", subtype="html")
    if attached:
        name, data = attached
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
        made.add_attachment(b"\x89PNG\r\n", maintype="image", subtype="png", filename="scan.png")
    return made


def box(subjects: Sequence[str], *, attached: tuple[str, bytes] | None = None) -> bytes:
    """Return an archive of messages; the first has a file attached."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "box"
        archive = mailbox.mbox(path)
        for number, subject in enumerate(subjects):
            archive.add(message(subject, attached=None if number else attached))
        archive.close()
        return path.read_bytes()


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a container of files by their names."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as container:
        for name, content in parts.items():
            container.writestr(name, content)
    return buffer.getvalue()


def open_document(kind: str, body: str, *, encrypted: bool = False) -> bytes:
    inner = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {_NAMESPACES}>{inner}</office:document-content>",
    }
    return zipped(parts | {"META-INF/manifest.xml": "<manifest><encryption-data/></manifest>"} if encrypted else parts)


def epub(chapters: Mapping[str, str | bytes | None], *, times: int = 1, head: str = "") -> bytes:
    """Return a book of these chapters, each so many times in its spine; of None it has the name alone."""
    items = "".join(f'<item id="c{n}" href="{quote(name)}"/>' for n, name in enumerate(chapters))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters))) * times
    about = "<dc:title>Walden</dc:title><dc:creator>H. D. Thoreau</dc:creator><dc:date>1854-08-09</dc:date>"
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": f'{head}<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{about}</metadata><manifest>{items}</manifest>'
        f"<spine>{spine}</spine></package>",
        **{f"OPS/{name}": text for name, text in chapters.items() if text is not None},
    })  # fmt: skip
