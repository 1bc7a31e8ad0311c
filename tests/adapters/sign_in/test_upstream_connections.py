"""What is remembered of the providers of organizations, which may claim anything about themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from trio.testing import MockClock

from adapters.gateways import upstream_connections
from adapters.gateways.upstream_connections import REMEMBERED_SECONDS
from tests.application import connection_gateway
from tests.openid_provider import running_openid_provider

ORGANIZATION_ID = UUID(int=1)


@pytest.fixture
def stopped_clock() -> MockClock:
    """Time that passes when a test says so."""
    return MockClock()


async def test_a_provider_that_nobody_asks_is_forgotten_when_the_next_one_is_read(stopped_clock: MockClock) -> None:
    gateway = connection_gateway(lambda: datetime(2026, 2, 3, tzinfo=UTC))
    with running_openid_provider() as one, running_openid_provider() as other:
        await gateway.discover(ORGANIZATION_ID, one.url)
        await gateway.discover(ORGANIZATION_ID, other.url)
        assert gateway.remembered_count == 2

        stopped_clock.jump(REMEMBERED_SECONDS + 1)
        await gateway.discover(ORGANIZATION_ID, one.url)

    assert gateway.remembered_count == 1


async def test_of_too_many_providers_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream_connections, "ISSUERS_MAX", 2)
    gateway = connection_gateway(lambda: datetime(2026, 2, 3, tzinfo=UTC))
    with running_openid_provider() as one, running_openid_provider() as two, running_openid_provider() as three:
        for provider in (one, two, three):
            await gateway.discover(ORGANIZATION_ID, provider.url)
        asked = len(three.requests)
        await gateway.discover(ORGANIZATION_ID, three.url)

    assert gateway.remembered_count == 2
    assert len(three.requests) == asked
