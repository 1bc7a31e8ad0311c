"""The master keys of the settings, which encrypt every secret at rest: finding them, making one, changing them.

Where no setting names one, it is made and kept in the data folder, as other secrets are that a fresh house needs.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from adapters.crypto.vault import MasterKey, MasterKeysInvalid, Vault, parse_master_keys
from adapters.postgres.embedded.folder import explaining_refusals, make_data_folder
from adapters.postgres.schema import migrations, rewrap
from core.secrets import Secret
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from collections.abc import Callable

    from entrypoints.settings import Settings

KEPT_IN: Final = "master-key"

log = structlog.get_logger(__name__)


def vault(settings: Settings) -> Vault:
    """Open the vault: with the keys of the setting, else with one that is generated and kept in the data folder."""
    keys = settings.master_keys
    if keys is None and not settings.is_embedded and not settings.dev:
        raise CannotStart(
            "GATEHOUSE_MASTER_KEYS is missing, and nothing is ever stored in plain text. Make a key with"
            " `gatehouse keys generate` and keep a copy of it: what it encrypts is lost without it."
        )
    try:
        return Vault(parse_master_keys(keys or kept_secret(settings, KEPT_IN, generated)))
    except MasterKeysInvalid as invalid:
        raise CannotStart(f"{place(settings)} is wrong. {invalid}") from invalid


def place(settings: Settings) -> str:
    """Say where the master keys come from."""
    return "GATEHOUSE_MASTER_KEYS" if settings.master_keys is not None else str(settings.data_dir / KEPT_IN)


def kept_secret(settings: Settings, name: str, make: Callable[[], str]) -> Secret:
    """Give the secret in that file of the data folder, which is made when it is missing, whole or not at all."""
    path = settings.data_dir / name
    with explaining_refusals(settings.data_dir):
        make_data_folder(settings.data_dir)
        if not path.exists():
            _write_once(path, make() + "\n")
        return Secret(path.read_text().strip())


def generated() -> str:
    """Make a master key, as the setting takes it."""
    return MasterKey.generate().encoded()


def rewrap_secrets(settings: Settings, address: Secret, report: Callable[[str], None]) -> int:
    """Encrypt every secret with the first master key; say how many were not yet, raise when some could not be."""
    with migrations.connected(address.reveal()) as connection:
        done = rewrap.rewrap(connection, vault(settings), report)
    for column in done:
        if not column.is_complete:
            raise CannotStart(
                f"{column.column}: {column.unreadable} could not be read with these keys and {column.held} were in use."
                " Nothing is lost. Add the missing master key, or run this again, before you remove one."
            )
    return sum(column.rewrapped for column in done)


def _write_once(path: Path, text: str) -> None:
    """Write a file that is whole or missing, after a crash too; when two do it at once, one of them has done it."""
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
            log.info("secret.generated", file=str(path))
    finally:
        Path(draft).unlink()
