"""Storage of the makers of organizations' credentials."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.made_credentials import MadeCredential, MadeCredentialKind


class MadeCredentials(Protocol):
    """The makers of credentials, which are stored with their own capabilities."""

    def set_maker(self, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID) -> None:
        """Store the maker of a credential of a kind whose row has no column for it."""
        ...

    def of_makers(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[MadeCredential]:
        """List the credentials of an organization that these users have made and that have not expired."""
        ...
