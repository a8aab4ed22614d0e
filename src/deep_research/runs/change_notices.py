"""Tell others what a refresh has found: a POST to an address, or a letter by SMTP."""

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any
from urllib.parse import unquote, urlsplit

from deep_research.errors import ConfigError, SourceError, Unreachable
from deep_research.runs.compare_runs import RunChanges
from deep_research.stores.run_store import RunRecord

_TRIES, _SECONDS = 3, 20.0
_PORTS = {"smtp": 587, "smtps": 465}


def describe_changes(changes: RunChanges, record: RunRecord) -> dict[str, Any]:
    """Return what a webhook gets: the run, its question, how much changed, the changes one by one and as Markdown."""
    return {
        "event": "report_refreshed",
        "question": record.question,
        "title": record.title,
        **changes.model_dump(mode="json"),
        "markdown": str(changes),
    }


def check_addresses(webhook: str | None, mail_to: str | None, server: str) -> None:
    """Raise ConfigError for an address that is none."""
    if webhook and (urlsplit(webhook).scheme not in ("http", "https") or not urlsplit(webhook).hostname):
        raise ConfigError(f"{webhook!r} is no address of the web.", setting="webhook", value=webhook)
    if mail_to and ("@" not in parseaddr(mail_to)[1] or len(mail_to.splitlines()) > 1):
        raise ConfigError(f"{mail_to!r} is no e-mail address.", setting="mail-to", value=mail_to)
    if mail_to and (urlsplit(server).scheme not in _PORTS or not urlsplit(server).hostname):
        message = "Set SMTP_URL to smtps://USER:PASSWORD@HOST, or smtp:// for STARTTLS."
        raise ConfigError(message, setting="SMTP_URL", value=urlsplit(server).scheme)


def post_changes(changes: RunChanges, record: RunRecord, url: str) -> None:
    """POST the changes as JSON. Raises SourceError when it is not taken."""
    import httpx  # noqa: PLC0415 - only where somebody is told

    transport = httpx.HTTPTransport(retries=_TRIES - 1)
    try:
        with httpx.Client(transport=transport, timeout=_SECONDS) as client:
            answer = client.post(url, json=describe_changes(changes, record))
    except httpx.HTTPError as error:
        raise Unreachable(
            f"The webhook could not be reached: {error or type(error).__name__}.", source="webhook"
        ) from error
    if answer.status_code >= 300:
        raise SourceError(f"The webhook answered {answer.status_code}.", source="webhook", status=answer.status_code)


def mail_changes(changes: RunChanges, record: RunRecord, to: str, server: str) -> None:
    """Send the changes to an address by the SMTP server `server` (`smtps://user:password@host:port`).

    Raises SourceError when the server does not take the letter.
    """
    parts = urlsplit(server)
    assert parts.hostname is not None
    letter = EmailMessage()
    letter["Subject"] = " ".join(f"deep-research: {record.title or record.question}".split())[:200]
    user = unquote(parts.username or "")
    letter["From"] = user if "@" in user else f"deep-research@{parts.hostname}"
    letter["To"] = to
    letter.set_content(str(changes))
    try:
        with _connect(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]) as connection:
            if user:
                connection.login(user, unquote(parts.password or ""))
            connection.send_message(letter)
    except (OSError, smtplib.SMTPException) as error:
        raise Unreachable(f"The letter was not sent: {error}.", source="smtp") from error


def _connect(scheme: str, host: str, port: int) -> smtplib.SMTP:
    """Return a connection: TLS from the start, or STARTTLS, which only this machine may go without."""
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    connection = smtplib.SMTP(host, port, timeout=_SECONDS)
    if host not in ("localhost", "127.0.0.1", "::1") or connection.has_extn("starttls"):
        connection.starttls(context=context)
    return connection
