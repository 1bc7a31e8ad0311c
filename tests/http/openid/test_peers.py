"""Relying parties that others have written work unchanged: openid-client, oauth4webapi and Authlib."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from tests.peers import RUN_SECONDS_MAX, Peer, peer
from tests.world.peer_customers import insert_customers
from tests.world.peer_site import peer_site

pytestmark = pytest.mark.long


@pytest.fixture
def environment(
    connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Iterator[dict[str, str]]:
    """A running server with three services, as the programs know it."""
    with peer_site(connection, database_url, key_pairs) as known:
        yield known


def node(library: Peer, program: str, environment: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of a Node peer, beside the library."""
    for file in library.files.glob("*.mjs"):
        shutil.copy(file, folder)
    (folder / "node_modules").symlink_to(library.programs.parent)
    return subprocess.run(
        [shutil.which("node") or "node", program],
        check=False,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS_MAX,
    )


@pytest.mark.parametrize(
    ("program", "signing"),
    [
        ("confidential.mjs", "RS256"),
        ("confidential.mjs", "ES256"),
        ("public.mjs", "RS256"),
        ("strict.mjs", "RS256"),
    ],
)
def test_openid_client_and_oauth4webapi_work_unchanged(
    connection: Connection, environment: dict[str, str], tmp_path: Path, program: str, signing: str
) -> None:
    connection.execute("UPDATE services SET token_signing = %s", (signing,))

    done = node(peer("openid-client"), program, environment, tmp_path)

    assert (done.returncode, done.stdout) == (0, "all flows\n"), done.stderr


def test_authlib_works_unchanged(environment: dict[str, str], tmp_path: Path) -> None:
    library = peer("authlib")

    done = library.run("python", str(library.files / "sign_in.py"), folder=tmp_path, environment=environment)

    assert (done.returncode, done.stdout) == (0, "all flows\n"), done.stderr


@pytest.fixture
def environment_of_customers(connection: Connection, environment: dict[str, str]) -> dict[str, str]:
    """The same with customers of the confidential service, and the sign-ins that the programs make for them."""
    sign_ins = [asdict(one) for one in insert_customers(connection, environment)]
    return {**environment, "CUSTOMER_SIGN_INS": json.dumps(sign_ins)}


def test_openid_client_signs_people_of_two_customers_in(
    environment_of_customers: dict[str, str], tmp_path: Path
) -> None:
    done = node(peer("openid-client"), "customers.mjs", environment_of_customers, tmp_path)

    assert (done.returncode, done.stdout) == (0, "all customers\n"), done.stderr


def test_authlib_signs_people_of_two_customers_in(environment_of_customers: dict[str, str], tmp_path: Path) -> None:
    library = peer("authlib")

    done = library.run(
        "python", str(library.files / "customers.py"), folder=tmp_path, environment=environment_of_customers
    )

    assert (done.returncode, done.stdout) == (0, "all customers\n"), done.stderr
