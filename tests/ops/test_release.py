"""`ops/release`: what it refuses, and that what it makes installs by its lock alone and serves."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests import processes
from tests.documents import ROOT
from tests.processes import Services, clean_environment, given_database

# It downloads tools and builds; CI runs these.
pytestmark = pytest.mark.long

VERSION: Final = "9.8.7"
BASE: Final = f"python:3.13.14-slim-bookworm@sha256:{'0' * 64}"
RELEASE_SECONDS_MAX: Final = 600.0
IDENTITY: Final = ("-c", "user.name=Test", "-c", "user.email=test@example.com")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the repository whose last commit is one of a release, with the tools that this machine has already."""
    clone = tmp_path_factory.mktemp("release") / "clone"
    git("clone", "--quiet", "--shared", "--no-hardlinks", str(ROOT), str(clone), folder=ROOT)
    for name, old, new in (
        ("pyproject.toml", 'version = "0.2.0"', f'version = "{VERSION}"'),
        ("CHANGELOG.md", "## Unreleased\n", f"## Unreleased\n\n## {VERSION} (2030-01-02)\n"),
    ):
        text = (clone / name).read_text()
        assert old in text, name
        (clone / name).write_text(text.replace(old, new, 1))
    git(*IDENTITY, "commit", "--quiet", "--all", "--message", "release", folder=clone)
    return clone


@pytest.fixture(scope="module")
def made(clone: Path) -> Iterator[Path]:
    """The files of the release."""
    done = release(clone, "--base", BASE)
    assert done.returncode == 0, done.stderr
    yield clone / "dist" / VERSION
    # Megabytes of tools and wheels, which a folder in memory need not keep.
    shutil.rmtree(clone)


def git(*arguments: str, folder: Path) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *arguments], check=False, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def release(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `ops/release` in a clone."""
    return subprocess.run(
        [clone / "ops" / "release", *arguments],
        check=False,
        cwd=clone.parent,
        env=clean_environment() | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=RELEASE_SECONDS_MAX,
    )


def test_what_is_no_release_is_refused_with_what_to_do(clone: Path) -> None:
    changelog, project = clone / "CHANGELOG.md", clone / "pyproject.toml"
    refusals: dict[str, str] = {}

    (clone / "left.txt").write_text("behind")
    refusals["tree"] = release(clone).stderr
    (clone / "left.txt").unlink()
    for name, file, old, new in (
        ("version", project, VERSION, "9.8.8"),
        ("unreleased", changelog, "## Unreleased\n", "## Unreleased\n\n### Added\n\n- More.\n"),
    ):
        file.write_text(file.read_text().replace(old, new, 1))
        git(*IDENTITY, "commit", "--quiet", "--all", "--message", name, folder=clone)
        refusals[name] = release(clone).stderr
        git("reset", "--quiet", "--hard", "HEAD~1", folder=clone)
    refusals["base"] = release(clone, "--base", "python:latest").stderr

    assert "the tree has changes that are in no commit. Commit or stash them:\n?? left.txt" in refusals["tree"]
    assert "CHANGELOG.md has no section 9.8.8 with a date" in refusals["version"]
    assert f"CHANGELOG.md has changes after {VERSION} that are not released" in refusals["unreleased"]
    assert "python:latest is not one version of Python" in refusals["base"]
    assert not (clone / "dist" / VERSION).exists()


def test_a_release_is_the_same_in_every_run_whole_and_serves_with_its_lock_alone(
    clone: Path, made: Path, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One test: the release is made once, also where the tests run in several processes.
    same_bytes_in_every_run(clone, made, tmp_path)
    whole(made)
    monkeypatch.setattr(processes, "GATEHOUSE", installed(made, tmp_path))
    services = Services(tmp_path, given_database(database_url))
    try:
        service = services.ready()
        health, page = service.get("/health"), service.get("/app/sign-in")
    finally:
        services.close()

    assert health.json["version"] == VERSION
    assert (page.status, b"Sign in" in page.content) == (200, True)
    assert os.fspath(ROOT) not in service.log


def same_bytes_in_every_run(clone: Path, made: Path, tmp_path: Path) -> None:
    """Make the release again, in other circumstances, and compare."""
    # Files that are newer and a different mask for them must not change anything.
    (clone / "core" / "errors.py").touch()
    command = ["sh", "-c", 'umask 077 && exec "$@"', "sh", clone / "ops" / "release", "--base", BASE]
    again = subprocess.run(
        [*command, "--into", tmp_path / "again"],
        check=False,
        env=clean_environment() | {"PYTHON": sys.executable, "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        timeout=RELEASE_SECONDS_MAX,
    )

    assert again.returncode == 0, again.stderr
    sums = (made / "SHA256SUMS").read_text()
    assert (tmp_path / "again" / "SHA256SUMS").read_text() == sums
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in made.iterdir()}
    del files["SHA256SUMS"]
    assert {name: digest for digest, name in (line.split("  ") for line in sums.splitlines())} == files
    assert sorted(files) == [
        f"gatehouse-{VERSION}-operations.tar.gz",
        f"gatehouse-{VERSION}-py3-none-any.whl",
        f"gatehouse-{VERSION}.cdx.json",
        "requirements.lock",
    ]


def whole(made: Path) -> None:
    """Compare the SBOM with the lock, and the archive with what the image copies."""
    sbom = json.loads((made / f"gatehouse-{VERSION}.cdx.json").read_text())
    locked = {line.split(" ")[0] for line in (made / "requirements.lock").read_text().splitlines() if "==" in line}
    with tarfile.open(made / f"gatehouse-{VERSION}-operations.tar.gz") as archive:
        names = {name.removeprefix(f"gatehouse-{VERSION}/") for name in archive.getnames()}
        dockerfile = archive.extractfile(f"gatehouse-{VERSION}/ops/Dockerfile")
        assert dockerfile is not None
        text = dockerfile.read().decode()

    assert (sbom["bomFormat"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "gatehouse")
    assert sbom["metadata"]["component"]["version"] == VERSION
    assert {f"{one['name']}=={one['version']}" for one in sbom["components"]} == locked - {"#"}
    assert text.count(f"FROM {BASE}") == 2
    copied = {source for line in text.splitlines() if line.startswith("COPY ") for source in line.split()[1:-1]}
    for source in copied - {"--from=build", "/opt/gatehouse"}:
        assert any(name == source or name.startswith(f"{source}/") for name in names), source
    assert {"ops/systemd/gatehouse.service", "ops/database/roles.sql", "ops/proxies/nginx.conf"} <= names
    assert not any("__pycache__" in name or name.startswith("tests/") for name in names)


def installed(made: Path, folder: Path) -> Path:
    """Install the wheel as the manual says, and return its program."""
    python = folder / "installed" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-compile")
    for command in (
        (sys.executable, "-m", "venv", python.parents[1]),
        (*pip, "--require-hashes", "-r", made / "requirements.lock"),
        (*pip, "--no-deps", "--no-index", *made.glob("*.whl")),
        (python, "-m", "pip", "check"),
    ):
        done = subprocess.run(
            command, check=False, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return python.with_name("gatehouse")
