"""Global token revocation, as the provider of a connection asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt

from tests.application import Answer
from tests.openid_provider import KEY, OpenIdProvider
from tests.world.world import World

BASE_URL = "http://localhost:8000"
HEADER = {"typ": "global-token-revocation+jwt", "kid": "1"}


def revocation_path(connection_id: str) -> str:
    """Return the path to which the provider of a connection posts."""
    return f"/auth/upstream/{connection_id}/global-token-revocation"


def revocation_claims(issuer: str, connection_id: str, *, at: datetime, number: int = 0) -> dict[str, Any]:
    """Return the claims of a token for one request."""
    return {
        "iss": issuer,
        "sub": "the-application",
        "aud": BASE_URL + revocation_path(connection_id),
        "jti": f"{connection_id}-{number}",
        "iat": int(at.timestamp()),
        "exp": int((at + timedelta(minutes=5)).timestamp()),
    }


def signed_revocation(issuer: str, connection_id: str) -> str:
    """Return a token that is valid now, for servers with a clock of their own."""
    claims = revocation_claims(issuer, connection_id, at=datetime.now(UTC))
    return jwt.encode(claims, KEY, "RS256", headers=HEADER)


@dataclass
class Revoker:
    """The provider of a connection, which signs a token for each request."""

    world: World
    provider: OpenIdProvider
    connection_id: str
    signed: int = 0

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Return the claims of a new token; those that are None are left out."""
        self.signed += 1
        claims = revocation_claims(self.provider.url, self.connection_id, at=self.world.clock(), number=self.signed)
        return {name: value for name, value in {**claims, **changed}.items() if value is not None}

    def token(self, *, header: dict[str, Any] | None = None, **changed: Any) -> str:
        """Return a token that the provider has signed, with other claims or another header."""
        return jwt.encode(self.claims(**changed), KEY, "RS256", headers={**HEADER, **(header or {})})

    async def send(self, token: str, sub_id: dict[str, Any], *, connection_id: str | None = None) -> Answer:
        """Send a request with this token."""
        return await self.world.client.post(
            revocation_path(connection_id or self.connection_id), token=token, body={"sub_id": sub_id}
        )

    async def revoke(self, **sub_id: str) -> Answer:
        """Ask for the end of what a person holds."""
        return await self.send(self.token(), dict(sub_id))

    async def revoke_subject(self, subject: str) -> Answer:
        """Ask for it by the subject at the provider."""
        return await self.revoke(format="iss_sub", iss=self.provider.url, sub=subject)

    async def revoke_address(self, email: str) -> Answer:
        """Ask for it by an address."""
        return await self.revoke(format="email", email=email)
