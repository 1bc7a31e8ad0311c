"""Requesting a password reset link, and setting a password with it; `entrypoints/pages` has the page of the link."""

from core.accounts import password_reset, passwords
from core.accounts.links import LinkUnusable
from core.accounts.return_targets import RedirectNotRegistered
from core.errors import NotFound, SsoRequired
from core.rate_limits import RateLimit
from entrypoints.http.accounts.registration import MailedLinkRequest
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.")


class PasswordReset(SecretBody, kw_only=True):
    """The token of the mailed link, and the new password."""

    token: str
    new_password: str


@routes.post(
    "/api/auth/forgot-password",
    limits=(RateLimit.FORGOT_PASSWORD,),
    refuses=(RedirectNotRegistered, NotFound),
)
@public
async def forgot_password(call: Call, body: MailedLinkRequest) -> Message:
    """Mail a link to choose a new password; the answer is the same whether or not an account has the address."""
    await call.transact(password_reset.request, body.email, body.return_request)
    return Message(message="If an account has this address, we are sending it a mail with a link to choose a password.")


@routes.post("/api/auth/reset-password", refuses=(LinkUnusable, SsoRequired))
@public
async def reset_password(call: Call, body: PasswordReset) -> Message:
    """Set a new password with the token of the mailed link, which can be used once; every session ends."""
    passwords.check(body.new_password, "new_password")
    await call.read(password_reset.inspect, body.token)
    password_hash = await call.installation.passwords.hash(body.new_password)
    await call.transact(password_reset.reset, body.token, password_hash)
    return Message(message="Your new password is saved, and every session has ended. Sign in again.")
