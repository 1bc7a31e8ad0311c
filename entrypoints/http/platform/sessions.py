"""Ending the sessions of any account."""

from uuid import UUID

from core.accounts.users import UserUnknown
from core.errors import Forbidden
from core.platform import sessions
from entrypoints.http.services.end_users import RevokedSessions
from entrypoints.web.serving.admission.credentials import platform_support
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("platform users", "The users of the whole platform, for platform owners and support.")


@routes.delete("/api/platform/users/:user_id/sessions", refuses=(Forbidden, UserUnknown))
@platform_support
async def end_sessions_of_user(call: Call, user_id: UUID) -> RevokedSessions:
    """End all sessions of a user, with effect from their next request.

    Sign-ins that are not complete end as well, and a change of the address that the user has requested. The platform's
    audit log records it.
    """
    ended = await call.transact(sessions.end_all, user_id)
    message = "There was no session to end." if not ended else "The sessions have ended. The user has to sign in again."
    return RevokedSessions(message=message, sessions_revoked=ended)
