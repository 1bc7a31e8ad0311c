"""Nodes of one installation behind HAProxy, which keeps no client at any of them, and the load on them."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.processes import ANSWER_SECONDS_MAX, Answer, Service, Services
from tests.proxies import Proxy, client_context
from tests.waiting import wait_until
from tests.world.builder import PASSWORD

HOST = "localhost:8000"
# After it is started, before the next one is replaced.
SOME_REQUESTS = 5
PAUSE_SECONDS_MAX = 0.25
START_SECONDS_MAX = 120.0
ASK_SECONDS = 0.2


def metric(service: Service, pattern: str) -> float:
    """Return the sum of the samples whose names with their labels match."""
    exposition = service.get("/metrics").content.decode()
    return sum(float(value) for value in re.findall(rf"^{pattern} (\S+)$", exposition, re.MULTILINE))


def wait_for(is_met: Callable[[], bool]) -> None:
    """Return when the condition holds, asking for it a few times a second, because metrics cost the nodes some time."""

    def is_met_now() -> bool:
        time.sleep(ASK_SECONDS)
        return is_met()

    wait_until(is_met_now, seconds_max=START_SECONDS_MAX)


def live_processes(service: Service) -> float:
    """Return how many processes a node knows, itself included."""
    return metric(service, "sso_live_processes")


def actors_down(service: Service) -> set[str]:
    """Return the actors of a node that do not run; it has some that do."""
    actors = dict(re.findall(r'^sso_actor_up{actor="(\w+)"} (\S+)$', service.get("/metrics").content.decode(), re.M))
    assert actors
    return {name for name, up in actors.items() if float(up) != 1}


def is_polling(service: Service) -> bool:
    """Return whether a node polls for all."""
    return metric(service, r'sso_polling_processes{role="polling"}') == 1


@dataclass
class Nodes:
    """Nodes on one database, each with a port and a data folder of its own, which its successor takes over."""

    services: Services
    ports: Sequence[int]
    running: list[Service] = field(default_factory=list[Service])
    ended: list[Service] = field(default_factory=list[Service])

    def start(self) -> None:
        """Start all at once."""
        started = [self.services.start(**self._own(port)) for port in self.ports]
        self.running = [one.wait_until_ready() for one in started]

    def stop(self, number: int) -> None:
        """Stop a node as a supervisor does."""
        assert self.running[number].stop() == 0, self.running[number].log
        self.ended.append(self.running[number])

    def start_again(self, number: int) -> Service:
        """Start the successor of a node, and wait until the balancer sends it requests."""
        node = self.running[number] = self.services.ready(**self._own(self.ports[number]))
        count = r'sso_http_request_duration_seconds_count{.*route="/api/user".*}'
        wait_for(lambda: metric(node, count) >= SOME_REQUESTS)
        return node

    def others(self, number: int) -> list[Service]:
        """Return all nodes but one."""
        return [node for other, node in enumerate(self.running) if other != number]

    def overloaded(self) -> Counter[tuple[str, int]]:
        """Return what nodes that were not stopping have refused, by path and status: they had more to do than they can.

        On a machine that is far too busy PostgreSQL takes longer than a request waits, whether or not a node is
        replaced. What a node that stops refuses, or the balancer itself, is not among it.
        """
        refused = Counter[tuple[str, int]]()
        for node in (*self.ended, *self.running):
            serving = itertools.takewhile(lambda line: line["event"] != "server.stopping", node.events)
            refused.update(
                (line["route"], line["status"])
                for line in serving
                if line["event"] == "request" and line["status"] == 503
            )
        return refused

    def _own(self, port: int) -> dict[str, str]:
        return {"BIND": f"127.0.0.1:{port}", "DATA_DIR": f"data-{port}"}


class Balancer:
    """Sends requests through the balancer, each on a connection of its own, from a network of its own by default."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._context: ssl.SSLContext = client_context()
        self._numbers: Iterator[int] = itertools.count()

    def request(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, source: str | None = None
    ) -> Answer:
        """Send a request of a program."""
        number = next(self._numbers)
        connection = http.client.HTTPSConnection(
            "127.0.0.1",
            self._proxy.port,
            timeout=ANSWER_SECONDS_MAX,
            context=self._context,
            source_address=(source or f"127.{10 + number // 250}.{number % 250}.1", 0),
        )
        headers = {"Host": HOST, "Content-Type": "application/json", "Connection": "close"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def sign_in(self, email: str, password: str = PASSWORD, *, source: str | None = None) -> Answer:
        """Sign in by password."""
        return self.request("POST", "/api/auth/login", {"email": email, "password": password}, source=source)


@dataclass
class Load:
    """Clients that sign in, read, continue a session and register, and all that they were answered."""

    balancer: Balancer
    user: str
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    lost: list[str] = field(default_factory=list[str])
    # Of those that were confirmed.
    tokens: list[str] = field(default_factory=list[str])
    registered: list[str] = field(default_factory=list[str])
    is_ending: bool = False

    def more(self, requests: int) -> None:
        """Return when so many more were answered."""
        enough = self.statuses.total() + requests
        wait_until(lambda: self.statuses.total() >= enough or bool(self.lost), seconds_max=START_SECONDS_MAX)

    def bad(self) -> Counter[tuple[str, int]]:
        """Return the answers that no client should have got, by path and status."""
        return Counter({asked: count for asked, count in self.statuses.items() if asked[1] != 200})

    def ask(self, method: str, path: str, body: Any = None, *, token: str | None = None) -> Any:
        """Send a request; return a good answer, None instead of another one or of none."""
        time.sleep(random.uniform(0, PAUSE_SECONDS_MAX))
        try:
            answer = self.balancer.request(method, path, body, token=token)
        except (OSError, http.client.HTTPException) as loss:
            self.lost.append(f"{method} {path}: {loss!r}")
            return None
        self.statuses[path, answer.status] += 1
        return answer.json if answer.status == 200 else None

    def sign_in(self) -> None:
        """Sign in."""
        if (tokens := self.ask("POST", "/api/auth/login", {"email": self.user, "password": PASSWORD})) is not None:
            self.tokens.append(tokens["access_token"])

    def read(self) -> None:
        """Read by the newest of the tokens, most likely at another node than the one that made it."""
        if self.tokens:
            self.ask("GET", "/api/user", token=self.tokens[-1])

    def register(self) -> None:
        """Register an account."""
        email = f"person-{len(self.registered)}@new.example"
        if self.ask("POST", "/api/auth/register", {"email": email, "password": PASSWORD}) is not None:
            self.registered.append(email)

    def refreshing(self) -> Callable[[], None]:
        """Return what continues a session from one refresh token to the next."""
        token: str = self.balancer.sign_in(self.user).json["refresh_token"]

        def refresh() -> None:
            nonlocal token
            if (tokens := self.ask("POST", "/api/auth/refresh", {"refresh_token": token})) is not None:
                token = tokens["refresh_token"]

        return refresh


@contextmanager
def load_on(balancer: Balancer, user: str) -> Generator[Load]:
    """Let clients work for as long as the block runs."""
    load = Load(balancer, user)

    def work(step: Callable[[], None]) -> None:
        while not load.is_ending:
            step()

    steps = [load.sign_in, load.read, load.read, load.register, load.refreshing()]
    threads = [threading.Thread(target=work, args=(step,), daemon=True) for step in steps]
    for thread in threads:
        thread.start()
    try:
        yield load
    finally:
        load.is_ending = True
        for thread in threads:
            thread.join(ANSWER_SECONDS_MAX)


def at_all(nodes: Sequence[Service], ask: Callable[[Service], Answer]) -> list[Answer]:
    """Ask every node at the same time."""
    with ThreadPoolExecutor(len(nodes)) as threads:
        return list(threads.map(ask, nodes))
