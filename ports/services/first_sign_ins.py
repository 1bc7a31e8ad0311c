"""Port for reading the first sign-in to a service."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.first_sign_ins import FirstSignIn


class FirstSignIns(Protocol):
    """Of each service, the first sign-in that is kept."""

    def find(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> FirstSignIn | None:
        """Return it, with the address of its user; None where there is none since then."""
        ...
