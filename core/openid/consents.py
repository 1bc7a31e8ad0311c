"""Consent of the user before a service gets a session.

On the first visit to a service of an organization that the user neither belongs to nor uses, a page asks for consent.
Signing in on the way counts as consent, because its pages name the service: for the request whose forms were submitted,
not for another one that is open in the same browser. A page tells a user that another person or a directory has added
them to the organization, however they have signed in; going on confirms the membership.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING

from core.email_addresses import canonical_email
from core.openid import customer_questions, name_questions, requests, scopes
from core.openid.answers import NameQuestion, NoAccess, Question
from core.openid.customer_questions import Note, Visit
from core.openid.requests import AuthorizationRequest
from core.secrets import Secret
from core.services import problems
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import admission, browser_returns, places
from core.sign_in.child_sessions import PreparedVisit
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
    asks_name = partial(name_questions.is_name_due, uow, client, request, browser, prepared)
    if not request.customer:
        # No user is asked to confirm a membership that would not give access.
        refusal = places.refusal_of_suspended(place) or admission.refusal_of(place, confirms=True)
        if refusal is not None:
            problems.note_closed(uow, client.service)
            return customer_questions.no_access(uow, visit, refusal, note)
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
        return name_questions.name_question(uow, client, request, browser)
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
    organization = uow.organizations.by_slug(client.organization_slug)
    assert organization is not None, "a client was found without its organization"
    return Question(
        request_id=requests.keep(uow, client, request),
        organization_id=organization.id,
        organization_name=organization.name,
        service_name=client.service.name,
        email=visit.browser.email,
        locales=request.locales,
        sentences=scopes.sentences(client.service, request.scopes),
        added_by=admission.added_by(visit.place),
    )
