"""The format of backups: what is written is read again, and everything else is refused with a reason."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from core.platform.backups import (
    DUMP,
    MANIFEST,
    BackupRefused,
    Manifest,
    encoded_checksums,
    encoded_manifest,
    missing_keys,
    parsed_checksums,
    parsed_manifest,
    require_checksum,
    require_known_schema,
)

KEY, OTHER_KEY = "0123456789abcdef", "fedcba9876543210"
MADE = Manifest(
    product_version="0.2.0",
    schema_version=58,
    postgres_major=18,
    created_at=datetime(2026, 11, 23, 2, 15, tzinfo=UTC),
    master_keys=(KEY,),
)
DIGESTS = {MANIFEST: "a" * 64, DUMP: "b" * 64}


def changed(**changes: object) -> bytes:
    """Return the manifest with other values."""
    return json.dumps(json.loads(encoded_manifest(MADE)) | changes).encode()


def test_a_manifest_is_read_as_it_was_written() -> None:
    assert parsed_manifest(encoded_manifest(MADE)) == MADE


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b"{}", b"null", b"[" * 100_000, b'{"product": "other"}'])
def test_what_is_no_manifest_of_gatehouse_is_refused(text: bytes) -> None:
    with pytest.raises(BackupRefused, match="it is not a backup of Gatehouse"):
        parsed_manifest(text)


def test_another_format_is_refused_with_the_version_that_reads_it() -> None:
    with pytest.raises(BackupRefused, match=r"its format is 2, and this version .* reads format 1.* Gatehouse 0\.2\.0"):
        parsed_manifest(changed(format_version=2))


@pytest.mark.parametrize(
    "changes",
    [
        {"product_version": None},
        {"schema_version": "58"},
        {"schema_version": True},
        {"postgres_major": 18.0},
        {"created_at": None},
        {"created_at": "yesterday"},
        {"created_at": "2026-11-23T02:15:00"},
        {"master_keys": KEY},
        {"master_keys": [1]},
        {"master_keys": ["short"]},
    ],
)
def test_a_manifest_with_a_wrong_value_is_damaged(changes: dict[str, object]) -> None:
    with pytest.raises(BackupRefused, match="its manifest is damaged"):
        parsed_manifest(changed(**changes))


def test_checksums_are_read_as_they_were_written() -> None:
    assert parsed_checksums(encoded_checksums(DIGESTS)) == DIGESTS


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff",
        encoded_checksums({MANIFEST: "a" * 64}),
        encoded_checksums(DIGESTS | {"other": "c" * 64}),
        encoded_checksums(DIGESTS) + b"more\n",
        encoded_checksums(DIGESTS | {DUMP: "b" * 63}),
    ],
)
def test_other_checksums_are_damaged(text: bytes) -> None:
    with pytest.raises(BackupRefused, match="its checksums are damaged"):
        parsed_checksums(text)


def test_a_member_has_its_checksum_or_is_refused() -> None:
    require_checksum(DUMP, expected="a", found="a")

    with pytest.raises(BackupRefused, match=r"its database\.dump is not what was written"):
        require_checksum(DUMP, expected="a", found="b")


def test_a_newer_schema_is_refused_and_an_older_one_is_not() -> None:
    require_known_schema(MADE, newest=58)
    require_known_schema(MADE, newest=59)

    with pytest.raises(BackupRefused, match=r"its schema is 58, .* none after 57\. .* Gatehouse 0\.2\.0 or newer"):
        require_known_schema(MADE, newest=57)


def test_the_missing_keys_are_those_that_are_not_present() -> None:
    assert missing_keys(MADE, {KEY, OTHER_KEY}) == []
    assert missing_keys(MADE, {OTHER_KEY}) == [KEY]
