"""What a sign-in returns, and users who are signed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import jwt

from tests.application import Answer, Client


@dataclass(frozen=True)
class Tokens:
    """The tokens of a sign-in."""

    access_token: str
    refresh_token: str
    device_token: str

    @property
    def claims(self) -> dict[str, Any]:
        """The claims of the access token."""
        return claims_of(self.access_token)

    @property
    def session_id(self) -> UUID:
        """The session that began."""
        return UUID(self.claims["sid"])


@dataclass(frozen=True)
class SignedInUser:
    """A user who is signed in, and sends requests with their access token."""

    client: Client
    id: UUID
    email: str
    tokens: Tokens

    @property
    def token(self) -> str:
        """The access token."""
        return self.tokens.access_token

    @property
    def refresh_token(self) -> str:
        """The refresh token."""
        return self.tokens.refresh_token

    async def get(self, path: str, **options: Any) -> Answer:
        """Send a GET."""
        return await self.client.get(path, token=self.token, **options)

    async def post(self, path: str, body: Any = None) -> Answer:
        """Send a POST."""
        return await self.client.post(path, token=self.token, body={} if body is None else body)

    async def patch(self, path: str, body: Any) -> Answer:
        """Send a PATCH."""
        return await self.client.patch(path, token=self.token, body=body)

    async def delete(self, path: str) -> Answer:
        """Send a DELETE."""
        return await self.client.delete(path, token=self.token)


def claims_of(token: str) -> dict[str, Any]:
    """Read the claims of a token without verifying it."""
    return jwt.decode(token, options={"verify_signature": False})
