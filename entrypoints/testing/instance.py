"""`gatehouse test-instance`: an instance for the tests of a product, whose data is thrown away with it.

It is in development mode, has a database and a port of its own, and a clock that tests move (`control.py`). Its first
line of output is a JSON object for the test kit; it stops when its input ends, so none outlives the tests that use it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import trio

from core.accounts import passwords
from core.platform import owners
from core.secrets import Secret
from entrypoints import capabilities, database, equipment, local_names, logs, main
from entrypoints.database import FreshStates
from entrypoints.installation import Installation
from entrypoints.local_names import LocalNames
from entrypoints.refusals import CannotStart
from entrypoints.server import Server, listen
from entrypoints.settings import Bind, Settings
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.signals import stop_signals
from entrypoints.testing import control
from entrypoints.testing.control import MovableClock
from entrypoints.web.serving.application import Application

HOST: Final = "127.0.0.1"
OWNER: Final = "owner@gatehouse.test"
TOKEN_BYTES: Final = 24
PASSWORD_BYTES: Final = 12
IN_FLIGHT_SECONDS_MAX: Final = 1.0
INPUT_BYTES_MAX: Final = 65_536
# Beside a database that was made to be copied. No other one is: a copy of a database that runs leads to its server.
PREPARED: Final = "prepared-for-test-instances"
MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder in it is made for this process alone
MEMORY_BYTES_MIN: Final = 1 << 30


def run(settings: Settings, *, prepared: Path | None) -> int:
    """Serve until the input ends or a stop signal; `prepared` is a folder that keeps a new database for next time."""
    if not settings.dev:
        raise CannotStart(
            "A test instance is open to every program on this machine, so it exists in development mode alone. Set"
            " GATEHOUSE_DEV=on to start one; never do so where people sign in."
        )
    if settings.database_url is not None:
        raise CannotStart(
            "A test instance deletes everything in its database, so it has one of its own. Unset"
            " GATEHOUSE_DATABASE_URL for it."
        )
    # The output is for the test kit.
    logs.configure(log_format=settings.log_format, log_level=settings.log_level, output=sys.stderr)
    logs.allow_thread()
    with listen(Bind(host=HOST, port=0), setting="the port") as listener, _data_folder(prepared) as folder:
        url = f"http://localhost:{listener.getsockname()[1]}"
        settings = replace(settings, data_dir=folder, base_url=url, rate_limits=False, owner_email=OWNER)
        with database.throwaway(folder, lambda _: None) as (address, states):
            trio.run(_serve, settings, address, states, partial(Server, listener=listener))
    return 0


async def _serve(settings: Settings, address: Secret, states: FreshStates, server: partial[Server]) -> None:
    stopping, clock, token = trio.Event(), MovableClock(), Secret(secrets.token_urlsafe(TOKEN_BYTES))
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_stop_on_signal, stopping)
        nursery.start_soon(_stop_with_input, stopping)
        names = LocalNames()
        asking = replace(settings, dns_server=Bind(host=local_names.HOST, port=await nursery.start(names.serve)))
        async with main.connected(asking, address, clock=clock) as connected:
            installation = replace(connected.installation, passwords=equipment.quick_password_hasher())
            await connected.load_secrets()
            await _appoint_owner(installation, password)
            states.keep()
            connected.start_actors()
            restore = partial(trio.to_thread.run_sync, states.restore, limiter=trio.CapacityLimiter(1))
            routes = capabilities.routes(is_development=True)
            routes += control.routes_of(token, clock, names, restore).routes
            started = {
                "base_url": settings.base_url,
                "token": token.reveal(),
                "owner": {"email": OWNER, "password": password},
                "version": installation.version,
            }
            sys.stdout.write(f"{json.dumps(started)}\n")
            sys.stdout.flush()
            await server(Application(installation, routes), in_flight_seconds_max=IN_FLIGHT_SECONDS_MAX).serve(stopping)
        nursery.cancel_scope.cancel()


async def _appoint_owner(installation: Installation, password: str) -> None:
    new = passwords.accepted(password, "password", installation.password_rules, [OWNER])
    await installation.database.transact(owners.appoint_first, OWNER, await hashed(installation, new))


async def _stop_on_signal(stopping: trio.Event) -> None:
    with trio.open_signal_receiver(*stop_signals()) as signals:
        async for _ in signals:
            stopping.set()


async def _stop_with_input(stopping: trio.Event) -> None:
    """Stop when the input ends, as it does with the process of the tests."""
    await trio.to_thread.run_sync(_read_input, abandon_on_cancel=True, limiter=trio.CapacityLimiter(1))
    stopping.set()


def _read_input() -> None:
    # Of the descriptor: the object that Python makes of it aborts a process that ends while a thread reads it.
    while os.read(0, INPUT_BYTES_MAX):
        pass


@contextmanager
def _data_folder(prepared: Path | None) -> Generator[Path]:
    """Yield a folder for the data, which is deleted afterwards: a copy of the prepared one, if there is one."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-test-", dir=_memory()) as folder:
        data = Path(folder) / "data"
        if prepared is not None:
            if not prepared.exists():
                _prepare(prepared)
            if not (prepared / PREPARED).exists():
                raise CannotStart(
                    f"{prepared} was not prepared for test instances, so it is left alone. Name a folder that does not"
                    " exist, or delete it."
                )
            _copy(prepared, data)
        yield data


def _memory() -> Path | None:
    """Return where files are in memory, if that has room; copying a database to a disk takes seconds."""
    is_usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES_MIN
    return MEMORY if is_usable else None


def _prepare(prepared: Path) -> None:
    """Make a folder with an empty database; of several processes that do so at once, one keeps its own."""
    prepared.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{prepared.name}-", dir=prepared.parent) as folder:
        new = Path(folder) / "data"
        with database.throwaway(new, lambda _: None):
            pass
        (new / PREPARED).touch()
        if not prepared.exists():
            new.rename(prepared)


def _copy(prepared: Path, data: Path) -> None:
    # With the owners of the files: PostgreSQL runs under an account of its own when its starter is root.
    subprocess.run(["/bin/cp", "--archive", "--reflink=auto", str(prepared), str(data)], check=True)
