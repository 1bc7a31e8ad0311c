"""The rows about who there is: accounts, organizations, who manages them, and who signs in to their services."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from itertools import cycle
from typing import TYPE_CHECKING, Final

from core.invitations.invitations import LIFETIME, InvitationStatus
from core.organizations.memberships import ADMIN, MEMBER, OWNER
from core.organizations.organizations import OrganizationStatus
from ops.seeding.drawing import HEXADECIMAL, NULL, chance_of, line
from ops.seeding.population import (
    MILLISECONDS_PER_DAY,
    PERIOD_MS,
    address,
    identifier,
    invited,
    moment,
    password_hash,
    slug,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.seeding.drawing import Batch
    from ops.seeding.population import Plan

ADMIN_EVERY: Final = 10
# Nobody waits longer than that before they answer.
ANSWER_DAYS_MAX: Final = 5
LIFETIME_MS: Final = LIFETIME // timedelta(milliseconds=1)
# The half of all invitations that nobody answered and no sweeper has come to yet, and what became of the others.
_STATUSES: Final = tuple(
    status
    for answered in (
        InvitationStatus.ACCEPTED,
        InvitationStatus.EXPIRED,
        InvitationStatus.REJECTED,
        InvitationStatus.CANCELLED,
    )
    for status in (InvitationStatus.PENDING, answered)
)


def users(plan: Plan, batch: Batch) -> Iterator[str]:
    """Write accounts with a proved address and the password."""
    encoded = password_hash()
    for user in batch:
        since = moment(plan.user_since_ms(user))
        yield line(plan.user_id(user), address(user), since, encoded, since, since)


def organizations(plan: Plan, tier_ids: list[str], batch: Batch) -> Iterator[str]:
    """Write organizations, most of them active."""
    for organization in batch:
        since = moment(plan.organization_since_ms(organization))
        status = status_of(organization)
        yield line(
            plan.organization_id(organization),
            slug(organization),
            f"Organization {organization + 1}",
            status,
            tier_ids[organization % len(tier_ids)],
            since,
            since,
            NULL if status is OrganizationStatus.PENDING else since,
            since if status is OrganizationStatus.SUSPENDED else NULL,
            "Unpaid." if status is OrganizationStatus.SUSPENDED else NULL,
        )


def memberships(plan: Plan, batch: Batch) -> Iterator[str]:
    """Write who manages what, in every built-in role."""
    members = plan.members()
    for membership in batch:
        organization, turn = members.place(membership)
        user = plan.member(organization, turn)
        since_ms = max(plan.organization_since_ms(organization), plan.user_since_ms(user))
        yield line(
            identifier("memberships", membership, since_ms),
            plan.organization_id(organization),
            plan.user_id(user),
            OWNER if turn == 0 else ADMIN if turn % ADMIN_EVERY == 1 else MEMBER,
            moment(since_ms),
        )


def services(plan: Plan, batch: Batch) -> Iterator[str]:
    """Write services, one for each organization, then a second one, and so on."""
    for service in batch:
        turn, organization = divmod(service, plan.organizations)
        since_ms = plan.service_since_ms(service)
        since = moment(since_ms)
        yield line(
            plan.service_id(service),
            plan.organization_id(organization),
            f"service-{turn + 1}",
            f"Service {turn + 1}",
            "web",
            identifier("clients", service, since_ms),
            since,
            since,
        )


def end_users(plan: Plan, batch: Batch) -> Iterator[str]:
    """Write who signs in to which service; the address is the account's, which the foreign key insists on."""
    links = plan.links()
    until_ms = int(plan.until.timestamp() * 1000)
    chance = chance_of("service_users", batch)
    for link in batch:
        organization, turn = links.place(link)
        user, service = plan.end_user(organization, turn)
        since_ms = max(plan.organization_since_ms(organization), plan.user_since_ms(user))
        yield line(
            plan.service_id(service),
            plan.organization_id(organization),
            plan.user_id(user),
            address(user),
            moment(since_ms),
            moment(since_ms + int(chance.random() * (until_ms - since_ms))),
        )


def invitations(plan: Plan, batch: Batch) -> Iterator[str]:
    """Write invitations that are answered, and as many that wait although their time is over."""
    # The tokens are nobody's: who would accept one of these is told that it has expired.
    members = plan.members()
    chance = chance_of("invitations", batch)
    statuses = cycle(_STATUSES[batch.start % len(_STATUSES) :] + _STATUSES[: batch.start % len(_STATUSES)])
    for invitation, status in zip(batch, statuses, strict=False):
        organization, _ = members.place(chance.randrange(plan.memberships))
        # Early enough for the last to have run out by the end.
        since_ms = plan.first_ms + invitation * (PERIOD_MS - 2 * LIFETIME_MS) // plan.invitations
        is_answered = status not in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}
        answered_ms = since_ms + int(chance.random() * ANSWER_DAYS_MAX * MILLISECONDS_PER_DAY)
        yield line(
            identifier("invitations", invitation, since_ms),
            plan.organization_id(organization),
            invited(invitation),
            MEMBER,
            plan.user_id(plan.member(organization, 0)),
            status,
            _hash(f"token {invitation}"),
            _hash(f"proof {invitation}"),
            moment(since_ms),
            moment(since_ms + LIFETIME_MS),
            moment(answered_ms) if is_answered else NULL,
        )


def status_of(organization: int) -> OrganizationStatus:
    """Give the state of an organization; the first one is active."""
    match organization % 30:
        case 10:
            return OrganizationStatus.PENDING
        case 20:
            return OrganizationStatus.SUSPENDED
        case _:
            return OrganizationStatus.ACTIVE


def _hash(text: str) -> str:
    return HEXADECIMAL + hashlib.sha256(text.encode()).hexdigest()
