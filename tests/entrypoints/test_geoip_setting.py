"""GATEHOUSE_GEOIP_DB: a wrong file stops the start with one line, and `gatehouse doctor` describes the database."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from entrypoints import clocks, equipment
from entrypoints.operator import setting_checks
from entrypoints.settings import CannotStart, Settings, load
from tests.geoip import KIND, make_database, place


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database that was just made."""
    return make_database(tmp_path / "city.mmdb", {"81.2.69.0/24": place("GB", "London")})


def test_without_the_setting_there_is_no_database() -> None:
    settings = load({})

    assert settings.geoip_db is None
    assert equipment.geoip_edition(settings) is None


def test_the_setting_names_a_database(database: Path) -> None:
    edition = equipment.geoip_edition(load({"GATEHOUSE_GEOIP_DB": str(database)}))

    assert edition is not None
    assert edition.kind == KIND


def test_a_wrong_file_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("This is no database.")

    with pytest.raises(CannotStart) as refused:
        equipment.require_settings(Settings(dev=True, data_dir=tmp_path, geoip_db=path))

    assert str(refused.value) == f"GATEHOUSE_GEOIP_DB is wrong. {path} is not a database in MaxMind's format (.mmdb)."


def test_the_doctor_names_the_database_and_its_age(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(geoip_db=database)
    new = setting_checks.geoip(settings)
    later = clocks.now() + timedelta(days=100)
    monkeypatch.setattr(clocks, "now", lambda: later)

    old = setting_checks.geoip(settings)

    assert (new.is_ok, new.advice) == (True, "")
    assert new.what.startswith(f"{KIND}, made on ")
    assert old.is_ok
    assert old.advice == "It is 100 days old and may be outdated. Replace it with a newer one."


def test_the_doctor_explains_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    finding = setting_checks.geoip(Settings(geoip_db=tmp_path / "absent.mmdb"))

    assert not finding.is_ok
    assert finding.what.endswith("absent.mmdb cannot be read: No such file or directory.")
    assert finding.advice == "Set GATEHOUSE_GEOIP_DB to another file, or unset it."
