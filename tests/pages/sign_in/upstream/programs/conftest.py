"""The application, whose connections to the programs end with the test."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.outbound import outbound_client
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.gateways.upstream_saml import HttpSamlConnectionGateway
from entrypoints.installation import Installation
from entrypoints.settings import LOOPBACK, Settings
from tests.application import VERSION
from tests.clock import SettableClock


@pytest.fixture
def settings() -> Settings:
    """Development mode, without rate limits."""
    return Settings(dev=True, rate_limits=False)


@pytest.fixture
async def installation(installation: Installation, clock: SettableClock) -> AsyncGenerator[Installation]:
    """The installation, with clients for connections that are closed at the end."""
    async with outbound_client(LOOPBACK) as client:
        requests = UpstreamRequests(client, version=VERSION)
        yield replace(
            installation,
            key_sets=HttpKeySets(client),
            upstream_connections=HttpConnectionGateway(requests, clock=clock),
            saml_connections=HttpSamlConnectionGateway(requests, processors=1),
        )
