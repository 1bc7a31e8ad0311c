"""The doctor: its verdict on what the installation depends on beside its database, and its advice."""

from __future__ import annotations

import io
import platform
import resource
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.driver.connection import Connection
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import migrations
from core.secrets import Secret
from entrypoints import equipment
from entrypoints.deprecations import Deprecation, in_use
from entrypoints.operator import doctor
from entrypoints.operator.dependency_checks import MAIL_ADVICE
from entrypoints.operator.setting_checks import PORTABLE_BUILD_ADVICE
from entrypoints.operator.terminal import takes_colors
from entrypoints.settings import Settings
from entrypoints.shared.platform import checks
from entrypoints.shared.platform.checks import ENCRYPTION_ADVICE
from entrypoints.version import version
from tests.entrypoints.operator.doctors import Doctor, Finding
from tests.mail_server import PostOffice
from tests.pictures import drawn_png
from tests.processes import Commands, CommandsHere
from tests.shown_text import shows
from tests.terminals import Terminal

SUBJECTS = [
    "version",
    "settings",
    "deprecations",
    "data folder",
    "file descriptors",
    "password hashing",
    "passwords",
    "billing",
    "brand",
    "master key",
    "mail",
    "database",
    "PostgreSQL",
    "database TLS",
    "database role",
    "database room",
    "database settings",
    "migrations",
    "addresses",
    "clock",
    "logs",
    "statistics",
    "keys",
    "credentials",
    "platform owner",
    "mails waiting",
    "events",
    "webhooks",
    "SIEM streams",
    "jobs",
    "audit seals",
    "sign-in counts",
    "housekeeping",
]
TO_TEST = "To test it, run `gatehouse doctor --mail-to ADDRESS`."
KEEP_A_COPY = "Keep a copy of it: what it encrypts is lost without it."


def test_a_healthy_installation_gets_ok_for_every_subject(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine()

    assert healthy_doctor.status == 0
    assert list(findings) == SUBJECTS
    assert {one.verdict for one in findings.values()} == {"ok"}
    assert findings["version"] == Finding("ok", f"Gatehouse {version()} on Python {platform.python_version()}")
    assert findings["settings"] == Finding("ok", "the base URL is https://id.example.com")
    assert findings["deprecations"] == Finding("ok", "no deprecated setting is set")
    assert findings["data folder"].what.startswith(f"{tmp_path / 'data'}, ")
    assert findings["password hashing"] == Finding("ok", "150 per second on each processor, built for avx2")
    assert findings["passwords"] == Finding(
        "ok",
        "at least 8 characters, and none of the commonest 30,000",
        "NIST SP 800-63B-4 asks for 15 where an account has no second factor: GATEHOUSE_PASSWORD_MIN_LENGTH=15 does so."
        " See ops/docs/passwords.md.",
    )
    assert findings["master key"] == Finding("ok", "from GATEHOUSE_MASTER_KEYS", KEEP_A_COPY)
    assert findings["database"] == Finding("ok", "connected")
    assert findings["migrations"] == Finding("ok", f"up to date at {migrations.known()[-1].id}")
    assert findings["clock"].what.endswith(" UTC, 0.0 s from the database's clock")
    assert findings["keys"] == Finding("ok", "none yet", "The first `gatehouse serve` makes them.")
    assert findings["brand"] == Finding("ok", "the name Acme ID")
    assert findings["platform owner"] == Finding("ok", "active: 1")
    assert findings["mail"] == Finding("ok", "the mail server answers", TO_TEST)
    assert healthy_doctor.summary == "Everything is OK. There is nothing to do."


def test_a_full_disk_of_postgresql_is_named(healthy_doctor: Doctor, database_url: str) -> None:
    with psycopg.connect(make_conninfo(database_url, user=SUPERUSER), autocommit=True) as admin:
        admin.execute(
            """
            CREATE FUNCTION disk_is_full() RETURNS event_trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE EVENT TRIGGER disk_is_full ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS')
                EXECUTE FUNCTION disk_is_full();
            """
        )
        finding = healthy_doctor.examine()["database"]
        admin.execute("DROP EVENT TRIGGER disk_is_full; DROP FUNCTION disk_is_full()")

    assert healthy_doctor.status == 1
    assert finding == Finding(
        "NOT OK",
        "PostgreSQL answers, but does not write: its disk is full",
        "See ops/runbooks/database-outage.md, The disk of PostgreSQL is full.",
    )
    assert healthy_doctor.examine()["database"].verdict == "ok"


def test_deprecated_settings_are_named_and_keep_the_verdict(healthy_doctor: Doctor) -> None:
    table = [
        Deprecation(name="GATEHOUSE_OLD", since="9.1.0", gone="9.3.0", instead="Set GATEHOUSE_NEW in its place."),
        Deprecation(name="GATEHOUSE_ODD", since="9.2.0", gone=None, instead="Unset it."),
        Deprecation(name="GATEHOUSE_UNSET", since="9.2.0", gone=None, instead="Unset it."),
    ]

    finding = healthy_doctor.examine(deprecated=in_use({"GATEHOUSE_OLD", "GATEHOUSE_ODD"}, table))["deprecations"]

    assert finding == Finding(
        "ok",
        "GATEHOUSE_OLD is deprecated since 9.1.0, and 9.3.0 does not take it any more. GATEHOUSE_ODD is deprecated"
        " since 9.2.0, and a later version does not take it.",
        "Set GATEHOUSE_NEW in its place. Unset it.",
    )


def test_of_long_passwords_there_is_nothing_to_say(healthy_doctor: Doctor) -> None:
    finding = healthy_doctor.examine(password_min_length=15)["passwords"]

    assert finding == Finding("ok", "at least 15 characters, and none of the commonest 30,000")


def test_what_works_but_not_for_production_has_a_verdict_and_a_status_of_its_own(
    healthy_doctor: Doctor, connection: Connection
) -> None:
    connection.execute("UPDATE users SET deactivated_at = now()")

    findings = healthy_doctor.examine(smtp_url=None, billing_sandbox=True)

    assert healthy_doctor.status == 3
    assert {subject for subject, one in findings.items() if one.verdict == "TRIAL"} == {
        "billing",
        "platform owner",
        "mail",
    }
    assert findings["mail"] == Finding(
        "TRIAL", "stored in the database, not sent", "Set GATEHOUSE_SMTP_URL to send mail."
    )
    assert findings["platform owner"] == Finding(
        "TRIAL", "none, so new organizations wait", "Make one: `gatehouse owner you@example.com`."
    )
    assert healthy_doctor.summary == (
        "It works, but not for production: billing, mail, platform owner. See to these before people depend on it."
    )


def test_what_is_not_ok_counts_more_than_what_is_not_for_production(healthy_doctor: Doctor) -> None:
    healthy_doctor.examine(smtp_url=None, unknown=("GATEHOUSE_TYPO is set.",))

    assert healthy_doctor.status == 1
    assert healthy_doctor.summary == (
        "Not OK: settings. Do what stands below these lines, and run `gatehouse doctor` again."
    )


def test_platform_owners_without_a_second_factor_are_counted(healthy_doctor: Doctor, connection: Connection) -> None:
    connection.execute("UPDATE users SET mfa_enabled_at = NULL")

    assert healthy_doctor.examine()["platform owner"] == Finding(
        "ok",
        "active: 1",
        "Without a second factor: 1. Ask them to turn it on at https://id.example.com/app/account/second-factor.",
    )


def test_without_a_platform_owner_the_one_of_the_settings_is_still_made(
    healthy_doctor: Doctor, connection: Connection
) -> None:
    connection.execute("UPDATE users SET is_platform_owner = false")

    finding = healthy_doctor.examine(owner_email="ann@example.com")["platform owner"]
    approving = healthy_doctor.examine(auto_approve=True)["platform owner"]

    assert finding == Finding("ok", "none yet", "The next `gatehouse serve` makes the one that is set.")
    assert (approving.verdict, approving.what) == ("TRIAL", "none")


def test_the_brand_is_described(healthy_doctor: Doctor, tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(drawn_png(40, 30))

    drawn = healthy_doctor.examine(color="#c00000", logo=logo)["brand"]
    logo.write_bytes(b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>')
    vector = healthy_doctor.examine(name="Gatehouse", logo=logo)["brand"]
    logo.write_bytes(b"GIF89a")
    wrong = healthy_doctor.examine(logo=logo)

    assert drawn == Finding(
        "ok", f"the name Acme ID, the colour #c00000, whose contrast on white is 6.5, the logo {logo}"
    )
    assert vector.what == f"the name Gatehouse, the logo {logo}"
    assert vector.advice == (
        "Set GATEHOUSE_NAME to a name that the readers of pages and mails know. Mails show the name in place of the"
        " logo: few mail programs show an SVG. Take a PNG."
    )
    assert (wrong["brand"].verdict, wrong["brand"].advice) == ("NOT OK", "Gatehouse does not start with it.")
    assert wrong["brand"].what.startswith("GATEHOUSE_LOGO takes the path of a PNG or SVG file of at most 256 KiB. ")
    assert list(wrong) == SUBJECTS, "the other checks ran without it"


@pytest.mark.parametrize(
    ("name", "value"), [("COLOR", "#ffff00"), ("COLOR", "red"), ("NAME", "a" * 41), ("NAME", "<b>")]
)
def test_a_wrong_name_or_colour_is_named_in_place_of_the_findings(
    commands_here: CommandsHere, name: str, value: str
) -> None:
    finished = commands_here.run("doctor", **{name: value})

    assert (finished.returncode, finished.stdout) == (1, "")
    assert finished.stderr.startswith(f"gatehouse: GATEHOUSE_{name} takes a ")


class TestColors:
    """Verdicts in colours."""

    @pytest.fixture
    def lines(self, healthy_doctor: Doctor) -> list[str]:
        lines: list[str] = []
        doctor.examine(
            replace(healthy_doctor.settings, smtp_url=None, base_url="http://id.example.com"),
            unknown_settings=(),
            deprecated=(),
            mail_to=None,
            report=lines.append,
            has_colors=True,
        )
        return lines

    def test_the_verdicts_and_the_summary_are_colored_and_nothing_else(self, lines: list[str]) -> None:
        colored = [(line.count("\x1b"), line[: line.index("m") + 1]) for line in lines if "\x1b" in line]

        assert {count for count, _ in colored} == {2}
        assert {color for _, color in colored} == {"\x1b[31m", "\x1b[32m", "\x1b[33m"}
        assert lines[1].startswith("\x1b[31mNOT OK\x1b[0m  settings   ")
        assert lines[-1].startswith("\x1b[31mNot OK: settings.")
        assert lines[-1].endswith("\x1b[0m")

    @pytest.mark.parametrize(
        ("environment", "expected"),
        [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "0"}, False), ({"TERM": "dumb"}, False)],
    )
    def test_a_terminal_gets_colours_unless_they_are_unwanted(
        self, environment: dict[str, str], expected: bool
    ) -> None:
        assert takes_colors(Terminal(), environment) is expected
        assert not takes_colors(io.StringIO(), environment)


def test_the_command_prints_the_findings_and_its_status_reports_problems(
    commands: Commands, commands_here: CommandsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = commands.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on")
    # The process above has measured it once.
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    monkeypatch.setattr(equipment, "hashing_built_for", lambda: "avx2")
    unhealthy = commands_here.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on", TYPO="x")

    # In these tests no mail leaves, and there is no platform owner.
    assert (healthy.returncode, healthy.stderr) == (3, "")
    *findings, _, summary = healthy.stdout.splitlines()
    # More than one setting of the PostgreSQL of these tests endangers data.
    subjects = dict.fromkeys(line[8:28].strip() for line in findings if line[:8].strip())
    assert list(subjects) == SUBJECTS
    assert summary.startswith("It works, but not for production: mail, platform owner.")
    assert "\x1b" not in healthy.stdout
    assert unhealthy.returncode == 1
    assert unhealthy.stdout.splitlines()[1:3] == [
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
                ENCRYPTION_ADVICE,
            ),
        ),
        (
            {"base_url": "http://localhost:8000"},
            Finding("TRIAL", "the base URL http://localhost:8000 is not encrypted", ENCRYPTION_ADVICE),
        ),
        ({"rate_limits": False}, Finding("TRIAL", "rate limits are off", "Unset GATEHOUSE_RATE_LIMITS.")),
        (
            {"dev": True, "base_url": "http://id.example.com"},
            Finding(
                "TRIAL",
                "development mode; the base URL http://id.example.com is not encrypted",
                f"Set GATEHOUSE_DEV=off for production. {ENCRYPTION_ADVICE}",
            ),
        ),
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
    monkeypatch.setattr(checks, "FREE_BESIDE_BYTES_MIN", 2**80)

    findings = healthy_doctor.examine()

    assert findings["data folder"].verdict == "NOT OK"
    assert findings["data folder"].advice.startswith("Free disk space. The database is elsewhere and serving goes on, ")


def test_a_nearly_full_disk_may_stop_an_embedded_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "FREE_BYTES_MIN", 2**80)

    finding = checks.free_space(Settings(data_dir=tmp_path))

    assert (finding.is_ok, finding.advice) == (
        False,
        "Free disk space: with less than 1 GiB the database may stop.",
    )


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


def test_the_portable_build_of_the_password_hashing_is_ok_with_advice(
    healthy_doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equipment, "hashing_built_for", lambda: None)

    finding = healthy_doctor.examine()["password hashing"]

    assert finding == Finding(
        "ok", "150 per second on each processor, the build for any processor", PORTABLE_BUILD_ADVICE
    )


def test_the_build_of_the_password_hashing_is_read_from_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "_argon2_cffi_bindings"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "_argon2_cffi_bindings")

    before = equipment.hashing_built_for()
    (package / "built-for").write_text("avx512f\n")

    assert (before, equipment.hashing_built_for()) == (None, "avx512f")


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
    tried_out = healthy_doctor.examine(billing_secret_key=Secret("sk_test_1"))["billing"]

    assert (sandbox.verdict, sandbox.what) == ("TRIAL", "the sandbox, where no money moves")
    assert tried_out.verdict == "TRIAL"
    assert tried_out.what == "the payment provider at https://api.stripe.com, with a test key: no money moves"
    assert "without paying" in sandbox.advice
    assert provider == Finding("ok", "the payment provider at https://api.stripe.com")


def test_without_a_master_key_the_remaining_subjects_are_skipped(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine(master_keys=None)

    assert healthy_doctor.status == 1
    assert findings["master key"].verdict == "NOT OK"
    assert findings["master key"].what.startswith("GATEHOUSE_MASTER_KEYS is missing")
    assert list(findings) == SUBJECTS[: SUBJECTS.index("addresses") + 1]


def test_a_master_key_in_the_data_folder_is_named(healthy_doctor: Doctor, tmp_path: Path) -> None:
    findings = healthy_doctor.examine(master_keys=None, dev=True)

    assert findings["master key"] == Finding("ok", f"from {tmp_path}/data/master-key", KEEP_A_COPY)


def test_an_invalid_address_of_a_mail_server_is_not_ok(healthy_doctor: Doctor) -> None:
    findings = healthy_doctor.examine(smtp_url=Secret("http://me:hush@mail.example.com"))

    assert healthy_doctor.status == 1
    assert findings["mail"].verdict == "NOT OK"
    assert findings["mail"].what.startswith("GATEHOUSE_SMTP_URL is wrong. ")
    assert not shows(str(findings), "hush")


def test_a_mail_server_is_tested_on_request(healthy_doctor: Doctor, mail_server: PostOffice) -> None:
    smtp_url = Secret(f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com")

    untested = healthy_doctor.examine(smtp_url=smtp_url)["mail"]
    tested = healthy_doctor.examine(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert untested == Finding("ok", "the mail server answers", TO_TEST)
    assert tested == Finding("ok", "a test mail was sent to ann@example.com")
    assert [message.recipients for message in mail_server.received] == [("ann@example.com",)]


def test_a_mail_server_that_refuses_is_not_ok(healthy_doctor: Doctor, mail_server: PostOffice) -> None:
    mail_server.answers["RCPT"] = "550 no such user"
    smtp_url = Secret(f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com")

    finding = healthy_doctor.examine(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert healthy_doctor.status == 1
    assert finding.verdict == "NOT OK"
    assert finding.advice == MAIL_ADVICE
