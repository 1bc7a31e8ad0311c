"""Questions to the domain name system, asked with dnspython on Trio; `resolver.py` loads it with the first one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

import structlog
import trio
from dns import asyncresolver, exception, name, rdatatype, resolver

from core.outbound import Address, address_of

# For one question, all name servers and attempts together.
QUESTION_SECONDS_MAX: Final = 10.0
ATTEMPT_SECONDS_MAX: Final = 3.0
# The same for the addresses of a host, for which a delivery or a sign-in waits.
ADDRESS_SECONDS_MAX: Final = 4.5
ADDRESS_ATTEMPT_SECONDS_MAX: Final = 1.5
# A name with more records is not asked for a proof.
RECORDS_MAX: Final = 100
# Of each family; name servers of an organization may answer with thousands.
ADDRESSES_MAX: Final = 16

log = structlog.get_logger(__name__)


class Family(Enum):
    """The families of addresses, each with its type of record."""

    IPV4 = rdatatype.A
    IPV6 = rdatatype.AAAA


class DnsQuestions:
    """Asks one name server, or those of the system."""

    families: Final = tuple(Family)

    def __init__(self, server: tuple[str, int] | None) -> None:
        self._server = server

    async def texts(self, name: str) -> Sequence[str] | None:
        """Return the TXT records of a name; empty when it has none, None when no name server answered in time."""
        try:
            with trio.fail_after(QUESTION_SECONDS_MAX):
                # The question ends with a dot, so that no search list of the system is tried.
                answer = await self._asking(QUESTION_SECONDS_MAX, ATTEMPT_SECONDS_MAX).resolve(
                    f"{name}.", rdatatype.TXT, raise_on_no_answer=False
                )
        except resolver.NXDOMAIN:
            return ()
        except (exception.DNSException, OSError, trio.TooSlowError) as error:
            log.info("resolver.no_answer", name=name, reason=type(error).__name__)
            return None
        records = list(answer.rrset or ())[:RECORDS_MAX]
        return [b"".join(record.strings).decode("utf-8", "replace") for record in records]

    async def addresses(self, host: str, family: Family) -> Sequence[Address] | None:
        """Return the addresses of a host of one family; empty when it has none, None when no server answered in time.

        A name without a dot is looked for in the domains that the system searches, and aliases are followed.
        """
        try:
            asked = name.from_text(host, None)
        except exception.DNSException:
            # Too long, or with an empty label.
            return ()
        try:
            with trio.fail_after(ADDRESS_SECONDS_MAX):
                answer = await self._asking(ADDRESS_SECONDS_MAX, ADDRESS_ATTEMPT_SECONDS_MAX).resolve(
                    asked, family.value, raise_on_no_answer=False, search=True
                )
        except resolver.NXDOMAIN:
            return ()
        except (exception.DNSException, OSError, trio.TooSlowError):
            return None
        read = [address_of(record.address) for record in list(answer.rrset or ())[:ADDRESSES_MAX]]
        return [address for address in read if address is not None]

    def _asking(self, seconds_max: float, attempt_seconds_max: float) -> asyncresolver.Resolver:
        # The configuration of the system is read each time, because it changes with the network.
        asking = asyncresolver.Resolver(configure=self._server is None)
        if self._server is not None:
            host, asking.port = self._server
            asking.nameservers = [host]
            # Without configuration, the library would search the domain of this machine's name.
            asking.domain, asking.search = name.root, []
        asking.lifetime, asking.timeout = seconds_max, attempt_seconds_max
        return asking
