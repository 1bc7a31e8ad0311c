"""Setting and changing the caller's password."""

from core.accounts.passwords import (
    CurrentPasswordWrong,
    NoPasswordSet,
    PasswordAlreadySet,
    PasswordBreached,
    PasswordTooCommon,
)
from core.errors import Forbidden, RateLimitExceeded
from entrypoints.shared.accounts import passwords
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import account_wide, in_person
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("passwords", "Setting, changing and recovering a password.")


class PasswordCreation(SecretBody, kw_only=True):
    """The new password."""

    new_password: str


class PasswordChange(SecretBody, kw_only=True):
    """The current password and the new one."""

    current_password: str
    new_password: str


@routes.post("/api/user/set-password", refuses=(PasswordAlreadySet, PasswordTooCommon, PasswordBreached, Forbidden))
@account_wide
async def set_password(call: Call, body: PasswordCreation) -> Message:
    """Set the first password of your account."""
    await passwords.set_first(call, body.new_password)
    return Message(message="Your password is set. You can sign in with it from now on.")


@routes.post(
    "/api/user/change-password",
    refuses=(
        CurrentPasswordWrong,
        NoPasswordSet,
        PasswordTooCommon,
        PasswordBreached,
        Forbidden,
        RateLimitExceeded,
    ),
)
@in_person
async def change_password(call: Call, body: PasswordChange) -> Message:
    """Change your password; all your other sessions end.

    A wrong `current_password` counts as a failed sign-in: after ten of them in 15 minutes, in this session or from this
    network, the answer is 429 for a while.
    """
    await passwords.change(call, body.current_password, body.new_password)
    return Message(message="Your password is changed, and all your other sessions have ended.")
