"""Secrets, codes and tokens of the second factor appear neither in the log nor in the database."""

from __future__ import annotations

import json
import re

import pytest
import structlog

from adapters.postgres.driver.connection import Connection
from tests.shown_text import shows
from tests.world.builder import PASSWORD
from tests.world.second_factors import Person, insert_person
from tests.world.world import World


@pytest.fixture
async def ada(world: World) -> Person:
    """A user with a password."""
    return insert_person(world)


async def use_every_mfa_operation(ada: Person) -> set[str]:
    """Use every operation with correct and wrong values; return the secrets, codes and tokens."""
    await ada.turn_mfa_on()
    secrets = {PASSWORD, ada.secret, *ada.backup_codes, ada.token, ada.wrong_code()}
    first, second = await ada.preauth_token(), await ada.preauth_token()
    answers = [
        await ada.verify(first, ada.wrong_code()),
        await ada.verify(first, ada.code(), trust_device=True),
        await ada.verify(second, ada.backup_codes[0].lower().replace("-", "")),
        await ada.world.client.post("/api/auth/mfa/verify", body={"code": 123, "preauth_token": second}),
    ]
    assert [answer.status for answer in answers] == [401, 200, 200, 400]
    secrets |= {first, second, ada.code()}
    for answer in answers[1:3]:
        secrets |= {answer.json[name] for name in ("access_token", "refresh_token", "device_token")}
    secrets |= set((await ada.mfa("POST", "/backup-codes/regenerate")).json["backup_codes"])
    await ada.mfa("DELETE", "")
    await ada.set_up()
    return secrets | {ada.secret} | {secret.replace("-", "") for secret in secrets if len(secret) == len("ABCD-2345")}


def contains_secret(secret: str, text: str) -> bool:
    """Return whether the text contains the secret; six digits count only as a separate word, not inside an id."""
    return secret in text if not secret.isdigit() else re.search(rf"(?<![\w.-]){secret}(?![\w.-])", text) is not None


async def test_the_log_contains_no_secrets_or_codes(ada: Person, capfd: pytest.CaptureFixture[str]) -> None:
    with structlog.testing.capture_logs() as lines:
        secrets = await use_every_mfa_operation(ada)

    printed = capfd.readouterr()
    log = "".join([json.dumps(lines, default=repr), printed.out, printed.err])
    assert '"/api/auth/mfa/verify"' in log
    assert [secret for secret in secrets if contains_secret(secret, log)] == []


async def test_the_database_contains_no_plain_secrets_or_codes(ada: Person, connection: Connection) -> None:
    ada.join_organization()

    secrets = await use_every_mfa_operation(ada)

    tables = connection.execute(
        "SELECT format('SELECT t::text FROM %I t', relname) FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    stored = "\n".join(row for (select,) in tables for (row,) in connection.execute(select.encode()).fetchall())
    assert str(ada.id) in stored
    stored_bytes = stored.lower()
    for secret in secrets:
        assert not contains_secret(secret, stored)
        assert secret.encode().hex() not in stored_bytes


async def test_a_refusal_does_not_contain_the_code(ada: Person) -> None:
    await ada.turn_mfa_on()
    token = await ada.preauth_token()

    wrong = await ada.verify(token, ada.wrong_code())
    malformed = await ada.verify(token, "no-such-code")

    assert ada.wrong_code() not in wrong.json["error"]
    assert not shows(malformed.text, "no-such-code")
