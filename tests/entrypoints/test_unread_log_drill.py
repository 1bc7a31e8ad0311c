"""The drill of an unread log: under full load it costs no request, and little memory.

Two servers, each with two workers on a database of its own, take turns under the same load. What one writes is read,
what the other writes is not. `GATEHOUSE_TEST_DRILL_SECONDS` is how long each is loaded, all its turns together: 300 is
the whole drill.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from statistics import median
from typing import Final

import psutil
import pytest

from tests.entrypoints.piped_service import PIPELINED, PipedService, ask, piped_service
from tests.postgres import Databases

# It compares two loads, and so needs the machine for itself.
pytestmark = [pytest.mark.timing, pytest.mark.long]

SECONDS: Final = float(os.environ.get("GATEHOUSE_TEST_DRILL_SECONDS", "6"))
TURNS: Final = 6
CLIENTS: Final = 4
GROWTH_BYTES_MAX: Final = 20 * 1024**2
SHARE_MIN: Final = 0.95

log = logging.getLogger(__name__)


def _load(service: PipedService, *, is_read: bool) -> float:
    """Send as many requests as are answered, for a turn; return how many that is a second."""
    ends_at = time.monotonic() + SECONDS / TURNS
    began_at = time.monotonic()
    answered = list[int]()

    def send() -> None:
        while time.monotonic() < ends_at:
            answered.append(ask(service.service.port, PIPELINED))

    clients = [threading.Thread(target=send) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    while any(client.is_alive() for client in clients):
        if is_read:
            service.discard()
        time.sleep(0.01)
    assert set(answered) == {PIPELINED}, "a request was not answered"
    return sum(answered) / (time.monotonic() - began_at)


def _bytes(service: PipedService) -> int:
    processes = [psutil.Process(service.service.process.pid), *service.service.workers()]
    return sum(process.memory_full_info().pss for process in processes)


def test_a_log_that_nobody_reads_costs_no_request_and_little_memory(tmp_path: Path, databases: Databases) -> None:
    folders = [tmp_path / name for name in ("read", "unread")]
    for folder in folders:
        folder.mkdir()
    with (
        databases.migrated() as one,
        databases.migrated() as another,
        piped_service(folders[0], one) as read,
        piped_service(folders[1], another) as unread,
    ):
        # What is used for the first time takes memory in both.
        for service in (read, unread):
            _load(service, is_read=True)
        before = {service.service.port: _bytes(service) for service in (read, unread)}

        rates = [(_load(read, is_read=True), _load(unread, is_read=False)) for _ in range(TURNS)]

        grown = {service.service.port: _bytes(service) - before[service.service.port] for service in (read, unread)}
        share = median(of_unread / of_read for of_read, of_unread in rates)
        log.info("requests a second, read and unread: %s; share %.3f; grown %s", rates, share, grown)
        assert grown[unread.service.port] - grown[read.service.port] < GROWTH_BYTES_MAX
        assert share > SHARE_MIN
        assert unread.service.get("/health/ready").status == 200
