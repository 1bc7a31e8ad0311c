"""The manifest of a backup, and whether it can be restored: the format of the file, without reading and writing it.

A backup is a tar file of three members in this order: `manifest.json`, the database as `pg_dump` writes it, and the
checksums of both. It contains no key: the manifest names the master keys that its secrets are encrypted with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, cast

from core.lazy_dataclasses import dataclass

PRODUCT: Final = "gatehouse"
FORMAT_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
DUMP: Final = "database.dump"
CHECKSUMS: Final = "SHA256SUMS"
MEMBERS: Final = (MANIFEST, DUMP, CHECKSUMS)

_CHECKSUM_LINE: Final = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[A-Za-z0-9._-]+)")
_KEY_ID: Final = re.compile(r"[0-9a-f]{16}")


class RecoveryRun(StrEnum):
    """A regular task that keeps an installation restorable; the installation keeps the time of its last success."""

    BACKUP = "backup"
    RESTORE_DRILL = "restore_drill"


class BackupError(Exception):
    """A backup cannot be made or restored; the message says why and what to do."""


class BackupRefused(BackupError):
    """The file is no complete backup, or not one for this installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup contains, and what restoring it needs."""

    product_version: str
    schema_version: int
    postgres_major: int
    created_at: datetime
    master_keys: tuple[str, ...]
    """The ids of the keys that encrypt its secrets, never the keys."""


def encoded_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of the manifest for the file."""
    content = {
        "product": PRODUCT,
        "format_version": FORMAT_VERSION,
        "product_version": manifest.product_version,
        "schema_version": manifest.schema_version,
        "postgres_major": manifest.postgres_major,
        "created_at": manifest.created_at.isoformat(),
        "master_keys": list(manifest.master_keys),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def parsed_manifest(text: bytes) -> Manifest:
    """Return the manifest; raise `BackupRefused` for anything else, and for another format."""
    content = _object_in(text)
    if content.get("product") != PRODUCT:
        raise BackupRefused("it is not a backup of Gatehouse. Name a file that `gatehouse backup` wrote")
    if content.get("format_version") != FORMAT_VERSION:
        raise BackupRefused(
            f"its format is {content.get('format_version')!r}, and this version of Gatehouse reads format"
            f" {FORMAT_VERSION}. Restore it with Gatehouse {content.get('product_version')}"
        )
    manifest = _manifest_of(content)
    if manifest is None:
        raise BackupRefused("its manifest is damaged. Copy the file again, or take another backup")
    return manifest


def encoded_checksums(digests: Mapping[str, str]) -> bytes:
    """Return the checksums in the form of `sha256sum --check`."""
    return "".join(f"{digest}  {name}\n" for name, digest in digests.items()).encode()


def parsed_checksums(text: bytes) -> dict[str, str]:
    """Return the checksum of each member; raise `BackupRefused` unless the members are a backup's."""
    *lines, end = text.decode("ascii", "replace").split("\n")
    matches = [_CHECKSUM_LINE.fullmatch(line) for line in lines]
    digests = {match["name"]: match["digest"] for match in matches if match is not None}
    if end or None in matches or set(digests) != {MANIFEST, DUMP}:
        raise BackupRefused("its checksums are damaged. Copy the file again, or take another backup")
    return digests


def require_checksum(name: str, *, expected: str, found: str) -> None:
    """Raise `BackupRefused` when a member is not what was written."""
    if expected != found:
        raise BackupRefused(f"its {name} is not what was written: the checksum differs. Copy the file again")


def require_known_schema(manifest: Manifest, *, newest: int) -> None:
    """Raise `BackupRefused` when the backup has a newer schema than this version."""
    if manifest.schema_version > newest:
        raise BackupRefused(
            f"its schema is {manifest.schema_version}, and this version of Gatehouse knows none after {newest}."
            f" Restore it with Gatehouse {manifest.product_version} or newer"
        )


def missing_keys(manifest: Manifest, present: Collection[str]) -> list[str]:
    """Return the ids of the missing master keys that the backup needs."""
    return [key for key in manifest.master_keys if key not in present]


def _object_in(text: bytes) -> Mapping[str, Any]:
    """Return the JSON object; an empty one for any other text."""
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("Mapping[str, Any]", content) if isinstance(content, dict) else {}


def _manifest_of(content: Mapping[str, Any]) -> Manifest | None:
    version, schema, major = (content.get(name) for name in ("product_version", "schema_version", "postgres_major"))
    created, keys = content.get("created_at"), content.get("master_keys")
    if not isinstance(version, str) or type(schema) is not int or type(major) is not int:
        return None
    if not isinstance(keys, list):
        return None
    key_ids = [key for key in cast("list[object]", keys) if isinstance(key, str) and _KEY_ID.fullmatch(key)]
    if len(key_ids) != len(cast("list[object]", keys)):
        return None
    try:
        created_at = datetime.fromisoformat(created) if isinstance(created, str) else None
    except ValueError:
        return None
    if created_at is None or created_at.tzinfo is None:
        return None
    return Manifest(
        product_version=version,
        schema_version=schema,
        postgres_major=major,
        created_at=created_at,
        master_keys=tuple(key_ids),
    )
