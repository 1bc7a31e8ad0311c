"""Selecting an organization: the caller's session goes on in it, as if it had begun there (operations 4.4).

What the organization asks of a sign-in it asks here as well (`arrivals.py`), else signing in elsewhere and then
selecting it would be the way around its settings. That there was a second factor `access.enter` has seen to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core import sessions_refresh
from core.access import Operation, enter
from core.devices import is_trusted
from core.errors import Forbidden
from core.organization_creation import Person, person_of

if TYPE_CHECKING:
    from core.callers import Caller
    from core.grants import Grant
    from core.memberships import Membership
    from core.organizations import Organization
    from ports.unit_of_work import UnitOfWork


class DeviceTrustedTooLongAgo(Forbidden):
    """The device stood in for the second factor, and has done so for longer than the organization allows."""

    default_message = (
        "Your device was trusted longer ago than this organization allows."
        " Sign in again, naming this organization, and give a code."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Who works in the organization now, in which role, and with which tokens."""

    user: Person
    membership: Membership
    grant: Grant


def select(uow: UnitOfWork, slug: str) -> Selected:
    """Make an organization the context of the caller's session, and give the session its next tokens."""
    place = enter(uow, slug, Operation.ORGANIZATION_SELECT)
    _insist_on_device_trust(uow, place.caller, place.organization)
    return Selected(
        user=person_of(place.caller),
        membership=place.membership,
        grant=sessions_refresh.move(uow, place.caller.session_id, place.organization.id),
    )


def _insist_on_device_trust(uow: UnitOfWork, caller: Caller, organization: Organization) -> None:
    # Whoever governs the platform is not held off by the settings of an organization.
    if (
        not caller.is_impersonated
        and caller.is_remembered
        and not _is_remembered_long_enough(uow, caller, organization)
    ):
        raise DeviceTrustedTooLongAgo


def _is_remembered_long_enough(uow: UnitOfWork, caller: Caller, organization: Organization) -> bool:
    """Say whether the device would have stood in for the second factor had the session begun in the organization."""
    device = uow.devices.by_id(caller.device_id, at=uow.now) if caller.device_id is not None else None
    trusted_at = device.mfa_trusted_at if device is not None else None
    return is_trusted(trusted_at, organization.device_trust, at=caller.authenticated_at)
