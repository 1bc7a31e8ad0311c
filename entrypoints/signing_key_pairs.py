"""The signing keys of an installation: loading them, and making missing and next ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import trio

from actors.key_refresher import KeyRefresher
from adapters.crypto.key_pairs import make_key_pair
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.vault import SealBroken
from core.limits import IMPERSONATION_LIFETIME_MAX
from core.platform import commands
from core.sessions import server_secrets, signing_keys
from core.sessions.security_profiles import SignatureAlgorithm
from entrypoints import master_keys
from entrypoints.installation import Installation
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from ports.database import Database


async def published(installation: Installation) -> Sequence[signing_keys.SigningKey]:
    """List the signing keys.

    Raise `CannotStart` when they cannot be decrypted, because then no other secret can be either.
    """
    try:
        return await installation.database.read(signing_keys.published)
    except SealBroken as broken:
        place = master_keys.place(installation.settings)
        raise CannotStart(f"{broken} Put the master key back that the database was used with: {place}.") from broken


async def ensure(installation: Installation) -> None:
    """Make the signing keys of each kind that a new installation, or one of an older version, does not have."""
    known = {key.algorithm for key in await published(installation)}
    for algorithm in SignatureAlgorithm:
        if algorithm not in known:
            active, following = [await trio.to_thread.run_sync(make_key_pair, algorithm) for _ in range(2)]
            await installation.database.transact(signing_keys.ensure, active, following)


async def load(installation: Installation, keys: KeyRefresher, pepper: HmacPepper) -> None:
    """Load the signing keys and the pepper, and make the missing ones."""
    await ensure(installation)
    await keys.refresh()
    pepper.load(await installation.database.transact(server_secrets.pepper, os.urandom(PEPPER_BYTES)))


async def rotate(installation: Installation, database: Database) -> Sequence[signing_keys.SigningKey]:
    """Make the next key of each kind the active one, which clients already know, and return these keys.

    The audit entries name who `database` acts for.
    """
    fresh = [await trio.to_thread.run_sync(make_key_pair, algorithm) for algorithm in SignatureAlgorithm]
    longest = max(installation.settings.access_token_ttl, IMPERSONATION_LIFETIME_MAX)
    return await database.transact(commands.rotate, fresh, longest)
