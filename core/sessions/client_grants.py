"""Client grants: what a service was granted at the token endpoint, together with a session of a user.

A session without one began at the JSON interface. What the grants mean is in the area `openid`; here they are part of
a session, because refreshing it keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sessions.callers import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientGrant:
    """The scopes, the audience of the access tokens if it is not the client, and the key they are bound to, if any.

    `host` is the custom host under which the sign-in began, None for the base URL; the tokens are refreshed there only.
    `requested_claims` are the names of what the service asked for beside the scopes, for each place.
    """

    scopes: Sequence[str]
    audience: str | None = None
    key_thumbprint: str | None = None
    host: str | None = None
    requested_claims: Mapping[str, Any] | None = None
    is_confidential: bool = False

    @property
    def needs_client(self) -> bool:
        """Whether its refresh token works at the token endpoint only, with the client's secret or key."""
        return self.is_confidential or self.key_thumbprint is not None

    def of_scopes(self, scopes: Sequence[str]) -> ClientGrant:
        """Return the same with these scopes."""
        return replace(self, scopes=scopes) if list(scopes) != list(self.scopes) else self

    def claims(self, caller: Caller) -> dict[str, Any]:
        """Return what it adds to the claims of an access token (RFC 9068, 2.2; RFC 9449, 6)."""
        claims: dict[str, Any] = {"client_id": str(caller.place.client_id), "scope": " ".join(self.scopes)}
        if self.key_thumbprint is not None:
            claims["cnf"] = {"jkt": self.key_thumbprint}
        if self.requested_claims is not None and "userinfo" in self.requested_claims:
            # For the user information endpoint, which reads no grant.
            claims["userinfo_claims"] = self.requested_claims["userinfo"]
        return claims


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshingClient:
    """The authenticated client of a refresh at the token endpoint, and the key of its proof, if it sent one."""

    client_id: UUID
    key_thumbprint: str | None = None
