"""Storage of takeovers of accounts: claims, credentials that end, mails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.events.actions import AuditAction
    from core.organizations.organizations import Membership
    from core.organizations.takeover_claims import ClaimedCustomer
    from core.organizations.takeover_credentials import EndedKind, MadeLink, TakenBackPlace
    from core.organizations.takeover_mails import DatedThing, Recipient, RecordedChange
    from core.organizations.takeovers import (
        Act,
        Acting,
        ChangedRole,
        GivenRole,
        InvitedMember,
        MadeThing,
        RevertedGrant,
        SetUpCustomer,
        Takeover,
    )
    from core.services.services import Service


class Takeovers(Protocol):
    """What an account held, and who acted with the power of a takeover. The caller has locked the organizations."""

    def confirmed_roles(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the roles of a user's confirmed memberships by the ids of the organizations."""
        ...

    def grants(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the relations that a user was granted by the ids of the services."""
        ...

    def acting(self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime) -> Sequence[Acting]:
        """Return who acted with the power of a takeover in these organizations, and since when.

        They are the account, its keys, SCIM tokens and setup links, every user that one of these gave membership, a
        higher role or the ownership, and so on from these.
        """
        ...

    def acts(self, acting: Sequence[Acting], *actions: AuditAction) -> Sequence[Act]:
        """Return the entries of these actions by those who acted, the first one first."""
        ...

    def given_roles(self, acting: Sequence[Acting]) -> Sequence[GivenRole]:
        """Return the members whose roles were changed, with the role before the first change and the last one given."""
        ...

    def changed_roles(self, acting: Sequence[Acting]) -> Sequence[ChangedRole]:
        """Return the custom roles whose permissions were changed, with the permissions before the first change."""
        ...

    def restore_role(self, changed: ChangedRole) -> None:
        """Store the permissions and the scopes of a custom role."""
        ...

    def owners(self, organization_ids: Sequence[UUID]) -> Sequence[Membership]:
        """Return the memberships of the owners of organizations."""
        ...

    def restore_owner(self, membership: Membership) -> str | None:
        """Make a member the owner of an organization without one; return their previous role, None for no member."""
        ...

    def suspend_invited(self, acting: Sequence[Acting], *, except_user_id: UUID) -> Sequence[InvitedMember]:
        """Suspend the members, except owners, who were invited, provisioned or readmitted since, and return them.

        A member who was both suspended and readmitted since is left as before.
        """
        ...

    def revert_grants(self, acting: Sequence[Acting], takeover: Takeover) -> Sequence[RevertedGrant]:
        """Revert the grants that were given to the account, and those that the acting ones gave to others."""
        ...


class TakeoverClaims(Protocol):
    """Customers that vendors have made and people have claimed; the organizations are locked."""

    def claimed_at(self, organization_ids: Sequence[UUID], *, since: datetime) -> Mapping[UUID, datetime]:
        """Return which of these organizations were claimed since a moment, and when."""
        ...

    def claimed_by_link(self, service: Service, customer_id: UUID, *, mailed_at: datetime) -> UUID | None:
        """Return the organization of a customer that was claimed by the link of that moment; None for any other."""
        ...

    def customers_of(self, organization_id: UUID) -> list[ClaimedCustomer]:
        """Return the customers for which a vendor had made this organization, before it was claimed."""
        ...

    def move(self, customer: ClaimedCustomer, organization_id: UUID, new_id: UUID) -> None:
        """Move a customer to another, unowned organization, without the settings of the present one's owner."""
        ...


class TakeoverCredentials(Protocol):
    """What users made since they acted with the power of a takeover; each method returns what it has ended."""

    def end(self, kind: EndedKind, acting: Sequence[Acting], *, reason: str) -> Sequence[MadeThing]:
        """Delete what of a kind was made; switch off what has settings and was made or changed since, and store why.

        The identities that connections linked since are deleted.
        """
        ...

    def replace_client_secrets(self, acting: Sequence[Acting], secret_hash: bytes) -> Sequence[MadeThing]:
        """Store another hash for the secrets of services, and keep none that was replaced since."""
        ...

    def set_up_customers(self, acting: Sequence[Acting], *, after: UUID | None, limit: int) -> Sequence[SetUpCustomer]:
        """Return the customers for which they have made something as vendors, by their internal organizations.

        `after` is the internal organization of the last row that was read before; None for the first rows.
        """
        ...

    def take_back_places(self, acting: Sequence[Acting], *, limit: int) -> Sequence[TakenBackPlace]:
        """Undo what SCIM tokens did to groups: remove the members that they added, and add those that they removed.

        For each member the first change counts. At most `limit` are undone; the next call continues.
        """
        ...

    def made_links(self, acting: Sequence[Acting], *, limit: int) -> Sequence[MadeLink]:
        """Return the links to services that API keys have made, by organization and service."""
        ...

    def end_made_links(self, organization_id: UUID, service_id: UUID, user_ids: Sequence[UUID]) -> None:
        """Delete the links of these users to a service that a key has made, and forget that it has made them."""
        ...


class TakeoverRecords(Protocol):
    """What an account made and changed, and the recipients of the mails about it."""

    def made_between(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, begin: datetime, end: datetime
    ) -> Sequence[DatedThing]:
        """Return what a user made in a period, from its begin until before its end, and that still works."""
        ...

    def changes_since(
        self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime, limit: int
    ) -> Sequence[RecordedChange]:
        """Return a user's changes since then, at most `limit` of each organization, the oldest first."""
        ...

    def recipients(self, organization_ids: Sequence[UUID], *, except_user_id: UUID, limit: int) -> Sequence[Recipient]:
        """Return the owners and admins who can sign in, at most `limit` of each organization, the owner first."""
        ...
