"""The names of the files of a release."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCK: Final = "requirements.lock"
SUMS: Final = "SHA256SUMS"
SIGNATURE: Final = "SHA256SUMS.minisig"
_VERSION: Final = re.compile(r"\d+\.\d+\.\d+(?:[a-z]+\d+)?")


@dataclass(frozen=True, slots=True)
class Names:
    """The names of what a version consists of, beside the lock, the wheel of the Python package and the checksums."""

    version: str

    @property
    def wheel(self) -> str:
        """The program."""
        return f"gatehouse-{self.version}-py3-none-any.whl"

    @property
    def operations(self) -> str:
        """The recipe of the image, and what a machine needs beside the program."""
        return f"gatehouse-{self.version}-operations.tar.gz"

    @property
    def sbom(self) -> str:
        """The list of packages."""
        return f"gatehouse-{self.version}.cdx.json"

    @property
    def vex(self) -> str:
        """What is known of vulnerabilities of these packages."""
        return f"gatehouse-{self.version}.openvex.json"

    @property
    def provenance(self) -> str:
        """From what, and how, the files were made."""
        return f"gatehouse-{self.version}.intoto.json"

    @property
    def all(self) -> set[str]:
        """All of them, and the lock."""
        return {self.wheel, self.operations, self.sbom, self.vex, self.provenance, LOCK}


def is_version(text: str) -> bool:
    """Return whether a text is a version of Gatehouse."""
    return _VERSION.fullmatch(text) is not None


def is_client_wheel(name: str) -> bool:
    """Return whether a file is the wheel of the Python package, which has a version of its own."""
    return re.fullmatch(r"gatehouse_client-\d+\.\d+\.\d+(?:[a-z]+\d+)?-py3-none-any\.whl", name) is not None


def version_in(folder: Path) -> str | None:
    """Return the version whose list of packages is in a folder; None unless it is one."""
    found = [file.name.removeprefix("gatehouse-").removesuffix(".cdx.json") for file in folder.glob("*.cdx.json")]
    return found[0] if len(found) == 1 and is_version(found[0]) else None
