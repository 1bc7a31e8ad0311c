"""The Caddyfile of ops/proxies with the real Caddy: certificates for our own names and for no others."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from core.sessions.signing_keys import KeyPair
from tests import proxies
from tests.custom_domain import serving_domain
from tests.postgres import Databases
from tests.proxies import Proxy

pytestmark = pytest.mark.long

DOMAIN = "id.acme.example"


@pytest.fixture(scope="module")
def caddy(
    databases: Databases, key_pairs: tuple[KeyPair, KeyPair], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    """Caddy with certificates of its own authority."""
    folder = tmp_path_factory.mktemp("caddy")
    with serving_domain(databases, key_pairs, DOMAIN) as site:
        upstream = urlsplit(site.url).netloc
        with proxies.running("caddy", folder, [upstream, upstream], name="localhost") as proxy:
            yield proxy


def test_a_verified_domain_gets_a_certificate_and_its_pages(caddy: Proxy) -> None:
    answer = _get(caddy, DOMAIN, "/app/sign-in")

    assert b" 200 " in answer.partition(b"\r\n")[0]
    assert b"Sign in" in answer


def test_the_base_url_gets_a_certificate_too(caddy: Proxy) -> None:
    assert b" 200 " in _get(caddy, "localhost", "/health").partition(b"\r\n")[0]


@pytest.mark.parametrize("name", ["evil.example", f"x.{DOMAIN}"])
def test_any_other_name_gets_no_certificate(caddy: Proxy, name: str) -> None:
    with pytest.raises(ssl.SSLError):
        _get(caddy, name, "/")


def _get(caddy: Proxy, name: str, path: str) -> bytes:
    return caddy.exchange(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode(), name=name)
