"""Listing and ending the caller's sessions."""

from uuid import UUID

import msgspec

from core.errors import Forbidden, NotFound
from core.sessions import sessions
from core.sessions.sessions import SessionItem
from entrypoints.web.serving.admission.credentials import account_wide, in_person, signed_in
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes(
    "sessions",
    "Every sign-in begins a session. Users list and end their sessions, and continue them with a refresh token.",
)


class SessionList(msgspec.Struct, kw_only=True):
    """The sessions of the caller."""

    sessions: list[SessionItem]
    total: int


@routes.get("/api/user/sessions")
@signed_in
async def list_sessions(call: Call) -> SessionList:
    """List your active sessions, the most recently used first.

    A session by the identity provider of an organization lists sessions that open nothing beyond that organization. The
    token of a service lists the sessions of the service, if the account is used elsewhere too.
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
