"""Storage of authorization codes."""

from typing import Protocol
from uuid import UUID

from core.openid.codes import AuthorizationCode, UsedCode


class AuthorizationCodes(Protocol):
    """Codes, each exchanged once."""

    def add(self, code_hash: bytes, code: AuthorizationCode) -> None:
        """Store a code."""
        ...

    def use(self, code_hash: bytes, organization_id: UUID, service_id: UUID) -> AuthorizationCode | None:
        """Use up a code of a service; None when there is none, or it was used or has expired.

        Of several concurrent calls one gets the code.
        """
        ...

    def find_used(self, code_hash: bytes, organization_id: UUID, service_id: UUID) -> UsedCode | None:
        """Return a code of a service that was used, also in this transaction; None when there is none."""
        ...
