"""The customer for which the user of an authorization request signs in to a service.

`core/sign_in/customer_settling.py` says when the user is asked. The pages of the sign-in name no customer, because they
would tell strangers who is a customer. So signing in on the way is no consent for a customer, only for the service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Refusal
from core.ids import id_or_none
from core.lazy_dataclasses import dataclass
from core.openid import requests, scopes
from core.openid.answers import CustomerQuestion, NoAccess
from core.openid.clients import Client
from core.openid.requests import AuthorizationRequest
from core.organizations.organizations import Organization
from core.services.services import CustomerPolicy
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import customer_settling
from core.sign_in.customer_choices import NotOpen, Undecided
from core.sign_in.customer_settling import SignInAnew
from core.sign_in.places import Place
from core.sign_in.reasons import SignInReason, reason_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Note = Callable[[SignInReason], None]
# What the service reads when its user sees no page; it tells nothing of a membership, such as that it is deactivated.
_FOR_CUSTOMER: Final = "The user has no access to this application, or not for that customer."
# What the service reads about a user who may not use it at all.
NOT_LET_IN: Final = "This person may not use this application."


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request of a browser with a session, and the standing of its user at the service."""

    client: Client
    request: AuthorizationRequest
    browser: BrowserSession
    place: Place


def settle_customer(
    uow: UnitOfWork, visit: Visit, *, is_allowed: bool, expects_another: bool, note: Note
) -> AuthorizationRequest | CustomerQuestion | NoAccess | None:
    """Return the request with the customer for which its user signs in, or the question or refusal that answers it.

    None means that the session is confined to something else, so that its user signs in for this. `is_allowed` says
    that the user has consented, and `expects_another` that the service may mean another account. Raise
    `AuthorizationRefused` where a question is needed and the request forbids it.
    """
    request = visit.request
    settled = customer_settling.settle_customer(
        visit.place,
        request.customer,
        visit.browser.confinement,
        is_answered=is_allowed,
        must_ask="select_account" in request.prompts,
        must_confirm=expects_another or "consent" in request.prompts,
    )
    match settled:
        case SignInAnew():
            return None
        case NotOpen():
            return no_access(uow, visit, settled.refusal, note, to_service=_FOR_CUSTOMER)
        case Undecided():
            only = settled.only
            # The request keeps the customer, also when its user signs in for it first.
            named = replace(request, customer=str(only.id)) if only is not None else request
            return _customer_question(uow, replace(visit, request=named), settled, note)
        case _:
            return replace(request, customer=settled.customer)


def only_connection(uow: UnitOfWork, client: Client, request: AuthorizationRequest) -> UUID | None:
    """Return the connection to which a request without a signed-in user leads; None for the pages of the sign-in.

    It is the only connection of the customer that the request names by its id, which only the service knows. A slug
    leads nowhere, because anyone knows it: the pages are the same for every text. Nor does the request lead a user who
    is to make an account or choose another one.
    """
    if not client.service.serves_customers or not {"create", "select_account"}.isdisjoint(request.prompts):
        return None
    customer_id = id_or_none(request.customer or "")
    if customer_id is None:
        return None
    return uow.upstream_connections.only_of_customer(client.service.organization_id, client.service.id, customer_id)


def no_access(uow: UnitOfWork, visit: Visit, refusal: Refusal, note: Note, *, to_service: str = NOT_LET_IN) -> NoAccess:
    """Return the page for a user without access, and note why; without a page, answer the service `access_denied`."""
    client, request = visit.client, visit.request
    reason = reason_of(refusal.reason)
    assert reason is not None, "a customer is closed for no reason of the vocabulary"
    note(reason)
    if "none" in request.prompts:
        raise request.refused("access_denied", to_service)
    organization = _organization(uow, client)
    return NoAccess(
        request_id=requests.keep(uow, client, request),
        organization_id=organization.id,
        organization_name=organization.name,
        service_name=client.service.name,
        email=visit.browser.email,
        message=refusal.message,
        may_create_organization=client.service.customers is CustomerPolicy.ANY and to_service is _FOR_CUSTOMER,
        locales=request.locales,
        is_closed=to_service is NOT_LET_IN,
    )


def _customer_question(uow: UnitOfWork, visit: Visit, undecided: Undecided, note: Note) -> CustomerQuestion:
    client, request = visit.client, visit.request
    if "none" in request.prompts:
        note(SignInReason.INTERACTION_REQUIRED)
        error = "consent_required" if undecided.only is not None else "interaction_required"
        raise request.refused(error, "The user has to say for which customer they come.")
    organization = _organization(uow, client)
    return CustomerQuestion(
        request_id=requests.keep(uow, client, request),
        organization_id=organization.id,
        organization_name=organization.name,
        service_name=client.service.name,
        email=visit.browser.email,
        customers=undecided.customers,
        may_come_alone=undecided.may_come_alone,
        locales=request.locales,
        sentences=scopes.sentences(client.service, request.scopes),
    )


def _organization(uow: UnitOfWork, client: Client) -> Organization:
    organization = uow.organizations.by_slug(client.organization_slug)
    assert organization is not None, "a client was found without its organization"
    return organization
