"""The doctor: what it says of each thing the house stands on, well and not well, and what it advises."""

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
from tests.mail_server import PostOffice
from tests.processes import MASTER_KEY, Commands, CommandsHere, Services, address, lay_made_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUBJECTS = [
    "settings",
    "data folder",
    "file descriptors",
    "password hashing",
    "master key",
    "database",
    "migrations",
    "clock",
    "keys",
    "mail",
]
KEEP_A_COPY = "Keep a copy of it: what it encrypts is lost without it."


@dataclass(frozen=True)
class Said:
    """What the doctor said of one thing."""

    verdict: str
    what: str
    advice: str = ""


@dataclass
class Doctor:
    """Examines a house, and remembers what was said."""

    settings: Settings
    status: int = 0

    def look(self, *, unknown: tuple[str, ...] = (), mail_to: str | None = None, **changes: Any) -> dict[str, Said]:
        """Look at everything, with some settings changed."""
        lines: list[str] = []
        self.status = doctor.examine(
            replace(self.settings, **changes), unknown_settings=unknown, mail_to=mail_to, report=lines.append
        )
        said: dict[str, Said] = {}
        subject = ""
        for line in lines:
            verdict, what = line[:8].strip(), line[28:]
            if verdict:
                subject = line[8:28].strip()
                said[subject] = Said(verdict, what)
            else:
                said[subject] = replace(said[subject], advice=what)
        return said


@pytest.fixture
def house_doctor(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doctor:
    """A doctor of a house as in production, who believes that this machine is quick."""
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
def post_office() -> Iterator[PostOffice]:
    """A mail server."""
    office = PostOffice()
    with office.open():
        yield office


def test_a_house_where_all_is_well_gets_an_ok_for_each_thing(house_doctor: Doctor, tmp_path: Path) -> None:
    said = house_doctor.look()

    assert house_doctor.status == 0
    assert list(said) == SUBJECTS
    assert {one.verdict for one in said.values()} == {"ok"}
    assert said["settings"] == Said("ok", "the base URL is https://id.example.com")
    assert said["data folder"].what.startswith(f"{tmp_path / 'data'}, ")
    assert said["password hashing"] == Said("ok", "150 per second on each processor")
    assert said["master key"] == Said("ok", "from GATEHOUSE_MASTER_KEYS", KEEP_A_COPY)
    assert said["database"] == Said("ok", "connected")
    assert said["migrations"] == Said("ok", f"up to date at {migrations.known()[-1]}")
    assert said["clock"].what.endswith(" UTC, 0.0 s from the database's clock")
    assert said["keys"] == Said("ok", "none yet", "The first `gatehouse serve` makes them.")
    assert said["mail"] == Said("ok", "stored in the database, not sent", "Set GATEHOUSE_SMTP_URL to send mail.")


def test_the_command_examines_and_its_status_says_whether_all_is_well(
    commands: Commands, commands_here: CommandsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = commands.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on")
    # The command has measured it once.
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    not_well = commands_here.run("doctor", BASE_URL="https://id.example.com", RATE_LIMITS="on", TYPO="x")

    assert (well.returncode, well.stderr) == (0, "")
    assert [line[8:28].strip() for line in well.stdout.splitlines() if line.startswith("ok ")] == SUBJECTS
    assert not_well.returncode == 1
    assert not_well.stdout.splitlines()[:2] == [
        "NOT OK  settings            GATEHOUSE_TYPO is set, but there is no such setting.",
        "                            Correct the name, or unset it.",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"base_url": "http://id.example.com"},
            Said(
                "NOT OK",
                "the base URL http://id.example.com is not encrypted",
                "Put a proxy with TLS in front and set GATEHOUSE_BASE_URL to its https address.",
            ),
        ),
        ({"rate_limits": False}, Said("NOT OK", "rate limits are off", "Unset GATEHOUSE_RATE_LIMITS.")),
        ({"dev": True}, Said("ok", "development mode", "Set GATEHOUSE_DEV=off for production.")),
    ],
)
def test_settings_that_are_not_for_real_people_are_named(
    house_doctor: Doctor, changes: dict[str, Any], said: Said
) -> None:
    assert house_doctor.look(**changes)["settings"] == said


@pytest.mark.parametrize(("path", "what"), [("file", " is not a folder"), ("file/folder", ": File exists")])
def test_a_data_folder_that_is_none_is_not_ok(house_doctor: Doctor, tmp_path: Path, path: str, what: str) -> None:
    (tmp_path / "file").touch()

    said = house_doctor.look(data_dir=tmp_path / path)

    assert house_doctor.status == 1
    assert said["data folder"] == Said("NOT OK", f"{tmp_path}/{path}{what}", "Set GATEHOUSE_DATA_DIR to another one.")


def test_a_disk_that_is_nearly_full_is_not_ok(house_doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FREE_BYTES_MIN", 2**80)

    said = house_doctor.look()

    assert said["data folder"].verdict == "NOT OK"
    assert said["data folder"].advice == "Free disk space: with less than 1 GiB the database may stop."


@pytest.mark.parametrize(
    ("hard", "said"),
    [
        (1024, Said("NOT OK", "at most 1024", "Raise the limit to 4096 or more (LimitNOFILE= or ulimit -Hn).")),
        (4096, Said("ok", "at most 4096")),
        (resource.RLIM_INFINITY, Said("ok", "no limit")),
    ],
)
def test_file_descriptors_are_ok_when_there_are_enough(
    house_doctor: Doctor, monkeypatch: pytest.MonkeyPatch, hard: int, said: Said
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (256, hard))

    assert house_doctor.look()["file descriptors"] == said


def test_password_hashing_that_is_slow_is_told_how_to_get_faster(
    house_doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 55.0)

    said = house_doctor.look()["password hashing"]

    assert said == Said(
        "ok", "55 per second on each processor", "This is slow; with a C compiler, ops/run makes a faster build."
    )


def test_password_hashing_that_is_wrong_is_not_ok(house_doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equipment, "hashing_is_correct", lambda: False)

    said = house_doctor.look()["password hashing"]

    assert said == Said("NOT OK", "wrong results", "Remove .venv and run ops/run again.")


def test_without_a_master_key_the_rest_of_the_house_is_not_looked_at(house_doctor: Doctor) -> None:
    said = house_doctor.look(master_keys=None)

    assert house_doctor.status == 1
    assert said["master key"].verdict == "NOT OK"
    assert said["master key"].what.startswith("GATEHOUSE_MASTER_KEYS is missing")
    assert list(said) == SUBJECTS[:7]


def test_a_master_key_that_is_kept_in_the_data_folder_is_named(house_doctor: Doctor, tmp_path: Path) -> None:
    said = house_doctor.look(master_keys=None, dev=True)

    assert said["master key"] == Said("ok", f"from {tmp_path}/data/master-key", KEEP_A_COPY)


def test_a_database_that_is_not_there_is_not_ok_at_once(house_doctor: Doctor, tmp_path: Path) -> None:
    said = house_doctor.look(database_url=Secret(f"postgresql://me:hush@/db?host={tmp_path}"))

    assert house_doctor.status == 1
    assert said["database"].verdict == "NOT OK"
    assert said["database"].what.startswith("The database cannot be reached: ")
    assert said["database"].advice == "The checks that need the database were skipped."
    assert "hush" not in str(said)


def test_a_schema_that_is_behind_is_not_ok(house_doctor: Doctor, empty_database_url: str) -> None:
    said = house_doctor.look(database_url=Secret(address(empty_database_url)))

    assert house_doctor.status == 1
    assert said["migrations"] == Said(
        "NOT OK",
        f"{len(migrations.known())} pending",
        "Run `gatehouse migrate`. The checks that need the schema were skipped.",
    )


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_differs_from_the_databases_is_not_ok(
    house_doctor: Doctor, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    right = main.now
    monkeypatch.setattr(main, "now", lambda: right() + timedelta(hours=hours))

    said = house_doctor.look()["clock"]

    assert said.verdict == "NOT OK"
    # An hour, but for the moment that asking takes.
    assert re.search(r" UTC, (3599\.[5-9]|3600\.[0-5]) s from the database's clock$", said.what)
    assert said.advice == "Synchronize both machines with NTP; one-time codes and tokens depend on the time."


def test_signing_keys_are_ok_when_one_signs(house_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    said = house_doctor.look()["keys"]

    assert said.verdict == "ok"
    assert " is the active signing key, made on 20" in said.what


def test_signing_keys_that_cannot_be_opened_are_not_ok(house_doctor: Doctor, commands_here: CommandsHere) -> None:
    commands_here.run("keys", "rotate")

    said = house_doctor.look(master_keys=Secret(master_keys.generated()))["keys"]

    assert house_doctor.status == 1
    assert said.verdict == "NOT OK"
    assert said.what.endswith("Put the master key back that the database was used with: GATEHOUSE_MASTER_KEYS.")
    assert said.advice == "The server cannot start until this is solved."


def test_an_address_of_a_mail_server_that_is_none_is_not_ok(house_doctor: Doctor) -> None:
    said = house_doctor.look(smtp_url=Secret("http://me:hush@mail.example.com"))

    assert house_doctor.status == 1
    assert said["mail"].verdict == "NOT OK"
    assert said["mail"].what.startswith("GATEHOUSE_SMTP_URL is wrong. ")
    assert "hush" not in str(said)


def test_a_mail_server_is_tried_when_asked(house_doctor: Doctor, post_office: PostOffice) -> None:
    smtp_url = Secret(f"smtp://127.0.0.1:{post_office.port}?from=id@example.com")

    untried = house_doctor.look(smtp_url=smtp_url)["mail"]
    tried = house_doctor.look(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert untried == Said("ok", "a server is set", "To test it, run `gatehouse doctor --mail-to ADDRESS`.")
    assert tried == Said("ok", "a test mail was sent to ann@example.com")
    assert [message.recipients for message in post_office.received] == [("ann@example.com",)]


def test_a_mail_server_that_refuses_is_not_ok(house_doctor: Doctor, post_office: PostOffice) -> None:
    post_office.answers["RCPT"] = "550 nobody of that name"
    smtp_url = Secret(f"smtp://127.0.0.1:{post_office.port}?from=id@example.com")

    said = house_doctor.look(smtp_url=smtp_url, mail_to="ann@example.com")["mail"]

    assert house_doctor.status == 1
    assert said.verdict == "NOT OK"
    assert said.advice == "Check GATEHOUSE_SMTP_URL."


def test_the_embedded_database_is_looked_at_as_well(
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
