"""Setting and changing the caller's password: hashing and comparing happen between the transactions.

`hashed` is the one way on which an accepted password becomes a hash, wherever it is set. When the list of breached
passwords cannot be asked, a password counts as one that is not in it, and the metrics count the failure.
"""

import secrets
from collections.abc import Awaitable
from typing import TypeVar

import structlog
import trio

from core.accounts import passwords
from core.accounts.passwords import BreachUnknown, Change, NewPassword
from core.errors import BadRequest, ServiceUnavailable
from core.limits import PASSWORD_CHARACTERS_MAX
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.web.serving.calls import Call, shielded
from ports.metrics_of_work import PasswordCheckOutcome

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


log = structlog.get_logger(__name__)


def generated_password(settings: Settings, random_bytes: int) -> str:
    """Return a random password, which is as long as the setting asks for."""
    return secrets.token_urlsafe(max(random_bytes, settings.password_min_length))


async def hashed(installation: Installation, new: NewPassword, *, salt: bytes | None = None) -> str:
    """Return the hash of a new password that is accepted; raise `PasswordBreached` when it has leaked."""
    if await is_breached(installation, new.text, is_hurried=False):
        raise passwords.breached(new)
    return await installation.passwords.hash(new.text, salt=salt)


async def is_breached(installation: Installation, password: str, *, is_hurried: bool) -> bool:
    """Return whether a password is known from a data breach, as far as the installation can say."""
    known = installation.breached_passwords
    if known is None:
        return False
    try:
        found = await known.contains(password, is_hurried=is_hurried)
    except BreachUnknown as unknown:
        log.info("password_check.failed", reason=str(unknown))
        installation.metrics.password_checked(PasswordCheckOutcome.FAILED)
        return False
    installation.metrics.password_checked(PasswordCheckOutcome.BREACHED if found else PasswordCheckOutcome.CLEAN)
    return found
