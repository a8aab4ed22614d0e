"""API calls for sources: paced per host, limited, journaled, obeying Retry-After.

API addresses come from this program and the user's settings: nobody has to have named them and robots.txt is not asked,
but the guard judges every one of them. Each answer is on disk before it is used.
"""

import json as jsonlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from deep_research.address_credentials import basic_authorization
from deep_research.concurrency import Clock, Rate, noting_answers
from deep_research.errors import RateLimited, SourceError, Unreachable
from deep_research.fetch.addresses import Address, join_address, parse_address
from deep_research.fetch.fetch_policies import API_RATE, LONGEST_RETRY, FetchLimits, HostPace, wait_after
from deep_research.fetch.transport import Answer, Transport
from deep_research.ports import ApiClient, ApiResponse, Journal
from deep_research.protocol.http_semantics import requested_wait
from deep_research.safe_text import mask_known, mask_known_bytes

API_LIMITS = FetchLimits(max_bytes=16_000_000, total_seconds=60.0, read_seconds=45.0, slow_after_seconds=45.0)
_ATTEMPTS, _FIRST_WAIT, _MAX_REDIRECTS = 3, 2.0, 3


@dataclass(frozen=True, eq=False)
class WebApiClient:
    """Calls web APIs; `transport` allows those of the user, `rates` are by host."""

    transport: Transport
    pace: HostPace
    rates: Mapping[str, Rate]
    limits: FetchLimits
    clock: Clock

    async def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiResponse:
        """See `ports.ApiClient.request`; errors name the address without its query.

        What may have had an effect (anything but GET) is repeated only where the API said that it did not take it (429,
        503), and once where the connection failed before an answer. Raises Blocked where the guard refuses, NotFound
        where the host does not exist.
        """
        sent = {
            "accept": "application/json, */*;q=0.5",
            **basic_authorization(url),
            **{name.lower(): value for name, value in (headers or {}).items()},
        }
        content = b""
        if json is not None:
            content, sent["content-type"] = jsonlib.dumps(json).encode(), "application/json"
        elif form is not None:
            content, sent["content-type"] = urlencode(form).encode(), "application/x-www-form-urlencoded"
        address = parse_address(url)  # by itself first: its errors quote it, and parameters may hold a key
        if query := urlencode(params or {}):
            address = parse_address(f"{address.url}{'&' if '?' in address.target else '?'}{query}")
        for _ in range(_MAX_REDIRECTS + 1):
            answer = await self._asked(method.upper(), address, sent, content)
            if method.upper() != "GET" or not answer.is_redirect:
                return response_of(answer)
            target = join_address(address, answer.headers["location"])
            if target.origin != address.origin:
                sent = {"accept": sent["accept"]}  # keys are for the host they were given to
            address = target
        raise Unreachable(f"{_shown(address)} redirects more than {_MAX_REDIRECTS} times.", url=_shown(address))

    async def close(self) -> None:
        await self.transport.close()

    async def _asked(self, method: str, address: Address, headers: Mapping[str, str], content: bytes) -> Answer:
        number = 1
        while True:
            try:
                answer = await self._send(method, address, headers, content)
                wait = self._wait_after(answer, method, number)
                if wait is None:
                    return answer
            except Unreachable as error:
                silent = error.reason == "time"  # each attempt costs the whole time again
                most = _ATTEMPTS - silent if method == "GET" else 2 - silent
                if number >= most or error.final:
                    raise
                wait = wait_after(number, _FIRST_WAIT)
            await self.clock.sleep(wait)
            number += 1

    async def _send(self, method: str, address: Address, headers: Mapping[str, str], content: bytes) -> Answer:
        host, limits = address.authority, self.limits
        try:
            async with self.pace.turn(host, self.rates.get(host, API_RATE)):
                return await self.transport.send(
                    address, method=method, headers=headers, content=content, limits=limits
                )
        except SourceError as error:
            shown = _shown(address)
            raise replace(error, message=error.message.replace(address.url, shown), url=shown) from None

    def _wait_after(self, answer: Answer, method: str, number: int) -> float | None:
        # Retry-After, or the reset of a used-up quota (GitHub's 403).
        now, is_limited = self.clock.now().timestamp(), answer.status in (403, 429, 503)
        asked = requested_wait(answer.headers, now) if is_limited else None
        if answer.status in (429, 503) or asked is not None:
            wait = wait_after(number, _FIRST_WAIT) if asked is None else asked
            if asked:
                self.pace.hold(answer.address.authority, asked)
            if number < _ATTEMPTS and wait <= LONGEST_RETRY:
                return wait
            if answer.status == 503 and asked is None:
                return None
            raise _rate_limited(answer, asked)
        if answer.status in (500, 502, 504) and method == "GET" and number < _ATTEMPTS:
            return wait_after(number, _FIRST_WAIT)
        return None


def response_of(answer: Answer) -> ApiResponse:
    """Return an answer for sources, with keys repeated by the server masked."""
    headers = {name: mask_known(value) for name, value in answer.headers.items()}
    return ApiResponse(answer.status, headers, mask_known_bytes(answer.body), answer.address.url)


def _rate_limited(answer: Answer, asked: float | None) -> RateLimited:
    shown = _shown(answer.address)
    text = " ".join(answer.body[:200].decode("utf-8", "replace").split())
    words = "".join(char for char in text if char.isprintable())
    long = f" {asked:.0f} s" if asked else ""
    message = f"{shown} keeps asking to wait{long} (HTTP {answer.status}){': ' + words if words else '.'}"
    return RateLimited(message, source=answer.address.host, url=shown, status=answer.status, retry_after=asked)


def _shown(address: Address) -> str:
    return address.origin + address.target.partition("?")[0]


class _NotKept(Exception):
    """Carries an answer that is no success past the journal: it is asked for again."""


@dataclass(frozen=True, eq=False)
class JournaledApi:
    """Implements `ports.ApiClient`; an answered request of the run is never repeated.

    Of a request the journal keeps method, address and a digest: parameters may hold keys.
    """

    client: ApiClient
    journal: Journal

    async def request(self, method: str, url: str, **given: Any) -> ApiResponse:
        """Request as in `ports.ApiClient`; access tokens (RFC 6749) are not stored."""
        params, form = dict(given.get("params") or {}), dict(given.get("form") or {})
        if "grant_type" in form:
            return await self.client.request(method, url, **given)
        asked = jsonlib.dumps([url, params, given.get("json"), form], sort_keys=True, default=str)
        kind, digest = f"{method} {url.partition('?')[0]}", sha256(asked.encode()).hexdigest()
        kept: list[str] = []

        def keep(answer: Answer) -> None:
            if 200 <= answer.status < 300:
                kept.append(_kept(response_of(answer)))
                self.journal.keep(kind, digest, kept[-1])

        async def make() -> str:
            with noting_answers(Answer, keep):
                response = await self.client.request(method, url, **given)
            if not 200 <= response.status < 300:
                raise _NotKept(response)
            return kept[0] if kept else _kept(response)

        try:
            text, _ = await self.journal.call(kind, digest, make)
        except _NotKept as answer:
            return answer.args[0]
        finally:
            kept.clear()  # a connection that was opened here knows `keep` as long as it lives
        answered = jsonlib.loads(text)
        body = answered["text"].encode("utf-8") if "text" in answered else b64decode(answered["base64"])
        return ApiResponse(answered["status"], answered["headers"], body, answered["url"])


def _kept(response: ApiResponse) -> str:
    """Return an answer as journal text, without cookies and its address's query."""
    headers = {name: value for name, value in response.headers.items() if name != "set-cookie"}
    about = {"status": response.status, "url": response.url.partition("?")[0], "headers": headers}
    try:
        body = {"text": response.body.decode("utf-8")}
    except UnicodeDecodeError:
        body = {"base64": b64encode(response.body).decode()}
    return jsonlib.dumps(about | body, ensure_ascii=False)
