"""The common conclusion of every sign-in method: password, passkey, magic link, and later ones.

After any proof of identity the same checks follow: may the account be used, may the user sign in at the destination,
which device is it, how high is the risk (`arrivals.py`), is a second factor required. Then, and only here, a session
begins. A sign-in that waited for a second factor is checked again as a whole, because minutes have passed. Each method
makes its proof in its own module; refusals are recorded in `refusals.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.accounts import addresses, closing, single_sign_on
from core.errors import Refusal, SsoRequired
from core.events import person_events
from core.events.events import EventType
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import hash_token
from core.sessions import refresh
from core.sessions.sessions import ABSOLUTE_LIFETIME, Session
from core.sessions.token_claims import TokenGrant, token_grant
from core.sign_in import entitlement, in_browsers, login_events, mfa_challenges, recognition
from core.sign_in.arrivals import AssessedSignIn, assess
from core.sign_in.refusals import (
    ClosedToProviders,
    EmailNotVerified,
    SecondFactorDue,
    SignInInterrupted,
    SignInRefused,
    record_failure,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from core.accounts.users import User
    from core.sessions.browser_sessions import BrowserCookie
    from core.sign_in.mfa_challenges import MfaChallenge
    from core.sign_in.proofs import Destination, Proof
    from core.sign_in.recognition import AdmittedDevice
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCompleted:
    """A session has begun, or was continued. A browser gets the cookie, any other client the tokens of the grant."""

    grant: TokenGrant
    cookie: BrowserCookie | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorPending:
    """The first factor was right; a second one is required."""

    challenge: MfaChallenge


Outcome = SignInCompleted | SecondFactorPending | Refusal


def conclude(uow: UnitOfWork, proof: Proof, destination: Destination) -> Outcome:
    """Begin a session for a proved identity, require a second factor, or refuse."""
    return conclude_locked(uow, uow.users.lock(proof.user_id), proof, destination)


def conclude_locked(uow: UnitOfWork, user: User | None, proof: Proof, destination: Destination) -> Outcome:
    """Do what `conclude` does, with an account that the caller has locked.

    The lock ensures that a concurrent deactivation or new password ends the session that begins here.
    """
    sign_in = _admit(uow, user, proof, destination, SignInRefused())
    if isinstance(sign_in, Refusal):
        return sign_in
    if sign_in.user.has_mfa and not proof.has_second_factor and not destination.continues_two_factors:
        if not sign_in.has_trusted_device(uow.now):
            if destination.parent_id is not None:
                return SecondFactorDue()
            return SecondFactorPending(challenge=mfa_challenges.begin(uow, proof, destination))
        sign_in = sign_in.with_methods("trusted")
    return _begin_session(uow, sign_in, destination, trust_device=False)


def conclude_with_second_factor(
    uow: UnitOfWork, user: User, challenge: MfaChallenge, destination: Destination, *, factor: str, trust_device: bool
) -> SignInCompleted | Refusal:
    """Begin the session of a sign-in that waited for a second factor, after the right code, or refuse.

    The caller has locked the account.
    """
    # The first factor was right minutes ago, so the refusal of an unknown account would mislead.
    sign_in = _admit(uow, user, challenge.proof.with_methods(factor, "mfa"), destination, SignInInterrupted())
    if isinstance(sign_in, Refusal):
        return sign_in
    return _begin_session(uow, sign_in, destination, trust_device=trust_device)


def _admit(
    uow: UnitOfWork, user: User | None, proof: Proof, destination: Destination, of_unusable: SignInRefused
) -> AssessedSignIn | Refusal:
    """Return the assessed sign-in, or refuse an account that may not be used or a destination that is not open."""
    if user is None or not user.may_sign_in:
        return refuse(uow, user, proof.provider, destination, of_unusable, reason="deactivated")
    if user.closed_at is not None and proof.is_of_provider:
        return refuse(uow, user, proof.provider, destination, ClosedToProviders(), reason="closed")
    if not user.is_verified:
        if not proof.proves_address:
            return refuse(uow, user, proof.provider, destination, EmailNotVerified(), reason="email_not_verified")
        user = addresses.mark_proved(uow, user)
    slug = destination.organization_slug
    if user.waits_for_proof and slug is not None and uow.departures.is_waiting(user.id, slug, destination.service_slug):
        user = addresses.settle(uow, user, proves_address=proof.proves_address)
    refusal = entitlement.refusal_of(uow, user, proof, destination)
    if refusal is not None:
        return refusal
    if _is_single_sign_on_missing(uow, user, proof, destination):
        record_failure(uow, user, proof.provider, reason="sso_required", device_token=destination.device_token)
        return SsoRequired().because("sso_required")
    return assess(uow, user, proof, destination)


def _is_single_sign_on_missing(uow: UnitOfWork, user: User, proof: Proof, destination: Destination) -> bool:
    """Return whether the user has to sign in by a connection, and has not."""
    required = single_sign_on.required_connection(uow, user)
    if required is None or (proof.confinement is not None and proof.confinement.connection_id == required):
        return False
    browser = destination.browser
    if browser is None:
        return True
    if browser.is_again and browser.present is not None and browser.present.connection_id == required:
        return False
    # A browser that comes from the connection signs in to the account, so that the two are linked.
    binding = browser.upstream_binding
    return binding is None or not uow.upstream_sign_ins.is_linking(hash_token(binding), user.id, required)


def _begin_session(
    uow: UnitOfWork, sign_in: AssessedSignIn, destination: Destination, *, trust_device: bool
) -> SignInCompleted:
    sign_in.require_second_factor(uow)
    user = sign_in.user
    closing.reopen(uow, user)
    device = recognition.admit(uow, user.id, sign_in.device_match, sign_in.risk, trust=trust_device)
    if sign_in.service is not None:
        uow.services.link_user(sign_in.service, user.id, at=uow.now)
    elif sign_in.organization is not None:
        # Naming the organization is consent to a membership that another person made; most memberships have it already.
        uow.members.confirm(sign_in.organization.id, user.id)
    session = _session(uow, sign_in, device, destination.parent_id)
    refresh_token = refresh.first_token(uow, session.id)
    if destination.browser is not None:
        kept = in_browsers.keep(uow, session, refresh_token, destination.browser)
        session, cookie = kept.session, kept.cookie
    else:
        uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
        cookie = None
    _record(uow, sign_in, device)
    if sign_in.is_suspicious and not user.has_mfa:
        _mail_warning(uow, user, device)

    receivers = person_events.defer_receivers(uow, user.id, sign_in.organization_id)
    caller = uow.callers.of_session(session.id)
    if caller is None:
        # Deactivated concurrently; raising rolls everything back.
        raise SignInInterrupted().because("deactivated")
    recognition.require(device)
    _publish(uow, sign_in, receivers())
    return SignInCompleted(
        grant=token_grant(caller, refresh_token, session_expires_at=session.expires_at, device_token=device.token),
        cookie=cookie,
    )


def _session(uow: UnitOfWork, sign_in: AssessedSignIn, device: AdmittedDevice, parent_id: UUID | None) -> Session:
    return Session(
        id=uow.randomness.new_id(),
        user_id=sign_in.user.id,
        organization_id=sign_in.organization_id,
        service_id=sign_in.service_id,
        device_id=device.device_id,
        provider=sign_in.proof.provider,
        amr=list(sign_in.proof.amr),
        authenticated_at=sign_in.proof.authenticated_at or uow.now,
        refreshed_at=uow.now,
        expires_at=uow.now + ABSOLUTE_LIFETIME,
        ip_address=uow.origin.ip_address,
        user_agent=uow.origin.user_agent,
        impersonator_id=None,
        parent_id=parent_id,
        confinement=sign_in.proof.confinement,
        created_at=uow.now,
    )


def _record(uow: UnitOfWork, sign_in: AssessedSignIn, device: AdmittedDevice) -> None:
    login_events.record(
        uow,
        sign_in.user.id,
        sign_in.proof.provider,
        sign_in.risk,
        is_success=True,
        organization_id=sign_in.organization_id,
        service_id=sign_in.service_id,
        device_id=device.device_id,
    )


def _publish(uow: UnitOfWork, sign_in: AssessedSignIn, receivers: Sequence[UUID | None]) -> None:
    uow.publish_to_each(
        EventType.USER_LOGIN_SUCCESS,
        receivers,
        actor_user_id=sign_in.user.id,
        actor_email=sign_in.user.email,
        provider=sign_in.proof.provider,
        service_id=str(sign_in.service_id) if sign_in.service_id is not None else None,
    )


def _mail_warning(uow: UnitOfWork, user: User, device: AdmittedDevice) -> None:
    """Warn a user without a second factor about a sign-in that may not have been their own."""
    mail.send(
        uow,
        user.email,
        MailTemplate.NEW_SIGN_IN,
        device=device.name,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )
