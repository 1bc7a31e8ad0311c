"""Asking a user for a name, on the way of an authorization request (ops/decisions/0099).

A user without a name is asked once, on the first visit to a service that requests `profile`: beside the question of
that visit, else on a page of its own. The name may be left empty.
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
        return name_question(uow, client, request, browser, typed=typed, problem=refusal.details[0].message, joins=joins)
    return None


def _may_answer(browser: BrowserSession) -> bool:
    """Return whether a session may change the whole account: it is not confined to one organization."""
    return browser.confinement is None and not browser.is_impersonation
