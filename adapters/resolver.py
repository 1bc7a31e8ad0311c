"""The domain name system, asked with dnspython on Trio: one name server of a setting, or those of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import structlog
import trio
from dns import asyncresolver, exception, rdatatype, resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

# For one question, all name servers and attempts together.
QUESTION_SECONDS_MAX: Final = 10.0
ATTEMPT_SECONDS_MAX: Final = 3.0
# A name with more records is not asked for a proof.
RECORDS_MAX: Final = 100

log = structlog.get_logger(__name__)


class DnsResolver:
    """The port `Resolver`; nothing is cached, because a user who has published a record waits for it."""

    def __init__(self, server: tuple[str, int] | None = None) -> None:
        self._server = server

    async def txt_records(self, name: str) -> Sequence[str] | None:
        """Return the TXT records of a name; empty when it has none, None when no name server answered in time."""
        try:
            with trio.fail_after(QUESTION_SECONDS_MAX):
                # The question ends with a dot, so that no search list of the system is tried.
                answer = await self._resolver().resolve(f"{name}.", rdatatype.TXT, raise_on_no_answer=False)
        except resolver.NXDOMAIN:
            return ()
        except (exception.DNSException, OSError, trio.TooSlowError) as error:
            log.info("resolver.no_answer", name=name, reason=type(error).__name__)
            return None
        records = list(answer.rrset or ())[:RECORDS_MAX]
        return [b"".join(record.strings).decode("utf-8", "replace") for record in records]

    def _resolver(self) -> asyncresolver.Resolver:
        # The configuration of the system is read each time, because it changes with the network.
        asked = asyncresolver.Resolver(configure=self._server is None)
        if self._server is not None:
            host, asked.port = self._server
            asked.nameservers = [host]
        asked.lifetime, asked.timeout = QUESTION_SECONDS_MAX, ATTEMPT_SECONDS_MAX
        return asked
