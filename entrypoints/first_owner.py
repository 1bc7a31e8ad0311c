"""The first platform owner, which a setting or development mode names."""

from __future__ import annotations

from typing import Final

from core.accounts import passwords
from core.platform import owners
from core.secrets import Secret
from entrypoints import master_keys
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from entrypoints.shared.accounts.passwords import generated_password, hashed

DEVELOPMENT_OWNER: Final = "owner@gatehouse.test"
OWNER_FILE: Final = "owner-password"
OWNER_PASSWORD_BYTES: Final = 12


async def ensure(installation: Installation) -> str | None:
    """Make the first platform owner that a setting or development mode names.

    Return the address if it is a platform owner's, else None.
    """
    settings = installation.settings
    email = settings.owner_email or (DEVELOPMENT_OWNER if settings.dev else None)
    if email is None:
        return None
    if not await installation.database.transact(owners.any_exists):
        password = settings.owner_password or development_password(settings)
        new = passwords.accepted(password.reveal(), "GATEHOUSE_OWNER_PASSWORD", installation.password_rules, [email])
        await installation.database.transact(owners.appoint_first, email, await hashed(installation, new))
    # Another replica may have made a different first owner.
    return email if await installation.database.read(owners.is_platform_owner, email) else None


def development_password(settings: Settings) -> Secret:
    """Return the development owner's password, which is generated once, because every start prints it."""
    return master_keys.kept_secret(settings, OWNER_FILE, lambda: generated_password(settings, OWNER_PASSWORD_BYTES))
