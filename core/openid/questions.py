"""The questions to the user of an authorization request: for which customer, by which name, and their consent.

On the first visit to a service of an organization that the user neither belongs to nor uses, a page asks for consent.
Signing in on the way counts as consent, because its pages name the service: for the request whose forms were submitted,
not for another one that is open in the same browser. A page tells a user that another person or a directory has added
them to the organization, however they have signed in; going on confirms the membership.

`core/sign_in/admission.py` says when the user is asked for a customer. The pages of the sign-in name none, because they
would tell strangers who is a customer. So signing in on the way is no consent for a customer, only for the service.

A user without a name is asked once, on the first visit to a service that requests `profile`: beside the question of
that visit, else on a page of its own. The name may be left empty (ops/decisions/0099).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import names
from core.email_addresses import canonical_email
from core.errors import BadRequest, Refusal
from core.ids import id_or_none
from core.lazy_dataclasses import dataclass
from core.openid import requests, scopes
from core.openid.answers import CustomerQuestion, NameQuestion, NoAccess, Question
from core.openid.clients import Client
from core.openid.requests import AuthorizationRequest
from core.secrets import Secret
from core.services import problems
from core.services.services import CustomerPolicy
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import admission, browser_returns, places
from core.sign_in.admission import SignInAgain
from core.sign_in.child_sessions import PreparedVisit
from core.sign_in.customer_choices import NotOpen, Undecided
from core.sign_in.places import Place
from core.sign_in.reasons import SignInReason, reason_of_rule

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
    settled = admission.settle_customer(
        visit.place,
        request.customer,
        visit.browser.confinement,
        is_answered=is_allowed,
        must_ask="select_account" in request.prompts,
        must_confirm=expects_another or "consent" in request.prompts,
    )
    match settled:
        case SignInAgain():
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
    note(reason_of_rule(refusal))
    if "none" in request.prompts:
        raise request.refused("access_denied", to_service)
    return NoAccess(
        **_shown(uow, client, request, visit.browser),
        message=refusal.message,
        may_create_organization=client.service.customers is CustomerPolicy.ANY and to_service is _FOR_CUSTOMER,
        is_closed=to_service is NOT_LET_IN,
    )


def _customer_question(uow: UnitOfWork, visit: Visit, undecided: Undecided, note: Note) -> CustomerQuestion:
    client, request = visit.client, visit.request
    if "none" in request.prompts:
        note(SignInReason.INTERACTION_REQUIRED)
        error = "consent_required" if undecided.only is not None else "interaction_required"
        raise request.refused(error, "The user has to say for which customer they come.")
    return CustomerQuestion(
        **_shown(uow, client, request, visit.browser),
        customers=undecided.customers,
        may_come_alone=undecided.may_come_alone,
        sentences=scopes.sentences(client.service, request.scopes),
    )


def _shown(uow: UnitOfWork, client: Client, request: AuthorizationRequest, browser: BrowserSession) -> dict[str, Any]:
    """Return the fields of `ShownRequest`; the request waits for its answer from now on."""
    organization = uow.organizations.by_slug(client.organization_slug)
    assert organization is not None, "a client was found without its organization"
    return {
        "request_id": requests.keep(uow, client, request),
        "organization_id": organization.id,
        "organization_name": organization.name,
        "service_name": client.service.name,
        "email": browser.email,
        "locales": request.locales,
    }


def is_name_due(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, browser: BrowserSession, prepared: PreparedVisit
) -> bool:
    """Return whether the user of a visit is asked: on a first visit, without a name from the user or a directory.

    On the way of a try the user is not asked, because its address is none that the service has registered.
    """
    service = client.service
    if not service.has_registered(request.redirect_uri, among=service.redirect_uris):
        return False
    if scopes.PROFILE not in request.scopes or "none" in request.prompts or not _may_answer(browser):
        return False
    user = prepared.user()
    if user is None or not user.can_be_asked_for_name or not prepared.circumstances.place().is_first_visit:
        return False
    return uow.person_names.defer_of(user.id, service.organization_id)().shown is None


def name_question(
    uow: UnitOfWork,
    client: Client,
    request: AuthorizationRequest,
    browser: BrowserSession,
    *,
    typed: str = "",
    problem: str = "",
    joins: bool = False,
) -> NameQuestion:
    """Return the question as a page of its own, with the typed text that cannot be a name."""
    return NameQuestion(**_shown(uow, client, request, browser), typed=typed, problem=problem, joins=joins)


def answer_name(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, browser: BrowserSession, typed: str, *, joins: bool
) -> NameQuestion | None:
    """Keep the answer of the user of a browser; return the question once more if it cannot be a name.

    With `joins` the user confirms the membership too, together with a valid name.
    """
    if not _may_answer(browser):
        return None
    try:
        names.answer(uow, browser.user_id, typed)
    except BadRequest as refusal:
        return name_question(
            uow, client, request, browser, typed=typed, problem=refusal.details[0].message, joins=joins
        )
    return None


def _may_answer(browser: BrowserSession) -> bool:
    """Return whether a session may change the whole account: it is not confined to one organization."""
    return browser.confinement is None and not browser.is_impersonation


class Consent(Enum):
    """What the user has agreed to on the way to a service."""

    NONE = auto()
    TO_SERVICE = auto()
    # The page has said as well that the organization of the service has added them.
    TO_MEMBERSHIP = auto()


def consent_before(
    uow: UnitOfWork, visit: Visit, prepared: PreparedVisit, consent: Consent, *, is_asked: bool, note: Note
) -> NoAccess | Question | NameQuestion | None:
    """Return the page before the session, a refusal or a question; None if there is none."""
    client, request, browser, place = visit.client, visit.request, visit.browser, visit.place
    asks_name = partial(is_name_due, uow, client, request, browser, prepared)
    if not request.customer:
        # No user is asked to confirm a membership that would not give access.
        refusal = places.refusal_of_suspended(place) or admission.refusal_of(place, confirms=True)
        if refusal is not None:
            problems.note_closed(uow, client.service)
            return no_access(uow, visit, refusal, note)
        can_be_asked = "none" not in request.prompts
        must_confirm = admission.must_confirm(
            place, confirms=consent is Consent.TO_MEMBERSHIP, can_be_asked=can_be_asked
        )
        if must_confirm and can_be_asked and prepared.lacks_proof():
            # The sign-in will be refused, and the refusal says what to do first.
            return None
        if must_confirm or is_asked:
            return replace(_consent_question(uow, visit, note), asks_name=asks_name())
    # The page on which the user chooses a customer does not ask for a name.
    if (consent is Consent.NONE or client.service.serves_customers) and asks_name():
        return name_question(uow, client, request, browser)
    return None


def needs_answer(uow: UnitOfWork, visit: Visit, browser_key: Secret | None, request_key: bytes | None) -> bool:
    """Return whether the user is asked for consent to the service: not if they have signed in on the way."""
    request, browser = visit.request, visit.browser
    if "consent" in request.prompts or expects_another(uow, request, browser):
        return True
    # Only the browser that was asked to sign in has shown pages that name the service, and only in the window of this
    # request: in another window the user may have signed in for something else.
    if request_key is not None and request.was_asked_in(browser_key):
        has_answered = browser_returns.has_signed_in(uow, request_key, browser.session_id)
        if has_answered:
            return False
    if "select_account" in request.prompts:
        return True
    if visit.place.is_known:
        return False
    return not uow.clients.is_organization_known_to(visit.client.service.organization_id, browser.user_id)


def expects_another(uow: UnitOfWork, request: AuthorizationRequest, browser: BrowserSession) -> bool:
    """Return whether the service may mean another account than that of the browser."""
    expected = request.hinted_email
    return expected is not None and canonical_email(expected, uow.domain_names.to_ascii) != browser.email


def _consent_question(uow: UnitOfWork, visit: Visit, note: Note) -> Question:
    client, request = visit.client, visit.request
    if "none" in request.prompts:
        note(SignInReason.INTERACTION_REQUIRED)
        raise request.refused("consent_required", "The user has to agree.")
    return Question(
        **_shown(uow, client, request, visit.browser),
        sentences=scopes.sentences(client.service, request.scopes),
        added_by=admission.added_by(visit.place),
    )
