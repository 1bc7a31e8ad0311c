"""The file of settings: its lines, which setting wins, and errors in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrypoints import settings
from entrypoints.settings import SettingInvalid
from entrypoints.settings_file import SETTINGS_FILE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "gatehouse.env"


def loaded(file: Path, **environment: str) -> settings.Settings:
    return settings.load(settings.environment_with_file({SETTINGS_FILE: str(file), **environment}))


def test_its_lines_take_the_place_of_the_variables(file: Path) -> None:
    file.write_text(
        "\n".join(["# A comment", "", "; another", "GATEHOUSE_NAME = 'My = platform'", 'GATEHOUSE_DEV="on"'])
    )

    read = loaded(file, GATEHOUSE_NAME="Before", GATEHOUSE_BASE_URL="https://id.example.com")

    assert (read.name, read.dev, read.base_url) == ("My = platform", True, "https://id.example.com")


def test_an_empty_value_is_not_set(file: Path) -> None:
    file.write_text("GATEHOUSE_NAME=\n")

    assert loaded(file, GATEHOUSE_NAME="Before").name == settings.Settings().name


def test_without_the_variable_there_is_no_file() -> None:
    assert settings.environment_with_file({"A": "b"}) == {"A": "b"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("GATEHOUSE_NAME", "Line 1 of "),
        ("GATEHOUSE_NAME=a\nSECRET=b", "Line 2 of "),
        ("export GATEHOUSE_NAME=a", "is no setting"),
        ("GATEHOUSE_SETTINGS_FILE=other", "is no setting"),
        ("GATEHOUSE_COLOR=loud", "GATEHOUSE_COLOR takes "),
    ],
)
def test_a_wrong_line_is_refused(file: Path, text: str, reason: str) -> None:
    file.write_text(text)

    with pytest.raises(SettingInvalid, match=reason):
        loaded(file)


def test_a_file_that_cannot_be_read_is_refused(file: Path) -> None:
    with pytest.raises(SettingInvalid, match="cannot be read: No such file"):
        loaded(file)
    file.write_bytes(b"\xff")
    with pytest.raises(SettingInvalid, match="not text in UTF-8"):
        loaded(file)


def test_a_setting_that_does_not_exist_is_named_and_the_file_itself_is_known(file: Path) -> None:
    file.write_text("GATEHOUSE_NMAE=a\n")

    environment = settings.environment_with_file({SETTINGS_FILE: str(file)})

    [sentence] = settings.unknown(environment)
    assert sentence.startswith("GATEHOUSE_NMAE is set, but there is no such setting.")
