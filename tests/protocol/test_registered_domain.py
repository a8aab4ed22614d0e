"""Which hosts are one owner's."""

import pytest

from deep_research.protocol.registered_domain import registered_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("WWW.Example.com.", "example.com"),
        ("a.b.c.example.org", "example.org"),
        ("news.example.co.uk", "example.co.uk"),
        ("www.bok.or.kr", "bok.or.kr"),
        ("stats.gov.cn", "stats.gov.cn"),
        ("www.stats.gov.cn", "stats.gov.cn"),
        ("data.economie.gouv.fr", "economie.gouv.fr"),
        ("www.u-tokyo.ac.jp", "u-tokyo.ac.jp"),
        ("co.uk", "co.uk"),
        ("web.de", "web.de"),
        ("mail.web.de", "web.de"),
        ("one.github.io", "github.io"),
        ("localhost", "localhost"),
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("", ""),
    ],
)
def test_the_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain
