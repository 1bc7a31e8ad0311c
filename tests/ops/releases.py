"""A small release, whose files agree, for the tests of what checks one; nothing in it is built."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from ops.releasing import provenance, signing, vex
from ops.releasing.names import LOCK, SUMS, Names

VERSION: Final = "9.8.7"
COMMIT: Final = "0123456789" * 4
NAMES: Final = Names(VERSION)
CLIENT: Final = "gatehouse_client-0.4.0-py3-none-any.whl"
PACKAGES: Final = {"aiofiles": "25.1.0", "h11": "0.16.0"}


@dataclass(frozen=True)
class Release:
    """A folder with the files of a release."""

    folder: Path

    def read(self, name: str) -> str:
        """Return the text of a file."""
        return (self.folder / name).read_text()

    def replace(self, name: str, old: str, new: str) -> None:
        """Replace a text that a file has."""
        text = self.read(name)
        assert old in text, f"{name} has no {old}"
        (self.folder / name).write_text(text.replace(old, new, 1))

    def conclude(self) -> None:
        """Write the provenance and the checksums of what is there, as one can who has no key."""
        digests = {name: digest for name, digest in signing.digests(self.folder).items() if name != NAMES.provenance}
        locks = {path: digests[LOCK] if path == provenance.LOCKS[0] else "0" * 64 for path in provenance.LOCKS}
        origin = provenance.Origin(VERSION, COMMIT, None, *provenance.here())
        (self.folder / NAMES.provenance).write_text(provenance.statement(origin, subjects=digests, locks=locks))
        self.conclude_sums()

    def conclude_sums(self) -> None:
        """Write the checksums of what is there."""
        (self.folder / SUMS).write_text(signing.sums(signing.digests(self.folder)))


def small_release(folder: Path) -> Release:
    """Write a release into a new folder."""
    folder.mkdir()
    hashes = {name: hashlib.sha256(name.encode()).hexdigest() for name in PACKAGES}
    locked = [f"{name}=={version} \\\n    --hash=sha256:{hashes[name]}\n" for name, version in PACKAGES.items()]
    (folder / LOCK).write_text("# A comment.\n" + "".join(locked))
    (folder / NAMES.sbom).write_text(json.dumps(_sbom(hashes)))
    document = {
        "@context": vex.CONTEXT,
        "author": "The authors",
        "timestamp": "2030-01-02T00:00:00Z",
        "version": 1,
        "statements": [
            {
                "vulnerability": {"name": "CVE-2030-1"},
                "timestamp": "2030-01-02T00:00:00Z",
                "products": [{"@id": vex.PRODUCT, "subcomponents": [{"@id": "pkg:pypi/h11@0.16.0"}]}],
                "status": "not_affected",
                "justification": "vulnerable_code_not_in_execute_path",
            }
        ],
    }
    (folder / NAMES.vex).write_text(vex.released(json.dumps(document), VERSION))
    for name in (NAMES.wheel, NAMES.operations, CLIENT):
        (folder / name).write_bytes(f"the content of {name}".encode())
    release = Release(folder)
    release.conclude()
    return release


def need_minisign() -> None:
    """Skip the test where the program is missing; in CI that is an error, so that success means that it ran."""
    if shutil.which("minisign") is None:
        missing = pytest.fail if "CI" in os.environ else pytest.skip
        missing("no minisign; apt-get install minisign")


def key_pair(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a throw-away key without a password, and return the files of its secret and of its public half."""
    secret, public = folder / f"{name}.key", folder / f"{name}.pub"
    command = ["minisign", "-G", "-W", "-s", secret, "-p", public]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    return secret, public


def _sbom(hashes: dict[str, str]) -> dict[str, Any]:
    return {
        "bomFormat": "CycloneDX",
        "metadata": {"component": {"name": "gatehouse", "version": VERSION}},
        "components": [
            {
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                "externalReferences": [{"hashes": [{"alg": "SHA-256", "content": hashes[name]}]}],
            }
            for name, version in PACKAGES.items()
        ],
    }
