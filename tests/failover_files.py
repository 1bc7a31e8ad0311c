"""The files of `ops/failover/` as programs run by them on this machine: with other addresses, paths and passwords.

What is replaced has to be in the files, so that a change of them cannot leave the drill with others.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.documents import ROOT

FOLDER: Final = ROOT / "ops" / "failover"
PATH: Final = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
PASSWORD: Final = "of-the-drill"
# Debian's Python has what Debian's Patroni needs, so it reads the file for us too.
_READ: Final = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))"


@dataclass(frozen=True)
class Program:
    """A program as it is started: its command and its environment."""

    command: list[str]
    environment: dict[str, str]


@dataclass(frozen=True)
class FailoverFiles:
    """The services of the compose file."""

    services: Mapping[str, Any]
    # Where PostgreSQL's programs are.
    binaries: Path

    def etcd(self, folder: Path, values: Mapping[str, str]) -> Program:
        """Return etcd of a machine, with its data in a folder."""
        return self._program("etcd", values, {"/var/lib/postgresql/etcd": str(folder / "etcd")})

    def patroni(self, folder: Path, values: Mapping[str, str]) -> Program:
        """Return Patroni of a machine, whose folder has its configuration, the socket of PostgreSQL and its data."""
        text = (FOLDER / "patroni.yml").read_text()
        (folder / "patroni.yml").write_text(_replaced(text, {"/var/run/postgresql": str(folder)}))
        paths = {
            "/etc/patroni/config.yml": str(folder / "patroni.yml"),
            "/var/lib/postgresql/patroni": str(folder),
            "/usr/lib/postgresql/15/bin": str(self.binaries),
        }
        return self._program("patroni", values, paths)

    def haproxy(self, values: Mapping[str, str]) -> Program:
        """Return the HAProxy of a machine."""
        program = self._program("haproxy", values, {"/etc/haproxy/haproxy.cfg": str(FOLDER / "haproxy.cfg")})
        return Program(program.command, program.environment | {"PROXY_ADDRESS": values["PROXY_ADDRESS"]})

    def _program(self, name: str, values: Mapping[str, str], paths: Mapping[str, str]) -> Program:
        service = self.services[name]
        given = service.get("environment", {})
        text = json.dumps([service["command"], given])
        assert all(path in text for path in paths), f"one of {', '.join(paths)} is not in the compose file any more"
        return Program(
            [_filled(part, values, paths) for part in service["command"]],
            {"PATH": PATH, "LANG": "C.UTF-8", **{key: _filled(one, values, paths) for key, one in given.items()}},
        )


def read_files(binaries: Path) -> FailoverFiles:
    """Return the files."""
    done = subprocess.run(
        ["/usr/bin/python3", "-c", _READ, FOLDER / "compose.yaml"], check=True, capture_output=True, text=True
    )
    return FailoverFiles(json.loads(done.stdout)["services"], binaries)


def passwords() -> dict[str, str]:
    """Return a value for each password that the file of a machine has to name."""
    names = re.findall(r"^(\w+_PASSWORD)=$", (FOLDER / "node.env.example").read_text(), re.MULTILINE)
    return dict.fromkeys(names, PASSWORD)


def _filled(text: str, values: Mapping[str, str], paths: Mapping[str, str]) -> str:
    """Return a text of the compose file with its variables filled in, and other paths."""
    filled = re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: values[found[1]], text)
    for old, new in paths.items():
        filled = filled.replace(old, new)
    return filled


def _replaced(text: str, changes: Mapping[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"{old} is not in the configuration any more"
        text = text.replace(old, new)
    return text
