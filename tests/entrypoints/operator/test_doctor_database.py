"""What the doctor finds in the database, and of the database itself."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.driver.connection import Connection
from adapters.postgres.schema import migrations
from core.secrets import Secret
from entrypoints import clocks, equipment, master_keys
from entrypoints.operator import database_checks
from tests.clock import SettableClock
from tests.entrypoints.operator.doctors import Doctor, Finding
from tests.processes import CommandsHere, Services, address, lay_made_cluster
from tests.shown_text import shows
from tests.world.builder import Builder, new_id
from tests.world.directory import insert_scim_token


def test_names_that_are_older_than_their_rule_are_not_ok(
    healthy_doctor: Doctor, connection: Connection, clock: SettableClock
) -> None:
    builder = Builder(connection, clock)
    builder.service(builder.organization("acme"), "shop", name="URGENT https://evil.example/login")

    finding = healthy_doctor.examine()["names"]

    assert finding == Finding(
        "NOT OK",
        "names that mention an address of the web: 1; service acme/shop",
        "Ask their organizations to rename them. They keep working, and mails say a neutral word instead.",
    )


def test_an_account_without_a_canonical_address_is_not_ok(
    healthy_doctor: Doctor, connection: Connection, clock: SettableClock
) -> None:
    user_id = Builder(connection, clock).user("boss@\uff45xample.com")

    finding = healthy_doctor.examine()["addresses"]

    assert finding.verdict == "NOT OK"
    assert finding.what == f"addresses that no mail is sent to: 1; the accounts are {user_id}"
    assert "ops/runbooks/mail.md" in finding.advice


def test_credentials_whose_maker_may_not_do_any_more_what_they_allow_are_listed(
    healthy_doctor: Doctor, connection: Connection, clock: SettableClock
) -> None:
    builder = Builder(connection, clock)
    organization_id = builder.organization()
    for number in range(database_checks.CREDENTIALS_LISTED_MAX):
        insert_scim_token(builder, organization_id, f"scim_live_{number:06}_{'a' * 43}")

    every = healthy_doctor.examine()["credentials"]
    insert_scim_token(builder, organization_id, f"scim_live_zzzzzz_{'a' * 43}")
    cut = healthy_doctor.examine()["credentials"]

    assert healthy_doctor.status == 0
    assert every.what.startswith(
        "20 whose maker may not do any more what they allow; acme: SCIM token scim_live_000000;"
    )
    assert every.what.endswith("acme: SCIM token scim_live_000019")
    assert cut.what.endswith("acme: SCIM token scim_live_000019; and 1 more")
    assert every.advice == "Ask the owner of each organization to replace or revoke them."


def test_a_connection_whose_issuer_has_changed_without_its_secret_is_not_ok(
    healthy_doctor: Doctor, connection: Connection, clock: SettableClock
) -> None:
    organization_id, connection_id = Builder(connection, clock).organization(), new_id()
    connection.execute(
        """
        INSERT INTO upstream_connections (id, organization_id, type, name, issuer, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at, issuer_changed)
        VALUES (%s, %s, 'saml', 'Acme', 'https://idp.acme.example', '{}', '{}', false, true, now(), now(), true)
        """,
        (connection_id, organization_id),
    )

    finding = healthy_doctor.examine()["connections"]

    assert (healthy_doctor.status, finding.verdict) == (1, "NOT OK")
    assert finding.what.endswith(f"the client secret of before: 1; they are {connection_id}")
    assert finding.advice.startswith("Ask their organizations to enter the client secret again")


@pytest.mark.parametrize(
    ("cost", "finding"),
    [
        (
            "10",
            Finding(
                "ok",
                "1 accounts have a hash of another kind than ours",
                "Until their users have signed in, every refused sign-in does the work of all kinds.",
            ),
        ),
        (
            "12",
            Finding(
                "NOT OK",
                "1 accounts have a hash that cannot be compared, or is too expensive to",
                "They cannot sign in with a password. Tell their users to choose a new one with 'forgot password'.",
            ),
        ),
    ],
)
def test_imported_hashes_are_reported(
    healthy_doctor: Doctor, connection: Connection, cost: str, finding: Finding
) -> None:
    Builder(connection, SettableClock()).user(password_hash=f"$2b${cost}${'.' * 53}")

    assert healthy_doctor.examine()["imported passwords"] == finding


def test_an_unreachable_database_is_not_ok(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine(database_url=Secret(f"postgresql://me:hush@/db?host={tmp_path}"))

    assert healthy_doctor.status == 1
    assert findings["database"].verdict == "NOT OK"
    assert findings["database"].what.startswith("The database cannot be reached: ")
    assert findings["database"].advice == "The checks that need the database were skipped."
    assert not shows(str(findings), "hush")


def test_an_outdated_schema_is_not_ok(healthy_doctor: Doctor, empty_database_url: str) -> None:
    findings = healthy_doctor.examine(database_url=Secret(address(empty_database_url)))

    assert healthy_doctor.status == 1
    assert findings["migrations"] == Finding(
        "NOT OK",
        f"{len(migrations.known())} pending",
        "Run `gatehouse migrate`. The checks that need the schema were skipped.",
    )


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_differs_from_the_databases_is_not_ok(
    healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    right = clocks.now
    monkeypatch.setattr(clocks, "now", lambda: right() + timedelta(hours=hours))

    finding = healthy_doctor.examine()["clock"]

    assert finding.verdict == "NOT OK"
    # An hour, give or take the duration of the query.
    found = re.search(r" UTC, (\d+\.\d) s from the database's clock$", finding.what)
    assert found is not None
    assert float(found[1]) == pytest.approx(3600, abs=60)
    assert finding.advice == "Synchronize both machines with NTP; one-time codes and tokens depend on the time."


def test_rows_of_a_log_for_which_no_month_was_made_are_not_ok(healthy_doctor: Doctor, connection: Connection) -> None:
    connection.execute(
        """
        INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)
        VALUES ('ffffffff-0000-7000-8000-000000000000', %s, gen_random_uuid(), '', 'GET', '/', 200, now())
        """,
        (Builder(connection, SettableClock()).organization(),),
    )

    finding = healthy_doctor.examine()["logs"]

    assert (finding.verdict, finding.what) == ("NOT OK", "rows for which no month was made: scim_log_entries")
    assert finding.advice == "See ops/runbooks/log-months.md."


def test_signing_keys_are_ok_when_one_is_active(healthy_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    finding = healthy_doctor.examine()["keys"]

    assert finding.verdict == "ok"
    assert "active signing keys: " in finding.what


def test_signing_keys_that_cannot_be_decrypted_are_not_ok(healthy_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    finding = healthy_doctor.examine(master_keys=Secret(master_keys.generated()))["keys"]

    assert healthy_doctor.status == 1
    assert finding.verdict == "NOT OK"
    assert finding.what.endswith("Put the master key back that the database was used with: GATEHOUSE_MASTER_KEYS.")
    assert finding.advice == "The server cannot start until this is solved."


def test_the_embedded_database_is_examined_as_well(
    embedded_services: Services,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    monkeypatch.setattr(equipment, "hashing_built_for", lambda: "avx2")
    lay_made_cluster(embedded_services, tmp_path_factory)

    finished = CommandsHere(embedded_services.folder, embedded_services.environment, capsys).run("doctor", DEV="on")

    assert finished.returncode == 1
    assert "ok      database            embedded\n" in finished.stdout
    assert "NOT OK  migrations " in finished.stdout


def test_each_replica_has_to_be_a_standby_of_the_database(
    commands_here: CommandsHere, database_url: str, tmp_path: Path
) -> None:
    urls = [address(database_url), address(make_conninfo(database_url, host=str(tmp_path)))]

    lines = commands_here.run("doctor", DATABASE_READ_URLS=" ".join(urls)).stdout.splitlines()

    promoted, away = [" ".join(line.split()) for line in lines if " replica " in line]
    assert promoted.startswith("NOT OK replica ")
    assert promoted.endswith(": it is no standby, because it was promoted, or is the primary itself")
    assert away.startswith(f"NOT OK replica {tmp_path}:")


def test_the_address_for_notifications_has_to_lead_to_the_same_database(
    commands_here: CommandsHere, database_url: str, empty_database_url: str, tmp_path: Path
) -> None:
    def found(url: str) -> str:
        lines = commands_here.run("doctor", DATABASE_LISTEN_URL=address(url)).stdout.splitlines()
        [line] = [" ".join(line.split()) for line in lines if " notifications " in line]
        return line

    assert found(make_conninfo(database_url, application_name="x")) == "ok notifications connected"
    assert found(empty_database_url) == "NOT OK notifications it is another database"
    assert found(make_conninfo(database_url, host=str(tmp_path))).startswith("NOT OK notifications ")
