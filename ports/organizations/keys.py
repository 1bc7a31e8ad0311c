"""Storage of an organization's keys, what they have made, and its setup links."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.departures import MadeCredential, MadeCredentialKind
from core.organizations.key_callers import KeyCaller, TokenOfKey
from core.organizations.keys import EndedWithKey, MadeByKeyPage, MadeOrganizationKey, OrganizationKey
from core.organizations.link_callers import LinkCaller
from core.organizations.setup_links import MadeSetupLink, PartProgress, SetupLink
from core.prefixed_tokens import PrefixedToken


class OrganizationKeys(Protocol):
    """The keys of organizations, and the callers behind them; only hashes of keys are stored."""

    def callers(self, key: PrefixedToken) -> Sequence[KeyCaller]:
        """Return the callers whose keys have this prefix, in one statement; a deactivated maker's keys are left out."""
        ...

    def callers_by_token(self, token: TokenOfKey) -> Sequence[KeyCaller]:
        """Return the caller of the key that a token stands for, while the workload that got the token exists."""
        ...

    def record_use(self, caller: KeyCaller, *, at: datetime) -> None:
        """Record that the key was used, unless a concurrent transaction does so; never wait for one."""
        ...

    def add(
        self,
        organization_id: UUID,
        key: OrganizationKey,
        *,
        key_hash: bytes | None,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        """Store a new key of a member, and which kind of second factor the member's session had, if any."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[OrganizationKey]:
        """List the keys of an organization, the newest first."""
        ...

    def with_makers(self, organization_id: UUID) -> Sequence[MadeOrganizationKey]:
        """List the same keys with their makers, in the same order."""
        ...

    def remove(self, organization_id: UUID, key_id: UUID) -> OrganizationKey | None:
        """Delete a key and return it; None when there is none. Of concurrent calls one gets it."""
        ...

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, OrganizationKey]]:
        """Delete the keys that these users have made, in one organization or all.

        Return them with the ids of their organizations.
        """
        ...


class MadeByKeys(Protocol):
    """API keys of services, SCIM tokens and setup links, by the keys of organizations that have made them."""

    def page(self, organization_id: UUID, key_id: UUID, *, limit: int, offset: int) -> MadeByKeyPage:
        """Return the credentials that a key has made, newest first, without setup links that have expired."""
        ...

    def links(self, organization_id: UUID, key_id: UUID) -> Sequence[EndedWithKey]:
        """Return the valid setup links of a key, which end with its row."""
        ...

    def end(self, organization_id: UUID, key_id: UUID, *, limit: int) -> Sequence[EndedWithKey]:
        """Delete the SCIM tokens that a key or its setup links made, and at most `limit` API keys; return them."""
        ...


class MadeCredentials(Protocol):
    """The makers of credentials, which are stored with their own capabilities."""

    def set_maker(self, kind: MadeCredentialKind, organization_id: UUID, credential_id: UUID, user_id: UUID) -> None:
        """Store the maker of a credential of a kind whose row has no column for it."""
        ...

    def of_makers(self, organization_id: UUID, user_ids: Sequence[UUID]) -> Sequence[MadeCredential]:
        """List the credentials of an organization that these users have made and that have not expired."""
        ...


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
