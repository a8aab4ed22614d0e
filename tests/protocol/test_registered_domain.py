"""Which hosts are one owner's."""

import pytest

from deep_research.protocol.registered_domain import registered_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("news.example.co.uk", "example.co.uk"),
        ("stats.gov.cn", "stats.gov.cn"),
        ("www.u-tokyo.ac.jp", "u-tokyo.ac.jp"),
        ("mail.web.de", "web.de"),
        ("localhost", "localhost"),
        ("", ""),
    ],
)
def test_the_registered_domain(host: str, domain: str) -> None:
    assert registered_domain(host) == domain
