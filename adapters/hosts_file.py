"""The addresses that the hosts file of this machine gives to names (hosts(5)); it is asked before the DNS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from core.outbound import Address

HOSTS_FILE: Final = Path("/etc/hosts")
LOCALHOST: Final = "localhost"
_LOOPBACK: Final = (ip_address("127.0.0.1"), ip_address("::1"))


class HostsFile:
    """The entries of a hosts file, read again when the file was changed."""

    def __init__(self, path: Path = HOSTS_FILE) -> None:
        self._path = path
        self._read_at: tuple[int, int, int] | None = None
        self._entries: Mapping[str, Sequence[Address]] = {}

    def addresses_of(self, name: str) -> Sequence[Address]:
        """Return the addresses of a name; empty when the file does not have it.

        Names of `localhost` are this machine's also without an entry (RFC 6761, 6.3).
        """
        self._refresh()
        wanted = name.lower().removesuffix(".")
        found = self._entries.get(wanted, ())
        if not found and wanted.rpartition(".")[2] == LOCALHOST:
            return list(_LOOPBACK)
        return found

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version != self._read_at:
                self._entries = _entries(self._path.read_text("utf-8", "replace"))
                self._read_at = version
        except OSError:
            # Without the file, every name is asked for.
            self._entries, self._read_at = {}, None


def _entries(text: str) -> Mapping[str, Sequence[Address]]:
    found: dict[str, list[Address]] = {}
    for line in text.splitlines():
        given, *names = line.partition("#")[0].split() or [""]
        try:
            # The zone of a link-local address is no part of it; such an address is never allowed.
            address = ip_address(given.partition("%")[0])
        except ValueError:
            continue
        for name in names:
            found.setdefault(name.lower().removesuffix("."), []).append(address)
    return found
