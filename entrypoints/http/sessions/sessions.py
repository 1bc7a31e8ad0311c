"""Listing, ending and refreshing the caller's sessions."""

from uuid import UUID

import msgspec

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.sessions import refresh as sessions_refresh
from core.sessions import sessions
from core.sessions.refresh import RefreshRefused, TokenReused
from core.sessions.sessions import SessionItem
from entrypoints.http.sessions.token_answers import Tokens, signed
from entrypoints.web.calls import Call
from entrypoints.web.credentials import account_wide, in_person, public, signed_in
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes(
    "sessions",
    "Every sign-in begins a session. Users list and end their sessions, and continue them with a refresh token.",
)


class Refresh(SecretBody, kw_only=True):
    """The refresh token of a session."""

    refresh_token: str


class Message(msgspec.Struct, kw_only=True):
    """What was done, in words for people."""

    message: str


class SessionList(msgspec.Struct, kw_only=True):
    """The sessions of the caller."""

    sessions: list[SessionItem]
    total: int


@routes.post("/api/auth/refresh", refuses=(RefreshRefused, OrganizationNotActive))
@public
async def refresh(call: Call, body: Refresh) -> Tokens:
    """Exchange a refresh token for a new access token and the next refresh token.

    A refresh token can be used once. For half a minute a repeated use gets the same answer, because two tabs may
    refresh at once; later it ends the session, because the token must have been copied.
    """
    outcome = await call.step(sessions_refresh.refresh, body.refresh_token)
    if isinstance(outcome, TokenReused):
        await call.transact(sessions_refresh.end_reused, outcome)
        raise RefreshRefused
    return signed(call, outcome)


@routes.post("/api/auth/logout")
@signed_in
async def log_out(call: Call) -> Message:
    """End the session of this access token."""
    await call.transact(sessions.log_out)
    return Message(message="You are signed out.")


@routes.get("/api/user/sessions")
@signed_in
async def list_sessions(call: Call) -> SessionList:
    """List your active sessions, the most recently used first.

    A session by the identity provider of an organization lists those that open nothing beyond that organization. The
    token of a service lists those of the service, if the account is used elsewhere too.
    """
    mine = list(await call.read(sessions.list_mine))
    return SessionList(sessions=mine, total=len(mine))


@routes.delete("/api/user/sessions/:id", status=204, refuses=(NotFound, Forbidden))
@in_person
async def end_session(call: Call, id: UUID) -> None:  # noqa: A002 - the name of the path's parameter
    """End one of your sessions."""
    await call.transact(sessions.end_mine, id)


@routes.delete("/api/user/sessions", status=204, refuses=(Forbidden,))
@account_wide
async def end_other_sessions(call: Call) -> None:
    """End all your sessions except this one, as far as this one lists them."""
    await call.transact(sessions.end_my_others)
