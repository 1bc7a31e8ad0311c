"""Checking whether an HTTP server answers, by the status of one request."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from adapters.gateways.failures import RECEIVER, reason_of
from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.outbound import EVERYWHERE, of, outbound_client
from adapters.resolver import DnsResolver


class Unreachable(Exception):
    """There was no answer; the message is a sentence that says why."""


async def status_of(
    method: str,
    url: str,
    *,
    resolver: DnsResolver,
    headers: Mapping[str, str] | None = None,
) -> int:
    """Return the status of the answer to a request without a body; raise `Unreachable` when there is none.

    The caller limits the time.
    """
    async with outbound_client(EVERYWHERE, lookups=NameLookups(resolver)) as client:
        try:
            async with client.stream(method, url, headers=dict(headers or {}), extensions=of(None)) as response:
                return response.status_code
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(reason_of(error, RECEIVER)) from None
