"""Hashing a new password, and looking for passwords among breached ones.

`hashed` is the one way on which an accepted password becomes a hash, wherever it is set. When the list of breached
passwords cannot be asked, a password counts as one that is not in it, and the metrics count the failure.
"""

import secrets

import structlog

from core.accounts import new_passwords
from core.accounts.new_passwords import BreachUnknown, NewPassword
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from ports.metrics_of_work import PasswordCheckOutcome

log = structlog.get_logger(__name__)


def generated_password(settings: Settings, random_bytes: int) -> str:
    """Return a random password, which is as long as the setting asks for."""
    return secrets.token_urlsafe(max(random_bytes, settings.password_min_length))


async def hashed(installation: Installation, new: NewPassword, *, salt: bytes | None = None) -> str:
    """Return the hash of a new password that is accepted; raise `PasswordBreached` when it has leaked."""
    if await is_breached(installation, new.text, is_hurried=False):
        raise new_passwords.breached(new)
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
