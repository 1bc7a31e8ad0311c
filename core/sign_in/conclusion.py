"""The common conclusion of every sign-in method: password, passkey, magic link, and later ones.

After any proof of identity the same checks follow: may the account be used, may the user sign in at the destination,
which device is it, how high is the risk (`arrivals.py`), is a second factor required. Then, and only here, a session
begins. A sign-in that waited for a second factor is checked again as a whole, because minutes have passed. Each method
makes its proof in its own module; refusals are recorded in `refusals.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import addresses, closing, mailed_codes
from core.accounts.users import User
from core.errors import Refusal
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret, hash_token
from core.sessions import refresh
from core.sessions.browser_sessions import BrowserCookie
from core.sessions.callers import Caller
from core.sessions.sessions import ABSOLUTE_LIFETIME, MFA, Session
from core.sessions.token_additions import TokenSubject
from core.sessions.token_claims import TokenGrant, token_grant
from core.sign_in import customer_tokens, entitlement, in_browsers, login_events, mfa_challenges, recognition, rules
from core.sign_in.arrivals import AssessedSignIn, Circumstances, asks_second_factor, assess, defer_circumstances
from core.sign_in.customer_choices import CustomerDue, CustomerRequired, ForCustomer, Undecided
from core.sign_in.identities import ProviderSession
from core.sign_in.login_events import Attempt
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SignInReason, reason_of
from core.sign_in.recognition import AdmittedDevice
from core.sign_in.refusals import SecondFactorDue, SignInInterrupted, SignInRefused, note, noted, refuse
from core.sign_in.rules import Candidate, Rule, SignInRule

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Refusals that count as failed sign-ins: they are recorded in the same transaction, and published.
_FAILED: Final = frozenset(
    {Rule.ACTIVATED, Rule.REOPENING, Rule.ADDRESS_VERIFIED, Rule.AFFILIATION, Rule.SINGLE_SIGN_ON}
)

_OF_DESTINATION: Final = frozenset(rule.name for rule in rules.OF_DESTINATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunSession:
    """A session has begun. `conclude_child` returns no more: who takes it over gets tokens later (`refresh.py`)."""

    session: Session
    device_token: Secret
    refresh_token: Secret
    cookie: BrowserCookie | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCompleted:
    """A session has begun, or was continued. A browser gets the cookie, any other client the tokens of the grant."""

    grant: TokenGrant
    cookie: BrowserCookie | None = None
    # Its user is told so, and asked to change it.
    has_breached_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorPending:
    """The first factor was right; a second one is required, which may be a passkey if `takes_passkey`."""

    challenge: MfaChallenge
    takes_passkey: bool
    has_breached_password: bool = False


Outcome = SignInCompleted | SecondFactorPending | Refusal


def conclude(uow: UnitOfWork, proof: IdentityProof, destination: Destination) -> Outcome:
    """Begin a session for a proved identity, require a second factor, or refuse."""
    locked = uow.users.defer_lock(proof.user_id)
    circumstances = defer_circumstances(uow, proof.user_id, destination)
    return conclude_locked(uow, locked(), proof, destination, circumstances)


def conclude_locked(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    circumstances: Circumstances | None = None,
) -> Outcome:
    """Do what `conclude` does, with an account that the caller has locked.

    The lock ensures that a concurrent deactivation or new password ends the session that begins here. `circumstances`
    were read behind it, where the caller could do so in the same round trip.
    """
    with _noting(proof, destination):
        sign_in = _assessed(uow, user, proof, destination, circumstances)
        if not isinstance(sign_in, AssessedSignIn):
            return sign_in
        if sign_in.undecided is not None:
            return _ask_customer(uow, sign_in, sign_in.undecided, destination, trust_device=False)
        return _with_tokens(uow, sign_in, _begin_session(uow, sign_in, destination, trust_device=False))


def conclude_child(
    uow: UnitOfWork, user: User | None, proof: IdentityProof, destination: Destination, circumstances: Circumstances
) -> BegunSession | SecondFactorPending | Refusal:
    """Do what `conclude_locked` does, for a session whose tokens are for another party; nothing is read behind it."""
    with _noting(proof, destination):
        sign_in = _assessed(uow, user, proof, destination, circumstances)
        if not isinstance(sign_in, AssessedSignIn):
            return sign_in
        if sign_in.undecided is not None:
            raise CustomerDue().because(SignInReason.CUSTOMER_ASKED)
        return _begin_session(uow, sign_in, destination, trust_device=False)


@contextmanager
def _noting(proof: IdentityProof, destination: Destination) -> Generator[None]:
    """Let a refusal that rolls everything back be noted."""
    try:
        yield
    except Refusal as refusal:
        raise noted(refusal, proof.user_id, proof.used_way, destination.of_proved()) from None


def _assessed(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    circumstances: Circumstances | None,
) -> AssessedSignIn | SecondFactorPending | Refusal:
    """Return a sign-in that needs no further factor."""
    sign_in = _admit(
        Candidate(
            uow=uow,
            user=user,
            proof=proof,
            destination=destination,
            circumstances=circumstances,
            of_unusable=SignInRefused(),
        )
    )
    if isinstance(sign_in, Refusal):
        return sign_in
    if asks_second_factor(sign_in.user, proof, destination):
        if not sign_in.has_trusted_device(uow.now):
            if destination.parent_id is not None:
                return SecondFactorDue()
            return _ask_second_factor(uow, sign_in, destination)
        sign_in = sign_in.with_methods("trusted")
    return sign_in


def conclude_with_second_factor(
    uow: UnitOfWork,
    user: User,
    challenge: MfaChallenge,
    destination: Destination,
    *,
    proved: Sequence[str],
    trust_device: bool,
) -> SignInCompleted | Refusal:
    """Begin the session of a sign-in that waited for a second factor, after the right one, or refuse.

    `proved` is what it proves (RFC 8176). The caller has locked the account.
    """
    proof = challenge.proof.with_methods(*proved, MFA)
    with _noting(proof, destination):
        # The first factor was right minutes ago, so the refusal of an unknown account would mislead.
        sign_in = _admit(
            Candidate(
                uow=uow,
                user=user,
                proof=proof,
                destination=destination,
                circumstances=None,
                of_unusable=SignInInterrupted(),
            )
        )
        if isinstance(sign_in, Refusal):
            return sign_in
        if sign_in.undecided is not None:
            return _ask_customer(uow, sign_in, sign_in.undecided, destination, trust_device=trust_device)
        begun = _begin_session(uow, sign_in, destination, trust_device=trust_device, waited=challenge)
        return _with_tokens(uow, sign_in, begun)


def _ask_second_factor(uow: UnitOfWork, sign_in: AssessedSignIn, destination: Destination) -> SecondFactorPending:
    proof = sign_in.proof
    challenge = mfa_challenges.begin(uow, proof, destination, organization_id=sign_in.place.organization_id)
    _record_waiting(uow, challenge.id, sign_in, SignInReason.SECOND_FACTOR_ASKED)
    return SecondFactorPending(
        challenge=challenge, takes_passkey=challenge.takes_passkey and sign_in.user.has_passkey_factor
    )


def _ask_customer(
    uow: UnitOfWork,
    sign_in: AssessedSignIn,
    undecided: Undecided,
    destination: Destination,
    *,
    trust_device: bool,
) -> CustomerRequired:
    """Keep a sign-in until its user has chosen a customer; a device that is to be trusted is trusted then."""
    waiting = customer_tokens.keep(
        uow,
        sign_in.proof,
        destination,
        organization_id=sign_in.place.organization_id,
        trust_device=trust_device,
    )
    _record_waiting(uow, waiting.challenge_id, sign_in, SignInReason.CUSTOMER_ASKED)
    return CustomerRequired(undecided, waiting.token)


def conclude_for_customer(
    uow: UnitOfWork, user: User, challenge: MfaChallenge, destination: Destination
) -> SignInCompleted | Refusal:
    """Begin the session of a sign-in whose user has chosen the customer that the destination names, or refuse.

    The caller has locked the account.
    """
    with _noting(challenge.proof, destination):
        sign_in = _admit(
            Candidate(
                uow=uow,
                user=user,
                proof=challenge.proof,
                destination=destination,
                circumstances=None,
                of_unusable=SignInInterrupted(),
            )
        )
        if isinstance(sign_in, Refusal):
            return sign_in
        if asks_second_factor(user, sign_in.proof, destination) and not sign_in.has_trusted_device(uow.now):
            # It was turned on meanwhile, or the customer trusts the device for a shorter time.
            raise SignInInterrupted().because(SignInReason.SECOND_FACTOR_REQUIRED)
        begun = _begin_session(uow, sign_in, destination, trust_device=challenge.trusts_device, waited=challenge)
        return _with_tokens(uow, sign_in, begun)


def _admit(candidate: Candidate) -> AssessedSignIn | Refusal:
    """Return the assessed sign-in, or refuse an account that may not be used or a destination that is not open."""
    uow = candidate.uow
    refusal = _refusal_by(rules.OF_ACCOUNT, candidate)
    if refusal is not None:
        return refusal
    if not candidate.account.is_verified:
        candidate = candidate.as_proved(addresses.mark_proved(uow, candidate.account))
    refusal = _refusal_by(rules.OF_GIFTS, candidate)
    assert refusal is None, "an address that its user does not own was refused without rolling back"
    if candidate.uses_unconfirmed_gift:
        candidate = candidate.as_proved(addresses.reclaim(uow, candidate.account))
    candidate = candidate.informed()
    refusal = _refusal_by(rules.OF_DESTINATION, candidate)
    if refusal is not None:
        return refusal
    if candidate.uses_unconfirmed_customer:
        candidate = candidate.as_proved(addresses.reclaim(uow, candidate.account)).informed()
    return assess(
        uow,
        candidate.account,
        candidate.limited_proof,
        candidate.place,
        candidate.known_circumstances,
        candidate.choice if isinstance(candidate.choice, Undecided) else None,
    )


def _refusal_by(of: Sequence[SignInRule], candidate: Candidate) -> Refusal | None:
    """Return the refusal of the first rule that refuses, after recording it; raise one that rolls everything back."""
    for rule in of:
        refusal = rule.judge(candidate)
        if refusal is not None:
            return _keep(rule.name, candidate, refusal)
    return None


def _keep(rule: Rule, candidate: Candidate, refusal: Refusal) -> Refusal:
    """Return a refusal whose changes are kept, with its record among them; raise any other one."""
    uow, proof = candidate.uow, candidate.proof
    destination = candidate.destination.of_proved(_chosen(rule, candidate))
    reason = reason_of(refusal.reason)
    assert reason is not None, "a rule refuses for no reason of the vocabulary"
    if rule is Rule.ADDRESS_CONFIRMED:
        note(uow, proof.user_id, proof.used_way, destination, reason)
        return refusal
    if rule not in _FAILED:
        raise noted(refusal, proof.user_id, proof.used_way, destination)
    refuse(uow, candidate.user, proof.used_way, destination, refusal, reason=reason)
    if rule is Rule.AFFILIATION:
        assert proof.confinement is not None, "a proof by a connection is not confined"
        assert candidate.standing is not None, "a user was refused by a connection that is gone"
        entitlement.unlink(uow, candidate.account, proof.confinement, candidate.standing)
    return refusal


def _chosen(rule: Rule, candidate: Candidate) -> UUID | None:
    """Return the customer for which the user comes whom a rule refuses; None before that is read, and for none."""
    choice = candidate.choice if rule in _OF_DESTINATION else None
    return choice.customer.id if isinstance(choice, ForCustomer) else None


def _begin_session(
    uow: UnitOfWork,
    sign_in: AssessedSignIn,
    destination: Destination,
    *,
    trust_device: bool,
    waited: MfaChallenge | None = None,
) -> BegunSession:
    _require_complete(uow, sign_in, destination)
    user = sign_in.user
    closing.reopen(uow, user)
    if destination.parent_id is None and not sign_in.proof.is_by_connection:
        mailed_codes.forget_wrong(uow, user)
    device = recognition.admit(uow, user.id, sign_in.device_match, sign_in.risk, trust=trust_device)
    place = sign_in.place
    if place.customer is not None:
        # Coming in for the customer is consent to a membership that another person made.
        uow.members.confirm(place.customer.organization_id, user.id)
        uow.customer_visits.record(place.customer.id, place.customer.organization_id, user.id, at=uow.now)
    elif place.service is not None:
        uow.services.link_user(place.service, user.id, at=uow.now)
    elif place.organization is not None:
        # Naming the organization is consent to a membership that another person made; most memberships have it already.
        uow.members.confirm(place.organization.id, user.id)
    session = _session(uow, sign_in, device, destination.parent_id)
    refresh_token = refresh.first_token(uow, session.id)
    if destination.browser is not None:
        kept = in_browsers.keep(uow, session, refresh_token, destination.browser)
        session, cookie = kept.session, kept.cookie
    else:
        uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
        cookie = None
    if sign_in.proof.provider_session is not None:
        _keep_provider_session(uow, session.id, sign_in.proof, sign_in.proof.provider_session)
    event_id = waited.event_id_in(place.organization_id) if waited is not None else None
    attempt = _attempt(event_id or uow.randomness.new_id(), sign_in, device.device_id, has_waited=event_id is not None)
    login_events.record(uow, attempt, place)
    if sign_in.is_suspicious and not user.has_mfa:
        _mail_warning(uow, user, device)

    _publish(uow, sign_in)
    return BegunSession(session=session, device_token=device.token, refresh_token=refresh_token, cookie=cookie)


def _require_complete(uow: UnitOfWork, sign_in: AssessedSignIn, destination: Destination) -> None:
    """Raise the refusal of a sign-in that lacks a factor, or has taken longer than its identity provider allows."""
    customer = sign_in.place.customer
    with _noting(sign_in.proof, destination.of_proved(customer.id if customer is not None else None)):
        sign_in.require_second_factor()
        bounded_until = sign_in.proof.bounded_until
        if bounded_until is not None and bounded_until <= uow.now:
            raise SignInInterrupted().because(SignInReason.SESSION_OVER_THERE)


def _with_tokens(uow: UnitOfWork, sign_in: AssessedSignIn, begun: BegunSession) -> SignInCompleted:
    session = begun.session
    is_of_account = session.organization_id is None and session.confinement is None and begun.cookie is None
    subject = (
        TokenSubject(caller=_caller_of_account(sign_in.user, session))
        if is_of_account
        else uow.callers.subject(session.id)
    )
    if subject is None or (session.customer_id is not None and subject.caller.customer is None):
        # Deactivated concurrently; raising rolls everything back.
        raise SignInInterrupted().because(SignInReason.DEACTIVATED)
    grant = token_grant(
        subject, begun.refresh_token, session_expires_at=session.expires_at, device_token=begun.device_token
    )
    return SignInCompleted(grant=grant, cookie=begun.cookie)


def _keep_provider_session(uow: UnitOfWork, session_id: UUID, proof: IdentityProof, known: ProviderSession) -> None:
    limits = proof.confinement
    assert limits is not None, "an identity provider has proved an identity without limits"
    assert limits.connection_id is not None, "an identity provider without a connection has proved an identity"
    uow.provider_sessions.put(limits.organization_id, limits.connection_id, session_id, known)


def _session(uow: UnitOfWork, sign_in: AssessedSignIn, device: AdmittedDevice, parent_id: UUID | None) -> Session:
    bounded_until, latest = sign_in.proof.bounded_until, uow.now + ABSOLUTE_LIFETIME
    return Session(
        id=uow.randomness.new_id(),
        user_id=sign_in.user.id,
        organization_id=sign_in.place.organization_id,
        service_id=sign_in.place.service_id,
        device_id=device.device_id,
        provider=sign_in.proof.provider,
        amr=list(sign_in.proof.amr),
        authenticated_at=sign_in.proof.authenticated_at or uow.now,
        refreshed_at=uow.now,
        expires_at=latest if bounded_until is None else min(latest, bounded_until),
        ip_address=uow.origin.ip_address,
        user_agent=uow.origin.user_agent,
        impersonator_id=None,
        parent_id=parent_id,
        customer_id=sign_in.place.customer.id if sign_in.place.customer is not None else None,
        confinement=sign_in.proof.confinement,
        bounded_until=bounded_until,
        created_at=uow.now,
    )


def _record_waiting(uow: UnitOfWork, event_id: UUID, sign_in: AssessedSignIn, reason: SignInReason) -> None:
    attempt = _attempt(event_id, sign_in, sign_in.device_match.known_device_id)
    login_events.record_waiting(uow, attempt, sign_in.place, sign_in.habits, reason)


def _attempt(event_id: UUID, sign_in: AssessedSignIn, device_id: UUID | None, *, has_waited: bool = False) -> Attempt:
    proof = sign_in.proof
    return Attempt(
        id=event_id,
        user_id=proof.user_id,
        way=proof.used_way,
        device_id=device_id,
        risk=sign_in.risk,
        has_waited=has_waited,
    )


def _caller_of_account(user: User, session: Session) -> Caller:
    """Return the caller of a new session without an organization and limits, who is what is known of the account."""
    return Caller(
        user_id=user.id,
        email=user.email,
        email_verified_at=user.email_verified_at,
        is_platform_owner=user.is_platform_owner,
        user_created_at=user.created_at,
        session_id=session.id,
        amr=session.amr,
        authenticated_at=session.authenticated_at,
        device_id=session.device_id,
        organization_id=None,
        organization_slug=None,
        organization_status=None,
        role=None,
        custom_permissions=None,
        service_id=None,
        service_slug=None,
        service_client_id=None,
        is_end_user=False,
        impersonator_id=None,
        is_disowned=user.is_disowned,
        lacks_mailed_proof=user.changed_by_service_at is not None,
        is_platform_support=user.acts_as_platform_support,
    )


def _publish(uow: UnitOfWork, sign_in: AssessedSignIn) -> None:
    place = sign_in.place
    data: dict[str, str | None] = {
        "provider": sign_in.proof.provider,
        "service_id": str(place.service_id) if place.service_id is not None else None,
    }
    receivers = sign_in.receivers
    if place.customer is not None:
        # Each sees its half (decisions 15.7), and of these facts both see the same.
        data["customer_id"] = str(place.customer.id)
        receivers = (*receivers, place.customer.organization_id)
    uow.publish_to_each(
        EventType.USER_LOGIN_SUCCESS,
        receivers,
        actor_user_id=sign_in.user.id,
        actor_email=sign_in.user.email,
        **data,
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
