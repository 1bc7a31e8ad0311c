"""The file system of the data folder is full: no request is broken, no worker dies, and a start works.

`GATEHOUSE_TEST_FULL_SECONDS=300` is the drill of five minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Final

import psutil
import pytest

from tests.clients import answers, load, losses
from tests.drills import Lasting, memory_of, size_of
from tests.processes import Service, Services
from tests.waiting import wait_until

# It starts servers and signs in; CI runs it in its turn.
pytestmark = pytest.mark.long

FULL_SECONDS: Final = size_of("FULL_SECONDS", 0)
PATHS: Final = ["/health/ready", "/.well-known/jwks.json", "/nothing/here"]
ANSWERS_MIN: Final = 300
SIGN_INS_MIN: Final = 10
FOLDER_MIB: Final = 8
MEMORY_BYTES_MAX: Final = 20 * 1024**2
EMAIL, PASSWORD = "owner@example.com", "correct horse battery"


@pytest.fixture
def small(services: Services) -> Generator[Path]:
    """A data folder on a file system of its own, of 8 MB."""
    folder = services.folder / "data"
    folder.mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={FOLDER_MIB}m,mode=0700", "none", folder]
    mounted = subprocess.run(mount, check=False, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.strip()}")
    yield folder
    services.close()
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(folder: Path) -> None:
    """Write until nothing more fits."""
    with (folder / "filling").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert os.statvfs(folder).f_bavail == 0


def sign_in(service: Service) -> int:
    """Sign in, and return the status of the answer."""
    return service.request(
        "POST", "/api/auth/login", body=json.dumps({"email": EMAIL, "password": PASSWORD}).encode()
    ).status


def family(service: Service) -> list[psutil.Process]:
    """Return the processes of a server."""
    return [psutil.Process(service.process.pid), *service.workers()]


def test_a_full_data_folder_costs_no_request_no_sign_in_and_no_start(services: Services, small: Path) -> None:
    owner = {"OWNER_EMAIL": EMAIL, "OWNER_PASSWORD": PASSWORD}
    service = services.ready("--workers", "2", **owner)
    service.wait_for("worker.ready")
    assert sign_in(service) == 200
    assert service.stop() == 0
    # A first start on a disk with space; the others have none.
    fill(small)
    assert not (small / "metrics").exists()

    service = services.ready("--workers", "2", **owner)
    service.wait_for("worker.ready")
    with load(service.port, PATHS, loyal=4, fickle=4) as clients:
        wait_until(lambda: len(answers(clients)) > ANSWERS_MIN)
        drill, statuses, warm = Lasting(FULL_SECONDS), Counter[int](), 0
        while not drill.is_over() or statuses.total() < SIGN_INS_MIN:
            statuses[sign_in(service)] += 1
            assert service.get("/metrics").status == 200
            if not warm and drill.is_over(1 / 3):
                warm = memory_of(family(service))
        last = memory_of(family(service))

    assert losses(clients) == []
    assert {answer.status for answer in answers(clients)} == {200, 404}
    assert set(statuses) == {200}
    assert [line for line in service.events if line["event"] == "worker.died"] == []
    # Each thread that hashes takes its memory once, so only the drill is long enough.
    assert last - warm < MEMORY_BYTES_MAX or not FULL_SECONDS
    # The doctor and the alert see it.
    free = f"sso_data_folder_free_bytes {float(os.statvfs(small).f_bavail)}".encode()
    assert free in service.get("/metrics").content
    assert service.stop() == 0
