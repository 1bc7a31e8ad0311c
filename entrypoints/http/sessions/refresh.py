"""Continuing a session with its refresh token."""

from core.errors import OrganizationNotActive
from core.sessions import refresh as sessions_refresh
from core.sessions.refresh import RefreshRefused, TokenReused
from entrypoints.http.sessions import sessions as own_sessions
from entrypoints.shared.sessions.token_answers import Tokens, signed
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("sessions", own_sessions.routes.description)


class TokenRefresh(SecretBody, kw_only=True):
    """The refresh token of a session."""

    refresh_token: str


@routes.post("/api/auth/refresh", refuses=(RefreshRefused, OrganizationNotActive))
@public
async def refresh(call: Call, body: TokenRefresh) -> Tokens:
    """Exchange a refresh token for a new access token and the next refresh token.

    A refresh token can be used once. For half a minute a repeated use gets the same answer, because two tabs may
    refresh at once; later it ends the session, because the token must have been copied.
    """
    outcome = await call.step(sessions_refresh.refresh, body.refresh_token)
    if isinstance(outcome, TokenReused):
        await call.transact(sessions_refresh.end_reused, outcome)
        raise RefreshRefused
    return signed(call, outcome)
