"""The possible answers to a service provider, and what comes before; `sign_in.py` decides which answer it is.

A user of a service with customers comes for one of them. `core/sign_in/admission.py` says when the user is
asked, as for an authorization request. For `members_only`, a user who comes for a customer counts as a member; any
other is judged as at a service without customers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Refusal
from core.key_certificates import SamlSigningKey
from core.lazy_dataclasses import dataclass
from core.saml.configuration import CUSTOMER_FIELDS, DEFAULT_MAPPING
from core.saml.identity_providers import ProviderUnknown, SamlProvider
from core.saml.messages import Response
from core.saml.visits import FoundSession, Visit
from core.secrets import Secret
from core.services.services import Individuals
from core.sessions.callers import Caller
from core.sign_in import admission
from core.sign_in.admission import AddedBy, Settlement
from core.sign_in.customer_choices import AS_INDIVIDUAL, CustomerStanding, NotOpen, Undecided
from core.sign_in.places import Place

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionQuestion:
    """What the user is asked before an assertion: which attributes it has, of whom and for which service.

    `added_by` is what has made a membership that the answer confirms; None where there is none to confirm. `ticket` is
    set for a user who has signed in elsewhere and has no session in this browser: it stands for theirs.
    """

    service_name: str
    organization_name: str
    email: str
    attributes: tuple[str, ...]
    added_by: AddedBy | None = None
    ticket: Secret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerQuestion(AssertionQuestion):
    """The user chooses the customer of the service, and consents to what assertions say."""

    customers: Sequence[CustomerStanding]
    may_come_alone: bool


def settle(provider: SamlProvider, found: FoundSession, visit: Visit, named: str | None) -> Settlement:
    """Return the customer, or none, for which the user of a session comes, or a question; the request names `named`.

    Coming without a customer is offered only to users who would get an assertion.
    """
    place, caller = found.child.circumstances.place(), found.parent.caller
    answer = visit.chosen
    if answer is None and named is None:
        answer = _chosen_at_sign_in(provider, visit, caller)
    is_admitted = found.standing.is_admitted(members_only=provider.configuration.members_only)

    def settled_at(settled_place: Place) -> Settlement:
        return admission.settle_customer(
            settled_place,
            named if answer is None else answer,
            caller.limits.confinement,
            is_answered=answer is not None,
        )

    settled = settled_at(place if is_admitted else _without_individuals(place))
    # A user without a customer reads what they lack themselves.
    return settled_at(place) if isinstance(settled, NotOpen) and not is_admitted else settled


def ask(provider: SamlProvider, found: FoundSession, undecided: Undecided, ticket: Secret | None) -> CustomerQuestion:
    """Return the question; the ticket stands for the session of a user who has none in this browser."""
    mapping = provider.configuration.attribute_mapping or DEFAULT_MAPPING
    return CustomerQuestion(
        service_name=provider.service_name,
        organization_name=provider.organization_name,
        email=found.parent.caller.account.email,
        # The role at the organization of the service is given only for users without a customer.
        attributes=tuple(field for field in mapping if field != "role" or undecided.may_come_alone),
        customers=undecided.customers,
        may_come_alone=undecided.may_come_alone,
        ticket=ticket,
        added_by=admission.added_by(found.child.circumstances.place()) if undecided.may_come_alone else None,
    )


def _chosen_at_sign_in(provider: SamlProvider, visit: Visit, caller: Caller) -> str | None:
    """Return the customer of a sign-in by JSON to this service and for this request; None for another sign-in."""
    if not visit.has_signed_in_for_it or caller.place.service_id != provider.service_id:
        return None
    return str(caller.place.customer_id) if caller.place.customer_id is not None else AS_INDIVIDUAL


def _without_individuals(place: Place) -> Place:
    assert place.service is not None, "a service provider was found without its service"
    return replace(place, service=replace(place.service, individuals=Individuals.NONE))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseToPost:
    """A response to sign and to post to the service provider.

    The browser gets the `device_token` when a session has begun; `problem` is set when the user should read why they
    are not signed in before the response is posted.
    """

    response: Response
    key: SamlSigningKey
    relay_state: str | None
    organization_id: UUID
    service_name: str
    organization_name: str
    device_token: Secret | None = None
    problem: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthenticationRequired:
    """The user has to authenticate, or to authenticate again, before the request can be answered.

    `connection_id` is the connection by which the customer requires it; `is_anew` says that the session is confined to
    something else.
    """

    connection_id: UUID | None = None
    is_anew: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRequired(AssertionQuestion):
    """The user has to agree first, because they neither belong to the organization nor use it."""


Outcome = ResponseToPost | AuthenticationRequired | AgreementRequired | CustomerQuestion


def defer_signing_key(uow: UnitOfWork, organization_id: UUID, service_id: UUID) -> Deferred[SamlSigningKey]:
    """Defer reading the key that signs for a service; raise `ProviderUnknown` when it was deactivated meanwhile."""
    found = uow.saml_certificates.defer_signing_key(organization_id, service_id)
    return lambda: _required(found())


def _required(key: SamlSigningKey | None) -> SamlSigningKey:
    if key is None:
        raise ProviderUnknown
    return key


def agreement(provider: SamlProvider, email: str, added_by: AddedBy | None = None) -> AgreementRequired:
    """Return what a user who comes without a customer has to agree to."""
    mapping = provider.configuration.attribute_mapping or DEFAULT_MAPPING
    return AgreementRequired(
        service_name=provider.service_name,
        organization_name=provider.organization_name,
        email=email,
        attributes=tuple(field for field in mapping if field not in CUSTOMER_FIELDS),
        added_by=added_by,
    )


def message_id(uow: UnitOfWork) -> str:
    """Return the id of a new message or assertion."""
    return f"_{uow.randomness.token().reveal()}"
