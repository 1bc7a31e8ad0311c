"""Storage of organizations: their relations, overview, bulk jobs, departures and deletion."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.bulk_jobs import Job, JobKind, JobRow, JobState, NewJob, RowState, WantedRow
from core.organizations.deletion import DeletedOrganization, Ending, InformedManager
from core.organizations.management import OrganizationDetails, OrganizationMembership
from core.organizations.organizations import InternalPlace, Organization
from core.organizations.overview import AttentionItem, AttentionKind, SetupSteps
from core.organizations.relations import Relation, RelationObject
from core.positions import Position

if TYPE_CHECKING:
    from core.organizations.departures import EndedLink, EndedSessions, LinkOrigin


class Organizations(Protocol):
    """Organizations. Queries for platform owners are in `ports/platform/platform.py`."""

    def by_slug(self, slug: str) -> Organization | None:
        """Return an organization; None when there is none with that slug."""
        ...

    def defer_by_slug(self, slug: str) -> Deferred[Organization | None]:
        """Defer `by_slug`."""
        ...

    def by_id(self, organization_id: UUID) -> Organization | None:
        """Return an organization; None when there is none."""
        ...

    def lock(self, organization_id: UUID) -> Organization | None:
        """Lock an organization until this transaction ends, and return it; None when it does not exist.

        Counts after it (members, services) include the changes of the transactions that had the lock before.
        """
        ...

    def lock_later(self, organization_id: UUID) -> None:
        """Lock an organization with the next statement, which reads behind the lock."""
        ...

    def add(self, organization: Organization, *, is_unclaimed: bool = False) -> bool:
        """Store a new organization; False when the slug is taken, also by a concurrent transaction.

        `is_unclaimed` is one that a vendor has made for a customer, and that no person owns yet.
        """
        ...

    def add_internal(self, organization: Organization, customer_id: UUID) -> None:
        """Store the internal organization of a customer record, open exactly while the customer may use the service."""
        ...

    def of_connection(self, connection_id: UUID, *, is_active: bool = True) -> Organization | None:
        """Return the active organization of an enabled connection, also an internal one; None otherwise.

        With `is_active=False` the organization may be in any state.
        """
        ...

    def internal_place(self, organization_id: UUID) -> InternalPlace | None:
        """Return the customer of an internal organization; None for any other one, and when the customer has ended."""
        ...

    def lock_internal(self, customer_id: UUID) -> Organization | None:
        """Lock the internal organization of a customer record, and return it; None when there is none yet."""
        ...

    def find_internal(self, customer_id: UUID) -> Organization | None:
        """Return the internal organization of a customer record; None when there is none yet."""
        ...

    def save(self, organization: Organization) -> None:
        """Store the new state of a locked organization; its slug does not change."""
        ...

    def delete(self, organization_id: UUID) -> None:
        """Delete a locked organization and everything that belongs to it."""
        ...

    def count_pending(self, organization_ids: Sequence[UUID]) -> int:
        """Count the pending ones of these organizations."""
        ...

    def of_member(self, user_id: UUID) -> Sequence[OrganizationMembership]:
        """List the organizations of which a user is a member who is not suspended, by slug."""
        ...

    def search_of_member(
        self, user_id: UUID, *, only: UUID | None, part: str, after: str, limit: int, counted_max: int
    ) -> tuple[Sequence[OrganizationMembership], int]:
        """List organizations of a member in the order of their slugs, and count them up to a maximum.

        `only` restricts both to one organization, `part` to names and slugs that contain it, in lower case; the list
        begins after the slug `after`.
        """
        ...

    def detail(self, organization: Organization) -> OrganizationDetails:
        """Return the organization with its tier and its numbers of members and services."""
        ...


class Overviews(Protocol):
    """Reads of the overview; none of them reads a large table whole."""

    def steps(self, organization_id: UUID, user_id: UUID) -> SetupSteps:
        """Return the parts that an organization has set up, and whether one of its members has a second factor."""
        ...

    def attention_items(
        self, organization_id: UUID, kinds: Sequence[AttentionKind], *, default_seats: int, of_kind_max: int
    ) -> Sequence[AttentionItem]:
        """Return matters of these kinds that a person has to look at, at most `of_kind_max` of each, in any order."""
        ...


class Relations(Protocol):
    """The relation tuples: a view over memberships and service grants."""

    def between(self, object_: RelationObject, user_id: UUID) -> Sequence[Relation]:
        """List a user's relations to an object and to the organization it belongs to, in one statement."""
        ...


class BulkJobs(Protocol):
    """Jobs and their rows; those of the platform have no organization."""

    def count_unfinished(self, organization_id: UUID | None) -> int:
        """Count the jobs that are not finished, of an organization or of the platform."""
        ...

    def add(self, job: NewJob, rows: Sequence[WantedRow]) -> None:
        """Store a job with its rows, in their order, and wake the actor."""
        ...

    def page(
        self, organization_id: UUID | None, kinds: Sequence[JobKind], *, after: Position | None, limit: int
    ) -> Sequence[Job]:
        """Return jobs of these kinds, newest first."""
        ...

    def count(self, organization_id: UUID | None, kinds: Sequence[JobKind], *, counted_max: int) -> int:
        """Count jobs of these kinds, up to `counted_max`."""
        ...

    def find(self, organization_id: UUID | None, job_id: UUID) -> Job | None:
        """Return a job of this organization, or of the platform; None when there is none."""
        ...

    def rows(
        self, organization_id: UUID | None, job_id: UUID, state: RowState | None, *, after: int, limit: int
    ) -> Sequence[JobRow]:
        """Return the rows after a number, in one state or in any, with the names of present members."""
        ...

    def end(self, organization_id: UUID | None, job_id: UUID, state: JobState, problem: str) -> bool:
        """End an unfinished job; return False when it has ended already."""
        ...


class Departures(Protocol):
    """Links to services, their sessions and subscriptions, and identities of connections.

    A link with a subscription that the payment provider bills is not ended: its user pays for it.
    """

    def end_sessions(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedSessions]:
        """End the sessions at services with links of these origins, and those by the organization's connections."""
        ...

    def end_links(
        self, organization_id: UUID, user_ids: Sequence[UUID], origins: Sequence[LinkOrigin]
    ) -> Sequence[EndedLink]:
        """Delete the links of these origins with their subscriptions."""
        ...

    def end_unconfirmed_links(self, user_id: UUID) -> Sequence[EndedLink]:
        """Delete the links that a user has never used, with their subscriptions."""
        ...

    def lock_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> None:
        """Lock the link of a user to a service, if there is one, so that no new row refers to it."""
        ...

    def end_own_link(self, organization_id: UUID, service_id: UUID, user_id: UUID) -> Sequence[EndedLink]:
        """End the link to a service that its user made, unless the user has a live subscription to it."""
        ...

    def end_links_since(self, user_id: UUID, since: datetime) -> Sequence[EndedLink]:
        """Delete the links of a user that were made since then or never used, with their subscriptions."""
        ...

    def unlink_identities(self, organization_id: UUID, user_ids: Sequence[UUID], *, remembers: bool) -> None:
        """Delete the identities by which the organization's connections sign these users in.

        With `remembers`, record them, so that they can be linked again when the users return; else delete that record.
        """
        ...

    def organization_of_mail_domain(self, domain: str) -> UUID | None:
        """Return the organization that has verified a mail domain; None without one."""
        ...

    def unconfirm(self, user_id: UUID) -> None:
        """Mark everything that organizations gave to a user as unconfirmed again."""
        ...

    def is_waiting(self, user_id: UUID, organization_slug: str, service_slug: str | None) -> bool:
        """Return whether a user's membership in an organization, or the link to its service, is not confirmed."""
        ...


class DeletedOrganizations(Protocol):
    """Organizations that their owners delete, until they are restored or deleted for good."""

    def had_other_members(self, organization_id: UUID) -> bool:
        """Return whether an organization may ever have had a member besides its founder."""
        ...

    def ending(self, organization_id: UUID, *, restorable_until: datetime, counted_max: int) -> Ending:
        """Count what ends with an organization, each up to a maximum.

        The result has `restorable_until` only if the organization had other members.
        """
        ...

    def managers_to_inform(self, organization_id: UUID, *, limit: int) -> Sequence[InformedManager]:
        """Return the owner and the admins who can sign in: the owner first, then the longest-serving admins."""
        ...

    def begin(self, organization_id: UUID, *, deletes_at: datetime) -> int:
        """Close a locked organization until it is restored, and end what it has issued; return the live subscriptions.

        The payment provider is asked to cancel those that are paid there.
        """
        ...

    def restorable(self, ids: Sequence[UUID], *, at: datetime, limit: int) -> Sequence[DeletedOrganization]:
        """List those of these organizations that can be restored at that time, by slug."""
        ...

    def lock_restorable(self, ids: Sequence[UUID], slug: str, *, at: datetime) -> Organization | None:
        """Lock the one of these organizations with this slug, if it can be restored at that time; else return None."""
        ...

    def restore(self, organization_id: UUID) -> None:
        """Give a locked organization the status back that it had."""
        ...

    def lock_next(self, *, at: datetime) -> Organization | None:
        """Lock the organization that has been due for deletion the longest, passing over locked ones; else None."""
        ...

    def internal_of_ended(self, organization_id: UUID) -> Sequence[UUID]:
        """Return the internal organizations of this organization's records as a customer that have ended."""
        ...

    def delete_part(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete some rows of a kind of which an organization may have many; return how many, 0 when none are left."""
        ...
