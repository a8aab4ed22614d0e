"""The real network layer, on loopback: server name, pinned address, pools, errors."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from deep_research.concurrency import on_wires
from deep_research.errors import Blocked, ConfigError, Unreachable
from deep_research.fetch.address_guard import Guard
from deep_research.fetch.addresses import parse_address
from deep_research.fetch.fetch_policies import FetchLimits
from deep_research.fetch.guarded_network import GuardedNetwork, system_dial, system_resolve
from deep_research.fetch.page_fetcher import Fetcher, FetchOptions
from deep_research.fetch.transport import Transport, user_agent
from deep_research.fetch.web import Web, WebOptions
from deep_research.protocol.http_semantics import OWN_AUTHORITY
from tests.support import web_answers as answers
from tests.support.closing_server import closing_server
from tests.support.dns import FakeDns


def _untrusted(folder: Path, signer: str) -> ssl.SSLContext:
    """The server's side of TLS with a certificate that nobody trusted has signed; "" is the server itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, signer)] if signer else [])
    made = x509.CertificateBuilder(issuer, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(datetime(2020, 1, 1, tzinfo=UTC)).not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
    signed = made.sign(key, hashes.SHA256())
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (file := folder / "server.pem").write_bytes(key.private_bytes(*form) + signed.public_bytes(form[0]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.mark.parametrize(
    ("robots", "signer", "why"),
    [
        (True, "", "(self-signed certificate)."),
        (False, "Our House", f"(unable to get local issuer certificate).{OWN_AUTHORITY}"),
    ],
)
async def test_a_certificate_that_is_not_trusted_is_said_to_be_that(
    make_fetcher: Callable[..., Fetcher], tmp_path: Path, robots: bool, signer: str, why: str
):
    tls = _untrusted(tmp_path, signer)
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=tls) as server:
        host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        web = Web(WebOptions(allowed_internal_hosts=(host,), fetch=FetchOptions(obey_robots=robots)))
        with pytest.raises(Unreachable) as caught:
            await make_fetcher(web=web).fetch(f"https://{host}/page")
        await web.close()
    assert (caught.value.reason, caught.value.url) == ("tls", f"https://{host}/page")
    assert caught.value.message == (
        f"The certificate of {host} is not to be trusted {why} "
        f"To have https://{host}/page read, download it and name it with --docs."
    )


async def test_one_connection_serves_several_requests_and_its_name_is_looked_up_once(internet):
    internet.site("a.test").page("/", "x")
    transport = Transport(Guard(), resolver=internet.dns, dial=internet.dial)
    for _ in range(3):
        assert (await transport.send(parse_address("http://a.test/"), limits=FetchLimits())).status == 200
    assert internet.dns.lookups == ["a.test"]
    assert len(internet.dial.dialled) == 1
    await transport.close()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_idle_connection_that_the_server_has_closed_costs_nothing(method):
    async with closing_server(b"{}") as seen:
        transport = Transport(Guard([f"127.0.0.1:{seen.port}"]))
        address = parse_address(f"http://127.0.0.1:{seen.port}/")
        for _ in range(3):
            assert (await transport.send(address, method=method, content=b"x", limits=FetchLimits())).body == b"{}"
        await transport.close()
    assert (seen.answered, seen.dropped) == (3, 2)


def test_one_transport_serves_several_event_loops(internet):
    internet.site("a.test").page("/", "x")
    transport = Transport(Guard(), resolver=internet.dns, dial=internet.dial)

    async def once() -> int:
        try:
            return (await transport.send(parse_address("http://a.test/"), limits=FetchLimits())).status
        finally:
            await transport.close()

    assert [asyncio.run(once()) for _ in range(2)] == [200, 200]


async def test_names_whose_server_does_not_answer_hold_no_other_name_up(monkeypatch: pytest.MonkeyPatch):
    answered, look_up = threading.Event(), socket.getaddrinfo

    def slow(host: str, *about: Any, **named: Any) -> Any:
        if host.endswith(".invalid"):
            answered.wait(60)
        return look_up(host, *about, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    waiting = [asyncio.create_task(on_wires(system_resolve(f"{number}.invalid"))) for number in range(40)]
    try:
        async with asyncio.timeout(20):
            await asyncio.sleep(0)  # they have been begun, and it is the last in the row
            assert await on_wires(system_resolve("localhost"))
    finally:
        answered.set()
        await asyncio.wait(waiting)


async def test_sockets_of_the_computer_are_not_opened():
    network = GuardedNetwork(Guard(), FakeDns(), system_dial, trusted=frozenset())
    with pytest.raises(httpcore.ConnectError):
        await network.connect_unix_socket("/var/run/docker.sock")


async def test_behind_a_proxy_addresses_are_still_judged(internet):
    internet.dns.set("proxy.corp", "10.0.0.1")
    internet.dns.set("inside.test", "10.0.0.2")
    internet.dns.remove("unknown-here.test")
    internet.otherwise = answers.page("through the proxy")
    transport = Transport(Guard(), resolver=internet.dns, dial=internet.dial, proxy="http://proxy.corp:3128")
    answer = await transport.send(parse_address("http://a.test/x"), limits=FetchLimits())
    assert answer.body == b"through the proxy"
    assert internet.requests[-1].target == "http://a.test:80/x"
    assert internet.dial.dialled == [("10.0.0.1", 3128)]
    await transport.send(parse_address("http://unknown-here.test/"), limits=FetchLimits())
    for url in ("http://inside.test/", "http://127.0.0.1/", "http://proxy.corp:3128/", "http://proxy.corp/"):
        with pytest.raises(Blocked):
            await transport.send(parse_address(url), limits=FetchLimits())
    await transport.close()


def test_contact_stands_in_a_header():
    assert user_agent("https://example.org/bot").endswith("(+https://example.org/bot)")
    for contact in ("a\r\nX: y", "ünï", "a)b"):
        with pytest.raises(ConfigError):
            user_agent(contact)
