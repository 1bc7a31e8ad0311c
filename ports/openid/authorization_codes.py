"""Storage of authorization codes."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.openid.codes import AuthorizationCode, UsedCode
from core.sessions.refresh import Refreshable


class AuthorizationCodes(Protocol):
    """Codes, each exchanged once."""

    def add(self, code_hash: bytes, code: AuthorizationCode) -> None:
        """Store a code."""
        ...

    def defer_use(self, code_hash: bytes, client_id: UUID) -> Deferred[AuthorizationCode | None]:
        """Defer using up a code of a client; None when there is none, or it was used or has expired.

        Of several calls, also concurrent ones, one gets the code.
        """
        ...

    def defer_session(self, code_hash: bytes) -> Deferred[Refreshable | None]:
        """Defer loading the session that began with a code, without its grant; None when it has ended."""
        ...

    def find_used(self, code_hash: bytes, organization_id: UUID, service_id: UUID) -> UsedCode | None:
        """Return a code of a service that was used, also in this transaction; None when there is none."""
        ...
