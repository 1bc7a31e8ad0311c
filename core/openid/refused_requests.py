"""The refusals of an authorization request that stay on a page, because no way back to the application is safe."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import BadRequest
from core.openid.clients import Client


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
