"""Reading an organization's records of one person."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.audit.audit_log import FoundEntry
from core.audit.person_records import PersonService, PersonSession


class PersonRecords(Protocol):
    """The records of one person in one organization."""

    def services(self, organization_id: UUID, user_id: UUID) -> Sequence[PersonService]:
        """List the services of the organization that a person is linked to, by slug."""
        ...

    def sessions(self, organization_id: UUID, user_id: UUID, *, limit: int) -> tuple[Sequence[PersonSession], int]:
        """Return the live sessions of a person that the organization can end, the last used first, and their number."""
        ...

    def entries(self, organization_id: UUID, user_id: UUID, *, limit: int) -> Sequence[FoundEntry]:
        """Return the newest entries of the organization's audit log about a person or by them, the newest first."""
        ...
