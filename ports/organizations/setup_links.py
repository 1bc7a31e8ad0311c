"""Storage of setup links."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.link_callers import LinkCaller
from core.organizations.setup_links import MadeSetupLink, PartProgress, SetupLink


class SetupLinks(Protocol):
    """Setup links and the visits that began with them; only hashes of their secrets are stored."""

    def add(self, organization_id: UUID, link: SetupLink, *, service_id: UUID | None, secret_hash: bytes) -> None:
        """Store a link; its service, if any, is one of the organization."""
        ...

    def count(self, organization_id: UUID) -> int:
        """Count the valid links of an organization."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[SetupLink]:
        """List the valid links of an organization, the newest first."""
        ...

    def with_makers(self, organization_id: UUID) -> Sequence[MadeSetupLink]:
        """List the same links with their makers, in the same order."""
        ...

    def remove(self, organization_id: UUID, link_id: UUID) -> SetupLink | None:
        """Delete a link with its visits and return it; None when the organization has no such link."""
        ...

    def remove_of_maker(self, organization_ids: Sequence[UUID], user_id: UUID) -> Sequence[tuple[UUID, SetupLink]]:
        """Delete all links of these organizations that a user has made; return them, each with its organization.

        Links that the user has made for customers of these organizations end too, except those made with an API key.
        """
        ...

    def caller_by_secret(self, secret_hash: bytes) -> LinkCaller | None:
        """Return the holder of the valid link with that secret; None when there is none.

        None also when its organization is not active, or its maker is not a member who may sign in, or is suspended.
        """
        ...

    def caller_of_visit(self, visit_hash: bytes) -> LinkCaller | None:
        """Return the holder of the valid link of a cookie; None as `caller_by_secret` does."""
        ...

    def add_visit(self, organization_id: UUID, link_id: UUID, *, secret_hash: bytes) -> None:
        """Store the secret of a cookie, and that the link was used now."""
        ...

    def progress(self, organization_id: UUID, service_id: UUID | None) -> Sequence[PartProgress]:
        """Return the progress of each part in an organization; the part SAML is that of a service."""
        ...
