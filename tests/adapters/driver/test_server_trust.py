"""TLS to a real PostgreSQL: a server that is verified is used, and any other one is refused with what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
import trustme

from core.secrets import Secret
from entrypoints.database import facts_of_server
from tests.processes import MASTER_KEY, Commands, CommandsHere, Services, prefixed
from tests.tls_postgres import PASSWORD, PROGRAMS, tls_postgres

# Each starts a PostgreSQL, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a PostgreSQL with a certificate for the name localhost."""
    with tls_postgres(AUTHORITY.issue_cert("localhost")) as port:
        yield port


def database(folder: Path, port: int, *, host: str = "localhost", authority: trustme.CA | None = AUTHORITY) -> str:
    """Return the address of the database by which the server is verified; without an authority its file is missing."""
    file = folder / "authority.pem"
    if authority is not None:
        authority.cert_pem.write_to_path(file)
    options = f"sslmode=verify-full&sslrootcert={quote(str(file), safe='')}"
    return f"postgresql://gatehouse:{PASSWORD}@{host}:{port}/postgres?{options}"


def environment(url: str) -> dict[str, str]:
    """Return the settings of a server on that database."""
    return prefixed({"DATABASE_URL": url, "MASTER_KEYS": MASTER_KEY, "DATA_DIR": "data", "BIND": "127.0.0.1:0"})


def test_a_server_that_is_verified_is_migrated_served_from_and_found_encrypted(port: int, tmp_path: Path) -> None:
    settings = environment(database(tmp_path, port))
    commands, services = Commands(tmp_path, settings), Services(tmp_path, settings)

    migrated = commands.run("migrate")
    assert migrated.returncode == 0, migrated.stderr
    try:
        service = services.ready()
        ready = service.get("/health/ready")
        facts = facts_of_server(Secret(settings["GATEHOUSE_DATABASE_URL"]))
    finally:
        services.close()

    assert ready.status == 200
    assert (facts.is_encrypted, facts.is_verified, facts.is_superuser, facts.version // 10_000) == (
        True,
        True,
        True,
        int(PROGRAMS[-1].parent.name),
    )


@pytest.mark.parametrize(
    ("host", "authority", "sentence"),
    [
        (
            "localhost",
            trustme.CA(),
            "its certificate is not from an authority in sslrootcert, or is not valid any more",
        ),
        ("127.0.0.1", AUTHORITY, "its certificate is for another name"),
        ("localhost", None, "the file with its authority cannot be read"),
    ],
)
def test_a_server_that_is_not_verified_is_refused_at_once_with_what_to_do(
    port: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    host: str,
    authority: trustme.CA | None,
    sentence: str,
) -> None:
    url = database(tmp_path, port, host=host, authority=authority)

    refused = CommandsHere(tmp_path, environment(url), capsys).run("serve")

    assert refused.returncode == 1
    assert f"The database cannot be used: the server is not trusted, because {sentence}" in refused.stderr
    # Waiting for the database would not help.
    assert "Trying again" not in refused.stdout + refused.stderr
    assert PASSWORD not in refused.stdout + refused.stderr


def test_a_server_without_tls_is_refused_where_tls_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tls_postgres(None) as port:
        refused = CommandsHere(tmp_path, environment(database(tmp_path, port)), capsys).run("serve")

    assert refused.returncode == 1
    assert "it does not speak TLS, which sslmode in GATEHOUSE_DATABASE_URL asks for" in refused.stderr
