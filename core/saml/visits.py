"""Visits of browsers whose user is to be signed in to a service provider, and the session there.

That session is a child of the session that the visit brings (`core/sign_in/child_sessions.py`). With `members_only`,
members and end users that a key has linked get one; anyone else is refused. A user who neither belongs to the
organization nor uses it agrees first.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.saml.identity_providers import SamlProvider
from core.sessions.sessions import ParentSession
from core.sessions.token_additions import TokenSubject
from core.sign_in import child_sessions
from core.sign_in.child_sessions import PreparedChild
from core.sign_in.mfa_challenges import BegunSession
from core.sign_in.reasons import SignInInterrupted, SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A session and its user."""

    session_id: UUID
    user_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The session and the device of a browser whose user is to be signed in, and whether the user has agreed.

    `has_signed_in_for_it` means that the session comes from a sign-in elsewhere for this very request. Without a
    request, `relay_state` goes to the service provider, and `customer` names the customer of the service. `chosen` is
    the customer that the user has chosen; both are empty to come without a customer, and None where nothing is said.
    """

    base_url: str
    signed_in: SignedIn | None = None
    device_token: str | None = field(default=None, repr=False)
    has_agreed: bool = False
    # The page on which they have agreed said that the organization of the service has added them.
    confirms_membership: bool = False
    has_signed_in_for_it: bool = False
    # A program brings a token, and has no page on which its user could be asked.
    is_by_program: bool = False
    relay_state: str | None = None
    customer: str | None = None
    chosen: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSession:
    """The session of a visit, locked, its user's standing, and the session of the service provider to begin from it."""

    parent: ParentSession
    standing: AdmissionStanding
    child: PreparedChild


def read_session(uow: UnitOfWork, provider: SamlProvider, visit: Visit) -> FoundSession | None:
    """Return the live session of a visit, with the data to judge a sign-in by; None without one."""
    signed_in = visit.signed_in
    if signed_in is None:
        return None
    child = child_sessions.prepare_by_saml(
        uow,
        signed_in.session_id,
        signed_in.user_id,
        organization_slug=provider.organization_slug,
        service_slug=provider.service_slug,
        device_token=visit.device_token,
        confirms_membership=visit.confirms_membership,
    )
    read_standing = uow.saml_providers.defer_standing(provider, signed_in.user_id)
    parent, standing = child.parent(), read_standing()
    if parent is None or standing is None:
        return None
    return FoundSession(parent=parent, standing=standing, child=child)


def begin_session(
    uow: UnitOfWork, provider: SamlProvider, found: FoundSession, customer: str | None
) -> BegunSession | Refusal:
    """Begin the child of a session for a service and, if it has customers, for the chosen one; end an earlier child."""
    is_admitted = found.standing.is_admitted(members_only=provider.configuration.members_only)
    outcome = child_sessions.begin_by_saml(uow, found.child, found.parent, customer, is_admitted=is_admitted)
    if isinstance(outcome, Refusal):
        return outcome
    # The new one is not among them yet, because its assertion is stored later.
    uow.saml_sessions.end_earlier(outcome.session, found.parent.caller.session.id, provider)
    return outcome


def read_subject(uow: UnitOfWork, provider: SamlProvider, begun: BegunSession) -> TokenSubject | None:
    """Return the subject of a new session, for the service's own claims and the customer's attributes.

    None for a user without a customer at a service without claims of its own.
    """
    is_for_customer = begun.session.customer_id is not None
    if not is_for_customer and not provider.has_claims:
        return None
    subject = uow.callers.subject(begun.session.id, is_limited=True)
    if subject is None or (is_for_customer and subject.caller.place.customer is None):
        # The customer was closed concurrently; raising rolls everything back.
        raise SignInInterrupted().because(SignInReason.CUSTOMER_CLOSED)
    return subject


def is_admitted(*, members_only: bool, is_member: bool, is_linked: bool) -> bool:
    """Return whether a user may sign in to a service; `AdmissionStanding` describes the values."""
    return not members_only or is_member or is_linked


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionStanding:
    """The relation of a user to an organization and one of its services.

    `role` is the role of the membership, None without one; `is_confirmed` says whether the user has consented to it,
    and `is_suspended` whether the directory of the organization has deactivated it, which takes all access. `is_linked`
    means that a key has made the user an end user of the service; a link that came with a membership counts only while
    the membership lasts, and a link that a sign-in made does not count. `has_used` means that they have signed in to
    one of the organization's services, and `is_own` that the organization created the account. `name` comes from the
    account, else from the directory of the organization, None without either. `groups` are the names of their groups
    that the service sees; None for a service that sees none.
    """

    role: str | None
    name: str | None
    is_confirmed: bool
    is_suspended: bool
    is_linked: bool
    has_used: bool
    is_own: bool
    groups: list[str] | None = None

    def is_admitted(self, *, members_only: bool) -> bool:
        """Return whether the user may sign in to the service."""
        return is_admitted(members_only=members_only, is_member=self.role is not None, is_linked=self.is_linked)

    @property
    def knows_organization(self) -> bool:
        """Whether the user has chosen to belong to the organization or to use it."""
        return self.is_confirmed or self.has_used or self.is_own
