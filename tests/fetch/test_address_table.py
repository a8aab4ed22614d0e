"""Every case of the table, through the whole fetcher, over a real server. Nothing inside is ever dialled."""

import ipaddress
from collections.abc import Sequence

import pytest

from deep_research.errors import NotFound, SourceError
from deep_research.fetch.address_guard import special_kind
from deep_research.fetch.addresses import KnownAddresses, parse_address
from deep_research.fetch.web import Web
from tests.fetch import security_table
from tests.fetch.address_table import CASES, OPEN, Case
from tests.support.clock import FakeClock
from tests.support.dns import FakeDns
from tests.support.fake_web import FakeWeb
from tests.support.web_answers import page


async def _fetch(case: Case) -> tuple[str, FakeWeb]:
    """Return what became of a case: the rule that refused it, or OPEN."""
    with FakeWeb() as internet:
        for host, answers in case.dns.items():
            internet.dns.sequence(host, *answers)
        for source, target in case.redirects.items():
            start = parse_address(source)
            internet.site(start.host).redirect(start.target, target)
        internet.otherwise = page("content", "text/plain")
        web = Web(resolver=_Anything(internet.dns), dial=internet.dial, clock=FakeClock())
        fetcher = web.fetcher(KnownAddresses([case.address]))
        try:
            body = (await fetcher.fetch(case.address)).body
            return (OPEN if body == b"content" else "other content"), internet
        except SourceError as error:
            return str(error.reason), internet
        finally:
            await fetcher.close()
            await web.close()


class _Anything:
    """Names that a case says nothing about lead to a public address."""

    def __init__(self, dns: FakeDns) -> None:
        self._dns = dns

    async def __call__(self, host: str) -> Sequence[str]:
        try:
            return await self._dns(host)
        except NotFound:
            return ["8.8.4.4"]


@pytest.mark.parametrize("group", dict.fromkeys(case.group for case in CASES))
async def test_what_becomes_of_an_address(group: str) -> None:
    for case in CASES:
        if case.group == group:
            outcome, internet = await _fetch(case)
            assert outcome == case.outcome, case.shown
            assert [ip for ip, _ in internet.dial.dialled if special_kind(ipaddress.ip_address(ip))] == [], case.shown


def test_the_table_in_the_documentation_is_this_one() -> None:
    assert security_table.current() == security_table.render(), "run: python -m tests.fetch.security_table"
