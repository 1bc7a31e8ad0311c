"""The reverse proxies of `ops/proxies/` as they run on this machine: the same configuration with other names and ports.

What is replaced has to be in the file, so that a change of the configuration cannot leave the tests with another one.
"""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
import trustme

from tests.documents import ROOT
from tests.waiting import wait_until

PROXIES: Final = ROOT / "ops" / "proxies"
FILES: Final = {"caddy": "Caddyfile", "nginx": "nginx.conf", "haproxy": "haproxy.cfg"}
NAME: Final = "id.example.com"
UPSTREAMS: Final = ("10.0.0.1:8000", "10.0.0.2:8000")
# The last line of the servers of HAProxy, after which more can be named.
LAST_SERVER: Final = f"    server two {UPSTREAMS[1]}"
END_SECONDS_MAX: Final = 60.0
ANSWER_SECONDS_MAX: Final = 60.0
# Instead of every second, so that the tests need not wait.
CADDY_PERIOD: Final = "100ms"
# Instead of every two seconds, and every second while it is out; a drain lasts long enough for two checks. The second
# is so much less than the first that a server whose first answer takes 100 ms is back before the other one is out.
HAPROXY_PERIOD: Final = "500ms"
HAPROXY_PERIOD_OUT: Final = "250ms"
CADDY_OPTIONS: Final = """{{
    admin off
    local_certs
    skip_install_trust
    auto_https disable_redirects
    https_port {https_port}
    http_port {http_port}
"""


@dataclass(frozen=True)
class Proxy:
    """A proxy that runs, and all that it has logged."""

    kind: str
    port: int
    log_files: tuple[Path, ...]

    @property
    def log(self) -> str:
        """The log of the proxy, and the log of the requests."""
        return "\n".join(file.read_text(errors="replace") for file in self.log_files if file.exists())

    def connect(self, *, name: str = NAME, source: str = "127.0.0.1") -> ssl.SSLSocket:
        """Open a TLS connection of HTTP/1.1 for a name, from an address of this machine."""
        plain = socket.create_connection(("127.0.0.1", self.port), ANSWER_SECONDS_MAX, (source, 0))
        try:
            return client_context().wrap_socket(plain, server_hostname=name)
        except BaseException:
            plain.close()
            raise

    def exchange(self, request: bytes, *, name: str = NAME, source: str = "127.0.0.1") -> bytes:
        """Send bytes on a connection of their own, and return all that comes back until its end."""
        with self.connect(name=name, source=source) as connection:
            connection.sendall(request)
            return received(connection)


def client_context() -> ssl.SSLContext:
    """Return how a client connects: each proxy has an authority of its own, and is not asked for it."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def received(connection: socket.socket) -> bytes:
    """Return what comes until the end; a proxy that refuses a request may reset the connection after its answer."""
    data = b""
    try:
        while part := connection.recv(65536):
            data += part
    except (ConnectionResetError, ssl.SSLError):
        pass
    return data


@contextmanager
def running(kind: str, folder: Path, upstreams: Sequence[str], *, name: str = NAME) -> Generator[Proxy]:
    """Run one of the proxies before these addresses until the block ends; skip the test where it is not installed.

    Only HAProxy takes more than two.
    """
    # Debian installs some where only root's path leads.
    program = shutil.which(kind, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")
    if program is None:
        # In CI a missing program is an error, so that success means that these tests ran.
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing(f"no {kind} in the path; apt-get install {kind}")
    port = free_port()
    text = (PROXIES / FILES[kind]).read_text()
    more = [f"    server more-{number} {upstream}" for number, upstream in enumerate(upstreams[2:])]
    if more:
        text = _replaced(text, {LAST_SERVER: "\n".join([LAST_SERVER, *more])})
    text = _replaced(text, dict(zip(UPSTREAMS, upstreams[:2], strict=True)))
    text, arguments, log_files = _ADAPT[kind](text, folder, port, name)
    config = folder / FILES[kind]
    config.write_text(text)
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, *arguments, str(config)], cwd=folder, env=environment, stdout=output, stderr=output
        )
    try:
        proxy = Proxy(kind, port, (log, *log_files))
        wait_until(lambda: process.poll() is not None or _answers(proxy, name))
        assert process.poll() is None, proxy.log
        yield proxy
    finally:
        process.terminate()
        process.wait(END_SECONDS_MAX)


def _caddy(text: str, folder: Path, port: int, name: str) -> tuple[str, list[str], list[Path]]:
    # No certificate authority of the internet.
    options = CADDY_OPTIONS.format(https_port=port, http_port=free_port())
    adapted = _replaced(
        text, {"\n{\n": f"\n{options}", NAME: name, "health_interval 1s": f"health_interval {CADDY_PERIOD}"}
    )
    return adapted, ["run", "--adapter", "caddyfile", "--config"], []


def _nginx(text: str, folder: Path, port: int, name: str) -> tuple[str, list[str], list[Path]]:
    certificate, key = _certificate(folder, name)
    changes = {
        "/etc/ssl/id.example.com.pem": str(certificate),
        "/etc/ssl/private/id.example.com.key": str(key),
        f"server_name {NAME}": f"server_name {name}",
        "/run/nginx.pid": str(folder / "nginx.pid"),
        "/var/log/nginx/": f"{folder}/",
        "listen 80 ": f"listen 127.0.0.1:{free_port()} ",
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "worker_processes auto": "worker_processes 2",
        "http {": f"http {{ client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;"
        f" fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;",
    }
    logs = [folder / "error.log", folder / "access.log"]
    return _replaced(text, changes), ["-e", str(logs[0]), "-g", "daemon off;", "-p", str(folder), "-c"], logs


def _haproxy(text: str, folder: Path, port: int, name: str) -> tuple[str, list[str], list[Path]]:
    certificate, key = _certificate(folder, name)
    whole = folder / "certificates"
    whole.mkdir()
    (whole / "id.pem").write_bytes(certificate.read_bytes() + key.read_bytes())
    changes = {
        "/etc/haproxy/certificates/": str(whole),
        "log /dev/log local0": "log stdout format raw local0",
        "bind :80": f"bind 127.0.0.1:{free_port()}",
        "bind :443": f"bind 127.0.0.1:{port}",
        "check inter 2s downinter 1s": f"check inter {HAPROXY_PERIOD} downinter {HAPROXY_PERIOD_OUT}",
    }
    if os.geteuid() != 0:
        changes |= {"    user haproxy\n": "", "    group haproxy\n": "", "    chroot /var/lib/haproxy\n": ""}
    return _replaced(text, changes), ["-db", "-f"], []


_ADAPT: Final = {"caddy": _caddy, "nginx": _nginx, "haproxy": _haproxy}


def _replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"{old} is not in the configuration any more"
        text = text.replace(old, new)
    return text


def _certificate(folder: Path, name: str) -> tuple[Path, Path]:
    issued = trustme.CA().issue_cert(name)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    issued.private_key_pem.write_to_path(key)
    return certificate, key


def _answers(proxy: Proxy, name: str) -> bool:
    request = f"GET /health HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode()
    try:
        return b" 200 " in proxy.exchange(request, name=name).partition(b"\r\n")[0]
    except OSError:
        return False


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]
