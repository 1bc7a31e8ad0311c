"""Setting and changing the caller's password."""

from core.accounts import passwords
from core.accounts.passwords import Change, CurrentPasswordWrong, NoPasswordSet, PasswordAlreadySet
from core.errors import Forbidden, RateLimitExceeded, ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.http.sessions.sessions import Message
from entrypoints.web.calls import Call
from entrypoints.web.credentials import account_wide, in_person
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.")


class FirstPassword(SecretBody, kw_only=True):
    """The new password."""

    new_password: str


class PasswordChange(SecretBody, kw_only=True):
    """The current password and the new one."""

    current_password: str
    new_password: str


@routes.post("/api/user/set-password", refuses=(PasswordAlreadySet, Forbidden))
@account_wide
async def set_password(call: Call, body: FirstPassword) -> Message:
    """Set the first password of your account."""
    await call.read(passwords.check_first, body.new_password)
    await call.transact(passwords.set_first, await call.installation.passwords.hash(body.new_password))
    return Message(message="Your password is set. You can sign in with it from now on.")


@routes.post("/api/user/change-password", refuses=(CurrentPasswordWrong, NoPasswordSet, Forbidden, RateLimitExceeded))
@in_person
async def change_password(call: Call, body: PasswordChange) -> Message:
    """Change your password; all your other sessions end.

    A wrong `current_password` counts as a failed sign-in: after too many of them the answer is 429 for a while.
    """
    begun = await call.transact(passwords.find_current, body.new_password, call.throttled_network)
    try:
        password_hash = await _compare_and_hash(call, body, begun)
    except ServiceUnavailable:
        await call.transact(passwords.give_up, begun)
        raise
    await call.transact(passwords.change, begun, password_hash)
    return Message(message="Your password is changed, and all your other sessions have ended.")


async def _compare_and_hash(call: Call, body: PasswordChange, begun: Change) -> str:
    # No account has a longer password. Comparing with none takes the same time as a comparison.
    encoded = begun.password_hash if len(body.current_password) <= PASSWORD_CHARACTERS_MAX else None
    verdict = await call.installation.passwords.verify(body.current_password[:PASSWORD_CHARACTERS_MAX], encoded)
    if not verdict.is_right:
        raise CurrentPasswordWrong
    return await call.installation.passwords.hash(body.new_password)
