"""What the doctor says of the server of PostgreSQL, of the role and of the room for connections."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.postgres.driver import server_facts
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.server_facts import SETTINGS, ServerFacts
from core.secrets import Secret
from entrypoints.database import facts_of_server
from entrypoints.operator import server_checks
from entrypoints.shared.platform.checks import Finding, Verdict
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
    # As PostgreSQL has them by itself, but `jit`, which our connections switch off.
    settings={
        "autovacuum": "on",
        "default_transaction_isolation": "read committed",
        "fsync": "on",
        "full_page_writes": "on",
        "idle_session_timeout": "0",
        "jit": "off",
        "log_min_duration_sample": "-1",
        "log_min_duration_statement": "-1",
        "log_parameter_max_length": "-1",
        "log_parameter_max_length_on_error": "0",
        "log_statement": "none",
        "plan_cache_mode": "auto",
        "shared_buffers": "16384",
        "synchronous_commit": "on",
        "track_counts": "on",
        "transaction_timeout": "0",
        "work_mem": "4096",
    },
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
        "none of those that are looked at slows Gatehouse down or endangers its data",
    ]


@pytest.mark.parametrize(
    ("changes", "what", "sql"),
    [
        ({"jit": "on"}, "jit is on: ", "ALTER ROLE gatehouse_server SET jit = 'off'. Behind a pooler, RECONNECT"),
        ({"autovacuum": "off"}, "autovacuum is off: ", "ALTER SYSTEM SET autovacuum = 'on'; SELECT pg_reload_conf()."),
        ({"track_counts": "off"}, "track_counts is off: ", "ALTER SYSTEM SET track_counts = 'on'"),
        (
            {"default_transaction_isolation": "serializable"},
            "default_transaction_isolation is serializable: ",
            "ALTER ROLE gatehouse_server SET default_transaction_isolation = 'read committed'",
        ),
        ({"enable_nestloop": "off"}, "enable_nestloop is off: ", "SET enable_nestloop = 'on'"),
        ({"plan_cache_mode": "force_generic_plan"}, "plan_cache_mode is force_", "SET plan_cache_mode = 'auto'"),
        ({"shared_buffers": "2048"}, "shared_buffers is 2048: ", "shared_buffers = '128MB', and restart PostgreSQL."),
        ({"work_mem": "64"}, "work_mem is 64: ", "SET work_mem = '4MB'"),
        ({"fsync": "off"}, "fsync is off: ", "ALTER SYSTEM SET fsync = 'on'"),
        ({"full_page_writes": "off"}, "full_page_writes is off: ", "ALTER SYSTEM SET full_page_writes = 'on'"),
        ({"synchronous_commit": "off"}, "synchronous_commit is off: ", "SET synchronous_commit = 'on'"),
        ({"transaction_timeout": "60000"}, "transaction_timeout is 60000: ", "SET transaction_timeout = '0'"),
        ({"idle_session_timeout": "60000"}, "idle_session_timeout is 60000: ", "SET idle_session_timeout = '0'"),
        (
            {"log_min_duration_statement": "1000"},
            "log_parameter_max_length is -1: ",
            "ALTER SYSTEM SET log_parameter_max_length = '0'",
        ),
        ({"log_statement": "all"}, "log_parameter_max_length is -1: ", "SET log_parameter_max_length = '0'"),
        (
            {"log_parameter_max_length_on_error": "64"},
            "log_parameter_max_length_on_error is 64: ",
            "SET log_parameter_max_length_on_error = '0'",
        ),
    ],
)
def test_a_setting_that_hurts_is_named_with_its_value_and_the_sql_that_changes_it(
    changes: dict[str, str], what: str, sql: str
) -> None:
    finding = found(replace(GOOD, settings={**GOOD.settings, **changes}))["database settings"]

    assert finding.verdict is Verdict.OK
    assert finding.what.startswith(what)
    assert sql in finding.advice


def test_values_that_are_left_out_of_the_log_need_no_advice() -> None:
    settings = {**GOOD.settings, "log_min_duration_statement": "0", "log_parameter_max_length": "0"}

    assert found(replace(GOOD, settings=settings))["database settings"].advice == ""


def test_a_setting_that_this_version_of_postgresql_does_not_have_is_left_out() -> None:
    settings = {name: value for name, value in GOOD.settings.items() if name != "transaction_timeout"}

    assert found(replace(GOOD, settings=settings))["database settings"].advice == ""


def test_the_settings_are_those_of_our_sessions(database_url: str, raw_connection: RawConnection) -> None:
    raw_connection.execute("SET enable_nestloop = off")
    raw_connection.execute("SET work_mem = '64kB'")

    ours, changed = facts_of_server(Secret(database_url)).settings, server_facts.of(raw_connection).settings

    assert set(SETTINGS) - ours.keys() <= {"transaction_timeout"}
    assert ours["jit"] == "off"
    assert (changed["enable_nestloop"], changed["work_mem"]) == ("off", "64")
    assert "enable_nestloop" not in ours


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
    of_14 = found(replace(GOOD, version=140_020))["PostgreSQL"]
    assert of_14.what == "version 14.20. PostgreSQL 14 is deprecated since 0.3.0, and a later version does not take it."
    assert (of_14.verdict, of_14.advice.partition(":")[0]) == (Verdict.OK, "Move to PostgreSQL 15 or newer")
    assert "tested up to PostgreSQL 18" in found(replace(GOOD, version=190_000))["PostgreSQL"].advice


def test_the_doctor_asks_the_server(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine()

    assert findings["database TLS"].what.startswith("not needed")
    assert findings["database role"].what == "gatehouse owns the tables, and could drop them"
    # Three of a hundred are for superusers.
    assert findings["database room"].what.startswith("room for 24 processes with 4 each: 97 are allowed")
