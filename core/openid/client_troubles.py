"""Refusals of the endpoints of OAuth that are troubles of their client, and those that stay on a page.

`core/services/problems.py` keeps them, and shows them to people who look after the service. Endpoints for browsers note
them in the transaction that refuses, endpoints for programs in one of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.openid import clients
from core.openid.clients import Client
from core.openid.refusals import OAuthRefusal
from core.services import problems
from core.services.problems import ProblemKind
from core.services.services import Service

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The ways to authenticate, as discovery names them (OpenID Connect Core, 9).
BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
PRIVATE_KEY_JWT: Final = "private_key_jwt"
NONE: Final = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedClient:
    """The client that a request names, how it authenticates, and the grant that it asks for, if any."""

    client_id: UUID
    method: str
    grant_type: str | None = None


def note_named(uow: UnitOfWork, named: NamedClient, refusal: OAuthRefusal) -> bool:
    """Note the refusal of a request that names a client; return whether there is such a client."""
    client = clients.find(uow, named.client_id)
    if client is None:
        return False
    if refusal.trouble is ProblemKind.CLIENT_AUTHENTICATION:
        refusal.about(refusal.trouble, named.method, _methods(client.service))
    elif refusal.trouble is ProblemKind.GRANT:
        refusal.about(refusal.trouble, named.grant_type, refusal.registered)
    note(uow, client, refusal)
    return True


def note(uow: UnitOfWork, client: Client, refusal: OAuthRefusal | None) -> None:
    """Note the refusal of a client's request, if it is a trouble."""
    if refusal is not None and refusal.trouble is not None:
        problems.note(uow, client.service, refusal.trouble, sent=refusal.sent, registered=refusal.registered)


def leaving_address(refusal: RedirectUriRefused, client: Client) -> RedirectUriRefused:
    """Return the refusal of a redirect URI; raising it notes it."""
    service = client.service
    refusal.client = client
    return problems.leaving(
        refusal, service, ProblemKind.REDIRECT_URI, sent=refusal.redirect_uri, registered=service.redirect_uris
    )


def leaving_logout(refusal: LogoutUriRefused) -> LogoutUriRefused:
    """Return the refusal of an address to go to after a logout; raising it notes it."""
    service = refusal.client.service
    return problems.leaving(
        refusal,
        service,
        ProblemKind.LOGOUT_URI,
        sent=refusal.redirect_uri,
        registered=service.post_logout_redirect_uris,
    )


def _methods(service: Service) -> list[str]:
    """Return the methods by which a service may authenticate."""
    if not service.service_type.is_confidential:
        return [NONE]
    by_secret = [BASIC, POST] if service.has_client_secret else []
    has_keys = service.jwks is not None or service.jwks_uri is not None
    return [*by_secret, PRIVATE_KEY_JWT] if has_keys else by_secret


class RequestRefused(BadRequest):
    """The request names no known client or no registered redirect URI, so there is no safe way back."""

    default_message = (
        "This application sent you here with a request that cannot be answered."
        " Go back to the application, and tell its makers what is written here."
    )


class RedirectUriRefused(RequestRefused):
    """The request names a redirect URI that the service has not registered.

    `client` is the client of the request, where the refusal ends on a page.
    """

    default_message = (
        "The request names a redirect_uri that is not registered with the application."
        " Its makers have to register exactly this address."
    )

    def __init__(self, redirect_uri: str | None) -> None:
        super().__init__()
        self.redirect_uri = redirect_uri
        self.client: Client | None = None


class RedirectUriMissing(RedirectUriRefused):
    """The request names no redirect URI."""

    default_message = "The request of the application names no redirect_uri."

    def __init__(self) -> None:
        super().__init__(None)


class LogoutUriRefused(RequestRefused):
    """A request to sign out names an address to go back to that the service has not registered."""

    default_message = (
        "The request names a post_logout_redirect_uri that is not registered with the application."
        " Its makers have to register exactly this address."
    )

    def __init__(self, client: Client, redirect_uri: str) -> None:
        super().__init__()
        self.client = client
        self.redirect_uri = redirect_uri


class RequestOver(RequestRefused):
    """The stored request has expired, or was answered already.

    `client` is its client, None if that is not known, and `locales` are the requested languages.
    """

    default_message = "This request is over. Go back to the application, and sign in there again."

    def __init__(self, client: Client | None = None, locales: Sequence[str] = ()) -> None:
        super().__init__()
        self.client = client
        self.locales = locales
