"""Reading the personal data of a person for the export."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.privacy.export import (
    ExportedAdmission,
    ExportedAssignment,
    ExportedCustomer,
    ExportedGroup,
    ExportedIdentity,
    ExportedLogin,
    ExportedMembership,
    ExportedMessage,
    ExportedMetadata,
    ExportedMfaEvent,
    OwnedOrganization,
)


class PrivacyExport(Protocol):
    """The personal data of a person.

    If `within` names organizations, only data that belong to the context of one of these are returned.
    """

    def organizations_owned_by(self, user_id: UUID, owner_id: UUID) -> Sequence[OwnedOrganization]:
        """List the organizations that `owner_id` owns and `user_id` is a confirmed member or an end user of."""
        ...

    def memberships(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMembership]:
        """List a person's memberships, the oldest first."""
        ...

    def count_logins(self, user_id: UUID, *, within: Sequence[UUID] | None) -> int:
        """Count a person's login events."""
        ...

    def newest_logins(self, user_id: UUID, limit: int, *, within: Sequence[UUID] | None) -> Sequence[ExportedLogin]:
        """List a person's login events, the newest first."""
        ...

    def service_metadata(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMetadata]:
        """List the metadata that services keep about a person."""
        ...

    def groups(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedGroup]:
        """Return the groups that directories and connections have put a person into."""
        ...

    def customers(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedCustomer]:
        """List the customers among these organizations for which a person has signed in, the first use first.

        Where an internal organization admits the person, the organization of its customer is listed.
        """
        ...

    def admissions(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedAdmission]:
        """List the customers whose internal organizations, among these, admit a person, the oldest first."""
        ...

    def assignments(self, user_id: UUID, organization_ids: Sequence[UUID]) -> Sequence[ExportedAssignment]:
        """List the services that these organizations assign to a person by name."""
        ...

    def messages(
        self, user_id: UUID, received_by: str | None, organization_ids: Sequence[UUID], limit: int
    ) -> Sequence[ExportedMessage]:
        """List the messages of invitations to these organizations, the newest first.

        They are messages that the person has sent, and those to the address `received_by`.
        """
        ...

    def identities(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedIdentity]:
        """List a person's identities at other providers, the oldest first."""
        ...

    def newest_mfa_events(self, user_id: UUID, limit: int) -> Sequence[ExportedMfaEvent]:
        """List a person's events of second factors and account security, the newest first."""
        ...
