"""Files of formats that have no writer among the libraries: mail, OpenDocument."""

import io
import mailbox
import zipfile
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

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


def open_document(kind: str, body: str, *, encrypted: bool = False) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as container:
        container.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        container.writestr(
            "content.xml",
            f"<office:document-content {_NAMESPACES}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
            "</office:document-content>",
        )
        if encrypted:
            container.writestr("META-INF/manifest.xml", "<manifest><encryption-data/></manifest>")
    return buffer.getvalue()
