"""What operators do with keys is in the platform's audit log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from adapters.postgres.driver.connection import Connection
from core.platform import commands
from core.sessions import signing_keys
from core.sessions.security_profiles import SignatureAlgorithm
from tests.signing_keys import key_pair

RSA = [key_pair(number) for number in range(3)]
ELLIPTIC = [key_pair(number, SignatureAlgorithm.ES256) for number in range(3)]


def entries(connection: Connection) -> list[tuple[Any, ...]]:
    """Return what the log says."""
    return connection.execute(
        "SELECT action, target_type, target_id, details FROM platform_audit_entries ORDER BY id"
    ).fetchall()


def test_each_signing_key_that_becomes_active_is_recorded(transact: Callable[..., Any], connection: Connection) -> None:
    for pairs in (RSA, ELLIPTIC):
        transact(signing_keys.ensure, pairs[0], pairs[1])

    active = transact(commands.rotate, [RSA[2], ELLIPTIC[2]], timedelta(minutes=15))

    assert [key.kid for key in active] == [RSA[1].kid, ELLIPTIC[1].kid]
    assert entries(connection) == [
        ("signing_key.rotated", "key", RSA[1].kid, {"algorithm": "RS256"}),
        ("signing_key.rotated", "key", ELLIPTIC[1].kid, {"algorithm": "ES256"}),
    ]


def test_another_master_key_is_recorded_with_the_number_of_secrets(
    transact: Callable[..., Any], connection: Connection
) -> None:
    transact(commands.record_rewrap, "0123456789abcdef", 7, left=0)
    transact(commands.record_rewrap, "0123456789abcdef", 4, left=3)

    assert entries(connection) == [
        ("secrets.rewrapped", "key", "0123456789abcdef", {"secrets": 7}),
        ("secrets.rewrapped", "key", "0123456789abcdef", {"secrets": 4, "left": 3}),
    ]
