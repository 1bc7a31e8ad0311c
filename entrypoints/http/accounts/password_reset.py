"""Requesting a password reset link, and setting a password with it; `entrypoints/pages` has the page of the link."""

from core.accounts import password_reset
from core.accounts.links import LinkUnusable
from core.accounts.passwords import PasswordBreached, PasswordTooCommon
from core.errors import SsoRequired
from core.rate_limits import RateLimit
from entrypoints.http.accounts.registration import MailedLinkRequest
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.")


class PasswordReset(SecretBody, kw_only=True):
    """The token of the mailed link, and the new password."""

    token: str
    new_password: str


@routes.post("/api/auth/forgot-password", limits=(RateLimit.FORGOT_PASSWORD,))
@public
async def forgot_password(call: Call, body: MailedLinkRequest) -> Message:
    """Mail a link to choose a new password; the answer is the same whether or not an account has the address.

    An organization or service that does not exist counts as if it were not named, as does an address that is not
    registered.
    """
    await call.transact(password_reset.request, body.email, body.return_request)
    return Message(message="If an account has this address, we are sending it a mail with a link to choose a password.")


@routes.post("/api/auth/reset-password", refuses=(LinkUnusable, SsoRequired, PasswordTooCommon, PasswordBreached))
@public
async def reset_password(call: Call, body: PasswordReset) -> Message:
    """Set a new password with the token of the mailed link, which can be used once; every session ends."""
    installation = call.installation
    new = await call.read(password_reset.check, body.token, body.new_password, installation.password_rules)
    password_hash = await hashed(installation, new)
    await call.transact(password_reset.reset, body.token, password_hash)
    return Message(message="Your new password is saved, and every session has ended. Sign in again.")
