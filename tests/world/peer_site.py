"""A running server for independent relying parties, and what these need to know of it."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from jwt.algorithms import ECAlgorithm
from psycopg.types.json import Jsonb

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.secrets import hash_token
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.browser import Site
from tests.world.builder import EMAIL, PASSWORD, Builder
from tests.world.relying_party import ProofKey

REDIRECT_URI = "https://shop.example/callback"
SECRET = "the-secret-of-the-service-with-many-characters"
AUDIENCE = "https://api.shop.example/v1"


def _now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def peer_site(
    connection: Connection, database_url: str, key_pairs: tuple[KeyPair, KeyPair]
) -> Generator[dict[str, str]]:
    """A running server with a user, and a confidential, a public and a strict service, as the programs know them."""

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
    strict = builder.service(organization_id, "strict", redirect_uris=[REDIRECT_URI])
    connection.execute(
        "UPDATE services SET security_profile = 'fapi2', jwks = %s WHERE id = %s",
        (Jsonb({"keys": [{**key.public, "kid": "one"}]}), strict.id),
    )
    site = Site(
        capabilities.routes(is_development=True), database_url, key_pairs, prepare=prepare, name="localhost", clock=_now
    )
    private: Any = ECAlgorithm(ECAlgorithm.SHA256).to_jwk(key.private, as_dict=True)
    yield {
        "ISSUER": site.url,
        "CLIENT_ID": str(shop.client_id),
        "CLIENT_SECRET": SECRET,
        "PUBLIC_CLIENT_ID": str(app.client_id),
        "STRICT_CLIENT_ID": str(strict.client_id),
        "REDIRECT_URI": REDIRECT_URI,
        "EMAIL": EMAIL,
        "PASSWORD": PASSWORD,
        "AUDIENCE": AUDIENCE,
        "PRIVATE_KEY": json.dumps(private),
    }
    site.close()
