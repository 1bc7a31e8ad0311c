"""Settings that are secrets: given in files, and shown without what is secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.secrets import Secret
from entrypoints.setting_kinds import show_address
from entrypoints.settings import SettingInvalid, load, unknown

DATABASE = "postgresql://gatehouse:hush@db.example.com/gatehouse"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://db.example.com:5433/gatehouse", "postgresql://db.example.com:5433/gatehouse"),
        ("postgresql://gatehouse@db/gatehouse", "postgresql://gatehouse@db/gatehouse"),
        (
            "postgresql://me:hush@a:1,b:2/db?target_session_attrs=primary",
            "postgresql://me:***@a:1,b:2/db?target_session_attrs=primary",
        ),
        ("postgresql://me:hu@sh@db/gatehouse", "postgresql://me:***@db/gatehouse"),
        (
            "postgresql://me@[::1]:5432/db?password=hush&sslmode=require",
            "postgresql://me@[::1]:5432/db?password=***&sslmode=require",
        ),
        ("postgres:///gatehouse?host=/run/db", "postgres:///gatehouse?host=/run/db"),
        ("postgresql://me:hu/sh@db/gatehouse", "***"),
        ("postgresql://me:12/hush@db/gatehouse", "***"),
        ("postgresql://me:12?hush@db/gatehouse", "***"),
        ("postgresql://me:12#hush@db/gatehouse", "***"),
        ("postgresql://me:12?host=hush@db/gatehouse", "***"),
        ("postgresql://db/x?dbname=host%3Dx%20password%3Dhush", "***"),
        ("smtp://me:hu[sh@mail.example.com:587?from=id@example.com", "***"),
        ("smtp://me:hu\u2100sh@mail.example.com:587?from=id@example.com", "***"),
        ("smtp://me:12?from=hush@db", "***"),
        (
            "smtp://me:hush@mail.example.com:587?from=Gatehouse%20%3Cid@example.com%3E",
            "smtp://me:***@mail.example.com:587?from=Gatehouse%20%3Cid@example.com%3E",
        ),
    ],
)
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert show_address(Secret(address)) == shown


SECRETS = [
    "GATEHOUSE_CODEHOST_CLIENT_SECRET",
    "GATEHOUSE_WEBSUITE_CLIENT_SECRET",
    "GATEHOUSE_OFFICESUITE_CLIENT_SECRET",
    "GATEHOUSE_DATABASE_URL",
    "GATEHOUSE_MASTER_KEYS",
    "GATEHOUSE_OWNER_PASSWORD",
    "GATEHOUSE_SMTP_URL",
    "GATEHOUSE_BILLING_SECRET_KEY",
    "GATEHOUSE_BILLING_WEBHOOK_SECRET",
]


@pytest.mark.parametrize("name", SECRETS)
def test_every_secret_may_be_in_a_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    value = DATABASE if "DATABASE" in name else "hush hush" if "PASSWORD" in name else "hush-hush"
    file.write_text(f"{value}\n")
    beside = {
        "GATEHOUSE_DEV": "on",
        "GATEHOUSE_BILLING_SECRET_KEY": "sk_test_12345678",
        "GATEHOUSE_BILLING_WEBHOOK_SECRET": "whsec_12345678",
        **{f"GATEHOUSE_{provider}_CLIENT_ID": "id" for provider in ("CODEHOST", "WEBSUITE", "OFFICESUITE")},
        **{f"GATEHOUSE_{provider}_CLIENT_SECRET": "12345678" for provider in ("CODEHOST", "WEBSUITE", "OFFICESUITE")},
    }
    beside.pop(name, None)

    assert load(beside | {f"{name}_FILE": str(file)}) == load(beside | {name: value})
    assert unknown({f"{name}_FILE": str(file)}) == []


def test_only_a_secret_may_be_in_a_file() -> None:
    assert unknown({"GATEHOUSE_BIND_FILE": "x"}) == [
        "GATEHOUSE_BIND_FILE is set, but there is no such setting. Is GATEHOUSE_BIND meant?"
    ]


def test_a_secret_is_taken_as_it_stands_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(" a b c d \n\n")

    assert load({"GATEHOUSE_DEV": "on", "GATEHOUSE_OWNER_PASSWORD_FILE": str(file)}).owner_password == Secret(
        " a b c d \n"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [(None, "cannot be read: No such file or directory."), (b"\xff", "is not text in UTF-8."), (b" \n", "is empty.")],
)
def test_a_file_without_a_secret_is_refused_by_its_name(content: bytes | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(SettingInvalid) as refusal:
        load({"GATEHOUSE_SMTP_URL_FILE": str(file)})

    assert str(refusal.value).startswith(f"GATEHOUSE_SMTP_URL_FILE names {file}, which {problem}")


def test_a_secret_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match=r"URL and GATEHOUSE_SMTP_URL_FILE are both set\. Unset one"):
        load({"GATEHOUSE_SMTP_URL": "smtp://mail", "GATEHOUSE_SMTP_URL_FILE": str(tmp_path)})
