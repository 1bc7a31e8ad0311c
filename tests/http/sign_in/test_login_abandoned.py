"""A client that hangs up during a sign-in: before the comparison no failure counts, after it the result does."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from adapters.crypto.machine_slots import MachineSlots
from adapters.crypto.passwords import Argon2PasswordHasher
from entrypoints import capabilities
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.web.serving.application import Application
from tests.waiting import eventually
from tests.web.serving.connections.wires import Running, Wire, request, running
from tests.world.builder import CHEAP, EMAIL, PASSWORD
from tests.world.world import World


@pytest.fixture
def settings() -> Settings:
    """Settings with rate limits, because failed sign-ins are counted only with them."""
    return Settings(dev=True)


@pytest.fixture
def slots(tmp_path: Path) -> MachineSlots:
    """The one slot of the machine; while the test holds it, no comparison ends."""
    return MachineSlots(tmp_path, 1)


@pytest.fixture
def busy(installation: Installation, slots: MachineSlots) -> Installation:
    """The installation with a hasher that compares one password at a time, in that slot."""
    return replace(installation, passwords=Argon2PasswordHasher(places=1, machine=slots, cost=CHEAP))


async def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""

    async def is_met() -> bool:
        return holds()

    await eventually(is_met)


async def hang_up(wire: Wire) -> None:
    """Reset the connection, and let the server notice; a client that only ends its side still waits for the answer."""
    wire.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await wire.stream.aclose()
    await wait_all_tasks_blocked()


async def send_login(server: Running, password: str) -> Wire:
    body = json.dumps({"email": EMAIL, "password": password}).encode()
    wire = await server.connect()
    length = f"Content-Length: {len(body)}".encode()
    await wire.send(request(b"POST /api/auth/login HTTP/1.1", b"Content-Type: application/json", length, body=body))
    return wire


@contextmanager
def begun_comparison() -> Generator[Callable[[], bool]]:
    """Return whether a thread for comparisons has been started since."""
    before = set(threading.enumerate())
    yield lambda: any(one.name.startswith("hashing") for one in set(threading.enumerate()) - before)


def failures(world: World) -> list[bool]:
    """Return for each counted attempt whether it has failed."""
    return [has_failed for (has_failed,) in world.rows("SELECT has_failed FROM sign_in_failures")]


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
async def test_hanging_up_before_the_comparison_is_no_failed_sign_in(
    world: World, busy: Installation, slots: MachineSlots, password: str
) -> None:
    world.user()
    application = Application(busy, capabilities.routes(is_development=True))
    async with running(application) as server, trio.open_nursery() as nursery:
        with slots.held():
            nursery.start_soon(busy.passwords.verify, "occupies the only place", None)
            await wait_all_tasks_blocked()
            wire = await send_login(server, password)
            await until(lambda: failures(world) == [False])

            await hang_up(wire)

            await until(lambda: failures(world) == [])


async def test_hanging_up_during_the_comparison_of_a_wrong_password_is_a_failed_sign_in(
    world: World, busy: Installation, slots: MachineSlots
) -> None:
    world.user()
    async with running(Application(busy, capabilities.routes(is_development=True))) as server:
        with begun_comparison() as has_begun, slots.held():
            wire = await send_login(server, "wrong")
            await until(has_begun)
            await hang_up(wire)

        await until(lambda: failures(world) == [True])
        await until(lambda: world.value("SELECT count(*) FROM login_events WHERE NOT success") == 1)


async def test_hanging_up_during_the_comparison_of_the_right_password_is_neither_failed_nor_a_session(
    world: World, busy: Installation, slots: MachineSlots
) -> None:
    world.user()
    async with running(Application(busy, capabilities.routes(is_development=True))) as server:
        with begun_comparison() as has_begun, slots.held():
            wire = await send_login(server, PASSWORD)
            await until(has_begun)
            await hang_up(wire)

        await until(lambda: failures(world) == [])
        assert world.value("SELECT count(*) FROM sessions") == 0
