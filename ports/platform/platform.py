"""What platform owners and support read: organizations, users, figures, logs, mails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.organizations import OrganizationStatus
from core.platform.audit_log import PlatformAuditLogEntry, PlatformAuditLogFilter
from core.platform.explained_customers import CustomerOfUser
from core.platform.mails import ListedMail, ListedMailState, OutboxMail, OutboxPage
from core.platform.mfa import MfaAlert, MfaCounts, UserMfaStatus
from core.platform.organization_records import (
    ListedOrganization,
    Matches,
    OrganizationFilter,
    PlatformOrganizationRecord,
    ServedCustomers,
    UsedProduct,
)
from core.platform.organizations import OrganizationPage
from core.platform.overview import FailingStream, FailingWebhook, GoneWebhook, PlatformSetup
from core.platform.owners import ListedPlatformOwner
from core.platform.search import SearchHit
from core.platform.support import PlatformSupport
from core.platform.users import ListedUser, PlatformUser, UserPosition
from core.positions import Position
from core.services.services import Service


class PlatformOrganizations(Protocol):
    """All organizations of the platform."""

    def page(
        self, *, status: OrganizationStatus | None, tier_id: UUID | None, limit: int, offset: int
    ) -> OrganizationPage:
        """List organizations with their owners and tiers, the newest first, and count all that match."""
        ...


class OrganizationRecords(Protocol):
    """Reads of organizations; none of them reads accounts, sign-ins or audit entries whole."""

    def matches(self, text: str, *, hides_owners: bool) -> Matches:
        """Return organizations with a text in their names or domains, or whose owner has this address.

        With `hides_owners` no platform owner is found. Domains are searched only for three or more characters that few
        domains contain.
        """
        ...

    def page(
        self, wanted: OrganizationFilter, matches: Matches, *, after: Position | None, limit: int
    ) -> Sequence[ListedOrganization]:
        """List organizations after a position, or from the beginning with None, the newest first.

        With a text to search for, these are among `matches`, or have it in their name or slug unless `has_all`.
        """
        ...

    def count(self, wanted: OrganizationFilter, matches: Matches, *, counted_max: int) -> int:
        """Count the same organizations, up to a maximum."""
        ...

    def detail(self, organization_id: UUID, *, domains_max: int, counted_max: int) -> PlatformOrganizationRecord | None:
        """Return an organization with at most `domains_max` of its domains; None when there is none with this id.

        Its products and the customers of its services are read apart.
        """
        ...

    def products(self, organization_id: UUID, *, limit: int) -> Sequence[UsedProduct]:
        """Return the products that an organization uses, the newest first, then those that are offered to it."""
        ...

    def served(self, organization_id: UUID, *, limit: int, counted_max: int) -> Sequence[ServedCustomers]:
        """Return the services of an organization that may have customers, the oldest first, with their numbers."""
        ...

    def names(self, organization_ids: Sequence[UUID]) -> Mapping[UUID, tuple[str, str]]:
        """Return the names and slugs of these organizations, as far as they exist."""
        ...

    def waiting(self, *, limit: int) -> Sequence[ListedOrganization]:
        """List pending organizations, the oldest first."""
        ...


class ExplainedCustomers(Protocol):
    """The customers of services, and the standing of users at them."""

    def find(self, service: Service, customer: str, user_id: UUID) -> CustomerOfUser | None:
        """Return the customer of a service that has this id or slug; None when there is none. It locks nothing."""
        ...


class PlatformUsers(Protocol):
    """All users, with the organizations of which each is a member; every method is one statement.

    With `hides_owners` they find no platform owner.
    """

    def with_email(
        self, part: str, *, limit: int, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        """List users whose address contains the part: those that begin with it, then the newest of the others.

        A part of one or two characters is only searched at the beginning.
        """
        ...

    def with_id(
        self, user_id: UUID, *, email_part: str, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        """Return the user of that id if the address contains that part, else an empty list."""
        ...


class FoundUserList(Protocol):
    """All users, with the first organizations of each. With `hides_owners` they find no platform owner."""

    def page(self, part: str, *, after: UserPosition, limit: int, hides_owners: bool) -> Sequence[ListedUser]:
        """List the users whose address contains the part, after a position.

        First come those whose address begins with it, by address, then the newest of the others; a part of one or two
        characters is only searched at the beginning. An empty part lists the newest of all.
        """
        ...

    def count(self, part: str, *, counted_max: int, hides_owners: bool) -> int:
        """Return how many users `page` lists in all; at most `counted_max` are counted."""
        ...

    def with_id(self, user_id: UUID, *, hides_owners: bool) -> Sequence[ListedUser]:
        """Return the user of this id, or an empty list."""
        ...


class PlatformMfa(Protocol):
    """Second factors and their log, across all organizations; every method is one statement."""

    def status(self, user_id: UUID) -> UserMfaStatus | None:
        """Return the status of a user's second factor, or None when there is no such user."""
        ...

    def counts(self, *, since: datetime) -> MfaCounts:
        """Count accounts, those with a second factor, and the used backup codes and failures since then."""
        ...

    def alerts(self, *, since: datetime, limit: int, hides_owners: bool) -> Sequence[MfaAlert]:
        """List the possible attacks since then, the newest first; many failures of one user are one alert.

        With `hides_owners` none is of a platform owner.
        """
        ...


class PlatformOwners(Protocol):
    """The platform owners; `Users` changes them."""

    def all(self) -> Sequence[ListedPlatformOwner]:
        """List them by their addresses."""
        ...

    def ids(self) -> Sequence[UUID]:
        """List the ids of their accounts."""
        ...


class PlatformSupportStaff(Protocol):
    """Appointments to the platform's support; `Users.end_support` ends one."""

    def all(self) -> Sequence[PlatformSupport]:
        """List the appointed people, by their addresses."""
        ...

    def has(self, user_id: UUID) -> bool:
        """Return whether an account is appointed."""
        ...

    def add(self, user_id: UUID) -> bool:
        """Appoint a locked account; False when it is appointed already."""
        ...


class PlatformSearches(Protocol):
    """Look-ups of single values by indexes."""

    def by_id(self, row_id: UUID, *, hides_owners: bool) -> Sequence[SearchHit]:
        """Return the user, organization, session or service with this id, or the service with this client id.

        With `hides_owners` nothing of a platform owner is found.
        """
        ...

    def by_request(self, request_id: str, *, hides_owners: bool) -> Sequence[SearchHit]:
        """Return the sign-ins of a request."""
        ...

    def by_slug_or_domain(self, text: str) -> Sequence[SearchHit]:
        """Return the organization with this slug, and those that claim this domain."""
        ...


class PlatformOverviews(Protocol):
    """Reads whose cost does not grow with the platform; each is a bounded range of an index."""

    def setup(self) -> PlatformSetup:
        """Return which parts of the installation are set up."""
        ...

    def failing_webhooks(
        self, *, since: datetime, webhooks_max: int, limit: int, counted_max: int
    ) -> tuple[Sequence[FailingWebhook], int]:
        """Return active webhooks that lost deliveries since then, the newest loss first, and how many there are.

        At most `webhooks_max` are read, and the losses of those returned are counted up to a maximum, so that no
        webhook hides others by its many losses.
        """
        ...

    def gone_webhooks(self, *, since: datetime, limit: int, counted_max: int) -> tuple[Sequence[GoneWebhook], int]:
        """Return webhooks that were switched off since then because their receiver is gone, the newest first.

        The second value counts them all, up to a maximum.
        """
        ...

    def failing_streams(self, *, limit: int) -> tuple[Sequence[FailingStream], int]:
        """Return receivers of audit logs that take nothing, the longest first, and how many there are."""
        ...

    def owners_without_second_factor(self) -> int:
        """Count the platform owners whose account has neither a second factor nor a passkey that checks its user."""
        ...

    def organizations_by_status(self, *, counted_max: int) -> Mapping[OrganizationStatus, int]:
        """Count the organizations of each status, each up to a maximum."""
        ...

    def new_users(self, *, since: datetime, counted_max: int) -> int:
        """Count the accounts that were made since then, up to a maximum."""
        ...


class PlatformAuditLog(Protocol):
    """The audit log of the platform."""

    def page(
        self, wanted: PlatformAuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[PlatformAuditLogEntry]]:
        """Return the total and a page of entries, newest first, in one statement."""
        ...


class PlatformMails(Protocol):
    """The mails of the outbox, none of whose values is read."""

    def page(
        self,
        *,
        state: ListedMailState | None,
        recipient: str | None,
        hides_owners: bool,
        limit: int,
        offset: int,
        counted_max: int,
    ) -> OutboxPage:
        """Return a page of mails, the newest first: in one state and to one recipient, where these are named.

        None is discarded. At most `counted_max` are counted. With `hides_owners` none is to a platform owner.
        """
        ...

    def lock(self, mail_id: UUID, *, hides_owners: bool) -> OutboxMail | None:
        """Return a mail, locked until this transaction ends; None when there is none, or `hides_owners` hides it."""
        ...

    def queue_again(self, mail: OutboxMail, *, at: datetime) -> OutboxMail | None:
        """Make a locked mail due at once, and return it; after the commit its courier is woken.

        A failed mail is queued like a new one, for the mail server of its organization if it has one. None for a mail
        that a courier is sending, that was sent, or whose content is no longer kept.
        """
        ...


class BrowsedOutbox(Protocol):
    """The mails of the outbox except discarded ones. With `hides_owners`, mails to platform owners are left out."""

    def page(
        self,
        *,
        state: ListedMailState | None,
        recipient: str | None,
        is_oldest_first: bool,
        after: Position | None,
        limit: int,
        hides_owners: bool,
    ) -> Sequence[ListedMail]:
        """List the mails in a state and to one recipient, after a position; None means any, and the beginning."""
        ...

    def count(
        self, *, state: ListedMailState | None, recipient: str | None, counted_max: int, hides_owners: bool
    ) -> int:
        """Return how many mails `page` lists in all; at most `counted_max` are counted."""
        ...

    def count_undelivered(self, *, counted_max: int, hides_owners: bool) -> Mapping[ListedMailState, int]:
        """Return how many undelivered mails there are in each state, counted in an index alone."""
        ...
