"""The children of sessions: sessions elsewhere of a user who is signed in to Gatehouse, mostly in a browser.

A service or a SAML service provider gets a session of its own. It ends when a person ends its parent, but not when the
parent expires. It passes the checks of every sign-in; what the parent has proved, and when, is the proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.errors import Forbidden, Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from core.sessions.browser_sessions import BrowserSession
from core.sessions.caller_limits import ClosedWhileImpersonating
from core.sessions.refresh import SessionOver
from core.sessions.sessions import ParentSession
from core.sign_in import conclusion
from core.sign_in.fact_reading import DeferredCircumstances, defer_circumstances, defer_circumstances_of_client
from core.sign_in.facts import SignInFacts
from core.sign_in.judgement import judge
from core.sign_in.mfa_challenges import BegunSession, SecondFactorPending
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SecondFactorDue
from core.sign_in.rules import RULES

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


def begin(
    uow: UnitOfWork,
    parent_id: UUID,
    user_id: UUID,
    wanted: Destination,
    /,
    *,
    is_child: bool = True,
) -> BegunSession | Refusal:
    """Sign the user of a browser session in to an organization or one of its services; refuse as a sign-in does.

    With `is_child=False` the session does not end with the browser's: it is for another device. Raise `SessionOver`
    when the parent has ended; return `SecondFactorDue` when its proof does not suffice.
    """
    destination = replace(wanted, parent_id=parent_id if is_child else None)
    return _prepared(uow, user_id, destination, partial(uow.browser_sessions.defer_lock, parent_id)).begin()


def prepare(
    uow: UnitOfWork,
    browser: BrowserSession,
    wanted: Destination,
    /,
    *,
    is_child: bool = True,
) -> PreparedVisit:
    """Defer reading what judges a sign-in from a browser session; its `begin` does what the function does.

    The session was read in this request.
    """
    destination = replace(wanted, parent_id=browser.session_id if is_child else None)
    return _prepared(uow, browser.user_id, destination, partial(uow.browser_sessions.defer_lock_known, browser))


def prepare_for_client(
    uow: UnitOfWork, browser: BrowserSession, client_id: UUID, *, device_token: str | None
) -> PreparedVisit:
    """Defer reading the same for a child at a service of which only the client id is known; `to` names the service."""
    return PreparedVisit(
        uow=uow,
        user_id=browser.user_id,
        destination=Destination(device_token=device_token, parent_id=browser.session_id),
        user=uow.users.defer_lock(browser.user_id),
        # Locked, so that what ends the parent finds this child.
        parent=uow.browser_sessions.defer_lock_known(browser),
        circumstances=defer_circumstances_of_client(uow, browser.user_id, client_id, device_token),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedVisit:
    """A session that may begin from a browser's: its user and its parent, locked, and the circumstances."""

    uow: UnitOfWork
    user_id: UUID
    destination: Destination
    user: Deferred[User | None]
    parent: Deferred[BrowserSession | None]
    circumstances: DeferredCircumstances

    def to(self, destination: Destination) -> PreparedVisit:
        """Return the visit of a service that was prepared by its client id, with all that is known of it now."""
        return replace(self, destination=destination)

    def begin(self, customer: str | None = None, *, code: Secret | None = None) -> BegunSession | Refusal:
        """Begin the session, for the customer that the user has chosen, where one is named.

        `code` is the authorization code for which its tokens will be handed out.
        """
        user, parent = self.user(), self.parent()
        if parent is None or parent.user_id != self.user_id:
            raise SessionOver
        if parent.is_impersonation:
            # It would count as the user's own sign-in; `core/platform/impersonation.py` begins a session there.
            raise ClosedWhileImpersonating
        _require_own_organization(parent, self.circumstances)
        destination = replace(
            self.destination, customer=self.destination.customer if customer is None else customer, code=code
        )
        return _conclude(self.uow, user, _proof_of_browser(parent), destination, self.circumstances)

    def lacks_proof(self) -> bool:
        """Return whether the user must prove their address before they use what was given to it."""
        parent = self.parent()
        return parent is not None and _lacks_proof(self.uow, self.user(), _proof_of_browser(parent), self.destination)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedChild:
    """A session by SAML that may begin: its user and its parent, locked, and the circumstances of the sign-in."""

    destination: Destination
    user: Deferred[User | None]
    parent: Deferred[ParentSession | None]
    circumstances: DeferredCircumstances

    def lacks_proof(self, uow: UnitOfWork, parent: ParentSession) -> bool:
        """Return what the method of `PreparedVisit` does, for a parent that was read."""
        return _lacks_proof(uow, self.user(), _proof_by_saml(parent), self.destination)


def prepare_by_saml(
    uow: UnitOfWork,
    parent_id: UUID,
    user_id: UUID,
    /,
    *,
    organization_slug: str,
    service_slug: str,
    device_token: str | None,
    confirms_membership: bool,
) -> PreparedChild:
    """Defer reading what judges a sign-in to a SAML service provider.

    The parent need not be the session of a browser: an application may have signed its user in, and begun the request.
    """
    destination = Destination(
        organization_slug=organization_slug,
        service_slug=service_slug,
        device_token=device_token,
        parent_id=parent_id,
        confirms_membership=confirms_membership,
    )
    return PreparedChild(
        destination=destination,
        user=uow.users.defer_lock(user_id),
        # Locked, so that what ends the parent finds this child.
        parent=uow.callers.defer_lock_parent(parent_id, user_id),
        circumstances=defer_circumstances(uow, user_id, destination),
    )


def begin_by_saml(
    uow: UnitOfWork, prepared: PreparedChild, parent: ParentSession, customer: str | None = None, *, is_admitted: bool
) -> BegunSession | Refusal:
    """Sign the user of a parent, which was read, in to a SAML service provider; refuse as `begin` does.

    `customer` is the one that the user has chosen, where the service has customers. `is_admitted` says whether the
    service provider takes an individual.
    """
    circumstances = prepared.circumstances
    _require_own_organization(parent, circumstances)
    destination = prepared.destination if customer is None else replace(prepared.destination, customer=customer)
    return _conclude(
        uow, prepared.user(), _proof_by_saml(parent), destination, circumstances, is_admitted_by_saml=is_admitted
    )


def _proof_of_browser(parent: BrowserSession) -> IdentityProof:
    return IdentityProof(
        user_id=parent.user_id,
        provider=Provider(parent.provider),
        amr=tuple(parent.amr),
        authenticated_at=parent.authenticated_at,
        confinement=parent.confinement,
        bounded_until=parent.bounded_until,
    )


def _proof_by_saml(parent: ParentSession) -> IdentityProof:
    caller = parent.caller
    return IdentityProof(
        user_id=caller.account.id,
        provider=Provider.SAML,
        amr=tuple(caller.session.amr),
        authenticated_at=caller.session.authenticated_at,
        confinement=caller.limits.confinement,
        bounded_until=parent.bounded_until,
    )


def _prepared(
    uow: UnitOfWork,
    user_id: UUID,
    destination: Destination,
    lock_parent: Callable[[], Deferred[BrowserSession | None]],
) -> PreparedVisit:
    user = uow.users.defer_lock(user_id)
    # Locked, so that what ends the parent finds this child.
    parent = lock_parent()
    return PreparedVisit(
        uow=uow,
        user_id=user_id,
        destination=destination,
        user=user,
        parent=parent,
        circumstances=defer_circumstances(uow, user_id, destination),
    )


def _lacks_proof(uow: UnitOfWork, user: User | None, proof: IdentityProof, destination: Destination) -> bool:
    """Return whether the rules about the account refuse the use of what an organization gave."""
    facts = SignInFacts(user=user, proof=proof, destination=destination, now=uow.now, has_unconfirmed_access=True)
    return judge(RULES, facts).refusal is not None


def _conclude(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    circumstances: DeferredCircumstances,
    *,
    is_admitted_by_saml: bool | None = None,
) -> BegunSession | Refusal:
    outcome = conclusion.conclude_child(
        uow, user, proof, destination, circumstances, is_admitted_by_saml=is_admitted_by_saml
    )
    # A session that begins here cannot wait for a code; the browser signs in again instead.
    return SecondFactorDue() if isinstance(outcome, SecondFactorPending) else outcome


def _require_own_organization(parent: BrowserSession | ParentSession, circumstances: DeferredCircumstances) -> None:
    """Raise `Forbidden` when a session of a custom domain is to sign in outside its organization."""
    own_id = parent.domain_organization_id
    if own_id is not None and own_id != circumstances.place().organization_id:
        raise Forbidden(
            "You are signed in at the domain of another organization. Sign in at the platform's own address."
        )
