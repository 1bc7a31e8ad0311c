"""Storage of the redirect URIs that were refused last."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.redirect_changes import RefusedRedirect


class RefusedRedirects(Protocol):
    """Of each service, the redirect URI that was refused last."""

    def find(self, organization_id: UUID, service_id: UUID) -> RefusedRedirect | None:
        """Return it; None when none is remembered."""
        ...

    def save(
        self, organization_id: UUID, service_id: UUID, refused: RefusedRedirect, *, unless_since: datetime
    ) -> None:
        """Remember it in place of the one before, unless that one is newer; never wait for another transaction's."""
        ...

    def remove(self, organization_id: UUID, service_id: UUID) -> None:
        """Forget it."""
        ...
