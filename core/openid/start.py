"""Beginning a sign-in at the service itself, from a tile (OpenID Connect Core, 4): its page gets the issuer.

The page learns nothing that it could not learn by itself: the text that names a customer is passed on unchanged, and
the address of a user only where a request of the service would be answered without a question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import NotFound
from core.openid import clients
from core.openid.authorization_endpoint import with_parameters
from core.openid.clients import Client
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import admission
from core.sign_in.admission import Settled

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class StartUnknown(NotFound):
    """There is no such service, it is not active, or it has no page that begins a sign-in."""

    default_message = "This application has no page to begin at. Open it at its own address."


def address(
    uow: UnitOfWork, client_id: UUID, customer: str | None, browser: BrowserSession | None, *, issuer: str
) -> str:
    """Return the address of the service's page that begins a sign-in; raise `StartUnknown`."""
    client = clients.find(uow, client_id)
    if client is None or not client.is_organization_active or client.service.initiate_login_uri is None:
        raise StartUnknown
    is_known = browser is not None and _is_known(uow, client, customer, browser)
    return with_parameters(
        client.service.initiate_login_uri,
        iss=issuer,
        customer=customer,
        login_hint=browser.email if browser is not None and is_known else None,
    )


def _is_known(uow: UnitOfWork, client: Client, customer: str | None, browser: BrowserSession) -> bool:
    """Return whether the service knows the user of a session, for this customer."""
    service = client.service
    place = uow.sign_in_places.defer(browser.user_id, client.organization_slug, service.slug)()
    settled = admission.settle_customer(place, customer, browser.confinement)
    if not isinstance(settled, Settled):
        return False
    if settled.standing is not None:
        return True
    is_open = browser.goes_to(service.organization_id, service.id)
    return is_open and uow.clients.is_organization_known_to(service.organization_id, browser.user_id)
