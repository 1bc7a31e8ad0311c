"""Relying parties that others have written work unchanged: openid-client, oauth4webapi and Authlib."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from jwt.algorithms import ECAlgorithm
from psycopg.types.json import Jsonb

from core.secrets import hash_token
from entrypoints import capabilities
from tests.browser import Site
from tests.peers import RUN_SECONDS_MAX, peer
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.relying_party import ProofKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adapters.postgres.database import PostgresDatabase
    from adapters.postgres.driver.connection import Connection
    from core.sessions.signing_keys import KeyPair
    from tests.peers import Peer

pytestmark = pytest.mark.long

REDIRECT_URI = "https://shop.example/callback"
SECRET = "the-secret-of-the-service-with-many-characters"
AUDIENCE = "https://api.shop.example/v1"


def _now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def environment(
    connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Iterator[dict[str, str]]:
    """A running server with a user, a confidential and a public service; what the programs need to know of them."""

    async def prepare(_database: PostgresDatabase) -> None:
        """Everything is inserted below."""

    builder, key = Builder(connection, _now), ProofKey()
    builder.user(EMAIL)
    organization_id = builder.organization()
    shop = builder.service(organization_id, "shop", redirect_uris=[REDIRECT_URI])
    app = builder.service(organization_id, "app", redirect_uris=[REDIRECT_URI])
    connection.execute(
        """
        UPDATE services
        SET    client_secret_hash = %s, post_logout_redirect_uris = %s, audiences = %s, jwks = %s
        WHERE  id = %s
        """,
        (
            hash_token(SECRET),
            [f"{REDIRECT_URI}/bye"],
            [AUDIENCE],
            Jsonb({"keys": [{**key.public, "kid": "one"}]}),
            shop.id,
        ),
    )
    connection.execute("UPDATE services SET service_type = 'mobile' WHERE id = %s", (app.id,))
    site = Site(
        capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost", clock=_now
    )
    private: Any = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(key.private, as_dict=True)
    yield {
        "ISSUER": site.url,
        "CLIENT_ID": str(shop.client_id),
        "CLIENT_SECRET": SECRET,
        "PUBLIC_CLIENT_ID": str(app.client_id),
        "REDIRECT_URI": REDIRECT_URI,
        "EMAIL": EMAIL,
        "PASSWORD": PASSWORD,
        "AUDIENCE": AUDIENCE,
        "PRIVATE_KEY": json.dumps(private),
    }
    site.close()


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


@pytest.mark.parametrize("program", ["confidential.mjs", "public.mjs"])
def test_openid_client_and_oauth4webapi_work_unchanged(
    environment: dict[str, str], tmp_path: Path, program: str
) -> None:
    done = node(peer("openid-client"), program, environment, tmp_path)

    assert (done.returncode, done.stdout) == (0, "all flows\n"), done.stderr


def test_authlib_works_unchanged(environment: dict[str, str], tmp_path: Path) -> None:
    library = peer("authlib")

    done = library.run("python", str(library.files / "sign_in.py"), folder=tmp_path, environment=environment)

    assert (done.returncode, done.stdout) == (0, "all flows\n"), done.stderr
