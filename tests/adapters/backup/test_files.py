"""The file of a backup is whole, private and under its name, or absent; an altered file is refused."""

from __future__ import annotations

import fcntl
import io
import os
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

import pytest

from adapters.postgres.backup.files import new_backup, opened_backup
from core.platform.backups import (
    CHECKSUMS,
    DUMP,
    MANIFEST,
    BackupError,
    BackupRefused,
    Manifest,
    encoded_checksums,
    encoded_manifest,
)

NOW = datetime(2026, 11, 23, 2, 15, tzinfo=UTC)
MANIFEST_MADE = Manifest(
    product_version="0.2.0", schema_version=58, postgres_major=18, created_at=NOW, master_keys=("0123456789abcdef",)
)
ROWS: Final = [b"PGDMP", Random(63).randbytes(70_000), b"the end"]
NOT_A_BACKUP: Final = "it is not a backup of Gatehouse"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The name of a backup that does not exist yet."""
    return tmp_path / "backup.tar"


@pytest.fixture
def written(path: Path) -> Path:
    """A backup."""
    with new_backup(path, NOW) as writer:
        writer.write(MANIFEST_MADE, ROWS)
    return path


def opened(path: Path) -> Manifest:
    with opened_backup(path, lambda _done, _total: None) as backup:
        return backup.manifest


def refusal_of(path: Path) -> str:
    with pytest.raises(BackupRefused) as refused:
        opened(path)
    assert str(refused.value).startswith(f"{path} cannot be restored: ")
    return str(refused.value)


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> None:
    with tarfile.open(path, "w") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def without_padding(path: Path) -> None:
    """Leave out what tar adds after the end, so that it is not this that is refused."""
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content + b"\0" * (-len(content) % 512 + 1024))


def member(name: str, content: bytes = b"") -> tuple[tarfile.TarInfo, bytes]:
    return tarfile.TarInfo(name), content


def link(name: str, kind: bytes, target: str) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


def test_a_backup_is_read_as_it_was_written(written: Path) -> None:
    shown: list[tuple[int, int]] = []

    with opened_backup(written, lambda done, total: shown.append((done, total))) as backup:
        assert backup.manifest == MANIFEST_MADE
        assert os.read(backup.go_to_dump(), backup.dump_bytes) == b"".join(ROWS)
        assert backup.share_read() == 1.0

    assert shown[-1] == (backup.dump_bytes, backup.dump_bytes)


def test_tar_and_sha256sum_read_a_backup_and_its_checksums(written: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "--extract", f"--file={written}", f"--directory={tmp_path}"], check=True)
    checked = subprocess.run(["sha256sum", "--check", CHECKSUMS], cwd=tmp_path, check=False, capture_output=True)

    assert checked.stdout == b"manifest.json: OK\ndatabase.dump: OK\n"
    assert checked.returncode == 0


def test_only_the_owner_may_read_a_backup(path: Path) -> None:
    mask = os.umask(0)
    try:
        with new_backup(path, NOW) as writer:
            [part] = path.parent.iterdir()
            assert (part.name, stat.S_IMODE(part.stat().st_mode)) == ("backup.tar.part", 0o600)
            writer.write(MANIFEST_MADE, ROWS)
    finally:
        os.umask(mask)

    assert [(one.name, stat.S_IMODE(one.stat().st_mode)) for one in path.parent.iterdir()] == [("backup.tar", 0o600)]


def test_a_backup_that_fails_leaves_nothing(path: Path) -> None:
    def failing() -> Iterator[bytes]:
        yield b"PGDMP"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), new_backup(path, NOW) as writer:
        writer.write(MANIFEST_MADE, failing())

    assert list(path.parent.iterdir()) == []


def test_a_backup_replaces_no_file(written: Path) -> None:
    before = written.read_bytes()

    with pytest.raises(BackupError, match=r"exists already\. Choose another name"), new_backup(written, NOW):
        pass

    assert written.read_bytes() == before


def test_what_a_killed_backup_left_is_written_anew_and_what_another_one_writes_is_left(path: Path) -> None:
    path.with_name("backup.tar.part").write_bytes(b"left over" * 1_000_000)

    with new_backup(path, NOW) as writer:
        with pytest.raises(BackupError, match="Another backup is being written"), new_backup(path, NOW):
            pass
        writer.write(MANIFEST_MADE, ROWS)

    assert opened(path) == MANIFEST_MADE


def test_a_link_in_the_place_of_the_part_is_not_followed(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    path.with_name("backup.tar.part").symlink_to(target)

    with pytest.raises(BackupError, match="could not be written"), new_backup(path, NOW):
        pass

    assert target.read_text() == "precious"


# Writes a backup of half a megabyte to the path that is given, and prints why that failed.
WRITING: Final = """
import signal, sys
from datetime import UTC, datetime
from pathlib import Path
from adapters.postgres.backup.files import new_backup
from core.platform.backups import BackupError
from tests.adapters.backup.test_files import MANIFEST_MADE

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    with new_backup(Path(sys.argv[1]), datetime.now(UTC)) as writer:
        writer.write(MANIFEST_MADE, [b"x" * 100_000] * 5)
except BackupError as error:
    print(error)
"""
ROOT: Final = Path(__file__).parents[3]


def written_by(*wrapper: str, path: Path) -> str:
    """Run the program below a shell that first does something; return what it printed."""
    script = f'{" && ".join(wrapper)} && "$0" -c "$1" "$2" && ls -A "$(dirname "$2")"'
    command = ["unshare", "--mount", "sh", "-c", script, sys.executable, WRITING, str(path)]
    if not any("mount" in step for step in wrapper):
        command = command[2:]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return done.stdout


def test_a_write_that_fails_leaves_nothing_and_says_so(path: Path) -> None:
    said = written_by("ulimit -f 400", path=path)

    assert (
        said
        == f"{path} could not be written: File too large. Check its folder, or choose another place. Nothing"
        + (" was left.\n")
    )


@pytest.mark.skipif(
    subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0,
    reason="a small disk needs the right to mount one",
)
def test_a_full_disk_is_named_and_nothing_is_left(path: Path) -> None:
    said = written_by(f"mount -t tmpfs -o size=300k small '{path.parent}'", path=path)

    assert (
        said
        == f"{path} could not be written: No space left on device. Free some space, or choose another place. "
        + ("Nothing was left.\n")
    )


def test_a_folder_that_may_not_be_written_to_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(BackupError, match=r"could not be written: No such file or directory\. Check its folder"),
        new_backup(tmp_path / "missing" / "backup.tar", NOW),
    ):
        pass


def test_a_name_that_cannot_be_looked_up_is_refused(tmp_path: Path) -> None:
    # As in a folder that the role of the operator may not enter.
    path = tmp_path / ("x" * 300)

    with (
        pytest.raises(BackupError, match=r"could not be written: File name too long\. Check its folder"),
        new_backup(path, NOW),
    ):
        pass


def test_a_backup_that_ends_while_another_one_begins_stays_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = path.with_name("backup.tar.part")
    part.write_bytes(b"complete")
    lock = fcntl.flock

    def end_then_lock(descriptor: int, operation: int) -> None:
        part.rename(path)
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", end_then_lock)

    with pytest.raises(BackupError, match="Another backup is being written"), new_backup(path, NOW):
        pass

    assert path.read_bytes() == b"complete"


def test_a_file_that_cannot_be_read_is_named(path: Path) -> None:
    with pytest.raises(BackupRefused, match=r"backup\.tar cannot be read: No such file or directory\."):
        opened(path)


def test_a_backup_that_is_cut_off_anywhere_is_refused(written: Path) -> None:
    whole = written.read_bytes()

    # At every block, and in the middle of some.
    for end in [*range(0, len(whole), 512), 1, 700, 60_000, len(whole) - 1]:
        written.write_bytes(whole[:end])
        refusal = refusal_of(written)
        assert "is not complete: it ends after" in refusal or NOT_A_BACKUP in refusal, end


def test_a_changed_byte_is_found_wherever_it_is(written: Path) -> None:
    whole = bytearray(written.read_bytes())
    with tarfile.open(written) as tar:
        places = {one.name: (one.offset_data, one.size) for one in tar.getmembers()}

    for begin, size in places.values():
        for offset in {0, size // 2, size - 1}:
            changed = bytearray(whole)
            changed[begin + offset] ^= 1
            written.write_bytes(changed)
            refusal_of(written)
    begin, size = places[DUMP]
    changed = bytearray(whole)
    changed[begin + size // 2] ^= 1
    written.write_bytes(changed)
    assert "its database.dump is not what was written" in refusal_of(written)


def test_more_after_the_end_is_refused(written: Path) -> None:
    with written.open("ab") as file:
        file.write(b"\0" * 512)

    assert "it contains more than a backup does" in refusal_of(written)


GOOD: Final = {MANIFEST: encoded_manifest(MANIFEST_MADE), DUMP: b"PGDMP"}
FOREIGN: Final[dict[str, Callable[[], list[tuple[tarfile.TarInfo, bytes]]]]] = {
    "an empty tar": list,
    "other names": lambda: [member("README"), member("data")],
    "another order": lambda: [member(DUMP), member(MANIFEST), member(CHECKSUMS)],
    "a path": lambda: [member(f"../{MANIFEST}"), member(DUMP), member(CHECKSUMS)],
    "an absolute path": lambda: [member(f"/{MANIFEST}"), member(DUMP), member(CHECKSUMS)],
    "a symbolic link": lambda: [member(MANIFEST), link(DUMP, tarfile.SYMTYPE, "/etc/passwd"), member(CHECKSUMS)],
    "a hard link": lambda: [member(MANIFEST), link(DUMP, tarfile.LNKTYPE, MANIFEST), member(CHECKSUMS)],
    "a device": lambda: [member(MANIFEST), link(DUMP, tarfile.CHRTYPE, ""), member(CHECKSUMS)],
    "a folder": lambda: [member(MANIFEST), link(DUMP, tarfile.DIRTYPE, ""), member(CHECKSUMS)],
    "a large manifest": lambda: [member(MANIFEST, b" " * 70_000), member(DUMP), member(CHECKSUMS)],
    "the manifest of another product": lambda: [member(MANIFEST, b"{}"), member(DUMP), member(CHECKSUMS)],
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_tar_is_refused(path: Path, kind: str) -> None:
    tar_of(path, *FOREIGN[kind]())
    without_padding(path)

    refusal = refusal_of(path)

    assert NOT_A_BACKUP in refusal or "it is not complete" in refusal


def test_a_fourth_member_is_refused(path: Path) -> None:
    sums = encoded_checksums({MANIFEST: "a" * 64, DUMP: "b" * 64})
    tar_of(path, *(member(name, content) for name, content in [*GOOD.items(), (CHECKSUMS, sums), ("more", b"")]))

    assert "it contains more than a backup does" in refusal_of(path)


@pytest.mark.parametrize(
    "content", [b"", b"PGDMP" * 1000, b"\0" * 4096, b"\x1f\x8b" * 1000, Random(63).randbytes(2000)]
)
def test_what_is_no_tar_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    assert NOT_A_BACKUP in refusal_of(path)


def test_another_format_is_refused_by_the_version_that_reads_it(path: Path) -> None:
    manifest = GOOD[MANIFEST].replace(b'"format_version": 1', b'"format_version": 2')
    sums = encoded_checksums({MANIFEST: "a" * 64, DUMP: "b" * 64})
    tar_of(path, member(MANIFEST, manifest), member(DUMP, b"PGDMP"), member(CHECKSUMS, sums))
    without_padding(path)

    assert "its format is 2" in refusal_of(path)
