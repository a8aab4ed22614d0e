"""API calls of a run by way of its journal: each answer is on disk before anything is made of it."""

import asyncio
import json as jsonlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256

from deep_research.concurrency import noting_answers
from deep_research.fetch.transport import Answer
from deep_research.fetch.web_api import response_of
from deep_research.ports import ApiClient, ApiResponse, Journal

_HOP = ("set-cookie",)
"""Headers that are not kept."""


class _NotKept(Exception):
    """Carries an answer that is no success past the journal: it is asked for again."""

    def __init__(self, response: ApiResponse) -> None:
        super().__init__(response.status)
        self.response = response


class JournaledApi:
    """Implements `ports.ApiClient`: what was answered once in the run, also before it was interrupted, is not asked again.

    Of a request the journal keeps method, address and a digest: parameters may hold keys.
    """

    def __init__(self, client: ApiClient, journal: Journal) -> None:
        self._client = client
        self._journal = journal

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
        """See `ports.ApiClient.request`."""
        asked = jsonlib.dumps([url, dict(params or {}), json, dict(form or {})], sort_keys=True, default=str)
        kind, digest = _kind(method, url), sha256(asked.encode()).hexdigest()

        made: list[tuple[str, ApiResponse]] = []

        def keep(answer: Answer) -> None:
            if _is_kept(answer.status):
                response = _to_keep(response_of(answer))
                text = _kept(response)
                self._journal.keep(kind, digest, text)
                made.append((text, response))

        async def make() -> str:
            with noting_answers(Answer, keep):
                response = await self._client.request(method, url, params=params, json=json, form=form, headers=headers)
            if not _is_kept(response.status):
                raise _NotKept(response)
            return made[0][0] if made else _kept(_to_keep(response))

        try:
            text, _ = await self._journal.call(kind, digest, make)
        except _NotKept as answer:
            return answer.response
        finally:
            own = made.copy()
            made.clear()  # a connection that was opened here knows `keep` as long as it lives
        return own[0][1] if own and own[0][0] == text else _response(text)

    async def earlier(self, method: str, url: str) -> Sequence[ApiResponse]:
        """See `ports.ApiClient.earlier`."""
        kept = await asyncio.to_thread(self._journal.answers, _kind(method, url))
        return [_response(text) for text in kept]


def _kind(method: str, url: str) -> str:
    return f"{method} {url.partition('?')[0]}"


def _is_kept(status: int) -> bool:
    return 200 <= status < 300


def _to_keep(response: ApiResponse) -> ApiResponse:
    """Return of an answer what is kept of it."""
    headers = {name: value for name, value in response.headers.items() if name not in _HOP}
    return ApiResponse(response.status, headers, response.body, response.url.partition("?")[0])


def _kept(response: ApiResponse) -> str:
    try:
        body = {"text": response.body.decode("utf-8")}
    except UnicodeDecodeError:
        body = {"base64": b64encode(response.body).decode()}
    return jsonlib.dumps(
        {"status": response.status, "url": response.url, "headers": dict(response.headers), **body},
        ensure_ascii=False,
    )


def _response(text: str) -> ApiResponse:
    kept = jsonlib.loads(text)
    body = kept["text"].encode("utf-8") if "text" in kept else b64decode(kept["base64"])
    return ApiResponse(kept["status"], kept["headers"], body, kept["url"])
