"""The checksums of a release and their signature, which the program minisign makes and checks.

A person who trusts nothing of ours checks the same with `minisign` and `sha256sum` alone (ops/docs/installing.md).
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ops.releasing.commands import ReleaseRefusedError, environment
from ops.releasing.names import SIGNATURE, SUMS

_LINE: Final = re.compile(r"([0-9a-f]{64})  ([^/\s]+)")
# A public key of minisign as text: 42 bytes in base64, of which the first two name the algorithm.
_KEY: Final = re.compile(r"RW[A-Za-z0-9+/]{54}")
_SECONDS_MAX: Final = 60


def comment(version: str, commit: str) -> str:
    """Return what a signature says of itself, which it signs as well."""
    return f"gatehouse {version}, commit {commit}"


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder, without the list of them and its signature."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if file.name not in {SUMS, SIGNATURE}
    }


def sums(digests: Mapping[str, str]) -> str:
    """Return the list that `sha256sum --check` reads."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))


def sum_problems(text: str, found: Mapping[str, str]) -> Iterator[str]:
    """Say in what the files of a folder differ from their list."""
    lines = [_LINE.fullmatch(line) for line in text.splitlines()]
    listed = {line[2]: line[1] for line in lines if line is not None}
    if len(listed) != len(lines):
        yield f"{SUMS}: it has lines that are no checksums, or one file twice. Fetch it again."
    for name in sorted(listed.keys() | found.keys()):
        if name not in found:
            yield f"{name}: it is missing. Fetch it again."
        elif name not in listed:
            yield f"{name}: {SUMS} does not name it. Remove it; it is no part of the release."
        elif listed[name] != found[name]:
            yield f"{name}: it is not what was released. Fetch it again, and use it only if its checksum is right then."
    if listed == found and text != sums(found):
        yield f"{SUMS}: its lines are not written as ops/release writes them. Fetch it again."


def require(key: Path) -> None:
    """Raise `ReleaseRefusedError` when signing would fail for want of the key or of the program."""
    if not key.is_file():
        raise ReleaseRefusedError(f"there is no key {key}. Name the file of the secret key that `minisign -G` made.")
    _program()


def sign(folder: Path, key: Path, said: str) -> None:
    """Sign the checksums; minisign asks for the password of the key, if it has one, on the terminal."""
    command = [
        "-S",
        "-s",
        str(key),
        "-m",
        SUMS,
        "-x",
        SIGNATURE,
        "-t",
        said,
        "-c",
        "signature of a release of Gatehouse",
    ]
    done = _minisign(*command, folder=folder, is_asking=True)
    if done.returncode:
        raise ReleaseRefusedError(
            f"minisign did not sign with {key}, and the files in {folder} have no signature. Sign them there:\n"
            f"  minisign -S -s KEY -m {SUMS} -x {SIGNATURE} -t '{said}'"
        )


def signature_problems(folder: Path, public_key: str | None) -> Iterator[str]:
    """Say what is wrong with the signature of the checksums; without a key, one that is there cannot be checked."""
    is_signed = (folder / SIGNATURE).exists()
    if public_key is None:
        if is_signed:
            yield f"{SIGNATURE}: no key to check it with. Name the public key with --public-key."
        return
    if not is_signed:
        yield f"{SIGNATURE}: it is missing. Fetch it; without it nothing says who made the files."
        return
    if signed_comment(folder, public_key) is None:
        yield (
            f"{SIGNATURE}: it is not the signature of {SUMS} by this key. Fetch both again, and compare the key"
            " with the published one; if it stays so, do not use the files."
        )


def signed_comment(folder: Path, public_key: str) -> str | None:
    """Return what the signature says of itself, which is signed too; None when the key has not made it."""
    # First by its form, so that a file whose name is the key does not take its place.
    is_file = not _KEY.fullmatch(public_key) and Path(public_key).is_file()
    given = ("-p", str(Path(public_key).absolute())) if is_file else ("-P", public_key)
    done = _minisign("-V", "-Q", *given, "-m", SUMS, "-x", SIGNATURE, folder=folder)
    return None if done.returncode else done.stdout.decode(errors="replace").removesuffix("\n")


def _minisign(*arguments: str, folder: Path, is_asking: bool = False) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [_program(), *arguments],
        check=False,
        cwd=folder,
        env=environment(None),
        stdin=None if is_asking else subprocess.DEVNULL,
        capture_output=not is_asking,
        timeout=None if is_asking else _SECONDS_MAX,
    )


def _program() -> str:
    program = shutil.which("minisign")
    if program is None:
        raise ReleaseRefusedError("the program minisign is not installed. On Debian: apt-get install minisign.")
    return program
