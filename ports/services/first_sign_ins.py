"""Port for reading the first sign-in to a service."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.services.first_sign_ins import FirstSignIn


class FirstSignIns(Protocol):
    """The first sign-in to each service that is kept."""

    def find(self, organization_id: UUID, service_id: UUID, *, since: datetime) -> FirstSignIn | None:
        """Return the first sign-in since then, with the address of its user; None when there is none."""
        ...
