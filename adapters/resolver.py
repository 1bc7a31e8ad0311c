"""The domain name system behind the hosts file: one name server of a setting, or those of the system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import ip_address
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Final

import trio

from core.outbound import Address

if TYPE_CHECKING:
    from adapters.dns_questions import DnsQuestions, Family

# When one family of addresses is known, how long the answer about the other one is awaited.
OTHER_FAMILY_SECONDS_MAX: Final = 0.5
HOSTS_FILE: Final = Path("/etc/hosts")
LOCALHOST: Final = "localhost"
_LOOPBACK: Final = (ip_address("127.0.0.1"), ip_address("::1"))


class DnsResolver:
    """The port `Resolver`, and the addresses of hosts; nothing is cached, because who has published a record waits."""

    def __init__(self, server: tuple[str, int] | None = None, *, hosts: HostsFile | None = None) -> None:
        self._server = server
        self._hosts = hosts or HostsFile()

    async def txt_records(self, name: str) -> Sequence[str] | None:
        """Return the TXT records of a name; empty when it has none, None when no name server answered in time."""
        return await self._questions.texts(name)

    async def addresses(self, host: str) -> Sequence[Address] | None:
        """Return the addresses of a host by the hosts file or else the DNS, those of both families in turn.

        Empty when it has none, None when no name server answered in time. A name without a dot is looked for in the
        domains that the system searches, and aliases are followed.
        """
        written = self._hosts.addresses_of(host)
        if written:
            return written
        answers: dict[Family, Sequence[Address] | None] = dict.fromkeys(self._questions.families)
        async with trio.open_nursery() as nursery:
            for family in answers:
                nursery.start_soon(self._ask, host, family, answers, nursery.cancel_scope)
        found = answers.values()
        in_turn = [one for one in chain(*zip_longest(*(known or () for known in found))) if one is not None]
        return None if not in_turn and None in found else in_turn

    async def _ask(
        self,
        host: str,
        family: Family,
        answers: dict[Family, Sequence[Address] | None],
        limit: trio.CancelScope,
    ) -> None:
        """Add the answer about one family; when it has addresses, limit the time for the other."""
        found = answers[family] = await self._questions.addresses(host, family)
        if found:
            limit.deadline = min(limit.deadline, trio.current_time() + OTHER_FAMILY_SECONDS_MAX)

    @cached_property
    def _questions(self) -> DnsQuestions:
        from adapters.dns_questions import DnsQuestions  # noqa: PLC0415 - the library takes 2.6 MiB

        return DnsQuestions(self._server)


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
