"""Setting and changing the caller's password: hashing and comparing happen between the transactions."""

from collections.abc import Awaitable
from typing import TypeVar

import trio

from core.accounts import passwords
from core.accounts.passwords import Change
from core.errors import BadRequest, ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.shared.accounts.new_passwords import hashed
from entrypoints.web.serving.calls import Call, shielded

Result = TypeVar("Result")


async def set_first(call: Call, new: str) -> None:
    """Set the first password of the caller's account."""
    installation = call.installation
    accepted = await call.read(passwords.check_first, new, installation.password_rules)
    await call.transact(passwords.set_first, await hashed(installation, accepted))


async def change(call: Call, current: str, new: str) -> None:
    """Change the caller's password; a wrong one counts as a failed sign-in."""
    begun = await call.transact(passwords.find_current, new, call.installation.password_rules, call.throttled_network)
    is_right = await _or_give_up(call, begun, _is_right(call, current, begun))
    if not is_right:
        # Recorded also when the client has hung up, because a password was compared.
        with shielded():
            return await call.transact(passwords.refuse, begun)
    password_hash = await _or_give_up(call, begun, hashed(call.installation, begun.new))
    return await call.transact(passwords.change, begun, password_hash)


async def _is_right(call: Call, password: str, begun: Change) -> bool:
    # No account has a longer password. Comparing with none takes the same time as a comparison.
    encoded = begun.password_hash if len(password) <= PASSWORD_CHARACTERS_MAX else None
    return (await call.installation.passwords.verify(password[:PASSWORD_CHARACTERS_MAX], encoded)).is_right


async def _or_give_up(call: Call, begun: Change, slow: Awaitable[Result]) -> Result:
    """Await what is slow; when it is not done, nothing was compared, or the password was right."""
    try:
        return await slow
    except (BadRequest, ServiceUnavailable, trio.Cancelled):
        with shielded():
            await call.transact(passwords.give_up, begun)
        raise
