"""`ops/release`: what it refuses, and that what it makes is the same anywhere, installs by its lock and serves."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from entrypoints.pages.downloads.downloads import client_wheel
from ops.releasing import archive
from tests import processes
from tests.documents import MANUAL, ROOT, block
from tests.ops.releases import key_pair, need_minisign
from tests.processes import Services, clean_environment, given_database

# It downloads tools and builds; CI runs these.
pytestmark = pytest.mark.long

VERSION: Final = "9.8.7"
BASE: Final = f"python:3.13.14-slim-bookworm@sha256:{'0' * 64}"
RELEASE_SECONDS_MAX: Final = 600.0
# The user `nobody` of every machine.
OTHER_ID: Final = "65534"
IDENTITY: Final = ("-c", "user.name=Test", "-c", "user.email=test@example.com")


@dataclass(frozen=True)
class Place:
    """Where releases are made: a folder for all users, what runs a program as another one, and a Python for both."""

    folder: Path
    python: str
    other: tuple[str, ...] | None

    @property
    def clone(self) -> Path:
        """A clone of the repository whose last commit is one of a release."""
        return self.folder / "clone"

    @property
    def settings(self) -> dict[str, str]:
        """What `ops/release` finds in its environment: the tools are installed once."""
        who = {"USER": "ann-of-lima", "LOGNAME": "ann-of-lima", "TZ": "America/Lima"}
        return who | {"PYTHON": self.python, "RELEASE_TOOLS": str(self.folder / "tools")}

    def release(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run `ops/release` in the clone."""
        return run(self.clone / "ops" / "release", *arguments, settings=self.settings)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    # Not below the folders of the test, which only its own user may open.
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        other = ("setpriv", "--reuid", OTHER_ID, "--regid", OTHER_ID, "--clear-groups")
        usable = [python for python in (sys.executable, "/usr/bin/python3") if is_usable(*other, python)]
        place = Place(folder, usable[0], other) if usable else Place(folder, sys.executable, None)
        prepare(place.clone)
        yield place


def is_usable(*python: str) -> bool:
    """Return whether a Python makes releases, called as another user."""
    asks = "import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    if os.geteuid() != 0 or shutil.which(python[0]) is None:
        return False
    return run(*python[:-1], "sh", "-c", f"exec '{python[-1]}' -c '{asks}'").returncode == 0


def prepare(clone: Path) -> None:
    git("clone", "--quiet", "--shared", "--no-hardlinks", str(ROOT), str(clone), folder=ROOT)
    for name, pattern, text in (
        ("pyproject.toml", r'^version = "[^"]+"', f'version = "{VERSION}"'),
        ("CHANGELOG.md", r"^## Unreleased\n", f"## Unreleased\n\n## {VERSION} (2030-01-02)\n"),
    ):
        changed, count = re.subn(pattern, text, (clone / name).read_text(), count=1, flags=re.MULTILINE)
        assert count == 1, name
        (clone / name).write_text(changed)
    git(*IDENTITY, "commit", "--quiet", "--all", "--message", "release", folder=clone)


def run(
    *command: str | Path, folder: Path | None = None, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program with settings added to the environment."""
    return subprocess.run(
        command,
        check=False,
        cwd=folder or "/",
        env=clean_environment() | dict(settings or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RELEASE_SECONDS_MAX,
    )


def git(*arguments: str, folder: Path) -> str:
    """Run git and return its output."""
    done = subprocess.run(["git", *arguments], check=False, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_no_release_is_refused_with_what_to_do(place: Place) -> None:
    clone = place.clone
    changelog, project = clone / "CHANGELOG.md", clone / "pyproject.toml"
    refusals: dict[str, str] = {}

    (clone / "left.txt").write_text("behind")
    refusals["tree"] = place.release().stderr
    (clone / "left.txt").unlink()
    for name, file, old, new in (
        ("version", project, VERSION, "9.8.8"),
        ("unreleased", changelog, "## Unreleased\n", "## Unreleased\n\n### Added\n\n- More.\n"),
    ):
        file.write_text(file.read_text().replace(old, new, 1))
        git(*IDENTITY, "commit", "--quiet", "--all", "--message", name, folder=clone)
        refusals[name] = place.release().stderr
        git("reset", "--quiet", "--hard", "HEAD~1", folder=clone)
    refusals["key"] = place.release("--key", clone / "no.key").stderr
    refusals["base"] = place.release("--base", "python:latest").stderr

    assert "the tree has changes that are in no commit. Commit or stash them:\n?? left.txt" in refusals["tree"]
    assert "CHANGELOG.md has no section 9.8.8 with a date" in refusals["version"]
    assert f"CHANGELOG.md has changes after {VERSION} that are not released" in refusals["unreleased"]
    assert f"there is no key {clone}/no.key. Name the file of the secret key" in refusals["key"]
    assert "python:latest is not one version of Python" in refusals["base"]
    assert not (clone / "dist" / VERSION).exists()


def test_a_release_is_the_same_anywhere_is_whole_and_serves_with_its_lock_alone(
    place: Place, tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    # One test: the release is made once, also where the tests run in several processes.
    need_minisign()
    secret, public = key_pair(tmp_path, "throw-away")
    made = place.folder / "files"
    done = place.release("--base", BASE, "--key", secret, "--into", made)
    assert done.returncode == 0, done.stderr
    whole(made)
    names_no_person(place, made)
    checked_as_documented(place, made, public.read_text().splitlines()[1])
    with subtests.test("another user"):
        if place.other is None:
            pytest.skip(
                "one user has made it twice: another one needs root, setpriv, and a Python that all users may run"
            )
    monkeypatch.setattr(processes, "GATEHOUSE", installed(made, tmp_path))
    services = Services(tmp_path, given_database(database_url))
    try:
        service = services.ready()
        health, page, metrics = (service.get(path) for path in ("/health", "/app/sign-in", "/metrics"))
        downloaded = service.get(f"/downloads/{client_wheel().name}")
    finally:
        services.close()

    said = subprocess.run([processes.GATEHOUSE, "--version"], check=True, capture_output=True, text=True, timeout=60)
    assert (said.stdout, health.json["version"]) == (f"gatehouse {VERSION}\n", VERSION)
    assert f'sso_build_info{{version="{VERSION}"}} 1.0' in metrics.content.decode()
    [ready] = [line for line in service.log.splitlines() if '"server.ready"' in line]
    assert json.loads(ready)["version"] == VERSION
    assert (page.status, b"Sign in" in page.content) == (200, True)
    assert os.fspath(ROOT) not in service.log
    # From files in place of links, it is what a copy serves.
    assert downloaded.content == client_wheel().content


def names_no_person(place: Place, made: Path) -> None:
    """Look for the folder in which it was made, and for who made it and where."""
    words = [str(place.folder), place.settings["USER"]]
    # The name of this machine and the folder of the repository may also be words in the repository.
    words += [word for word in (socket.gethostname(), str(ROOT)) if not is_in_repository(word)]
    assert [named for word in words for named in archive.naming(made, word.encode())] == []


def is_in_repository(word: str) -> bool:
    found = subprocess.run(["git", "grep", "--quiet", "--fixed-strings", word], check=False, cwd=ROOT, timeout=60)
    return found.returncode == 0


def checked_as_documented(place: Place, made: Path, key: str) -> None:
    """Run the commands of the manual, which make it again: as another user, elsewhere, in another time zone."""
    # Files that are newer must not change anything.
    (place.clone / "core" / "errors.py").touch()
    commands = block(MANUAL / "installing.md", "sh", "Checking a release")
    theirs, home = place.folder / "theirs", place.folder / "home"
    home.mkdir()
    shutil.copytree(made, theirs / "files")
    # With a history of one commit, and without the objects of ours, which not every user may read.
    git("clone", "--quiet", "--bare", "--depth", "1", f"file://{place.clone}", str(theirs / "repository"), folder=ROOT)
    if place.other is not None:
        owned = run("chown", "--recursive", f"{OTHER_ID}:{OTHER_ID}", theirs, home)
        assert owned.returncode == 0, owned.stderr

    done = run(
        *(*(place.other or ()), "sh", "-ec", f"umask 077\n{commands}"),
        folder=theirs,
        settings=place.settings
        | {"KEY": key, "REPOSITORY": f"file://{theirs}/repository", "TZ": "Asia/Tokyo"}
        | {"HOME": str(home), "USER": "zoe-of-tokyo", "LOGNAME": "zoe-of-tokyo"},
    )

    commit = git("rev-parse", "HEAD", folder=place.clone).strip()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"gatehouse {VERSION}, commit {commit}" in done.stdout
    assert f"{VERSION} is signed by the key; all files agree, and the commit {commit} gives the same" in done.stdout


def whole(made: Path) -> None:
    """Look at the files, the list of packages, the provenance, and the archive beside what the image copies."""
    sbom = json.loads((made / f"gatehouse-{VERSION}.cdx.json").read_text())
    locked = {line.split(" ")[0] for line in (made / "requirements.lock").read_text().splitlines() if "==" in line}
    with tarfile.open(made / f"gatehouse-{VERSION}-operations.tar.gz") as archive:
        names = {name.removeprefix(f"gatehouse-{VERSION}/") for name in archive.getnames()}
        dockerfile = archive.extractfile(f"gatehouse-{VERSION}/ops/Dockerfile")
        assert dockerfile is not None
        text = dockerfile.read().decode()

    assert sorted(file.name for file in made.iterdir() if not file.name.startswith("gatehouse_client-")) == [
        "SHA256SUMS",
        "SHA256SUMS.minisig",
        f"gatehouse-{VERSION}-operations.tar.gz",
        f"gatehouse-{VERSION}-py3-none-any.whl",
        f"gatehouse-{VERSION}.cdx.json",
        f"gatehouse-{VERSION}.intoto.json",
        f"gatehouse-{VERSION}.openvex.json",
        "requirements.lock",
    ]
    provenance = json.loads((made / f"gatehouse-{VERSION}.intoto.json").read_text())
    dependencies = provenance["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert {"uri": "pkg:docker/python@3.13.14-slim-bookworm", "digest": {"sha256": "0" * 64}} in dependencies
    assert (sbom["bomFormat"], sbom["metadata"]["component"]["name"]) == ("CycloneDX", "gatehouse")
    assert sbom["metadata"]["component"]["version"] == VERSION
    assert {f"{one['name']}=={one['version']}" for one in sbom["components"]} == locked - {"#"}
    assert text.count(f"FROM {BASE}") == 2
    copied = {source for line in text.splitlines() if line.startswith("COPY ") for source in line.split()[1:-1]}
    for source in copied - {"--from=build", "/opt/gatehouse"}:
        assert any(name == source or name.startswith(f"{source}/") for name in names), source
    assert {"ops/systemd/gatehouse.service", "ops/database/roles.sql", "ops/proxies/nginx.conf"} <= names
    assert not any("__pycache__" in name or name.startswith("tests/") for name in names)
    # The manual stands once in the archive, and is in the wheel.
    assert {"ops/docs/webhooks.md", "entrypoints/pages/manual/source/ops/docs"} <= names
    with zipfile.ZipFile(made / f"gatehouse-{VERSION}-py3-none-any.whl") as wheel:
        served = {name.partition("/manual/source/")[2] for name in wheel.namelist()}
    assert {"README.md", "ops/docs/webhooks.md", "ops/docs/images/sign-in.png", "ops/runbooks/mail.md"} <= served


def installed(made: Path, folder: Path) -> Path:
    """Install the wheel as the manual says, and return its program."""
    python = folder / "installed" / "bin" / "python"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-qq", "--no-compile")
    for command in (
        (sys.executable, "-m", "venv", python.parents[1]),
        (*pip, "--require-hashes", "-r", made / "requirements.lock"),
        (*pip, "--no-deps", "--no-index", *made.glob("gatehouse-*.whl")),
        (python, "-m", "pip", "check"),
    ):
        done = subprocess.run(
            command, check=False, cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return python.with_name("gatehouse")
