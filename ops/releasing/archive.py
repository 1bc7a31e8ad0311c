"""The archive of a release: what a machine needs beside the program, and what builds the image."""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# What a machine that runs Gatehouse needs of the repository, beside the wheel.
OPERATIONS: Final = (
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
    "actors",
    "adapters",
    "core",
    "entrypoints",
    "ports",
    "ops/Dockerfile",
    "ops/Dockerfile.dockerignore",
    "ops/build_argon2.py",
    "ops/clients/python/LICENSE",
    "ops/clients/python/README.md",
    "ops/clients/python/pyproject.toml",
    "ops/clients/python/src",
    "ops/commit",
    "ops/compose.yaml",
    "ops/database",
    "ops/docs",
    "ops/failover",
    "ops/gatehouse.env.example",
    "ops/image-start",
    "ops/kubernetes",
    "ops/proxies",
    "ops/releases",
    "ops/requirements-build.lock",
    "ops/requirements.lock",
    "ops/runbooks",
    "ops/systemd",
    "ops/version.py",
)


def pack(source: Path, into: Path, top: str, moment: int) -> None:
    """Write an archive whose bytes depend on nothing but the names, the modes and the contents of its files."""
    files = sorted(file for name in OPERATIONS for file in _files_of(source / name))

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = moment
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with (
        into.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for file in files:
            archive.add(file, f"{top}/{file.relative_to(source)}", recursive=False, filter=plain)


def naming(folder: Path, text: bytes) -> Iterator[str]:
    """Yield each file of a folder that contains a text, also the files in its archives and wheels."""
    for file in sorted(folder.iterdir()):
        yield from (name for name, content in _contents(file) if text in content or text in name.encode())


def _contents(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of a file or, for an archive, of each file in it."""
    if file.name.endswith(".tar.gz"):
        with tarfile.open(file) as archive:
            for entry in archive:
                member = archive.extractfile(entry) if entry.isfile() else None
                yield (
                    f"{file.name}: {entry.name} of {entry.uname}",
                    b"" if member is None else member.read(),
                )
    elif file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            for name in wheel.namelist():
                yield f"{file.name}: {name}", wheel.read(name)
    else:
        yield file.name, file.read_bytes()


def _files_of(path: Path) -> list[Path]:
    """Return a file, or all files below a folder; what building left behind is not among them."""
    if path.is_file():
        return [path]
    # A link to a folder is a file of the archive; what it leads to has its own place there.
    found = [
        file for file in path.rglob("*") if (file.is_file() or file.is_symlink()) and "__pycache__" not in file.parts
    ]
    assert found, f"{path} is not in the repository any more"
    return found
