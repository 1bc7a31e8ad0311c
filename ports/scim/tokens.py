"""Storage of SCIM tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.authority import Authority
from core.organizations.internal_places import MadeThrough
from core.prefixed_tokens import PrefixedToken
from core.scim.tokens import ScimCaller, ScimToken


class ScimTokens(Protocol):
    """The SCIM tokens of organizations, and the callers behind them."""

    def callers(self, token: PrefixedToken) -> Sequence[ScimCaller]:
        """Return the callers whose tokens have this prefix, with their organizations, in one statement."""
        ...

    def record_use(self, caller: ScimCaller, *, at: datetime) -> None:
        """Record that the token was used, unless a concurrent transaction does so; never wait for one."""
        ...

    def add(
        self,
        organization_id: UUID,
        token: ScimToken,
        *,
        token_hash: bytes,
        created_by: UUID,
        authority: Authority,
        made_through: MadeThrough | None = None,
    ) -> None:
        """Store a new token with its maker's authority, and the way by which a vendor made it for a customer."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[ScimToken]:
        """List the tokens of an organization, the newest first."""
        ...

    def remove(self, organization_id: UUID, token_id: UUID) -> ScimToken | None:
        """Delete a token and return it; None when there is none. Of concurrent calls one gets it."""
        ...
