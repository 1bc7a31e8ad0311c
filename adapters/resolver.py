"""The domain name system behind the hosts file: one name server of a setting, or those of the system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

import trio

from adapters.hosts_file import HostsFile
from core.outbound import Address

if TYPE_CHECKING:
    from adapters.dns_questions import DnsQuestions, Family

# When one family of addresses is known, how long the answer about the other one is awaited.
OTHER_FAMILY_SECONDS_MAX: Final = 0.5


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
