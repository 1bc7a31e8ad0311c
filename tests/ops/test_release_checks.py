"""What `ops/release verify` finds without making anything again: each change, by its file and with what to do."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from ops.releasing import archive, making, signing, verifying, vex
from ops.releasing.commands import ReleaseRefusedError
from ops.releasing.names import LOCK, SIGNATURE, SUMS, is_client_wheel
from ops.releasing.sbom import locked
from tests.documents import MANUAL, ROOT
from tests.ops.releases import CLIENT, COMMIT, NAMES, VERSION, Release, key_pair, need_minisign, small_release

Change = Callable[[Release], object]


def without(name: str) -> Change:
    return lambda release: (release.folder / name).unlink()


def replaced(name: str, old: str, new: str) -> Change:
    """Return a change by an attacker who writes checksums and provenance anew, which no signature covers."""

    def change(release: Release) -> None:
        release.replace(name, old, new)
        release.conclude()

    return change


def replaced_in_provenance(old: str, new: str) -> Change:
    def change(release: Release) -> None:
        release.replace(NAMES.provenance, old, new)
        release.conclude_sums()

    return change


def added(release: Release) -> None:
    (release.folder / "setup.sh").write_text("echo")


def added_and_listed(release: Release) -> None:
    added(release)
    release.conclude()


def other_client(release: Release) -> None:
    (release.folder / CLIENT).rename(release.folder / "gatehouse_client.whl")
    release.conclude()


# What is changed, and how the refusal begins.
CHANGES: Final[dict[str, tuple[Change, str]]] = {
    "a byte": (
        lambda release: release.replace(NAMES.wheel, "content", "c0ntent"),
        f"{NAMES.wheel}: it is not what was",
    ),
    "a file less": (without(NAMES.operations), f"{NAMES.operations}: it is missing. Fetch it again"),
    "a file more": (added, "setup.sh: SHA256SUMS does not name it. Remove it"),
    "a folder more": (lambda release: (release.folder / "more").mkdir(), "more: a release has files alone."),
    "no checksums": (without(SUMS), "{folder} has no SHA256SUMS. Name the folder"),
    "a line of the checksums": (
        lambda release: release.replace(SUMS, f"  {CLIENT}", f"  ../{CLIENT}"),
        "SHA256SUMS: it has lines that are no checksums",
    ),
    "a file more, with its checksum": (added_and_listed, "setup.sh: it is no part of a release."),
    "no Python package": (other_client, "there is not one wheel of gatehouse_client."),
    "a dependency": (
        replaced(LOCK, "h11==0.16.0", "h11==0.15.0"),
        f"{NAMES.sbom}: it has h11 0.16.0, and requirements",
    ),
    "a dependency more": (
        replaced(LOCK, "h11==", "evil==1 \\\n    --hash=sha256:" + "1" * 64 + "\nh11=="),
        f"{NAMES.sbom}: it lacks evil, which requirements.lock has",
    ),
    "a dependency less": (
        replaced(LOCK, "aiofiles==", "#"),
        f"{NAMES.sbom}: it has aiofiles, which requirements.lock l",
    ),
    "a hash of a dependency": (
        replaced(LOCK, "--hash=sha256:", "--hash=sha256:" + "1" * 64 + " --hash=sha256:"),
        f"{NAMES.sbom}: the hashes of aiofiles are not those",
    ),
    "the version of the list": (replaced(NAMES.sbom, VERSION, "9.8.6"), f"{NAMES.sbom}: it is of gatehouse 9.8.6"),
    "a package of a statement": (
        replaced(NAMES.vex, "h11@0.16.0", "h11@0.14.0"),
        f"{NAMES.vex}: the statement on CVE-2030-1 names pkg:pypi/h11@0.14.0, which is not in the list",
    ),
    "no reason of a statement": (
        replaced(NAMES.vex, "justification", "because"),
        f"{NAMES.vex}: the status not_affected of CVE-2030-1 needs justification or impact_statement",
    ),
    "the product of a statement": (
        replaced(NAMES.vex, VERSION, "1"),
        f"{NAMES.vex}: the statement on CVE-2030-1 is not of pkg:pypi/gatehouse@{VERSION}",
    ),
    "a time without a zone": (replaced(NAMES.vex, "00:00Z", "00:00"), f"{NAMES.vex}: the document has no timestamp"),
    "no document": (replaced(NAMES.vex, "{", "["), f"{NAMES.vex}: it cannot be read as what it should be"),
    "the version made": (replaced_in_provenance(f'"{VERSION}"', '"9.8.6"'), f"{NAMES.provenance}: it is of 9.8.6"),
    "a lock that made it": (
        replaced_in_provenance("ops/requirements-release.lock", "ops/other.lock"),
        f"{NAMES.provenance}: it does not name ops/requirements-release.lock",
    ),
    "the builder": (
        replaced_in_provenance("urn:gatehouse:release:builder:ops-release", "https://build.example.com"),
        f"{NAMES.provenance}: its builder https://build.example.com and its kind",
    ),
    "a dependency with a place": (
        replaced_in_provenance("urn:gatehouse:source:ops/requirements-build.lock", "file:///home/ann/build.lock"),
        f"{NAMES.provenance}: it does not name ops/requirements-build.lock",
    ),
    "an option of pip": (
        replaced(LOCK, "h11==", "--extra-index-url https://evil.example.com/\nh11=="),
        f"{NAMES.sbom}: requirements.lock has a line that is no package with its version: --extra-index-url",
    ),
    "a dependency by its address": (
        replaced(LOCK, "h11==", "evil @ https://evil.example.com/evil.whl --hash=sha256:" + "1" * 64 + "\nh11=="),
        f"{NAMES.sbom}: requirements.lock has a line that is no package with its version: evil @",
    ),
    "an indented dependency": (
        replaced(LOCK, "h11==", "  Evil==1 --hash=sha256:" + "1" * 64 + "\nh11=="),
        f"{NAMES.sbom}: requirements.lock has a line that is no package with its version:   Evil==1",
    ),
    "the URL of a package": (
        replaced(NAMES.sbom, "pkg:pypi/aiofiles@", "pkg:pypi/evil@"),
        f"{NAMES.sbom}: the package URL of aiofiles is another one's",
    ),
    "a name twice": (
        replaced_in_provenance("{", '{"subject": [],'),
        f"{NAMES.provenance}: it cannot be read as what it should be (an object has one name twice)",
    ),
    "a depth": (replaced_in_provenance("{", "[" * 100_000), f"{NAMES.provenance}: it cannot be read"),
    "a subject twice": (
        replaced_in_provenance('"subject": [', '"subject": [{"name": "requirements.lock", "digest": {"sha256": "1"}},'),
        f"{NAMES.provenance}: it says something that ops/release does not write",
    ),
    "a person who made it": (
        replaced_in_provenance('"runDetails": {', '"runDetails": {"metadata": {"invocationId": "ann"},'),
        f"{NAMES.provenance}: it says something that ops/release does not write",
    ),
    "a base without its dependency": (
        replaced_in_provenance('"version":', f'"base": "python:3.13.1-slim@sha256:{"1" * 64}", "version":'),
        f"{NAMES.provenance}: it says something that ops/release does not write",
    ),
    "a version of zlib": (replaced_in_provenance('"zlib": "', '"zlib": " '), f"{NAMES.provenance}: it cannot be read"),
    "the name of the statements": (
        replaced(NAMES.vex, f"urn:gatehouse:vex:{VERSION}", "urn:gatehouse:vex:1.0.0"),
        f"{NAMES.vex}: its @id is not the one of pkg:pypi/gatehouse@{VERSION}",
    ),
    "the ends of the lines of the checksums": (
        lambda release: (release.folder / SUMS).write_bytes(release.read(SUMS).replace("\n", "\r\n").encode()),
        f"{SUMS}: its lines are not written as ops/release writes them",
    ),
    "no commit": (replaced_in_provenance(COMMIT, "main"), f"{NAMES.provenance}: it cannot be read"),
}


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return small_release(tmp_path / "release")


def refusal(release: Release, public_key: str | None = None) -> str:
    """Return what checking a release says against it."""
    with pytest.raises(ReleaseRefusedError) as refused:
        verifying.verify(release.folder, public_key=public_key)
    return str(refused.value)


def test_each_change_to_a_release_is_found(release: Release, tmp_path: Path, subtests: pytest.Subtests) -> None:
    assert verifying.verify(release.folder, public_key=None).commit == COMMIT
    for what, (change, beginning) in CHANGES.items():
        with subtests.test(what=what):
            changed = Release(tmp_path / what)
            shutil.copytree(release.folder, changed.folder)

            change(changed)

            said = refusal(changed)
            assert said.startswith(beginning.format(folder=changed.folder)), said


def test_only_the_signature_of_this_version_by_this_key_is_accepted(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_minisign()
    secret, public = key_pair(tmp_path, "ours")
    _, foreign = key_pair(tmp_path, "foreign")
    key = public.read_text().splitlines()[1]

    unsigned = refusal(release, str(public))
    signing.sign(release.folder, secret, signing.comment("9.8.6", COMMIT))
    of_another_version = refusal(release, str(public))
    signing.sign(release.folder, secret, signing.comment(VERSION, COMMIT))
    assert verifying.verify(release.folder, public_key=key) == verifying.verify(release.folder, public_key=str(public))
    refusals = [refusal(release, str(foreign)), refusal(release, "no key")]
    without_key = refusal(release)
    # A file whose name is a key, with another key in it.
    shutil.copy(public, tmp_path / (named := foreign.read_text().splitlines()[1].replace("/", "+")))
    monkeypatch.chdir(tmp_path)
    refusals.append(refusal(release, named))
    release.replace(SIGNATURE, f"gatehouse {VERSION}", "gatehouse 9.9.9")
    refusals.append(refusal(release, key))
    signing.sign(release.folder, secret, signing.comment(VERSION, COMMIT))
    release.replace(NAMES.wheel, "content", "c0ntent")
    release.conclude()
    refusals.append(refusal(release, key))
    with pytest.raises(
        ReleaseRefusedError, match=rf"did not sign with .*foreign.pub.*\n  minisign -S -s KEY -m {SUMS}"
    ):
        signing.sign(release.folder, foreign, signing.comment(VERSION, COMMIT))
    monkeypatch.setenv("PATH", str(tmp_path))
    without_program = refusal(release, key)

    assert unsigned.startswith(f"{SIGNATURE}: it is missing. Fetch it")
    assert of_another_version.startswith(f'{SIGNATURE}: it is of "gatehouse 9.8.6, commit {COMMIT}", and the files of')
    assert without_key.startswith(f"{SIGNATURE}: no key to check it with. Name the public key with --public-key.")
    assert all(one.startswith(f"{SIGNATURE}: it is not the signature of {SUMS} by this key.") for one in refusals)
    assert without_program == "the program minisign is not installed. On Debian: apt-get install minisign."


def test_what_the_commit_does_not_give_is_found_although_all_files_agree(release: Release, tmp_path: Path) -> None:
    changed = Release(tmp_path / "changed")
    shutil.copytree(release.folder, changed.folder)
    (changed.folder / SIGNATURE).write_text("of any key")
    same = list(verifying.differences(changed.folder, release.folder, COMMIT))
    changed.replace(NAMES.wheel, "content", "c0ntent")
    changed.conclude()
    (changed.folder / SIGNATURE).unlink()

    assert verifying.verify(changed.folder, public_key=None).commit == COMMIT
    found = list(verifying.differences(changed.folder, release.folder, COMMIT))
    (release.folder / CLIENT).unlink()
    less = list(verifying.differences(changed.folder, release.folder, COMMIT))

    assert same == []
    assert [one.partition(": the commit")[0] for one in found] == [SUMS, NAMES.wheel, NAMES.provenance]
    assert [one.partition(": the commit")[0] for one in less] == [SUMS, NAMES.wheel, NAMES.provenance, CLIENT]


def test_made_again_on_another_python_or_without_the_commit_is_refused_with_what_to_do(release: Release) -> None:
    origin = verifying.verify(release.folder, public_key=None)

    with pytest.raises(ReleaseRefusedError, match=r"has no commit 0123456789.* Run git fetch, and try again"):
        verifying.rebuild(release.folder, origin)
    with pytest.raises(
        ReleaseRefusedError, match=r"made on Python 3\.10\.1 .* Set PYTHON=/path/to/python of that version"
    ):
        verifying.rebuild(release.folder, replace(origin, python="3.10.1"))


def test_every_statement_on_a_vulnerability_is_on_a_package_of_the_lock() -> None:
    text = vex.released((ROOT / vex.SOURCE).read_text(), VERSION)
    packages = {f"pkg:pypi/{name}@{version}" for name, (version, _) in locked(lock()).items()}

    wrong = list(vex.problems(json.loads(text), product=f"{vex.PRODUCT}@{VERSION}", packages=packages))
    of_others = list(vex.problems(json.loads(text), product=f"{vex.PRODUCT}@{VERSION}", packages=()))

    assert wrong == []
    assert len(of_others) == len(json.loads(text)["statements"]) >= 1


def test_the_whole_lock_is_read() -> None:
    packages = locked(lock())

    assert len(packages) == sum("==" in line for line in lock().splitlines() if not line.startswith("#"))
    assert sum(len(hashes) for _, hashes in packages.values()) == lock().count("--hash=sha256:")


def test_the_page_of_installing_has_every_file_of_a_release(release: Release) -> None:
    rows = re.findall(r"^\| (`.+?`) \| ", (MANUAL / "installing.md").read_text(), re.MULTILINE)
    listed = [name.replace("VERSION", VERSION) for row in rows for name in re.findall(r"`(.+?)`", row)]

    files = {file.name for file in release.folder.iterdir()} | {SIGNATURE}

    assert {"gatehouse_client-….whl" if is_client_wheel(name) else name for name in files} <= set(listed)


def test_the_commands_that_replace_the_key_work_as_the_runbook_has_them(tmp_path: Path) -> None:
    need_minisign()
    runbook = (ROOT / "ops" / "runbooks" / "release-key.md").read_text()
    signing_new, checking_new = re.findall(r"`(minisign [^`]*gatehouse-new\.pub)`", runbook)
    key_pair(tmp_path, "gatehouse")
    key_pair(tmp_path, "gatehouse-new")

    signed = subprocess.run(["sh", "-c", signing_new], check=False, cwd=tmp_path, capture_output=True, timeout=60)
    checked = subprocess.run(["sh", "-c", checking_new], check=False, cwd=tmp_path, capture_output=True, timeout=60)

    assert (signed.returncode, checked.returncode) == (0, 0), signed.stderr + checked.stderr


def test_what_names_the_folder_in_which_it_was_made_is_refused(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    (tmp_path / "text").write_text("made in /home/ann/gatehouse-release-x1y2/source")
    (made / "clean.json").write_text("{}")
    making.refuse_names_of(made, "gatehouse-release-x1y2")
    shutil.copy(tmp_path / "text", made / "plain.json")
    with tarfile.open(made / "operations.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "text", "docs/text")
    with zipfile.ZipFile(made / "program.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(tmp_path / "text", "core/text")

    with pytest.raises(ReleaseRefusedError) as refused:
        making.refuse_names_of(made, "gatehouse-release-x1y2")

    named = str(refused.value).splitlines()[1:]
    assert [name.partition(" of ")[0] for name in named] == [
        "operations.tar.gz: docs/text",
        "plain.json",
        "program.whl: core/text",
    ]
    assert list(archive.naming(made, b"/home/bob")) == []


def lock() -> str:
    return (ROOT / "ops" / "requirements.lock").read_text()
