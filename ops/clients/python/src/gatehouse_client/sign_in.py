"""Signing people in to a web application: the code flow with PKCE, sessions that stay alive, and both logouts.

`SignIn` is for programs without async, `AsyncSignIn` for asyncio and Trio. The modules for frameworks do what is here
for each request; where sessions are kept is in `sessions.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import httpx

from gatehouse_client.seen import SeenOnce
from gatehouse_client.sessions import Session, SessionStore
from gatehouse_client.sign_in_steps import SCOPES, SignedIn, SignedOut, SignInBegun, SignInSteps
from gatehouse_client.steps import AsyncIO, BlockingIO, run, run_async


class SignIn:
    """Signs people in to one web application, without async; threads may share it.

    `client_secret` is None for a public service. `cookie_secret` has at least 32 random characters, the same in all
    processes and after a restart. `sessions` is where sessions are kept: in the memory of this process by default.
    `resource` asks for access tokens for that API of the service. `used` keeps what may come once: in this process by
    default.
    """

    def __init__(
        self,
        issuer: str,
        *,
        client_id: str,
        client_secret: str | None,
        redirect_uri: str,
        cookie_secret: str,
        sessions: SessionStore | None = None,
        scopes: Sequence[str] = SCOPES,
        resource: str | None = None,
        post_logout_redirect_uri: str | None = None,
        used: SeenOnce | None = None,
        client: httpx.Client | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.io = BlockingIO(client, clock=clock)
        self.steps = SignInSteps(
            issuer,
            client_id=client_id,
            client_secret=client_secret,
            redirect_uri=redirect_uri,
            cookie_secret=cookie_secret,
            sessions=sessions,
            scopes=scopes,
            resource=resource,
            post_logout_redirect_uri=post_logout_redirect_uri,
            used=used,
        )

    def start(self, return_to: str = "/", *, customer: str | None = None, **parameters: str) -> SignInBegun:
        """Return where the browser goes to sign in, and the cookie to set.

        `return_to` is a path of this site, to which it comes back; `customer` the id or slug of the customer that the
        person acts for; `parameters` others of the request, such as `prompt` or `login_hint`.
        """
        return run(self.steps.start(return_to, customer, parameters), self.io)

    def finish(self, query: Mapping[str, str], cookie: str | None) -> SignedIn:
        """Return the session after the browser came back, with the cookies to set; raise `SignInRefused`.

        `query` has the parameters of the address, `cookie` the value of the cookie that `start` has set.
        """
        return run(self.steps.finish(query, cookie), self.io)

    def session(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie, with a live access token; None when no user is signed in, or no longer.

        Shortly before it expires the token is refreshed, once for all requests that ask at the same time. While
        Gatehouse is away the session continues until the token expires; then this raises `Unreachable`.
        """
        return run(self.steps.session(cookie), self.io)

    def logout(self, cookie: str | None) -> SignedOut:
        """End the session of a cookie; return where the browser goes to sign out at Gatehouse, and a cookie to set."""
        return run(self.steps.logout(cookie), self.io)

    def backchannel_logout(self, form: Mapping[str, str]) -> None:
        """End the sessions that a logout token of Gatehouse names; raise `TokenRefused` for any other: answer 400."""
        run(self.steps.backchannel_logout(form), self.io)

    def close(self) -> None:
        """Close the connections."""
        self.io.close()


class AsyncSignIn:
    """Signs people in to one web application as `SignIn` does, on asyncio or Trio."""

    def __init__(
        self,
        issuer: str,
        *,
        client_id: str,
        client_secret: str | None,
        redirect_uri: str,
        cookie_secret: str,
        sessions: SessionStore | None = None,
        scopes: Sequence[str] = SCOPES,
        resource: str | None = None,
        post_logout_redirect_uri: str | None = None,
        used: SeenOnce | None = None,
        client: httpx.AsyncClient | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.io = AsyncIO(client, clock=clock)
        self.steps = SignInSteps(
            issuer,
            client_id=client_id,
            client_secret=client_secret,
            redirect_uri=redirect_uri,
            cookie_secret=cookie_secret,
            sessions=sessions,
            scopes=scopes,
            resource=resource,
            post_logout_redirect_uri=post_logout_redirect_uri,
            used=used,
        )

    async def start(self, return_to: str = "/", *, customer: str | None = None, **parameters: str) -> SignInBegun:
        """Return where the browser goes to sign in, and the cookie to set, as `SignIn.start` does."""
        return await run_async(self.steps.start(return_to, customer, parameters), self.io)

    async def finish(self, query: Mapping[str, str], cookie: str | None) -> SignedIn:
        """Return the session after the browser came back, with the cookies to set; raise `SignInRefused`."""
        return await run_async(self.steps.finish(query, cookie), self.io)

    async def session(self, cookie: str | None) -> Session | None:
        """Return the session of a cookie, with a live access token, as `SignIn.session` does."""
        return await run_async(self.steps.session(cookie), self.io)

    async def logout(self, cookie: str | None) -> SignedOut:
        """End the session of a cookie; return where the browser goes to sign out at Gatehouse, and a cookie to set."""
        return await run_async(self.steps.logout(cookie), self.io)

    async def backchannel_logout(self, form: Mapping[str, str]) -> None:
        """End the sessions that a logout token of Gatehouse names; raise `TokenRefused` for any other: answer 400."""
        await run_async(self.steps.backchannel_logout(form), self.io)

    async def aclose(self) -> None:
        """Close the connections."""
        await self.io.aclose()


__all__ = ["AsyncSignIn", "SignIn", "SignInBegun", "SignedIn", "SignedOut"]
