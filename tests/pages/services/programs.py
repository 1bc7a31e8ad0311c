"""Programs that serve a port of this machine while a test runs, and the service to which they sign people in."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adapters.postgres.driver.connection import Connection
from core.secrets import hash_token
from tests.waiting import wait_until
from tests.world.builder import Builder

SECRET = "the-secret-of-the-shop-with-many-characters"
START_SECONDS_MAX = 120.0


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextmanager
def running(
    command: list[str], folder: Path, port: int, *, environment: Mapping[str, str] | None = None
) -> Generator[None]:
    """A program that runs until the block ends, with these variables besides the tests' own."""
    with subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            wait_for(port, process)
            yield
        finally:
            process.terminate()
            process.communicate()


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until something listens on a port of this machine."""

    def listens() -> bool:
        try:
            socket.create_connection(("localhost", port)).close()
        except OSError:
            return False
        return True

    wait_until(lambda: listens() or process.poll() is not None, seconds_max=START_SECONDS_MAX)
    assert process.poll() is None, process.communicate()[0].decode()


def insert_shop(builder: Builder, connection: Connection, home: str) -> str:
    """Insert a confidential service of the organization, and return its client id."""
    [(organization_id,)] = connection.execute("SELECT id FROM organizations").fetchall()
    shop = builder.service(organization_id, "shop", redirect_uris=[f"{home}/session/callback"])
    connection.execute(
        "UPDATE services SET client_secret_hash = %s, post_logout_redirect_uris = %s WHERE id = %s",
        (hash_token(SECRET), [f"{home}/"], shop.id),
    )
    return str(shop.client_id)
