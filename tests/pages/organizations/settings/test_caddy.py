"""The Caddyfile of the manual with the real Caddy: certificates for our own names and for no others."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.custom_domain import serving_domain
from tests.documents import MANUAL, block
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.sessions.signing_keys import KeyPair
    from tests.postgres import Databases

pytestmark = pytest.mark.long

CADDY = shutil.which("caddy")
DOMAIN = "id.acme.example"
PAGE = MANUAL / "reverse-proxy.md"
END_SECONDS_MAX = 10.0
OPTIONS = """{{
    admin off
    local_certs
    skip_install_trust
    auto_https disable_redirects
    https_port {https_port}
    http_port {http_port}
"""


@pytest.fixture(scope="module")
def port(
    databases: Databases, key_pairs: tuple[KeyPair, KeyPair], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    """The port at which Caddy serves https, with certificates of its own authority."""
    if CADDY is None:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no Caddy in the path; apt-get install caddy")
    folder = tmp_path_factory.mktemp("caddy")
    with serving_domain(databases, key_pairs, DOMAIN) as site:
        port = _free_port()
        caddyfile = folder / "Caddyfile"
        caddyfile.write_text(_adapted(block(PAGE, "caddyfile"), port, urlsplit(site.url).netloc))
        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [CADDY, "run", "--config", str(caddyfile)], env=environment, stdout=log, stderr=log
            )
            try:
                wait_until(lambda: _answers(port))
                yield port
            finally:
                process.terminate()
                process.wait(END_SECONDS_MAX)


def test_a_verified_domain_gets_a_certificate_and_its_pages(port: int) -> None:
    answer = _get(port, DOMAIN, "/app/sign-in")

    assert b" 200 " in answer.partition(b"\r\n")[0]
    assert b"Sign in" in answer


def test_the_base_url_gets_a_certificate_too(port: int) -> None:
    assert b" 200 " in _get(port, "localhost", "/health").partition(b"\r\n")[0]


@pytest.mark.parametrize("name", ["evil.example", f"x.{DOMAIN}"])
def test_any_other_name_gets_no_certificate(port: int, name: str) -> None:
    with pytest.raises(ssl.SSLError):
        _get(port, name, "/")


def _adapted(caddyfile: str, port: int, upstream: str) -> str:
    """Return the Caddyfile for this machine: other ports, and no certificate authority of the internet."""
    options = OPTIONS.format(https_port=port, http_port=_free_port())
    for old, new in (("127.0.0.1:8000", upstream), ("{\n", options), ("id.example.com", "localhost")):
        assert old in caddyfile, old
        caddyfile = caddyfile.replace(old, new, 1 if new == options else -1)
    return caddyfile


def _get(port: int, name: str, path: str) -> bytes:
    context = ssl.create_default_context()
    # The authority is Caddy's own; which names get a certificate is what is tested.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", port), 10) as plain,
        context.wrap_socket(plain, server_hostname=name) as connection,
    ):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


def _answers(port: int) -> bool:
    try:
        return b" 200 " in _get(port, "localhost", "/health")
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]
