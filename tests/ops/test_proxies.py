"""The proxies of `ops/proxies/` before two real servers: what they pass on, what they refuse, and a rolling restart."""

from __future__ import annotations

import json
import re
import ssl
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from core.limits import LARGE_BODY_BYTES_MAX
from tests import proxies
from tests.clients import answers, load, losses
from tests.postgres import Databases
from tests.processes import Service, Services, given_database, prefixed
from tests.proxies import NAME, Proxy, client_context, free_port
from tests.shown_text import shows
from tests.stopwatch import Stopwatch
from tests.waiting import wait_until

# Each starts servers and a proxy, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# Each proxy has a client with an address of its own.
CLIENTS = {"caddy": "127.0.0.7", "nginx": "127.0.0.8", "haproxy": "127.0.0.9"}
STRANGER = "203.0.113.9"
WARM_ANSWERS = 60
SOME_REQUESTS = 10
# As many as found it, some of them at once, each with another address.
POSTS = 40
POSTS_AT_ONCE = 8
PASSWORD = "correct horse battery"
# Two would do where each takes one of the two servers.
BROKEN_REQUESTS = 4
# Far below the seconds for which a proxy leaves out a server that failed.
AT_ONCE_SECONDS_MAX = 1.0
# As nginx and HAProxy log it.
TAKEN_OUT = re.compile("upstream server temporarily disabled|Server gatehouse/(?:one|two) is DOWN|no live upstreams")
# How the paths of the operator could be written so that a proxy and Gatehouse read them differently.
INTERNAL = [
    "/metrics",
    "/%6Detrics",
    "/%6d%65trics?x=1",
    "//metrics",
    "/./metrics",
    "/x/../metrics",
    "/metrics/",
    "/internal/tls-allowed?domain=id.example.com",
    "/%69nternal/tls-allowed?domain=id.example.com",
    "/internal%2Ftls-allowed?domain=id.example.com",
    "//internal/tls-allowed?domain=id.example.com",
    f"https://{NAME}/metrics",
]
HIDDEN = b"GET /openapi.json HTTP/1.1\r\nHost: id.example.com\r\n\r\n"
# Two programs that read these differently would see different requests (RFC 9112, 11.2).
AMBIGUOUS = {
    "both lengths": b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (5 + len(HIDDEN)),
    "a length too short": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "a list of lengths": b"Content-Length: 0, %d\r\n\r\n" % len(HIDDEN),
    "a signed length": b"Content-Length: +0\r\n\r\n",
    "a space before the colon": b"Content-Length : %d\r\n\r\n" % len(HIDDEN),
    "an unknown coding": b"Transfer-Encoding: xchunked\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "two codings": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "a coding behind a tab": b"Transfer-Encoding:\x0bchunked\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "a folded header": b"X-Folded: a\r\n Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(HIDDEN),
    "a chunk of no number": b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "two hosts": b"Host: evil.example\r\n\r\n",
}

CHUNKED = ("Content-Type: application/json", "Transfer-Encoding: chunked")
LARGE_CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@dataclass
class Pair:
    """Two servers on one database, either of which can be replaced by a new process on the same port."""

    services: Services
    ports: tuple[int, int]
    running: list[Service]
    ended: list[Service]

    def restart(self, number: int) -> None:
        """Stop a server as a supervisor does, and start it again."""
        assert self.running[number].stop() == 0, self.running[number].log
        self.ended.append(self.running[number])
        self.running[number] = self.services.ready(**own(self.ports[number]))

    def requests(self) -> list[dict[str, Any]]:
        """Return the access log of both servers."""
        return [line for one in (*self.ended, *self.running) for line in one.logged("request")]

    def complete_log(self) -> list[dict[str, Any]]:
        """Return the access log with everything that has arrived until now: a line is written after its answer."""
        counts = [len(one.logged("request")) for one in self.running]
        for one in self.running:
            one.get("/health/live")
        for one, count in zip(self.running, counts, strict=True):
            wait_until(lambda one=one, count=count: len(one.logged("request")) > count)
        return self.requests()


@pytest.fixture(scope="module")
def databases_url(databases: Databases) -> Iterator[str]:
    """The database of both servers."""
    with databases.migrated() as url:
        yield url


@pytest.fixture(scope="module")
def pair(databases_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two servers behind a trusted proxy."""
    environment = given_database(databases_url) | prefixed(
        {
            "BASE_URL": f"https://{NAME}",
            "TRUSTED_PROXIES": "127.0.0.1/32",
            # As the page says for nginx, which alone has here the times of its file.
            "DRAIN_SECONDS": "3",
            "LOG_LEVEL": "debug",
        }
    )
    services = Services(tmp_path_factory.mktemp("pair"), environment)
    ports = free_port(), free_port()
    try:
        started = [services.start(**own(port)) for port in ports]
        yield Pair(services, ports, [one.wait_until_ready() for one in started], [])
    finally:
        services.close()


@pytest.fixture(scope="module", params=["caddy", "nginx", "haproxy"])
def proxy(pair: Pair, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Each proxy in turn, before both servers."""
    folder = tmp_path_factory.mktemp(request.param)
    # Its unprivileged processes write there.
    folder.chmod(0o711)
    with proxies.running(request.param, folder, [f"127.0.0.1:{port}" for port in pair.ports]) as running:
        yield running


def own(port: int) -> dict[str, str]:
    """Return the settings in which the two servers differ, as if each had a machine of its own."""
    return {"BIND": f"127.0.0.1:{port}", "DATA_DIR": f"data-{port}"}


def head(method: str, path: str, *headers: str) -> bytes:
    """Return the head of a request, after whose answer the connection ends."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {NAME}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def status(answer: bytes) -> int:
    """Return the status of the first answer."""
    return int(answer.split(b" ", 2)[1]) if answer else 0


def send_broken(proxy: Proxy, request: bytes) -> None:
    """Send a request, say that nothing follows, and wait until the proxy is done with it."""
    with proxy.connect() as connection, suppress(OSError):
        connection.sendall(request)
        connection.unwrap()


def test_the_client_is_known_and_what_it_claims_of_itself_is_not_believed(proxy: Proxy, pair: Pair) -> None:
    mark, client = f"token-{proxy.port}", CLIENTS[proxy.kind]
    claims = (f"X-Forwarded-For: {STRANGER}", "X-Forwarded-Proto: http", "X-Request-Id: mine")

    answer = proxy.exchange(head("GET", f"/app/sign-in?token={mark}", *claims), source=client)

    assert status(answer) == 200, answer
    of_client = [line for line in pair.complete_log() if line["ip_address"] == client]
    [recorded] = [line for line in of_client if line["route"] == "/app/sign-in"]
    assert recorded["request_id"] != "mine"
    # Only over https: a browser keeps these cookies to themselves.
    assert re.search(rb"(?i)set-cookie: __Host-[^\r]*; Secure", answer), answer[:2000]
    assert mark not in proxy.log


def test_what_is_internal_is_not_passed_on_however_it_is_written(proxy: Proxy) -> None:
    for path in INTERNAL:
        answer = proxy.exchange(head("GET", path))

        assert status(answer) in {301, 308, 400, 404}, (path, answer)
        assert not shows(answer.decode(errors="replace"), "sso_"), path


def test_a_body_that_is_too_large_is_refused(proxy: Proxy, pair: Pair) -> None:
    size = 4 * LARGE_BODY_BYTES_MAX

    with proxy.connect(source=CLIENTS[proxy.kind]) as connection:
        connection.sendall(
            head("POST", "/api/auth/register", "Content-Type: application/json", f"Content-Length: {size}")
        )
        answer = connection.recv(65536)

    assert status(answer) == 413, answer
    # Caddy passes the head on, which Gatehouse refuses by itself.
    reached = [line for line in pair.complete_log() if line["ip_address"] == CLIENTS[proxy.kind]]
    assert proxy.kind == "caddy" or [line["route"] for line in reached].count("/api/auth/register") == 0


def broken_requests() -> dict[str, bytes]:
    """Return what a client without an account can send that fails at the proxy, at Gatehouse, or between them."""
    length = f"Content-Length: {LARGE_BODY_BYTES_MAX}"
    return {
        "a broken chunk": head("POST", "/api/auth/login", *CHUNKED) + b"5\r\nhello\r\nzz\r\n",
        "a broken chunk of a GET": head("GET", "/health/live", *CHUNKED) + b"5\r\nhello\r\nzz\r\n",
        "a body that ends early": head("POST", "/api/auth/login", *CHUNKED) + b"ff\r\nhello",
        "a body shorter than its length": head("POST", "/api/auth/login", CHUNKED[0], length) + b"{",
        "chunks of more than the proxy takes": head("POST", "/api/auth/login", *CHUNKED) + 64 * LARGE_CHUNK,
        "a body of more than the route takes": head("POST", "/api/auth/login", CHUNKED[0], length)
        + b"x" * LARGE_BODY_BYTES_MAX,
        "large headers": head("GET", "/health/live", *(f"X-Filler-{number}: {'x' * 5000}" for number in range(3))),
        "many headers": head("GET", "/health/live", *(f"X-Filler-{number}: x" for number in range(150))),
    }


def test_a_broken_request_takes_no_server_from_the_other_clients(
    proxy: Proxy, subtests: pytest.Subtests, stopwatch: Stopwatch
) -> None:
    for name, request in broken_requests().items():
        with subtests.test(request=name):
            before = len(proxy.log)
            for _ in range(BROKEN_REQUESTS):
                # A proxy that sends it to the servers again and again would still be at it.
                with stopwatch.within(AT_ONCE_SECONDS_MAX):
                    send_broken(proxy, request)
            with stopwatch.within(AT_ONCE_SECONDS_MAX):
                answer = proxy.exchange(head("GET", "/health/live"))

            assert status(answer) == 200, answer
            assert not TAKEN_OUT.search(proxy.log[before:])


def test_a_request_that_could_be_read_in_two_ways_hides_no_other(proxy: Proxy, pair: Pair) -> None:
    shown = 0
    for name, shape in AMBIGUOUS.items():
        first = f"POST /api/auth/login HTTP/1.1\r\nHost: {NAME}\r\nContent-Type: application/json\r\n".encode()

        answer = proxy.exchange(first + shape + HIDDEN + head("GET", "/health/live"), source=CLIENTS[proxy.kind])

        assert status(answer) in {400, 501, 502}, (name, answer)
        # Caddy follows the standard in what it reads; the others read nothing after it.
        assert proxy.kind == "caddy" or len(re.findall(rb"^HTTP/1.1 \d", answer, re.MULTILINE)) == 1, (name, answer)
        shown += len(re.findall(rb'\r\n\{"openapi":', answer))

    # What Gatehouse took for a request of its own, the proxy has seen and answered as well.
    reached = [line for line in pair.complete_log() if line["ip_address"] == CLIENTS[proxy.kind]]
    assert [line["route"] for line in reached].count("/openapi.json") == shown


def test_a_rolling_restart_fails_no_request(proxy: Proxy, pair: Pair) -> None:
    context = client_context()
    # TLS 1.3 sends tickets after the handshake, which would look like the end of a connection to these clients.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    paths = ["/app/sign-in", "/.well-known/jwks.json", "/api/user"]
    with load(proxy.port, paths, loyal=4, fickle=4, host=NAME, tls=context) as clients:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        for number in (0, 1):
            pair.restart(number)
            restarted = pair.running[number]
            # The proxy sends it requests again before the other one leaves.
            wait_until(lambda one=restarted: len(work(one)) > SOME_REQUESTS, seconds_max=120)

    assert losses(clients) == []
    assert not any(client.is_turned_away for client in clients)
    assert {answer.status for answer in answers(clients)} == {200, 401}


# A proxy that asks too late whether the other one is ready has none.
@pytest.mark.timing
def test_a_server_that_is_stopped_as_soon_as_the_other_is_ready_fails_no_request(proxy: Proxy, pair: Pair) -> None:
    context = client_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with load(proxy.port, ["/api/user"], loyal=2, fickle=4, host=NAME, tls=context) as clients, posting(proxy) as posts:
        wait_until(lambda: len(answers(clients)) > WARM_ANSWERS)
        for number in (0, 1, 0):
            # Ready again when it returns, and the proxy has not seen that yet.
            pair.restart(number)

    assert losses(clients) == []
    assert {answer.status for answer in answers(clients)} == {401}
    assert len(posts) > SOME_REQUESTS
    assert set(posts) == {401}


def test_while_a_server_refuses_connections_each_body_reaches_the_other_one_once(
    proxy: Proxy, pair: Pair, databases_url: str
) -> None:
    pair.running[0].kill()
    pair.ended.append(pair.running[0])
    try:
        if proxy.kind == "caddy":
            # Before 2.11.2 it gives up a request with a body, until its check has noticed.
            wait_until(lambda: statuses_of(proxy, "refused", 8) == [200] * 8)
        before = registered(databases_url)

        statuses = statuses_of(proxy, "posted", POSTS)

        assert statuses == [200] * POSTS
        # A proxy that confuses the buffers of two requests would send one body twice, and another one never.
        expected = {address_of(proxy, "posted", number) for number in range(POSTS)}
        assert registered(databases_url) - before == expected
    finally:
        pair.running[0] = pair.services.ready(**own(pair.ports[0]))


def address_of(proxy: Proxy, name: str, number: int) -> str:
    """Return the address that a request registers."""
    return f"{name}-{proxy.port}-{number}@example.org"


def statuses_of(proxy: Proxy, name: str, number: int) -> list[int]:
    """Send so many registrations, some at once, each of another address; return their statuses."""

    def send(which: int) -> int:
        body = json.dumps({"email": address_of(proxy, name, which), "password": f"{PASSWORD} {which}"}).encode()
        request = head("POST", "/api/auth/register", CHUNKED[0], f"Content-Length: {len(body)}")
        return status(proxy.exchange(request + body))

    with ThreadPoolExecutor(POSTS_AT_ONCE) as threads:
        return list(threads.map(send, range(number)))


def registered(url: str) -> set[str]:
    """Return the addresses that are registered."""
    with psycopg.connect(url) as connection:
        return {address for (address,) in connection.execute("SELECT email FROM users").fetchall()}


@contextmanager
def posting(proxy: Proxy) -> Generator[list[int]]:
    """Send sign-ins that are refused during the block, one after another; yield their statuses."""
    statuses: list[int] = []
    ended = threading.Event()
    body = b'{"email": "ann@example.org", "password": "correct horse battery"}'
    request = head("POST", "/api/auth/login", CHUNKED[0], f"Content-Length: {len(body)}") + body

    def send() -> None:
        while not ended.is_set():
            statuses.append(status(proxy.exchange(request)))

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield statuses
    finally:
        ended.set()
        thread.join()


def work(service: Service) -> list[dict[str, Any]]:
    """Return the requests that a server has answered, without the checks of a proxy."""
    return [line for line in service.logged("request") if not line["route"].startswith("/health")]
