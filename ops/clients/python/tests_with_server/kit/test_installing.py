"""The kit installs a wheel or a copy that is named by its path, and nothing by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatehouse_client.testing.installing import installed_command


@pytest.mark.parametrize("name", ["", "gatehouse", "gatehouse==0.3.0", "gatehouse @ https://example.com/gatehouse.whl"])
def test_a_name_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")

    with pytest.raises(RuntimeError, match="--gatehouse-requirement"):
        installed_command(name)


def test_the_name_of_a_folder_is_never_one_of_the_package_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    folder = tmp_path / "gatehouse"
    folder.mkdir()
    build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (folder / "pyproject.toml").write_text(build)
    (folder / "backend.py").write_text("raise SystemExit('the folder is what pip builds')\n")

    with pytest.raises(RuntimeError, match="the folder is what pip builds"):
        installed_command("gatehouse")
