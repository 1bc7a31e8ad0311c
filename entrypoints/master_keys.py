"""The master keys, which encrypt every secret at rest: reading, generating and replacing them.

An embedded or development installation without the setting generates its key, like its other secrets, in the data
folder.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from adapters.crypto.vault import MasterKey, MasterKeysInvalid, Vault, parse_master_keys
from adapters.postgres.embedded.folder import make_data_folder, raising_data_folder_errors
from adapters.postgres.schema import migrations, rewrap
from core.lazy_dataclasses import dataclass
from core.secrets import Secret
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings

MASTER_KEY_FILE: Final = "master-key"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewrappedSecrets:
    """The id of the key that encrypts, how many secrets it now encrypts anew, how many it does not, and why not."""

    key_id: str
    count: int
    left: int
    problem: str


def vault(settings: Settings) -> Vault:
    """Return the vault with the keys of the setting, else with a key that is generated and kept in the data folder.

    Raise `CannotStart` when a required key is missing or a key is malformed.
    """
    keys = settings.master_keys
    if keys is None and not settings.is_embedded and not settings.dev:
        raise CannotStart(
            "GATEHOUSE_MASTER_KEYS is missing, and secrets are never stored unencrypted. Make a key with"
            " `gatehouse keys generate` and keep a copy of it: what it encrypts is lost without it."
        )
    try:
        return Vault(parse_master_keys(keys or kept(settings)))
    except MasterKeysInvalid as invalid:
        raise CannotStart(f"{place(settings)} is wrong. {invalid}") from invalid


def present_ids(settings: Settings) -> frozenset[str]:
    """Return the ids of the master keys that there are; unlike `vault`, this generates none."""
    if settings.master_keys is None and not (settings.data_dir / MASTER_KEY_FILE).exists():
        return frozenset()
    return vault(settings).key_ids


def kept(settings: Settings) -> Secret:
    """Return the keys in the file of the data folder; they are generated when there is none."""
    return kept_secret(settings, MASTER_KEY_FILE, generated)


def place(settings: Settings) -> str:
    """Return where the master keys come from: the name of the setting, or the path of the file."""
    return "GATEHOUSE_MASTER_KEYS" if settings.master_keys is not None else str(settings.data_dir / MASTER_KEY_FILE)


def kept_secret(settings: Settings, name: str, make: Callable[[], str]) -> Secret:
    """Return the secret in this file of the data folder; a missing file is made atomically."""
    path = settings.data_dir / name
    with raising_data_folder_errors(settings.data_dir):
        make_data_folder(settings.data_dir)
        if not path.exists():
            _write_once(path, make() + "\n")
        return Secret(path.read_text().strip())


def generated() -> str:
    """Return a new master key in the format of the setting."""
    return MasterKey.generate().encoded()


def rewrap_secrets(
    settings: Settings, address: Secret, report: Callable[[str], None], show: Callable[[object, int, int], None]
) -> RewrappedSecrets:
    """Encrypt every secret with the first master key, and return how many were re-encrypted and how many were not.

    `show` is called often, with a column, the rows that were read, and how many there are.
    """
    keys = vault(settings)
    with migrations.connected(address.reveal()) as connection:
        done = rewrap.rewrap(connection, keys, report, show)
    problem = next(
        (
            f"{column.column}: {column.unreadable} could not be read with these keys and {column.held} were in use."
            " Nothing is lost. Add the missing master key, or run this command again, before you remove a key."
            for column in done
            if not column.is_complete
        ),
        "",
    )
    return RewrappedSecrets(
        key_id=keys.current_id,
        count=sum(column.rewrapped for column in done),
        left=sum(column.unreadable + column.held for column in done),
        problem=problem,
    )


def _write_once(path: Path, text: str) -> None:
    """Write a file atomically, also in a crash; of two concurrent writers the first one wins."""
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
