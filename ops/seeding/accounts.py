"""The rows of memberships, end users and invitations, and the status of organizations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle
from typing import Final

from core.accounts.sign_in_methods import Provider
from core.invitations.invitations import LIFETIME, InvitationStatus
from core.organizations.organizations import ADMIN, MEMBER, OWNER, OrganizationStatus
from ops.seeding.drawing import HEXADECIMAL, NULL, Batch, chance_of, line
from ops.seeding.population import (
    MILLISECONDS_PER_DAY,
    PERIOD_MS,
    Plan,
    address,
    identifier,
    invited,
    moment,
)

ADMIN_EVERY: Final = 10
# The longest time until an invitation is answered.
ANSWER_DAYS_MAX: Final = 5
# The part of the whole period for which a session lasts.
SESSIONS_LIVE_PART: Final = 30
LIFETIME_MS: Final = LIFETIME // timedelta(milliseconds=1)
# Half of all invitations are neither answered nor swept yet; the others have one of the final states.
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


def memberships(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield memberships in every built-in role, with the address of the account, as the foreign key requires."""
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
            moment(since_ms),
            address(user),
        )


def end_users(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield links of end users to services, with the address of the account, as the foreign key requires."""
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


def sessions(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield sessions of the users in turn, signed in to with a password; no refresh token is known."""
    lifetime_ms = PERIOD_MS // SESSIONS_LIVE_PART
    for session in batch:
        user = session % plan.users
        since_ms = max(plan.moment_ms(session, plan.sessions), plan.user_since_ms(user))
        since = moment(since_ms)
        yield line(
            identifier("sessions", session, since_ms),
            plan.user_id(user),
            Provider.PASSWORD,
            "{pwd}",
            since,
            _hash(f"session {session}"),
            since,
            moment(since_ms + lifetime_ms),
            since,
        )


def invitations(plan: Plan, batch: Batch) -> Iterator[str]:
    """Yield answered invitations, and an equal number of pending ones that have expired."""
    # The tokens are unknown, and an invitation that is used after its lifetime is refused.
    members = plan.members()
    chance = chance_of("invitations", batch)
    statuses = cycle(_STATUSES[batch.start % len(_STATUSES) :] + _STATUSES[: batch.start % len(_STATUSES)])
    for invitation, status in zip(batch, statuses, strict=False):
        organization, _ = members.place(chance.randrange(plan.memberships))
        # Early enough that the lifetime of the last is over at the end.
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
    """Return the status of an organization; the first one is active."""
    match organization % 30:
        case 10:
            return OrganizationStatus.PENDING
        case 20:
            return OrganizationStatus.SUSPENDED
        case _:
            return OrganizationStatus.ACTIVE


def _hash(text: str) -> str:
    return HEXADECIMAL + hashlib.sha256(text.encode()).hexdigest()
