"""Clients that register one account after the other, and remember what was confirmed to them and when."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

# Longer than a server waits for anything; a request without an answer by then is a defect.
ANSWER_SECONDS_MAX: Final = 60.0
# Between two requests of a client, so that a refusal is not asked for a thousand times a second.
PAUSE_SECONDS_MAX: Final = 0.1


@dataclass
class Registrant(threading.Thread):
    """Registers accounts at one server, each over a connection of its own, until it gets a message to end."""

    port: int
    prefix: str
    # When each answer came, and whether it confirmed.
    confirmed: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    statuses: Counter[int] = field(default_factory=Counter[int])
    refused: int = 0
    # What else happened to a request.
    failures: list[str] = field(default_factory=list[str])
    is_ending: bool = False

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        """Register."""
        number = 0
        while not self.is_ending:
            number += 1
            address = f"{self.prefix}-{number}@example.com"
            try:
                status = self._register(address)
            except ConnectionRefusedError:
                self.refused += 1
            except (OSError, http.client.HTTPException) as failure:
                self.failures.append(repr(failure))
            else:
                self.statuses[status] += 1
                if status == 200:
                    self.confirmed.append((time.monotonic(), address))
            time.sleep(random.uniform(0, PAUSE_SECONDS_MAX))

    def _register(self, address: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS_MAX)
        try:
            body = json.dumps({"email": address, "password": "correct horse battery"})
            connection.request("POST", "/api/auth/register", body, {"Content-Type": "application/json"})
            response = connection.getresponse()
            response.read()
            return response.status
        finally:
            connection.close()


@contextmanager
def registering(ports: Sequence[int], *, name: str, clients: int) -> Generator[list[Registrant]]:
    """Register at each of these servers during the block, by so many clients each."""
    registrants = [Registrant(port, f"{name}-{port}-{number}") for port in ports for number in range(clients)]
    for registrant in registrants:
        registrant.start()
    try:
        yield registrants
    finally:
        for registrant in registrants:
            registrant.is_ending = True
        for registrant in registrants:
            registrant.join()


def confirmed_since(registrants: Sequence[Registrant], at: float) -> bool:
    """Return whether every client had a confirmation after that moment."""
    return all(any(when > at for when, _ in list(one.confirmed)[-1:]) for one in registrants)


def interruption(registrants: Sequence[Registrant], broken_at: float) -> float:
    """Return for how long after that moment nothing was confirmed, at the server where that took longest.

    The end of the longest pause between two confirmations of a server is when it was back.
    """
    return max(
        _interruption([one for one in registrants if one.port == port], broken_at) for port in _ports(registrants)
    )


def _ports(registrants: Sequence[Registrant]) -> set[int]:
    return {one.port for one in registrants}


def _interruption(registrants: Sequence[Registrant], broken_at: float) -> float:
    moments = sorted(when for one in registrants for when, _ in one.confirmed)
    later = [max(broken_at, moments[0]), *(when for when in moments if when > broken_at)]
    pauses = [(end - begin, end) for begin, end in pairwise(later)]
    return max(pauses)[1] - broken_at
