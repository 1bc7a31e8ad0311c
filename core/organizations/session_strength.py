"""What an organization requires of a session beyond a role: a second factor, on a device that it trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import Forbidden
from core.organizations.organizations import Organization, is_device_trusted
from core.sessions.callers import Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SecondFactorRequired(Forbidden):
    """The organization requires two factors of its members, and this session began with one."""

    default_message = (
        "This organization requires multi-factor authentication. Set up MFA on your account if you have not, signed in"
        " without naming an organization, and sign in again with a code."
    )


class DeviceTrustedTooLongAgo(Forbidden):
    """The device was used instead of the second factor, and was trusted longer ago than the organization allows."""

    default_message = (
        "Your device was trusted longer ago than this organization allows."
        " Sign in to this organization again and enter a code."
    )


def require_second_factor(caller: Caller) -> None:
    """Raise `SecondFactorRequired` when the session began without one; for organizations that require it."""
    # The settings of an organization do not keep a platform owner out who impersonates a member.
    if not (caller.has_second_factor or caller.is_impersonated):
        raise SecondFactorRequired


def require_device_trust(uow: UnitOfWork, caller: Caller, organization: Organization) -> None:
    """Raise `DeviceTrustedTooLongAgo` when the session began on a trusted device that this organization would refuse.

    The organization would have refused it at the sign-in, when its own trust period was already over.
    """
    if caller.is_impersonated or not caller.is_remembered:
        return
    device = uow.devices.by_id(caller.device_id, at=uow.now) if caller.device_id is not None else None
    trusted_at = device.mfa_trusted_at if device is not None else None
    if not is_device_trusted(trusted_at, organization.device_trust, at=caller.authenticated_at):
        raise DeviceTrustedTooLongAgo
