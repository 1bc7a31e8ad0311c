"""The doctor: its verdict on everything that the installation depends on, and its advice."""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.postgres.schema import migrations
from core.secrets import Secret
from entrypoints import equipment, main, master_keys
from entrypoints.operator import doctor
from entrypoints.settings import Settings
from tests.clock import SettableClock
from tests.mail_server import PostOffice
from tests.processes import MASTER_KEY, Commands, CommandsHere, Services, address, lay_made_cluster
from tests.world.builder import Builder, new_id
from tests.world.directory import insert_scim_token

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from adapters.postgres.driver.connection import Connection

SUBJECTS = [
    "settings",
    "data folder",
    "file descriptors",
    "password hashing",
    "billing",
    "master key",
    "database",
    "migrations",
    "addresses",
    "clock",
    "keys",
    "credentials",
    "mail",
]
KEEP_A_COPY = "Keep a copy of it: what it encrypts is lost without it."


@dataclass(frozen=True)
class Finding:
    """The doctor's verdict on one subject."""

    verdict: str
    what: str
    advice: str = ""


@dataclass
class Doctor:
    """Examines an installation, and records the exit status."""

    settings: Settings
    status: int = 0

    def examine(
        self, *, unknown: tuple[str, ...] = (), mail_to: str | None = None, **changes: Any
    ) -> dict[str, Finding]:
        """Examine everything with some settings changed, and return the findings by subject."""
        lines: list[str] = []
        self.status = doctor.examine(
            replace(self.settings, **changes), unknown_settings=unknown, mail_to=mail_to, report=lines.append
        )
        findings: dict[str, Finding] = {}
        subject = ""
        for line in lines:
            verdict, what = line[:8].strip(), line[28:]
            if verdict:
                subject = line[8:28].strip()
                findings[subject] = Finding(verdict, what)
            else:
                findings[subject] = replace(findings[subject], advice=what)
        return findings


@pytest.fixture
def healthy_doctor(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """A doctor of an installation as in production, which measures fast password hashing."""
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    return Doctor(
        Settings(
            base_url="https://id.example.com",
            database_url=Secret(address(database_url)),
            master_keys=Secret(MASTER_KEY),
            data_dir=tmp_path / "data",
            database_connections=2,
        )
    )


@pytest.fixture
def mail_server() -> Iterator[PostOffice]:
    """A mail server."""
    mail_server = PostOffice()
    with mail_server.open():
        yield mail_server


def test_a_healthy_installation_gets_ok_for_every_subject(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine()

    assert healthy_doctor.status == 0
    assert list(findings) == SUBJECTS
    assert {one.verdict for one in findings.values()} == {"ok"}
    assert findings["settings"] == Finding("ok", "the base URL is https://id.example.com")
    assert findings["data folder"].what.startswith(f"{tmp_path / 'data'}, ")
    assert findings["password hashing"] == Finding("ok", "150 per second on each processor")
    assert findings["master key"] == Finding("ok", "from GATEHOUSE_MASTER_KEYS", KEEP_A_COPY)
    assert findings["database"] == Finding("ok", "connected")
    assert findings["migrations"] == Finding("ok", f"up to date at {migrations.known()[-1].id}")
    assert findings["clock"].what.endswith(" UTC, 0.0 s from the database's clock")
    assert findings["keys"] == Finding("ok", "none yet", "The first `gatehouse serve` makes them.")
    assert findings["mail"] == Finding("ok", "stored in the database, not sent", "Set GATEHOUSE_SMTP_URL to send mail.")


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


def test_the_command_prints_the_findings_and_its_status_reports_problems(
    commands: Commands, commands_here: CommandsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = commands.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on")
    # The process above has measured it once.
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    unhealthy = commands_here.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on", TYPO="x")

    assert (healthy.returncode, healthy.stderr) == (0, "")
    assert [line[8:28].strip() for line in healthy.stdout.splitlines() if line.startswith("ok ")] == SUBJECTS
    assert unhealthy.returncode == 1
    assert unhealthy.stdout.splitlines()[:2] == [
        "NOT OK  settings            GATEHOUSE_TYPO is set, but there is no such setting.",
        "                            Correct the name, or unset it.",
    ]


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        (
            {"base_url": "http://id.example.com"},
            Finding(
                "NOT OK",
                "the base URL http://id.example.com is not encrypted",
                "Put a proxy with TLS in front and set GATEHOUSE_BASE_URL to its https address.",
            ),
        ),
        ({"rate_limits": False}, Finding("NOT OK", "rate limits are off", "Unset GATEHOUSE_RATE_LIMITS.")),
        ({"dev": True}, Finding("ok", "development mode", "Set GATEHOUSE_DEV=off for production.")),
    ],
)
def test_settings_that_are_not_for_production_are_named(
    healthy_doctor: Doctor, changes: dict[str, Any], finding: Finding
) -> None:
    assert healthy_doctor.examine(**changes)["settings"] == finding


@pytest.mark.parametrize(("path", "what"), [("file", " is not a folder"), ("file/folder", ": File exists")])
def test_an_invalid_data_folder_is_not_ok(healthy_doctor: Doctor, tmp_path: Path, path: str, what: str) -> None:
    (tmp_path / "file").touch()

    findings = healthy_doctor.examine(data_dir=tmp_path / path)

    assert healthy_doctor.status == 1
    assert findings["data folder"] == Finding(
        "NOT OK", f"{tmp_path}/{path}{what}", "Set GATEHOUSE_DATA_DIR to another one."
    )


def test_a_nearly_full_disk_is_not_ok(healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 2**80)

    findings = healthy_doctor.examine()

    assert findings["data folder"].verdict == "NOT OK"
    assert findings["data folder"].advice == "Free disk space: with less than 1 GiB the database may stop."


@pytest.mark.parametrize(
    ("hard", "finding"),
    [
        (1024, Finding("NOT OK", "at most 1024", "Raise the limit to 4096 or more (LimitNOFILE= or ulimit -Hn).")),
        (4096, Finding("ok", "at most 4096")),
        (resource.RLIM_INFINITY, Finding("ok", "no limit")),
    ],
)
def test_file_descriptors_are_ok_when_there_are_enough(
    healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch, hard: int, finding: Finding
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (256, hard))

    assert healthy_doctor.examine()["file descriptors"] == finding


def test_slow_password_hashing_is_ok_with_advice(healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 55.0)

    finding = healthy_doctor.examine()["password hashing"]

    assert finding == Finding(
        "ok", "55 per second on each processor", "This is slow; with a C compiler, ops/run makes a faster build."
    )


def test_incorrect_password_hashing_is_not_ok(healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equipment, "hashing_is_correct", lambda: False)

    finding = healthy_doctor.examine()["password hashing"]

    assert finding == Finding("NOT OK", "wrong results", "Remove .venv and run ops/run again.")


def test_without_a_payment_provider_the_doctor_says_how_to_get_one(healthy_doctor: Doctor) -> None:
    finding = healthy_doctor.examine()["billing"]

    assert (finding.verdict, finding.what) == ("ok", "no payment provider is set")
    assert "GATEHOUSE_BILLING_SECRET_KEY" in finding.advice
    assert "GATEHOUSE_BILLING_SANDBOX=on" in finding.advice


def test_the_sandbox_and_a_payment_provider_are_told_apart(healthy_doctor: Doctor) -> None:
    sandbox = healthy_doctor.examine(billing_sandbox=True)["billing"]
    provider = healthy_doctor.examine(billing_secret_key=Secret("sk_live_1"))["billing"]

    assert (sandbox.verdict, sandbox.what) == ("ok", "the sandbox, where no money moves")
    assert "without paying" in sandbox.advice
    assert provider == Finding("ok", "the payment provider at https://api.stripe.com")


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


def test_without_a_master_key_the_remaining_subjects_are_skipped(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine(master_keys=None)

    assert healthy_doctor.status == 1
    assert findings["master key"].verdict == "NOT OK"
    assert findings["master key"].what.startswith("GATEHOUSE_MASTER_KEYS is missing")
    assert list(findings) == SUBJECTS[:9]


def test_a_master_key_in_the_data_folder_is_named(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine(master_keys=None, dev=True)

    assert findings["master key"] == Finding("ok", f"from {tmp_path}/data/master-key", KEEP_A_COPY)


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
    for number in range(doctor.CREDENTIALS_LISTED_MAX):
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


def test_an_unreachable_database_is_not_ok(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine(database_url=Secret(f"postgresql://me:hush@/db?host={tmp_path}"))

    assert healthy_doctor.status == 1
    assert findings["database"].verdict == "NOT OK"
    assert findings["database"].what.startswith("The database cannot be reached: ")
    assert findings["database"].advice == "The checks that need the database were skipped."
    assert "hush" not in str(findings)


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
    right = main.now
    monkeypatch.setattr(main, "now", lambda: right() + timedelta(hours=hours))

    finding = healthy_doctor.examine()["clock"]

    assert finding.verdict == "NOT OK"
    # An hour, give or take the duration of the query.
    assert re.search(r" UTC, (3599\.[5-9]|3600\.[0-5]) s from the database's clock$", finding.what)
    assert finding.advice == "Synchronize both machines with NTP; one-time codes and tokens depend on the time."


def test_signing_keys_are_ok_when_one_is_active(healthy_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    finding = healthy_doctor.examine()["keys"]

    assert finding.verdict == "ok"
    assert " is the active signing key, made on 20" in finding.what


def test_signing_keys_that_cannot_be_decrypted_are_not_ok(healthy_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    finding = healthy_doctor.examine(master_keys=Secret(master_keys.generated()))["keys"]

    assert healthy_doctor.status == 1
    assert finding.verdict == "NOT OK"
    assert finding.what.endswith("Put the master key back that the database was used with: GATEHOUSE_MASTER_KEYS.")
    assert finding.advice == "The server cannot start until this is solved."


def test_an_invalid_address_of_a_mail_server_is_not_ok(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine(smtp_url=Secret("http://me:hush@mail.example.com"))

    assert healthy_doctor.status == 1
    assert findings["mail"].verdict == "NOT OK"
    assert findings["mail"].what.startswith("GATEHOUSE_SMTP_URL is wrong. ")
    assert "hush" not in str(findings)


def test_a_mail_server_is_tested_on_request(healthy_doctor: Doctor, mail_server: PostOffice) -> None:
    smtp_url = Secret(f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com")

    untested = healthy_doctor.examine(smtp_url=smtp_url)["mail"]
    tested = healthy_doctor.examine(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert untested == Finding("ok", "a server is set", "To test it, run `gatehouse doctor --mail-to ADDRESS`.")
    assert tested == Finding("ok", "a test mail was sent to ann@example.com")
    assert [message.recipients for message in mail_server.received] == [("ann@example.com",)]


def test_a_mail_server_that_refuses_is_not_ok(healthy_doctor: Doctor, mail_server: PostOffice) -> None:
    mail_server.answers["RCPT"] = "550 no such user"
    smtp_url = Secret(f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com")

    finding = healthy_doctor.examine(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert healthy_doctor.status == 1
    assert finding.verdict == "NOT OK"
    assert finding.advice == "Check GATEHOUSE_SMTP_URL."


def test_the_embedded_database_is_examined_as_well(
    embedded_services: Services,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    lay_made_cluster(embedded_services, tmp_path_factory)

    finished = CommandsHere(embedded_services.folder, embedded_services.environment, capsys).run("doctor", DEV="on")

    assert finished.returncode == 1
    assert "ok      database            embedded\n" in finished.stdout
    assert "NOT OK  migrations " in finished.stdout
