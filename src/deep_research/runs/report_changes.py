"""What a later report says that an earlier one did not (new, changed and gone statements and sources), and telling others
of it: by a POST to an address, or a letter by SMTP.
"""

import smtplib
import ssl
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from deep_research.address_credentials import basic_authorization, proxy_for, without_credentials
from deep_research.concurrency import run_now
from deep_research.data import Claim, Report
from deep_research.data.noun import Noun
from deep_research.errors import ConfigError, ResearchError, SourceError, Unreachable
from deep_research.i18n.catalog import phrase
from deep_research.protocol.bounded_transport import AnswerLimits, bounded_transport
from deep_research.stores.run_store import RunRecord
from deep_research.text.inert_markdown import make_inert
from deep_research.worker_child import Limits
from deep_research.worker_pool import own_worker

ChangeKind = Literal["new", "changed", "gone"]
_SAME, _ALIKE = 97.0, 72.0
"""Likeness (0–100) from which two statements are one, and from which one is another wording of the other."""
_TRIES, _SECONDS = 3, 20.0
_PORTS = {"smtp": 587, "smtps": 465}
_FOR_A_LETTER = Limits(memory=200_000_000, cpu_seconds=8.0)


class StatementChange(Noun):
    """A statement of the later report, and what the earlier one said in its place.

    `where` is the heading that it stands under; "" stands for the text that one of them has not.
    """

    kind: ChangeKind
    where: str
    text: str = ""
    before: str = ""
    passages: tuple[str, ...] = ()


class SourceChange(Noun):
    """A source that was read in one of the runs alone, or whose text is another."""

    kind: ChangeKind
    title: str
    url: str


class RunChanges(Noun):
    """What changed from one run to a later one on the same question."""

    run_id: str
    parent: str
    language: str
    before: str
    after: str
    statements: tuple[StatementChange, ...]
    sources: tuple[SourceChange, ...]
    unchanged: int

    def __str__(self) -> str:
        """Return the changes as a report in Markdown."""
        language = self.language
        lines = [f"# {phrase('changes_title', language, before=self.before, after=self.after)}"]
        lines.append(phrase("changes_counts", language, **self._counts(), same=self.unchanged))
        for kind in ("new", "changed", "gone"):
            rows = [_line(s, language) for s in self.statements if s.kind == kind]
            rows += [make_inert(f"{s.title} {s.url}".strip()) for s in self.sources if s.kind == kind]
            if rows:
                lines.append(f"## {phrase(f'changes_{kind}', language)}")
                lines.append("\n".join(f"- {row}" for row in rows))
        return "\n\n".join(lines) + "\n"

    def _counts(self) -> dict[str, int]:
        return {kind: sum(s.kind == kind for s in self.statements) for kind in ("new", "changed", "gone")}


def _line(change: StatementChange, language: str) -> str:
    said = change.text or change.before
    cited = "".join(f" [{passage}]" for passage in change.passages)
    before = f" ({phrase('changes_before', language, text=change.before)})" if change.kind == "changed" else ""
    return make_inert(f"{said}{cited}{before}")


def compare_reports(earlier: Report, later: Report, *, before: str, after: str) -> RunChanges:
    """Return what changed from `earlier` to `later`; `before` and `after` are their dates."""
    statements, unchanged = _compare_claims(earlier.claims, later.claims)
    return RunChanges(
        run_id=later.run_id,
        parent=earlier.run_id,
        language=later.language,
        before=before,
        after=after,
        statements=tuple(statements),
        sources=tuple(_compare_sources(earlier, later)),
        unchanged=unchanged,
    )


def _compare_claims(earlier: Sequence[Claim], later: Sequence[Claim]) -> tuple[list[StatementChange], int]:
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only where reports are compared

    old = {claim.text: claim for claim in earlier if _is_told(claim)}
    new = {claim.text: claim for claim in later if _is_told(claim)}
    left = {text: claim for text, claim in old.items() if text not in new}
    found: list[StatementChange] = []
    unchanged = len(new.keys() & old.keys())
    for text, claim in new.items():
        if text in old:
            continue
        best = process.extractOne(text, list(left), scorer=fuzz.token_sort_ratio, score_cutoff=_ALIKE)
        before = best[0] if best is not None else ""
        left.pop(before, None)
        if best is not None and best[1] >= _SAME and _figures(text) == _figures(before):
            unchanged += 1
            continue
        kind: ChangeKind = "changed" if before else "new"
        found.append(StatementChange(kind=kind, where=claim.where, text=text, before=before, passages=claim.passages))
    gone = [StatementChange(kind="gone", where=claim.where, before=text) for text, claim in left.items()]
    return [*found, *gone], unchanged


def _is_told(claim: Claim) -> bool:
    """Return whether a statement is what sources say, as far as anybody could tell; without a model nobody judges it."""
    return bool(claim.passages) and claim.verdict.kind in ("supported", "unverified")


def _figures(text: str) -> list[str]:
    return sorted(word for word in text.split() if any(sign.isdigit() for sign in word))


def _compare_sources(earlier: Report, later: Report) -> list[SourceChange]:
    old = {source.url or source.title: source for source in earlier.sources.values()}
    new = {source.url or source.title: source for source in later.sources.values()}
    found = [SourceChange(kind="new", title=s.title, url=s.url) for key, s in new.items() if key not in old]
    other = (s for key, s in new.items() if key in old and s.sha256 != old[key].sha256)
    found += [SourceChange(kind="changed", title=s.title, url=s.url) for s in other]
    return found + [SourceChange(kind="gone", title=s.title, url=s.url) for key, s in old.items() if key not in new]


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


def post_changes(changes: RunChanges, record: RunRecord, url: str, *, proxy: str = "") -> None:
    """POST the changes as JSON, by `proxy` where one is named. Raises SourceError when it is not taken."""
    import httpx  # noqa: PLC0415 - only where somebody is told

    try:
        status = run_now(lambda: _post(url, describe_changes(changes, record), proxy))
    except httpx.HTTPError as error:
        raise Unreachable(
            f"The webhook could not be reached: {error or type(error).__name__}.", source="webhook"
        ) from error
    if status >= 300:
        raise SourceError(f"The webhook answered {status}.", source="webhook", status=status)


async def _post(url: str, told: Mapping[str, Any], proxy: str) -> int:
    """Return the status of the answer; its body tells nothing, and is not read."""
    import httpx  # noqa: PLC0415 - only where somebody is told

    way = proxy_for(url, proxy)
    limits = AnswerLimits(0, _TRIES * _SECONDS)
    transport = bounded_transport(httpx, limits, retries=_TRIES - 1, proxy=way, trust_env=False)
    bare = without_credentials(url)
    async with (
        httpx.AsyncClient(transport=transport, timeout=_SECONDS) as client,
        client.stream("POST", bare, headers=basic_authorization(url), json=told) as answer,
    ):
        return answer.status_code


def mail_changes(changes: RunChanges, record: RunRecord, to: str, server: str) -> None:
    """Send the changes to an address by the SMTP server `server` (`smtps://user:password@host:port`).

    Raises SourceError when the server does not take the letter, or not in time.
    """
    parts, user = urlsplit(server), unquote(urlsplit(server).username or "")
    letter = EmailMessage()
    letter["Subject"] = " ".join(f"deep-research: {record.title or record.question}".split())[:200]
    letter["From"] = user if "@" in user else f"deep-research@{parts.hostname}"
    letter["To"] = to
    letter.set_content(str(changes))
    try:
        with own_worker() as worker:
            worker.send(deliver, letter, server, limits=_FOR_A_LETTER)
            worker.result(bool, _FOR_A_LETTER.wall_seconds)
    except (OSError, ResearchError) as error:
        raise Unreachable(f"The letter was not sent: {error}.", source="smtp") from error


def deliver(letter: EmailMessage, server: str) -> bool:
    """Send a letter; in a worker, for nothing else bounds what a mail server says, and how slowly."""
    parts = urlsplit(server)
    assert parts.hostname is not None
    with _connect(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]) as connection:
        if parts.username:
            connection.login(unquote(parts.username), unquote(parts.password or ""))
        connection.send_message(letter)
    return True


def _connect(scheme: str, host: str, port: int) -> smtplib.SMTP:
    """Return a connection: TLS from the start, or STARTTLS, which only this machine may go without."""
    context = ssl.create_default_context()
    if scheme == "smtps":
        return smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=context)
    connection = smtplib.SMTP(host, port, timeout=_SECONDS)
    if host not in ("localhost", "127.0.0.1", "::1") or connection.has_extn("starttls"):
        connection.starttls(context=context)
    return connection
