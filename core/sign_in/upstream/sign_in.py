"""Concluding the sign-in of a browser that comes back from a provider with a proven identity.

A linked identity signs its user in, as does one that is linked for one account at another service with the same
credentials (`known_elsewhere.py`). Any other identity whose address the provider has verified makes an account, or
takes over one whose address was never proved, without what was set up there before. An account with a proved address is
linked only after signing in to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import addresses
from core.accounts.users import User, find_or_add, fresh_account
from core.email_addresses import domain_of, normalize_email
from core.errors import BadRequest, Forbidden, Refusal
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.browser_sessions import BrowserSession
from core.sessions.caller_limits import AddressNotConfirmed
from core.sessions.sessions import MAILED, MFA
from core.sign_in import browser_returns, conclusion, identities
from core.sign_in.entitlement import ConnectionStanding
from core.sign_in.identities import Identity, IdentityContext, ProvenIdentity
from core.sign_in.login_events import note_refusal
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import FEDERATED, Destination, IdentityProof, UsedWay
from core.sign_in.reasons import SignInInterrupted, SignInReason
from core.sign_in.upstream import address_codes, by_connection, flows, known_elsewhere, refused
from core.sign_in.upstream.address_codes import AddressCodeDue, ConfirmedSignIn
from core.sign_in.upstream.by_connection import Connected
from core.sign_in.upstream.connections import at_once
from core.sign_in.upstream.flows import UpstreamSignIn
from core.sign_in.upstream.known_elsewhere import KnownElsewhere

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NoVerifiedAddress(Forbidden):
    """The identity is not linked, and its provider vouches for no address that would make an account."""

    default_message = (
        "The provider gave no verified email address. Verify your address there and try again, or sign in to your"
        " account in another way and link the provider on its page."
    )


class AddressNotTrusted(NoVerifiedAddress):
    """The identity is not linked, and the operator lets no address of its provider count."""

    default_message = (
        "This account is not linked to one here yet. Sign in in another way, or create an account first, and link the"
        " provider on its page."
    )


class NoAddressSent(NoVerifiedAddress):
    """The identity is not linked, and the identity provider of an organization has sent no address."""

    default_message = (
        "Your organization's identity provider sent no email address. Ask the people who run it to send the claim or"
        " attribute email, and sign in again."
    )


class AddressUnusable(NoVerifiedAddress):
    """The identity is not linked, and what the identity provider of an organization has sent is no address."""

    default_message = (
        "Your organization's identity provider sent something that is not an email address. Ask the people who run it"
        " to send the address, with its @, in the claim or attribute email, and sign in again."
    )


class DomainNotProved(NoVerifiedAddress):
    """The identity is not linked, and its address lies in no verified mail domain of the connection's organization."""

    default_message = (
        "Your organization has not verified the mail domain of your address yet. Ask the people who manage its sign-in"
        " to verify it, and sign in again."
    )


class OtherUserSignedIn(Forbidden):
    """The browser is signed in as another user than the one who wanted to link."""

    default_message = (
        "This link belongs to another user than the one who is signed in here. Sign out, sign in as that user, and"
        " begin again."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInToLink:
    """An account has the verified address: its user signs in to it, and goes on under this id.

    There are several accounts where the identity stands for each of them at other services; then there is no address.
    """

    continue_id: Secret
    user_ids: Sequence[UUID]
    email: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MailedCodeDue(SignInToLink):
    """Only a connection's word links the identity, and its user needs more: a code mailed to this address."""

    email: str


def conclude(
    uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, destination: Destination, *, browser: str
) -> Outcome | SignInToLink | AddressCodeDue:
    """Sign in the user of an identity, who may be new; or keep it until its user has signed in to the account.

    Keep it also, as `MailedCodeDue`, when the user needs more than the word of a connection, and as `AddressCodeDue` at
    the first sign-in by a connection that a vendor has made for a customer.
    """
    try:
        return _conclude(uow, sign_in, proven, destination, browser=browser)
    except Refusal as refusal:
        raise refused.noted(refusal, sign_in.context, proven, destination) from None


def conclude_confirmed(uow: UnitOfWork, confirmed: ConfirmedSignIn, destination: Destination) -> Outcome | SignInToLink:
    """Sign in the user who has typed the code of an address, by a connection that a vendor has made for a customer.

    The identity is linked in that context alone. It also proves an address that was never proved.
    """
    sign_in, proven = confirmed.sign_in, confirmed.proven
    try:
        connected = by_connection.lock(uow, sign_in)
        assert connected is not None, "a code was asked for without a connection"
        user, _ = find_or_add(uow, fresh_account(uow, _asserted_address(uow, proven)))
        user = addresses.mark_proved(uow, user)
        identities.link(uow, user.id, user.email, proven, sign_in.context, is_mailed=True)
        return _begin(uow, user, sign_in, proven, destination, connected)
    except Refusal as refusal:
        raise refused.noted(refusal, sign_in.context, proven, destination) from None


def _conclude(
    uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, destination: Destination, *, browser: str
) -> Outcome | SignInToLink | AddressCodeDue:
    context = sign_in.context
    connected = by_connection.lock(uow, sign_in)
    identity = uow.identities.find(proven.provider, proven.subject, context)
    if identity is None and connected is not None:
        identity = by_connection.link_again(uow, connected, proven, context)
    if identity is None and connected is not None and connected.made_for is not None:
        email = _asserted_address(uow, proven)
        return address_codes.ask(uow, sign_in, proven, connected.made_for, email, browser=browser)
    known = known_elsewhere.find(uow, sign_in, proven) if identity is None and connected is None else None
    if known is not None:
        return _conclude_at_service(uow, known, proven, destination, browser=browser)
    if identity is None:
        found = _by_address(uow, sign_in, proven, destination, connected, browser=browser)
        if not isinstance(found, Identity):
            return found
        identity = found
    user = uow.users.lock(identity.user_id)
    # The identity may have been unlinked while this transaction waited for the lock.
    if not uow.identities.use(identity, proven):
        raise SignInInterrupted().because(SignInReason.IDENTITY_UNLINKED)
    assert user is not None, "an identity has outlived its account"
    return _begin(uow, user, sign_in, proven, destination, connected)


def _by_address(
    uow: UnitOfWork,
    sign_in: UpstreamSignIn,
    proven: ProvenIdentity,
    destination: Destination,
    connected: Connected | None,
    *,
    browser: str,
) -> Outcome | SignInToLink | Identity:
    """Sign in the user of the address that a provider vouches for; return the identity if it has been linked since."""
    context = sign_in.context
    user, is_new = find_or_add(uow, fresh_account(uow, _verified_address(uow, proven, context)))
    # The account is locked now; a concurrent sign-in may have linked the same identity before.
    identity = None if is_new else uow.identities.find(proven.provider, proven.subject, context)
    if identity is not None:
        return identity
    reason = reason_to_link(user)
    if reason is None:
        user = addresses.mark_proved(uow, user)
        identities.add(uow, user.id, proven, context, is_confirmed=context.connection_id is None)
        if is_new:
            _publish(uow, user, proven, context)
        return _begin(uow, user, sign_in, proven, destination, connected)
    if connected is not None:
        if _links_at_once(uow, connected, user, proven):
            identities.link(uow, user.id, user.email, proven, context, is_by_word_alone=True)
            return _begin(uow, user, sign_in, proven, destination, connected)
        if _is_deactivated_there(user, by_connection.standing_of(uow, connected, user.id)):
            # Links are not mailed to them, so they would wait for a code in vain; the refusal says why.
            return _begin(uow, user, sign_in, proven, destination, connected)
    note_refusal(uow, user.id, UsedWay(proven.provider, context.confinement), destination, reason)
    continue_id = flows.keep_proven(uow, sign_in, proven, user.id, browser=browser)
    return SignInToLink(continue_id=continue_id, user_ids=[user.id], email=user.email)


def _links_at_once(uow: UnitOfWork, connected: Connected, user: User, proven: ProvenIdentity) -> bool:
    """Return whether the connection of a sign-in links a locked account without a mailed code."""
    # The provider itself may say that people enter their addresses there themselves.
    return not proven.denies_email and at_once.links(
        uow,
        connected.organization.id,
        connected.connection,
        user,
        by_connection.standing_of(uow, connected, user.id),
    )


def _is_deactivated_there(user: User, standing: ConnectionStanding) -> bool:
    """Return whether the account of a member or end user is deactivated, which their organization may know."""
    return user.deactivated_at is not None and (standing.role is not None or standing.is_end_user)


def _conclude_at_service(
    uow: UnitOfWork, known: KnownElsewhere, proven: ProvenIdentity, destination: Destination, *, browser: str
) -> Outcome | SignInToLink:
    """Sign in the user for which the identity stands at another service; with several, they sign in to one first."""
    sign_in = known.sign_in
    if len(known.user_ids) > 1:
        note_refusal(
            uow, None, UsedWay(proven.provider, sign_in.context.confinement), destination, SignInReason.LINK_REQUIRED
        )
        continue_id = flows.keep_proven(uow, sign_in, proven, None, browser=browser)
        return SignInToLink(continue_id=continue_id, user_ids=known.user_ids, email=None)
    user = uow.users.lock(known.user_ids[0])
    assert user is not None, "an identity has outlived its account"
    present = uow.identities.find(proven.provider, proven.subject, sign_in.context)
    if present is not None:
        uow.identities.use(present, proven)
    elif user.may_sign_in and user.closed_at is None:
        identities.add(uow, user.id, proven, sign_in.context, is_confirmed=True)
    if present is None and destination.browser is not None:
        # The user has not seen which account this is: the first visit asks as with a session that is there.
        destination = replace(destination, browser=replace(destination.browser, return_id=""))
    return _begin(uow, user, sign_in, proven, destination, None)


def link(uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, browser: BrowserSession | None) -> None:
    """Link a proven identity to the account of the user who asked for it and is signed in in this browser.

    Raise `OtherUserSignedIn`.
    """
    user = _require_user(uow, sign_in, proven, browser)
    assert browser is not None, "a browser without a session is signed in"
    is_confined = _is_confined(browser)
    identities.link(uow, user.id, user.email, proven, sign_in.context, is_by_word_alone=is_confined)


def link_and_conclude(
    uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, destination: Destination
) -> Outcome | SignInToLink | None:
    """Link the identity of a browser that has signed in to the account since then, and complete the sign-in with it.

    None means that nothing is linked, and that the browser goes on with its session. Either the organization of its
    user requires a connection, so that the session opens where the sign-in leads, and nothing of the account; or the
    session began by the required connection on the way from another provider.
    """
    assert destination.browser is not None, "a sign-in that links is completed outside of a browser"
    present = destination.browser.present
    is_own = present is not None and present.user_id == sign_in.user_id and not present.is_impersonation
    if present is not None and is_own and not may_link(present, sign_in.context):
        return None
    connected = by_connection.lock(uow, sign_in)
    user = _require_user(uow, sign_in, proven, destination.browser.present)
    is_mailed = destination.browser.is_signed_in_by_mail
    is_confined = connected is None and present is not None and _is_confined(present)
    identities.link(
        uow, user.id, user.email, proven, sign_in.context, is_mailed=is_mailed, is_by_word_alone=is_confined
    )
    # A user who has just proved a second factor to sign in to the account need not give another code of it.
    has_factor = connected is not None and present is not None and present.has_proved_second_factor
    also = (*([MAILED] if is_mailed else []), *([MFA] if has_factor else []))
    return _begin(uow, user, sign_in, proven, destination, connected, also=also)


def _require_user(
    uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity, browser: BrowserSession | None
) -> User:
    """Return the account to link to, locked, if its user is signed in in this browser without limits."""
    if browser is None or browser.user_id not in _linkable(uow, sign_in, proven):
        raise OtherUserSignedIn
    user = uow.users.lock(browser.user_id)
    present = uow.browser_sessions.lock(browser.session_id)
    if user is None or present is None or present.is_impersonation or not may_link(present, sign_in.context):
        raise OtherUserSignedIn
    return user


def _linkable(uow: UnitOfWork, sign_in: UpstreamSignIn, proven: ProvenIdentity) -> Sequence[UUID]:
    """Return the accounts to which an identity may be linked; it is linked to one of them."""
    if sign_in.user_id is not None:
        return [sign_in.user_id]
    known = known_elsewhere.find(uow, sign_in, proven) if sign_in.context.connection_id is None else None
    return known.user_ids if known is not None else []


def may_link(browser: BrowserSession, context: IdentityContext) -> bool:
    """Return whether a session links identities in a context: what another party could begin adds no way elsewhere."""
    limits = browser.confinement
    if limits is None:
        return True
    # A session by a connection's word alone confirms nothing, unless its user has typed a mailed code since.
    is_by_word_alone = limits.role is not None and MAILED not in browser.amr
    return not is_by_word_alone and replace(limits, role=None) == context.confinement


def _is_confined(browser: BrowserSession) -> bool:
    """Return whether another party could have begun a session: what it links opens nothing at other services.

    A code that was mailed to the address of the account is the word of its user.
    """
    return browser.confinement is not None and MAILED not in browser.amr


def _begin(
    uow: UnitOfWork,
    user: User,
    sign_in: UpstreamSignIn,
    proven: ProvenIdentity,
    destination: Destination,
    connected: Connected | None,
    *,
    also: Sequence[str] = (),
) -> Outcome | SignInToLink:
    """Conclude the sign-in of a locked account; a connection may make its user a member, and be trusted further.

    `also` are the methods by which its user has just proved more: access to the mailbox, and a second factor.
    """
    proof = IdentityProof(
        user_id=user.id,
        provider=proven.provider,
        amr=(FEDERATED, *also),
        confinement=sign_in.context.confinement,
        provider_session=proven.provider_session,
        bounded_until=proven.session_ends_at,
    )
    if connected is not None:
        if connected.connection.trust_mfa and not proof.has_second_factor:
            proof = proof.with_methods(MFA)
        # Asked before the user joins: an organization's own word does not bring back a person that it has removed.
        standing = by_connection.standing_of(uow, connected, user.id)
        if may_join(user, standing):
            by_connection.join(uow, connected, user)
        if standing.has_group_rules:
            standing = by_connection.follow_groups(uow, connected, user.id, standing)
        proof = proof.confined_to_role(standing.confined_to_role)
    if browser_returns.confirms_address(sign_in.way.return_to):
        destination = replace(destination, confirms_address=True)
    outcome = conclusion.conclude_locked(uow, user, proof, destination)
    if not isinstance(outcome, AddressNotConfirmed):
        return outcome
    browser = destination.browser.upstream_binding if destination.browser is not None else None
    assert browser is not None, "a sign-in by a connection is completed outside of its browser"
    continue_id = flows.keep_proven(uow, sign_in, proven, user.id, browser=browser)
    return MailedCodeDue(continue_id=continue_id, user_ids=[user.id], email=user.email)


def _verified_address(uow: UnitOfWork, proven: ProvenIdentity, context: IdentityContext) -> str:
    """Return the address that the provider vouches for; a connection vouches only for those of its own domains."""
    if not proven.is_email_trusted:
        raise AddressNotTrusted().because(SignInReason.ADDRESS_NOT_VERIFIED_THERE)
    if context.connection_id is not None and context.organization_id is not None:
        email = _asserted_address(uow, proven)
        if not vouches_for(uow, context.organization_id, email):
            raise DomainNotProved().because(SignInReason.DOMAIN_NOT_PROVED)
        return email
    try:
        email = normalize_email(proven.email or "", uow.domain_names.to_ascii)
    except BadRequest:
        raise NoVerifiedAddress().because(SignInReason.ADDRESS_NOT_VERIFIED_THERE) from None
    if not proven.is_email_verified:
        raise NoVerifiedAddress().because(SignInReason.ADDRESS_NOT_VERIFIED_THERE)
    return email


def _asserted_address(uow: UnitOfWork, proven: ProvenIdentity) -> str:
    """Return the address that a connection asserts; raise `NoAddressSent` or `AddressUnusable` without one."""
    try:
        return normalize_email(proven.email or "", uow.domain_names.to_ascii)
    except BadRequest:
        if proven.email:
            raise AddressUnusable().because(SignInReason.ADDRESS_UNUSABLE_THERE) from None
        raise NoAddressSent().because(SignInReason.ADDRESS_NOT_VERIFIED_THERE) from None


def vouches_for(uow: UnitOfWork, organization_id: UUID, email: str) -> bool:
    """Return whether the connections of an organization vouch for an address: only for those of its own domains."""
    return uow.domain_routes.is_own_domain(organization_id, domain_of(email))


def reason_to_link(user: User) -> SignInReason | None:
    """Return why an identity does not sign in to the account of its address; None for one that was never proved."""
    return SignInReason.LINK_REQUIRED if user.is_verified else None


def may_join(user: User, standing: ConnectionStanding) -> bool:
    """Return whether a connection that lets people join makes its user a member."""
    return user.may_sign_in and user.closed_at is None and standing.may_sign_in


def _publish(uow: UnitOfWork, user: User, proven: ProvenIdentity, context: IdentityContext) -> None:
    uow.publish_to_each(
        EventType.USER_SIGNUP_SUCCESS,
        person_events.defer_receivers(uow, user.id, context.organization_id)(),
        actor_user_id=user.id,
        actor_email=user.email,
        provider=proven.provider,
        service_id=str(context.service_id) if context.service_id is not None else None,
    )
