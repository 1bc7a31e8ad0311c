"""Answering service providers: with an assertion about a signed-in user, or with a status that says why there is none.

The session of the service provider is a child of the session that answers (`core/sign_in/child_sessions.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.accounts.sign_in_methods import Provider
from core.errors import Refusal, SsoRequired, on_the_way_to
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import MembershipSuspended, authorize
from core.organizations.session_strength import SecondFactorRequired
from core.saml import answers, assertions, identity_providers, message_checks, requests, visits
from core.saml.answers import (
    AgreementRequired,
    AuthenticationRequired,
    Outcome,
    ResponseToPost,
    agreement,
    defer_signing_key,
    message_id,
)
from core.saml.identity_providers import SamlProvider
from core.saml.messages import SUCCESS, IssuedAssertion, NameId, Response, SamlStatus, StatusOf
from core.saml.requests import PendingRequest, SentRequest, SignInStateUnknown, TakenRequest
from core.saml.sessions import SamlSession
from core.saml.visits import FoundSession, SignedIn, Visit
from core.secrets import Secret
from core.services import problems
from core.sessions.caller_limits import Act, ServiceTokenRefused
from core.sessions.callers import Caller
from core.sign_in import admission, browser_returns
from core.sign_in.admission import Settled, SignInAgain
from core.sign_in.customer_choices import NotOpen, Undecided
from core.sign_in.login_events import note_refusal
from core.sign_in.mfa_challenges import BegunSession
from core.sign_in.proofs import Destination, UsedWay
from core.sign_in.reasons import NotAdmitted, SecondFactorDue, SignInReason, reason_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_DENIED: Final = StatusOf(first=SamlStatus.RESPONDER, second=SamlStatus.REQUEST_DENIED)
_NOT_PASSIVE: Final = StatusOf(first=SamlStatus.RESPONDER, second=SamlStatus.NO_PASSIVE)


def answer(uow: UnitOfWork, provider: SamlProvider, pending: PendingRequest | None, visit: Visit) -> Outcome | Refusal:
    """Answer a pending request with a session, or a service provider without a request; claim the request.

    Raise `SignInStateUnknown` when another transaction has answered the request.
    """
    with on_the_way_to(provider.organization_id):
        return _answer(uow, provider, pending, visit)


def _answer(
    uow: UnitOfWork,
    provider: SamlProvider,
    pending: PendingRequest | None,
    visit: Visit,
    taken: TakenRequest | None = None,
) -> Outcome | Refusal:
    task = _Task(uow, provider, pending, visit, is_taken_here=taken is not None)
    found = visits.read_session(uow, provider, visit)
    if taken is not None:
        requests.require_new(taken)
    caller = found.parent.caller if found is not None else None
    refusal = task.refusal()
    if refusal is not None:
        return task.refuse(refusal, caller, SignInReason.REQUEST_UNSUPPORTED)
    if found is None or caller is None or not task.is_fresh(caller):
        return task.interact(AuthenticationRequired(), caller)
    standing = found.standing
    caller.require(Act.IN_PERSON)
    limits, serves_customers = caller.limits.confinement, provider.serves_customers
    if limits is not None and not serves_customers and not limits.allows(provider.organization_id, provider.service_id):
        # The session is confined to another organization or service, so its user signs in for this one.
        return task.interact(AuthenticationRequired(), caller)
    if standing.is_suspended:
        return task.refuse(_DENIED, caller, SignInReason.SUSPENDED, problem=MembershipSuspended())
    comes_as = task.settle(found) if serves_customers else None
    if comes_as is not None and not isinstance(comes_as, Settled):
        return comes_as
    if comes_as is None or comes_as.standing is None:
        before = _of_individual(uow, task, found, visit)
        if before is not None:
            return before
    return task.sign_in(found, comes_as)


def _of_individual(uow: UnitOfWork, task: _Task, found: FoundSession, visit: Visit) -> Outcome | None:
    """Return what comes before the sign-in of a user without a customer; None where nothing does."""
    provider, caller, standing = task.provider, found.parent.caller, found.standing
    if not standing.is_admitted(members_only=provider.configuration.members_only):
        return task.refuse(_DENIED, caller, SignInReason.NOT_ADMITTED, problem=NotAdmitted())
    place = found.child.circumstances.place()
    refusal = admission.refusal_of(place, confirms=True)
    if refusal is not None:
        assert place.service is not None, "a service provider was found without its service"
        problems.note_closed(uow, place.service)
        reason = reason_of(refusal.reason)
        assert reason is not None, "a service is closed for no reason of the vocabulary"
        return task.refuse(_DENIED, caller, reason, problem=refusal)
    # A user with a membership to confirm is asked, whatever their other relations to the organization.
    must_confirm = admission.must_confirm(
        place, confirms=visit.confirms_membership, can_be_asked=not task.is_passive and not visit.is_by_program
    )
    if must_confirm and not task.is_passive and found.child.lacks_proof(uow, found.parent):
        # The sign-in will be refused, and the refusal says what to do first.
        return None
    if not must_confirm and (visit.has_agreed or standing.knows_organization or task.is_of_this_flow(caller)):
        return None
    wanted = agreement(provider, caller.account.email, admission.added_by(place))
    return task.interact(replace(wanted, ticket=task.renewed_ticket(caller)), caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request that was taken, and its immediate outcome."""

    taken: TakenRequest
    outcome: Outcome


def take_and_answer(uow: UnitOfWork, provider: SamlProvider, sent: SentRequest, visit: Visit) -> Answered | Refusal:
    """Take a request and answer it, in one transaction; raise as `requests.take` and `answer` do."""
    taken = requests.defer_taking(uow, provider, sent)
    outcome = _answer(uow, provider, taken.pending, visit, taken)
    return outcome if isinstance(outcome, Refusal) else Answered(taken=taken, outcome=outcome)


def deny(uow: UnitOfWork, provider: SamlProvider, pending: PendingRequest, visit: Visit) -> ResponseToPost:
    """Answer a pending request whose user has cancelled it; raise `SignInStateUnknown` when it was answered already."""
    caller = uow.callers.of_session(visit.signed_in.session_id) if visit.signed_in is not None else None
    return _Task(uow, provider, pending, visit).refuse(_DENIED, caller, SignInReason.CONSENT_REFUSED)


def answer_with_ticket(
    uow: UnitOfWork, provider: SamlProvider, pending: PendingRequest, ticket: str, visit: Visit
) -> Outcome | Refusal:
    """Answer a pending request with the session of a sign-in elsewhere, whose ticket is used up."""
    session_id, user_id = requests.use_ticket(uow, pending, ticket)
    signed_in = SignedIn(session_id=session_id, user_id=user_id)
    return answer(uow, provider, pending, replace(visit, signed_in=signed_in, has_signed_in_for_it=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Initiated:
    """The outcome of a sign-in that began here."""

    provider: SamlProvider
    outcome: Outcome


def initiate(uow: UnitOfWork, organization_slug: str, service_slug: str, visit: Visit) -> Initiated | Refusal:
    """Sign a member in to a service provider without a request; raise as `providers.find` does.

    The people of customers are no members, so at a service with customers the sign-in itself is judged. Another site
    may have sent the browser, so without agreement the user is only asked.
    """
    if not visit.has_agreed:
        provider, account = identity_providers.find(uow, organization_slug, service_slug), uow.caller.account
        place = uow.sign_in_places.defer(account.id, organization_slug, service_slug)()
        return Initiated(provider=provider, outcome=agreement(provider, account.email, admission.added_by(place)))
    found = uow.saml_providers.find(organization_slug, service_slug)
    if found is None or not found.serves_customers:
        authorize(uow, organization_slug, Operation.SAML_LOGIN)
    elif uow.caller.has_service_token:
        raise ServiceTokenRefused
    provider = identity_providers.require_usable(found)
    signed_in = SignedIn(session_id=uow.caller.session.id, user_id=uow.caller.account.id)
    outcome = answer(uow, provider, None, replace(visit, signed_in=signed_in))
    return outcome if isinstance(outcome, Refusal) else Initiated(provider=provider, outcome=outcome)


class _Task:
    """An answer in the making; with `is_taken_here`, the same transaction has taken the request."""

    def __init__(
        self,
        uow: UnitOfWork,
        provider: SamlProvider,
        pending: PendingRequest | None,
        visit: Visit,
        *,
        is_taken_here: bool = False,
    ) -> None:
        self._uow = uow
        self.provider = provider
        self._pending = pending
        self._visit = visit
        self._is_taken_here = is_taken_here
        self._terms = pending.terms if pending is not None else None
        self._key = defer_signing_key(uow, provider.organization_id, provider.service_id)

    @property
    def is_passive(self) -> bool:
        """Whether the request forbids asking its user."""
        return self._terms is not None and self._terms.is_passive

    def refusal(self) -> StatusOf | None:
        """Return the status for a request that no session can answer."""
        return self._terms.refusal if self._terms is not None else None

    def is_fresh(self, caller: Caller) -> bool:
        """Return whether the authentication is as recent as the request requires."""
        pending = self._pending
        return pending is None or not pending.terms.force_authn or caller.session.authenticated_at >= pending.created_at

    def is_of_this_flow(self, caller: Caller) -> bool:
        """Return whether the user has signed in for this request, on a page that named the service.

        Such a sign-in counts as consent. A sign-in in another window of the browser does not.
        """
        if self._visit.has_signed_in_for_it:
            return True
        return self._pending is not None and browser_returns.has_signed_in(
            self._uow, self._pending.key, caller.session.id
        )

    @property
    def _named_customer(self) -> str | None:
        """The text that names the customer of the sign-in; None without one."""
        return self._pending.customer if self._pending is not None else self._visit.customer

    def renewed_ticket(self, caller: Caller) -> Secret | None:
        """Return a new ticket for a user who came by a ticket, because they have no session in this browser."""
        if self._pending is None or not self._visit.has_signed_in_for_it:
            return None
        return requests.renew_ticket(self._uow, self._pending, caller.session.id)

    def interact(self, wanted: AuthenticationRequired | AgreementRequired, caller: Caller | None) -> Outcome:
        """Ask the user, unless the request forbids it."""
        return self.refuse(_NOT_PASSIVE, caller, SignInReason.INTERACTION_REQUIRED) if self.is_passive else wanted

    def refuse(
        self, status: StatusOf, caller: Caller | None, reason: SignInReason, *, problem: Refusal | None = None
    ) -> ResponseToPost:
        """Answer with a status instead of an assertion; a passive request shows the user no page."""
        self._claim()
        if caller is not None and not caller.limits.is_impersonated:
            destination = Destination(
                organization_slug=self.provider.organization_slug,
                service_slug=self.provider.service_slug,
                device_token=self._visit.device_token,
                proved_for=self._named_customer,
            )
            note_refusal(
                self._uow, caller.account.id, UsedWay(Provider.SAML, caller.limits.confinement), destination, reason
            )
        return self._answer(status, problem=None if self.is_passive else problem)

    def settle(self, found: FoundSession) -> Settled | Outcome:
        """Return the customer of the service for which the user comes, or the answer that comes before that."""
        named = self._named_customer
        settled = answers.settle(self.provider, found, self._visit, named)
        caller = found.parent.caller
        match settled:
            case SignInAgain():
                return self.interact(AuthenticationRequired(is_anew=True), caller)
            case NotOpen():
                reason = reason_of(settled.refusal.reason)
                assert reason is not None, "a customer is closed for no reason of the vocabulary"
                return self.refuse(_DENIED, caller, reason, problem=settled.refusal)
            case Undecided():
                if self.is_passive:
                    return self.refuse(_NOT_PASSIVE, caller, SignInReason.INTERACTION_REQUIRED)
                return answers.ask(self.provider, found, settled, self.renewed_ticket(caller))
            case _:
                return settled

    def sign_in(self, found: FoundSession, comes_as: Settled | None) -> Outcome | Refusal:
        """Begin the session of the service provider, and answer with an assertion.

        `comes_as` has the customer, at a service that has customers.
        """
        uow, provider, terms, caller = self._uow, self.provider, self._terms, found.parent.caller
        customer = comes_as.standing if comes_as is not None else None
        customer_id = customer.id if customer is not None else None
        name_id = assertions.name_id(uow, provider, caller.account.id, caller.account.email, customer_id)
        if terms is not None and terms.subject not in {None, name_id.value}:
            status = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.UNKNOWN_PRINCIPAL)
            return self.refuse(status, caller, SignInReason.OTHER_SUBJECT)
        context_class = message_checks.context_class(
            terms.context_classes if terms is not None else (),
            terms.comparison if terms is not None else "exact",
            has_second_factor=caller.session.has_proved_second_factor,
        )
        if context_class is None:
            status = StatusOf(first=SamlStatus.REQUESTER, second=SamlStatus.NO_AUTHN_CONTEXT)
            return self.refuse(status, caller, SignInReason.NO_AUTHN_CONTEXT)
        try:
            begun = visits.begin_session(uow, provider, found, comes_as.customer if comes_as is not None else None)
        except SecondFactorRequired as refusal:
            # The organization requires two factors of its members, and this member has set none up.
            return self.refuse(_DENIED, caller, SignInReason.SECOND_FACTOR_REQUIRED, problem=refusal)
        if isinstance(begun, (SecondFactorDue, SsoRequired)):
            is_by_customer = customer is not None and isinstance(begun, SsoRequired)
            required = found.child.circumstances.required_connection() if is_by_customer else None
            connection_id = required.connection_id if required is not None else None
            return self.interact(AuthenticationRequired(connection_id=connection_id), caller)
        if isinstance(begun, Refusal):
            return begun
        self._claim()
        session = self._known_session(begun, name_id)
        assertion = IssuedAssertion(
            id=message_id(uow),
            name_id=name_id,
            session_index=session.index,
            authenticated_at=caller.session.authenticated_at,
            session_ends_at=begun.session.expires_at,
            context_class=context_class,
            attributes=assertions.attributes(
                provider.configuration.attribute_mapping,
                user_id=caller.account.id,
                email=caller.account.email,
                standing=found.standing,
                subject=visits.read_subject(uow, provider, begun),
            ),
        )
        return self._answer(SUCCESS, assertion=assertion, device_token=begun.device_token)

    def _known_session(self, begun: BegunSession, name_id: NameId) -> SamlSession:
        session = SamlSession(
            session_id=begun.session.id,
            organization_id=self.provider.organization_id,
            service_id=self.provider.service_id,
            audience=self.provider.audience,
            name_id=name_id,
        )
        self._uow.saml_sessions.add(session)
        return session

    def _claim(self) -> None:
        if self._pending is None:
            return
        is_claimed = self._uow.saml_requests.claim(self._pending, at=self._uow.now)
        # No other transaction sees a request before the end of the one that takes it.
        if not self._is_taken_here and not is_claimed():
            raise SignInStateUnknown

    def _answer(
        self,
        status: StatusOf,
        *,
        assertion: IssuedAssertion | None = None,
        device_token: Secret | None = None,
        problem: Refusal | None = None,
    ) -> ResponseToPost:
        provider, configuration = self.provider, self.provider.configuration
        return ResponseToPost(
            response=Response(
                id=message_id(self._uow),
                issuer=provider.entity_id(self._visit.base_url),
                audience=provider.audience,
                destination=provider.acs_url,
                in_response_to=self._pending.message_id if self._pending is not None else None,
                issued_at=self._uow.now,
                status=status,
                assertion=assertion,
                sign_response=configuration.sign_response,
                sign_assertion=configuration.sign_assertions,
            ),
            key=self._key(),
            organization_id=provider.organization_id,
            relay_state=self._pending.relay_state if self._pending is not None else self._visit.relay_state,
            service_name=provider.service_name,
            organization_name=provider.organization_name,
            device_token=device_token,
            problem=problem,
        )
