"""Asking a user for a name, on the way of an authorization request (decisions 22.4).

Who has none is asked once, on the first visit to a service that asks for `profile`: beside the question of that visit,
else on a page of its own. It may be left empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts import names
from core.errors import BadRequest
from core.openid import requests, scopes
from core.openid.answers import NameQuestion
from core.openid.clients import Client
from core.openid.requests import AuthorizationRequest
from core.sessions.browser_sessions import BrowserSession
from core.sign_in.child_sessions import PreparedVisit

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def is_due(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, browser: BrowserSession, prepared: PreparedVisit
) -> bool:
    """Return whether the user of a visit is asked: for a first one, without a name that anybody has told.

    Nobody is asked on the way of a try, whose address is none that the service has registered.
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


def question(
    uow: UnitOfWork,
    client: Client,
    request: AuthorizationRequest,
    browser: BrowserSession,
    *,
    typed: str = "",
    problem: str = "",
    joins: bool = False,
) -> NameQuestion:
    """Return the question as a page of its own, with what was typed and cannot be a name."""
    organization = uow.organizations.by_slug(client.organization_slug)
    assert organization is not None, "a client was found without its organization"
    return NameQuestion(
        request_id=requests.keep(uow, client, request),
        organization_id=organization.id,
        service_name=client.service.name,
        email=browser.email,
        locales=request.locales,
        typed=typed,
        problem=problem,
        joins=joins,
    )


def answer(
    uow: UnitOfWork, client: Client, request: AuthorizationRequest, browser: BrowserSession, typed: str, *, joins: bool
) -> NameQuestion | None:
    """Keep the answer of the user of a browser; return the question once more where it cannot be a name.

    With `joins` the user confirms the membership too, which waits for the name then.
    """
    if not _may_answer(browser):
        return None
    try:
        names.answer(uow, browser.user_id, typed)
    except BadRequest as refusal:
        return question(uow, client, request, browser, typed=typed, problem=refusal.details[0].message, joins=joins)
    return None


def _may_answer(browser: BrowserSession) -> bool:
    """Return whether a session changes what belongs to the whole account: it is not for one organization alone."""
    return browser.confinement is None and not browser.is_impersonation
