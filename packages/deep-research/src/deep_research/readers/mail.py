"""Mail: a message (EML) or an archive of messages (MBOX, RFC 4155)."""

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import Message
from email.utils import parsedate_to_datetime

from claimcheck.text.cleaning import clean, fold
from deep_research import registry
from deep_research.data import Document
from deep_research.errors import Unreadable
from deep_research.readers._decode import decode
from deep_research.readers.html import HtmlReader
from deep_research.readers.plain import write_text
from deep_research.text.document_builder import MOST_PARTS, DocumentBuilder

_FROM = re.compile(rb"(?:\A|(?<=\n\n)|(?<=\n\r\n))From [^\n]{1,300}\b(?:19|20)\d\d\b[^\n]{0,99}\n")
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_FULL = f"only the first {MOST_PARTS} messages and attached files were read"


class MailReader:
    """A reader of messages: who, when, the text, then attachments by their readers."""

    name = "mail"
    suffixes = (".eml", ".mbox", ".mbx")
    media_types = ("message/rfc822", "application/mbox")

    def read(self, data: bytes, *, name: str) -> Document:
        builder = DocumentBuilder()
        for raw in _messages(data):
            if builder.is_full:
                builder.warn(_FULL)
                break
            _write_message(message_from_bytes(raw, policy=policy.default), builder)
        if not len(builder):
            raise Unreadable("no message in it")
        return builder.document(title=name.rsplit(".", 1)[0], media_type=self.media_types[0])


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of an archive; what has no separators is one."""
    starts = [match.span() for match in _FROM.finditer(data)]
    if not starts or starts[0][0]:
        yield data
        return
    ends = [*(start for start, _ in starts[1:]), len(data)]
    for (_, begun), end in zip(starts, ends, strict=True):
        yield _QUOTED_FROM.sub(rb"\1", data[begun:end])


def _write_message(message: Message, builder: DocumentBuilder) -> None:
    subject = _field(message, "Subject") or "(no subject)"
    sender = _field(message, "From")
    author = re.sub(r"(?:(?<!\s)\s++)?<[^<>]*>", "", sender)
    builder.part(subject, published=_date(message), media_type="message/rfc822", authors=(author,))
    builder.heading(1, subject)
    for name in ("From", "To", "Cc", "Date"):
        if value := _field(message, name):
            builder.item(f"{name}: {value}")
    leaves = list(_leaves(message))
    texts = [leaf for leaf in leaves if leaf.get_content_type() == "text/plain" and not leaf.get_filename()]
    pages = [leaf for leaf in leaves if leaf.get_content_type() == "text/html" and not leaf.get_filename()]
    for leaf in texts:
        write_text(clean(_text(leaf)), builder)
    for leaf in pages if not any(_text(leaf).strip() for leaf in texts) else ():
        builder.append(HtmlReader().read(_text(leaf).encode("utf-8", "replace"), name="message.html"))
    for leaf in leaves:
        if leaf not in texts and leaf not in pages:
            _write_attachment(leaf, subject, builder)


def _leaves(message: Message) -> Iterator[Message]:
    if message.is_multipart() and message.get_content_type() != "message/rfc822":
        for part in message.get_payload():
            yield from _leaves(part)  # type: ignore[arg-type]
    else:
        yield message


def _write_attachment(leaf: Message, subject: str, builder: DocumentBuilder) -> None:
    if builder.is_full:
        builder.warn(_FULL)
        return
    if leaf.get_content_type() == "message/rfc822" and leaf.is_multipart():
        _write_message(leaf.get_payload(0), builder)  # type: ignore[arg-type]
        return
    name = fold(leaf.get_filename() or leaf.get_content_type())
    data = leaf.get_payload(decode=True)
    data = data if isinstance(data, bytes) else b""
    reader = registry.reader_for(name, data[:8192])
    try:
        if reader is None:
            raise Unreadable("of a format that is not read")
        if reader.name == "picture":
            raise Unreadable("a picture, which is not read inside a message")
        document = reader.read(data, name=name)
    except Exception as error:  # noqa: BLE001 - parsers of other people's formats fail in every way
        builder.warn(f"attachment {name}: {error.message if isinstance(error, Unreadable) else 'broken'}")
        return
    builder.part(f"{name} ({subject})", published=document.published, media_type=document.media_type)
    builder.append(document)


def _text(leaf: Message) -> str:
    data = leaf.get_payload(decode=True)
    return decode(data, declared=leaf.get_content_charset("")) if isinstance(data, bytes) and data else ""


def _field(message: Message, name: str) -> str:
    try:
        return fold(str(message[name] or ""))
    except Exception:  # noqa: BLE001 - the parser of headers fails on some
        return ""


def _date(message: Message) -> str | None:
    try:
        return parsedate_to_datetime(_field(message, "Date")).date().isoformat()
    except (ValueError, TypeError):
        return None
