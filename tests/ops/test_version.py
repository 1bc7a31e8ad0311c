"""The version of a tree: a release's, or between two releases one that says how far it is, and its commit."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import version as metadata_version
from pathlib import Path

import pytest

from entrypoints.version import noted_version
from ops import version as versions
from tests.documents import ROOT

RELEASES = "# Every release.\n0.1.0 2026-11-21 {first}\n"


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, and return what it says."""
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.test", "-c", "init.defaultBranch=main")
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def commit(folder: Path, *, version: str, releases: str) -> str:
    """Commit a tree with this version, and return the commit."""
    (folder / "ops").mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "gatehouse"\nversion = "{version}"\n')
    (folder / "ops/releases").write_text(releases)
    for name in ("ops/commit", ".gitattributes"):
        shutil.copyfile(ROOT / name, folder / name)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "tree: change it")
    return git(folder, "rev-parse", "HEAD")


def test_a_release_has_its_own_version_and_what_follows_says_how_far_it_is(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    git(tree, "init", "--quiet")

    first = commit(tree, version="0.1.0", releases="# Every release.\n")
    assert versions.version_of(tree) == "0.1.0"
    for number in (1, 2):
        last = commit(tree, version="0.1.0", releases=RELEASES.format(first=first))
        assert versions.version_of(tree) == f"0.2.0.dev{number}+{last[:12]}"

    # An archive has no history, but its commit; a copy has neither.
    archive = tmp_path / "archive"
    archive.mkdir()
    packed = subprocess.run(["git", "-C", tree, "archive", "HEAD"], check=True, capture_output=True, timeout=60).stdout
    subprocess.run(["tar", "-x", "-C", archive], input=packed, check=True, timeout=60)
    assert versions.version_of(archive) == f"0.2.0.dev0+{last[:12]}"
    shutil.rmtree(tree / ".git")
    assert versions.version_of(tree) == "0.2.0.dev0"

    (archive / "pyproject.toml").write_text('[project]\nname = "gatehouse"\nversion = "0.2.0"\n')
    assert versions.version_of(archive) == "0.2.0"


def test_a_noted_version_counts_for_the_package_that_it_was_noted_for(tmp_path: Path) -> None:
    assert noted_version(tmp_path, "0.1.0") == "0.1.0"

    versions.note(tmp_path, "0.1.0", "0.2.0.dev3+0123456789ab")
    written_at = (tmp_path / versions.NOTE).stat().st_mtime_ns

    assert noted_version(tmp_path, "0.1.0") == "0.2.0.dev3+0123456789ab"
    assert noted_version(tmp_path, "0.2.0") == "0.2.0"
    # The same again writes nothing.
    versions.note(tmp_path, "0.1.0", "0.2.0.dev3+0123456789ab")
    assert (tmp_path / versions.NOTE).stat().st_mtime_ns == written_at


def test_a_version_between_two_releases_is_one_of_python() -> None:
    # The grammar of local versions in PEP 440; a whole grammar is in no package that the service needs.
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+(\+[0-9a-f]{12})?)?", versions.version_of(ROOT))
    assert versions.package_version(ROOT) == metadata_version("gatehouse")
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == versions.package_version(ROOT)


@pytest.mark.parametrize("file", ["ops/prepare", "ops/Dockerfile"])
def test_what_makes_an_environment_notes_the_version(file: str) -> None:
    text = (ROOT / file).read_text()

    assert "ops/version.py --note" in text
    fingerprint = re.search(r"^fingerprint\(\) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    # A new commit makes no environment stale.
    assert fingerprint is None or "version.py" not in fingerprint[1]
