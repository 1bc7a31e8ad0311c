"""Setting and changing the caller's password."""

from collections.abc import Awaitable
from typing import TypeVar

import trio

from core.accounts import passwords
from core.accounts.passwords import Change, CurrentPasswordWrong, NoPasswordSet, PasswordAlreadySet
from core.errors import Forbidden, RateLimitExceeded, ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.http.sessions.sessions import Message
from entrypoints.web.calls import Call, shielded
from entrypoints.web.credentials import account_wide, in_person
from entrypoints.web.hidden import SecretBody
from entrypoints.web.routes import Routes

Result = TypeVar("Result")

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

    A wrong `current_password` counts as a failed sign-in: after ten of them in 15 minutes, in this session or from this
    network, the answer is 429 for a while.
    """
    begun = await call.transact(passwords.find_current, body.new_password, call.throttled_network)
    is_right = await _or_give_up(call, begun, _is_right(call, body.current_password, begun))
    if not is_right:
        # Recorded also when the client has hung up, because a password was compared.
        with shielded():
            return await call.transact(passwords.refuse, begun)
    password_hash = await _or_give_up(call, begun, call.installation.passwords.hash(body.new_password))
    await call.transact(passwords.change, begun, password_hash)
    return Message(message="Your password is changed, and all your other sessions have ended.")


async def _is_right(call: Call, password: str, begun: Change) -> bool:
    # No account has a longer password. Comparing with none takes the same time as a comparison.
    encoded = begun.password_hash if len(password) <= PASSWORD_CHARACTERS_MAX else None
    return (await call.installation.passwords.verify(password[:PASSWORD_CHARACTERS_MAX], encoded)).is_right


async def _or_give_up(call: Call, begun: Change, slow: Awaitable[Result]) -> Result:
    """Await what is slow; when it is not done, nothing was compared, or the password was right."""
    try:
        return await slow
    except (ServiceUnavailable, trio.Cancelled):
        with shielded():
            await call.transact(passwords.give_up, begun)
        raise
