"""The effects of a judgement: what is recorded, unlinked, reclaimed, or asked for, and the session with its device.

A refusal that counts as a failed sign-in is recorded in the same transaction; any other one is raised, and rolls back
what was done before. Sessions begin only here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from core.accounts import addresses, closing, links
from core.accounts.users import User
from core.errors import Refusal
from core.events.events import EventType
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import departures
from core.secrets import hash_token
from core.sessions import refresh
from core.sessions.caller_limits import CallerLimits
from core.sessions.callers import Caller, CallerAccount, CallerSession
from core.sessions.places import CallerPlace
from core.sessions.sessions import ABSOLUTE_LIFETIME, Session
from core.sessions.token_additions import TokenSubject
from core.sessions.tokens import token_grant
from core.sign_in import browser_returns, fact_reading, judgement, login_events, mfa_challenges, recognition
from core.sign_in.customer_choices import CustomerRequired, ForCustomer, Undecided
from core.sign_in.facts import KnownDevice, SignInFacts
from core.sign_in.identities import ProviderSession
from core.sign_in.judgement import Judgement
from core.sign_in.login_events import Attempt
from core.sign_in.mfa_challenges import BegunSession, MfaChallenge, SecondFactorPending, SignInCompleted
from core.sign_in.proofs import IdentityProof
from core.sign_in.reasons import SecondFactorDue, SignInInterrupted, SignInReason, reason_of_rule
from core.sign_in.recognition import AdmittedDevice
from core.sign_in.rules import Asks, Rule

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Applied: TypeAlias = BegunSession | SecondFactorPending | Refusal

# Refusals that count as failed sign-ins: they are recorded in the same transaction, and published.
_FAILED: Final = frozenset(
    {Rule.ACTIVATED, Rule.REOPENING, Rule.ADDRESS_VERIFIED, Rule.AFFILIATION, Rule.SINGLE_SIGN_ON}
)


def amend(uow: UnitOfWork, facts: SignInFacts) -> SignInFacts:
    """Give the account to its user, who has proved the address, and return the facts since then."""
    proved = replace(facts, user=addresses.reclaim(uow, facts.account), has_unconfirmed_access=None, circumstances=None)
    return fact_reading.with_circumstances(uow, proved) if facts.circumstances is not None else proved


def apply(
    uow: UnitOfWork,
    judged: Judgement[SignInFacts],
    *,
    trust_device: bool = False,
    waited: MfaChallenge | None = None,
) -> Applied:
    """Begin the session of a sign-in that passes every rule; else keep it until its user has answered, or refuse."""
    match judged.answer:
        case Refusal() as refusal:
            return _keep(uow, judged, refusal)
        case Asks(SignInReason.CUSTOMER_ASKED):
            return _ask_customer(uow, judged.facts, trust_device=trust_device)
        case Asks():
            if judged.facts.destination.parent_id is not None:
                return SecondFactorDue()
            return _ask_second_factor(uow, judged.facts)
        case _:
            return _begin_session(uow, judged.facts, trust_device=trust_device, waited=waited)


def _keep(uow: UnitOfWork, judged: Judgement[SignInFacts], refusal: Refusal) -> Refusal:
    """Return a refusal whose changes are kept, with its record among them; raise any other one."""
    facts, rule = judged.facts, judged.rule
    proof, destination = facts.proof, facts.destination.of_proved(_chosen(facts))
    reason = reason_of_rule(refusal)
    if rule is Rule.ADDRESS_CONFIRMED:
        login_events.note_refusal(uow, proof.user_id, proof.used_way, destination, reason)
        return refusal
    if rule not in _FAILED:
        raise login_events.noted_refusal(refusal, proof.user_id, proof.used_way, destination)
    login_events.refuse(uow, facts.user, proof.used_way, destination, refusal, reason=reason)
    if rule is Rule.AFFILIATION:
        _unlink(uow, facts)
    return refusal


def _unlink(uow: UnitOfWork, facts: SignInFacts) -> None:
    """Unlink the identity of a user who does not belong to the organization of its connection."""
    limits, standing = facts.proof.confinement, facts.here.standing
    assert limits is not None, "a proof by a connection is not confined"
    assert standing is not None, "a user was refused by a connection that is gone"
    # A suspended member can be restored, and then signs in as before.
    if not standing.is_suspended:
        departures.end(uow, limits.organization_id, [facts.account.id], ())


def _chosen(facts: SignInFacts) -> UUID | None:
    """Return the customer for which the user signs in; None before that is read, and for none."""
    choice = facts.circumstances.choice if facts.circumstances is not None else None
    return choice.customer.id if isinstance(choice, ForCustomer) else None


def _ask_second_factor(uow: UnitOfWork, facts: SignInFacts) -> SecondFactorPending:
    proof = judgement.session_proof(facts)
    challenge = mfa_challenges.begin(uow, proof, facts.destination, organization_id=facts.here.place.organization_id)
    _record_waiting(uow, challenge.id, facts, SignInReason.SECOND_FACTOR_ASKED)
    return SecondFactorPending(
        challenge=challenge, takes_passkey=challenge.takes_passkey and facts.account.has_passkey_factor
    )


def _ask_customer(uow: UnitOfWork, facts: SignInFacts, *, trust_device: bool) -> CustomerRequired:
    """Keep a sign-in until its user has chosen a customer; a device that is to be trusted is trusted then."""
    undecided = facts.here.choice
    assert isinstance(undecided, Undecided), "a user was asked who has chosen"
    waiting = mfa_challenges.keep_until_chosen(
        uow,
        judgement.session_proof(facts),
        facts.destination,
        organization_id=facts.here.place.organization_id,
        trust_device=trust_device,
    )
    _record_waiting(uow, waiting.challenge_id, facts, SignInReason.CUSTOMER_ASKED)
    return CustomerRequired(undecided, waiting.token)


def _begin_session(
    uow: UnitOfWork, facts: SignInFacts, *, trust_device: bool, waited: MfaChallenge | None
) -> BegunSession:
    user, proof, place, known = facts.account, judgement.session_proof(facts), facts.here.place, _device(facts)
    closing.reopen(uow, user)
    if facts.destination.parent_id is None and not proof.is_by_connection:
        links.forget_wrong_codes(uow, user)
    device = recognition.admit(uow, user.id, known.match, known.risk, trust=trust_device)
    if place.customer is not None:
        # Signing in for the customer is consent to a membership that another person made.
        uow.members.confirm(place.customer.admitting_organization_id, user.id)
        uow.customer_visits.record(place.customer.id, place.customer.admitting_organization_id, user.id, at=uow.now)
    elif place.service is not None:
        if facts.destination.confirms_membership and place.is_unconfirmed and place.organization is not None:
            uow.members.confirm(place.organization.id, user.id)
        note = uow.services.link_user if place.is_first_visit else uow.services.note_visit
        note(place.service, user.id, at=uow.now)
    elif place.organization is not None:
        # Naming the organization is consent to a membership that another person made; most memberships have it already.
        uow.members.confirm(place.organization.id, user.id)
    session = _session(uow, facts, proof, device)
    refresh_token = refresh.first_token(uow, session.id, code=facts.destination.code)
    if facts.destination.browser is not None:
        kept = browser_returns.keep_session(uow, session, refresh_token, facts.destination.browser)
        session, cookie = kept.session, kept.cookie
    else:
        uow.sessions.add(session, refresh_hash=hash_token(refresh_token.reveal()))
        cookie = None
    if proof.provider_session is not None:
        _keep_provider_session(uow, session.id, proof, proof.provider_session)
    event_id = waited.event_id_in(place.organization_id) if waited is not None else None
    attempt = _attempt(
        event_id or uow.randomness.new_id(), facts, proof, device.device_id, has_waited=event_id is not None
    )
    login_events.record(uow, attempt, place)
    if known.risk.is_high and not user.has_mfa:
        _mail_warning(uow, user, device)
    _publish(uow, facts)
    return BegunSession(session=session, device_token=device.token, refresh_token=refresh_token, cookie=cookie)


def with_tokens(uow: UnitOfWork, user: User, begun: BegunSession) -> SignInCompleted:
    """Return a sign-in with the tokens of its session."""
    session = begun.session
    is_of_account = session.organization_id is None and session.confinement is None and begun.cookie is None
    own = TokenSubject(caller=_caller_of_account(user, session)) if is_of_account else None
    is_limited = session.service_id is not None or session.confinement is not None
    subject = own or uow.callers.subject(session.id, is_limited=is_limited)
    if subject is None or (session.customer_id is not None and subject.caller.place.customer is None):
        # Deactivated concurrently; raising rolls everything back.
        raise SignInInterrupted().because(SignInReason.DEACTIVATED)
    grant = token_grant(
        subject, begun.refresh_token, session_expires_at=session.expires_at, device_token=begun.device_token
    )
    return SignInCompleted(grant=grant, cookie=begun.cookie)


def _device(facts: SignInFacts) -> KnownDevice:
    known = facts.here.device
    assert known is not None, "a sign-in begins on no device"
    return known


def _keep_provider_session(uow: UnitOfWork, session_id: UUID, proof: IdentityProof, known: ProviderSession) -> None:
    limits = proof.confinement
    assert limits is not None, "an identity provider has proved an identity without limits"
    assert limits.connection_id is not None, "an identity provider without a connection has proved an identity"
    uow.provider_sessions.put(limits.organization_id, limits.connection_id, session_id, known)


def _session(uow: UnitOfWork, facts: SignInFacts, proof: IdentityProof, device: AdmittedDevice) -> Session:
    place = facts.here.place
    bounded_until, latest = proof.bounded_until, uow.now + ABSOLUTE_LIFETIME
    return Session(
        id=uow.randomness.new_id(),
        user_id=facts.account.id,
        organization_id=place.organization_id,
        service_id=place.service_id,
        device_id=device.device_id,
        provider=proof.provider,
        amr=list(proof.amr),
        authenticated_at=proof.authenticated_at or uow.now,
        refreshed_at=uow.now,
        expires_at=latest if bounded_until is None else min(latest, bounded_until),
        ip_address=uow.origin.ip_address,
        user_agent=uow.origin.user_agent,
        impersonator_id=None,
        parent_id=facts.destination.parent_id,
        customer_id=place.customer.id if place.customer is not None else None,
        confinement=proof.confinement,
        bounded_until=bounded_until,
        created_at=uow.now,
    )


def _record_waiting(uow: UnitOfWork, event_id: UUID, facts: SignInFacts, reason: SignInReason) -> None:
    known = _device(facts)
    attempt = _attempt(event_id, facts, judgement.session_proof(facts), known.match.known_device_id)
    login_events.record_waiting(uow, attempt, facts.here.place, known.habits, reason)


def _attempt(
    event_id: UUID, facts: SignInFacts, proof: IdentityProof, device_id: UUID | None, *, has_waited: bool = False
) -> Attempt:
    return Attempt(
        id=event_id,
        user_id=proof.user_id,
        way=proof.used_way,
        device_id=device_id,
        risk=_device(facts).risk,
        has_waited=has_waited,
    )


def _caller_of_account(user: User, session: Session) -> Caller:
    """Return the caller of a new session from what is known of the account, without an organization and limits."""
    return Caller(
        account=CallerAccount(
            id=user.id,
            email=user.email,
            email_verified_at=user.email_verified_at,
            created_at=user.created_at,
            is_disowned=user.is_disowned,
            is_platform_owner=user.is_platform_owner,
            is_platform_support=user.acts_as_platform_support,
        ),
        session=CallerSession(
            id=session.id,
            amr=session.amr,
            authenticated_at=session.authenticated_at,
            device_id=session.device_id,
        ),
        place=CallerPlace(),
        limits=CallerLimits(lacks_mailed_proof=user.changed_by_service_at is not None),
    )


def _publish(uow: UnitOfWork, facts: SignInFacts) -> None:
    place, user = facts.here.place, facts.account
    data: dict[str, str | None] = {
        "provider": facts.proof.provider,
        "service_id": str(place.service_id) if place.service_id is not None else None,
    }
    receivers = facts.here.receivers or (place.organization_id,)
    if place.customer is not None:
        # Vendor and customer each see their part of a sign-in, and of these facts both see the same.
        data["customer_id"] = str(place.customer.id)
        receivers = (*receivers, place.customer.organization_id)
    uow.publish_to_each(EventType.USER_LOGIN_SUCCESS, receivers, actor_user_id=user.id, actor_email=user.email, **data)


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
