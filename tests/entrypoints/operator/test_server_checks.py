"""What the doctor says of the server of PostgreSQL, of the role and of the room for connections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.postgres.driver.server_facts import ServerFacts
from entrypoints.operator import server_checks
from entrypoints.shared.platform.findings import Finding, Verdict
from tests.entrypoints.operator.doctors import Doctor

GOOD = ServerFacts(
    version=180_001,
    role="gatehouse_server",
    is_superuser=False,
    owns_tables=False,
    connections_max=97,
    connections_of_others=1,
    is_local=False,
    is_encrypted=True,
    is_verified=True,
    is_authority_checked=True,
)


def found(facts: ServerFacts, pool_size: int = 10) -> dict[str, Finding]:
    return {finding.subject: finding for finding in server_checks.findings(facts, pool_size=pool_size)}


def test_a_server_as_in_production_needs_no_advice() -> None:
    findings = found(GOOD)

    assert {one.verdict for one in findings.values()} == {Verdict.OK}
    assert "".join(one.advice for one in findings.values()) == ""
    assert [one.what for one in findings.values()] == [
        "version 18.1",
        "encrypted, and the server is verified",
        "gatehouse_server reads and writes rows, and owns nothing",
        "room for 8 processes with 12 each: 97 are allowed, and others use 1",
    ]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"is_encrypted": False, "is_verified": False}, "passwords and tokens cross the network in the clear"),
        ({"is_verified": False, "is_authority_checked": False}, "no certificate is checked"),
        ({"is_verified": False}, "its authority is checked, its name is not"),
    ],
)
def test_a_database_elsewhere_has_to_be_encrypted_and_verified(changes: dict[str, bool], what: str) -> None:
    finding = found(replace(GOOD, **changes))["database TLS"]

    assert finding.verdict is Verdict.TRIAL
    assert finding.what.endswith(what)
    assert "sslmode=verify-full" in finding.advice


def test_a_database_on_this_machine_needs_no_encryption() -> None:
    finding = found(replace(GOOD, is_local=True, is_encrypted=False, is_verified=False))["database TLS"]

    assert (finding.verdict, finding.advice) == (Verdict.OK, "")


def test_a_superuser_is_no_role_for_production_and_an_owner_gets_advice() -> None:
    superuser = found(replace(GOOD, role="postgres", is_superuser=True))["database role"]
    owner = found(replace(GOOD, role="gatehouse", owns_tables=True))["database role"]

    assert (superuser.verdict, owner.verdict) == (Verdict.TRIAL, Verdict.OK)
    assert superuser.advice == owner.advice != ""


def test_room_for_no_process_is_not_ok() -> None:
    finding = found(replace(GOOD, connections_of_others=86))["database room"]

    assert finding.verdict is Verdict.NOT_OK
    assert finding.what.startswith("room for 0 processes")
    assert "max_connections" in finding.advice


def test_a_newer_postgresql_than_was_tested_is_named() -> None:
    assert "tested up to PostgreSQL 18" in found(replace(GOOD, version=190_000))["PostgreSQL"].advice


def test_the_doctor_asks_the_server(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine()

    assert findings["database TLS"].what.startswith("not needed")
    assert findings["database role"].what == "gatehouse owns the tables, and could drop them"
    # Three of a hundred are for superusers.
    assert findings["database room"].what.startswith("room for 24 processes with 4 each: 97 are allowed")
