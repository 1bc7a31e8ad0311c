"""What an organization requires of a session beyond a role: a second factor, on a device that it trusts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import BadRequest, Forbidden
from core.organizations.organizations import Organization, is_device_trusted
from core.sessions.callers import Caller
from core.sessions.mfa_methods import MfaMethods

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class SecondFactorRequired(Forbidden):
    """The organization requires two factors of its members, and this session began with one."""

    default_message = (
        "This organization requires multi-factor authentication. If your account has no MFA yet, sign in without"
        " naming an organization and set it up. Then sign in again with a code."
    )


class PasskeyRequired(SecondFactorRequired):
    """The organization accepts passkeys alone as a second factor, and this session has not proved one."""

    default_message = (
        "This organization accepts a passkey alone as a second factor. Sign in with your passkey. If you have none,"
        " sign in with a link or code that is mailed to you, without naming an organization, and add a passkey to your"
        " account."
    )


class NoFactorOfOwn(BadRequest):
    """The caller would require what their own account does not have."""

    default_message = (
        "Your own account has no passkey and does not sign in by a connection that is trusted with the second factor,"
        " so this would lock you out. Add a passkey to your account first."
    )


class DeviceTrustedTooLongAgo(Forbidden):
    """The device was used instead of the second factor, and was trusted longer ago than the organization allows."""

    default_message = (
        "Your device was trusted longer ago than this organization allows."
        " Sign in to this organization again and enter a code."
    )


def refusal_of(methods: MfaMethods) -> SecondFactorRequired:
    """Return the refusal of a session without a second factor that an organization with these methods accepts."""
    return PasskeyRequired() if methods is MfaMethods.PHISHING_RESISTANT else SecondFactorRequired()


def require_second_factor(caller: Caller, methods: MfaMethods) -> None:
    """Raise `SecondFactorRequired` for a session without one of these; for organizations that require one."""
    # The settings of an organization do not keep out a platform owner who impersonates a member.
    if not (methods.are_met_by(caller.session.amr, caller.session.connection_id) or caller.limits.is_impersonated):
        raise refusal_of(methods)


def require_to_loosen(caller: Caller, before: Organization, after: Organization) -> None:
    """Raise `SecondFactorRequired` when a caller loosens the rule and has not proved the factor that it requires.

    Neither a trusted device nor an impersonator has proved it. A member who required a second factor without having one
    sets it up, which counts for that session.
    """
    has_proved = caller.session.has_proved_second_factor and before.mfa_methods.are_met_by(
        caller.session.amr, caller.session.connection_id
    )
    if after.asks_less_than(before) and not has_proved:
        raise refusal_of(before.mfa_methods)


def require_own_factor(uow: UnitOfWork, caller: Caller, before: Organization, after: Organization) -> None:
    """Raise `NoFactorOfOwn` when a caller lets passkeys alone count, or requires a factor, and has none that counts."""
    asks_now = after.is_phishing_resistant and (
        not before.is_phishing_resistant or (after.mfa_required and not before.mfa_required)
    )
    if asks_now and not uow.sign_in_rules.has_resistant_factor(after.id, caller.account.id):
        raise NoFactorOfOwn


def require_device_trust(uow: UnitOfWork, caller: Caller, organization: Organization) -> None:
    """Raise `DeviceTrustedTooLongAgo` when the session began on a trusted device that this organization would refuse.

    The organization would have refused it at the sign-in, when its own trust period was already over.
    """
    if caller.limits.is_impersonated or not caller.session.is_remembered:
        return
    device = uow.devices.by_id(caller.session.device_id, at=uow.now) if caller.session.device_id is not None else None
    trusted_at = device.mfa_trusted_at if device is not None else None
    if not is_device_trusted(trusted_at, organization.device_trust, at=caller.session.authenticated_at):
        raise DeviceTrustedTooLongAgo
