"""Ending the session of an access token."""

from core.sessions import sessions
from entrypoints.http.sessions import sessions as own_sessions
from entrypoints.web.serving.admission.credentials import signed_in
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("sessions", own_sessions.routes.description)


@routes.post("/api/auth/logout")
@signed_in
async def log_out(call: Call) -> Message:
    """End the session of this access token."""
    await call.transact(sessions.log_out)
    return Message(message="You are signed out.")
