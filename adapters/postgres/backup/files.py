"""The file of a backup: written beside its name and renamed when it is complete, and checked before it is read."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import os
import tarfile
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Final

from core.lazy_dataclasses import dataclass
from core.platform.backups import (
    CHECKSUMS,
    DUMP,
    MANIFEST,
    MEMBERS,
    BackupError,
    BackupRefused,
    Manifest,
    encoded_checksums,
    encoded_manifest,
    parsed_checksums,
    parsed_manifest,
    require_checksum,
)

PART_SUFFIX: Final = ".part"
BLOCK_BYTES: Final = 1024 * 1024
_PRIVATE_FILE: Final = 0o600
_SMALL_MEMBER_BYTES_MAX: Final = 64 * 1024
_NUL: Final = b"\0"


class BackupWriter:
    """Writes the members of a backup, in their order."""

    def __init__(self, file: IO[bytes], written_at: datetime) -> None:
        self._file = file
        self._written_at = written_at
        self._digests: dict[str, str] = {}

    def write(self, manifest: Manifest, dump: Iterable[bytes]) -> int:
        """Write the whole backup; return its size in bytes."""
        self._add(MANIFEST, [encoded_manifest(manifest)])
        self._add(DUMP, dump)
        self._add(CHECKSUMS, [encoded_checksums(self._digests)])
        # Two empty blocks end a tar file.
        self._file.write(_NUL * 2 * tarfile.BLOCKSIZE)
        return self._file.tell()

    def _add(self, name: str, blocks: Iterable[bytes]) -> None:
        header_at = self._file.tell()
        # The size is known at the end.
        self._file.write(self._header(name, 0))
        digest, size = hashlib.sha256(), 0
        for block in blocks:
            digest.update(block)
            size += len(block)
            self._file.write(block)
        self._file.write(_NUL * (-size % tarfile.BLOCKSIZE))
        end = self._file.tell()
        self._file.seek(header_at)
        self._file.write(self._header(name, size))
        self._file.seek(end)
        self._digests[name] = digest.hexdigest()

    def _header(self, name: str, size: int) -> bytes:
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = size, _PRIVATE_FILE, int(self._written_at.timestamp())
        # This format has room for every size in one header.
        return info.tobuf(tarfile.GNU_FORMAT)


@contextmanager
def new_backup(path: Path, written_at: datetime) -> Generator[BackupWriter]:
    """Yield what writes a new file, which gets its name only when the block ends; else nothing of it is left."""
    try:
        _require_new(path)
        part = path.with_name(path.name + PART_SUFFIX)
        with _opened_alone(part) as file:
            try:
                # Another backup may have ended since.
                _require_new(path)
                yield BackupWriter(file, written_at)
                file.flush()
                os.fsync(file.fileno())
                part.rename(path)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
        _sync_folder(path.parent)
    except OSError as error:
        advice = "Free some space" if error.errno == errno.ENOSPC else "Check its folder"
        raise BackupError(
            f"{path} could not be written: {error.strerror}. {advice}, or choose another place. Nothing was left."
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedBackup:
    """A backup that is complete and unchanged."""

    file: IO[bytes]
    manifest: Manifest
    dump_at: int
    dump_bytes: int

    def go_to_dump(self) -> int:
        """Move the descriptor to the dump, for a program that inherits it; return the descriptor."""
        descriptor = self.file.fileno()
        os.lseek(descriptor, self.dump_at, os.SEEK_SET)
        return descriptor

    def share_read(self) -> float:
        """Return the part of the dump that such a program has read, from 0 to 1."""
        done = os.lseek(self.file.fileno(), 0, os.SEEK_CUR) - self.dump_at
        return max(0.0, min(1.0, done / max(1, self.dump_bytes)))


@contextmanager
def opened_backup(path: Path, show: Callable[[int, int], None]) -> Generator[OpenedBackup]:
    """Yield a backup whose checksums were checked; raise `BackupRefused` when it is none, or not as it was written.

    `show` is called with the bytes that were checked, and with all of them.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise BackupRefused(f"{path} cannot be read: {error.strerror}.") from None
    with file:
        try:
            yield _checked(file, show)
        except BackupRefused as refused:
            raise BackupRefused(f"{path} cannot be restored: {refused}.") from None


def _checked(file: IO[bytes], show: Callable[[int, int], None]) -> OpenedBackup:
    members = _members(file)
    manifest = parsed_manifest(_read(file, members[MANIFEST]))
    digests = parsed_checksums(_read(file, members[CHECKSUMS]))
    for name in (MANIFEST, DUMP):
        require_checksum(name, expected=digests[name], found=_digest(file, members[name], show))
    dump = members[DUMP]
    return OpenedBackup(file=file, manifest=manifest, dump_at=dump.offset_data, dump_bytes=dump.size)


def _members(file: IO[bytes]) -> dict[str, tarfile.TarInfo]:
    members: list[tarfile.TarInfo] = []
    is_torn = False
    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            while (member := tar.next()) is not None and len(members) <= len(MEMBERS):
                members.append(member)
    except (tarfile.TarError, EOFError, ValueError, OverflowError):
        is_torn = True
    # A name, or a kind such as a link, that no backup has.
    if any(one.name != name or one.type != tarfile.REGTYPE for one, name in zip(members, MEMBERS, strict=False)):
        raise BackupRefused("it is not a backup of Gatehouse. Name a file that `gatehouse backup` wrote")
    if not members:
        raise BackupRefused("it is not a backup of Gatehouse, or nothing of it was copied")
    if len(members) > len(MEMBERS):
        raise BackupRefused("it contains more than a backup does")
    size = file.seek(0, io.SEEK_END)
    last = members[-1]
    end = last.offset_data + last.size + -last.size % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE
    if is_torn or len(members) < len(MEMBERS) or size < end:
        raise BackupRefused(f"it is not complete: it ends after {size:,} bytes. Copy the file again")
    if size > end:
        raise BackupRefused("it contains more than a backup does")
    return {one.name: one for one in members}


def _read(file: IO[bytes], member: tarfile.TarInfo) -> bytes:
    if member.size > _SMALL_MEMBER_BYTES_MAX:
        raise BackupRefused("it is not a backup of Gatehouse. Name a file that `gatehouse backup` wrote")
    file.seek(member.offset_data)
    return file.read(member.size)


def _digest(file: IO[bytes], member: tarfile.TarInfo, show: Callable[[int, int], None]) -> str:
    digest = hashlib.sha256()
    file.seek(member.offset_data)
    left = member.size
    while left and (block := file.read(min(BLOCK_BYTES, left))):
        digest.update(block)
        left -= len(block)
        show(member.size - left, member.size)
    return digest.hexdigest()


def _require_new(path: Path) -> None:
    if path.exists():
        raise BackupError(f"{path} exists already. Choose another name; a backup replaces no file.")


@contextmanager
def _opened_alone(part: Path) -> Generator[IO[bytes]]:
    """Open the unfinished file, readable by its owner alone; one that a killed backup has left is overwritten."""
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _PRIVATE_FILE)
    with os.fdopen(descriptor, "w+b") as file:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # One that has ended meanwhile has given this file its name.
            is_ours = os.path.samestat(os.fstat(descriptor), part.stat())
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if not is_ours:
            raise BackupError(f"Another backup is being written to {part}. Choose another name.")
        os.fchmod(descriptor, _PRIVATE_FILE)
        os.ftruncate(descriptor, 0)
        yield file


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
