"""The metrics refresher: it sets the gauges twice a minute, and leaves them while the database is unavailable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.metrics_refresher import PERIOD_SECONDS, MetricsRefresher
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.platform.health_figures import PlatformFigures

if TYPE_CHECKING:
    from collections.abc import Callable

    from ports.database import Database

FIGURES = PlatformFigures(active_users=8, organizations=3, mfa_users=2, queued_mails=3, queued_deliveries=2)


@dataclass
class Statistics:
    """The statistics of the fake pool."""

    total: int = 4
    idle: int = 1
    maximum: int = 10


class FakePorts:
    """A fake of the ports `Database`, `Figures` and `ConnectionPool`."""

    def __init__(self) -> None:
        self.is_unavailable = False
        self.platform_figures = FIGURES
        self.read_at: list[float] = []
        self.connections = Statistics()
        self.figures = self

    def statistics(self) -> Statistics:
        return self.connections

    def platform(self) -> PlatformFigures:
        return self.platform_figures

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.read_at.append(trio.current_time())
        if self.is_unavailable:
            raise ServiceUnavailable(retry_after_seconds=1)
        return use_case(self, *args, **kwargs)

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the refresher called transact() instead of read()")

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("the refresher called step() instead of read()")

    def on_behalf_of(
        self,
        origin: object,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
    ) -> Database:
        return self


def started(ports: FakePorts, nursery: trio.Nursery) -> PrometheusMetrics:
    metrics = PrometheusMetrics(version="test")
    nursery.start_soon(MetricsRefresher(database=ports, pool=ports, metrics=metrics).run)
    return metrics


def lines(metrics: PrometheusMetrics) -> list[str]:
    return metrics.exposition().decode().splitlines()


async def test_the_gauges_are_set_at_the_start(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    metrics = started(FakePorts(), nursery)

    await wait_all_tasks_blocked()

    assert {
        "sso_active_users_total 8.0",
        "sso_total_organizations 3.0",
        "sso_mfa_enabled_users_total 2.0",
        "sso_mfa_adoption_percentage 25.0",
        "sso_job_queue_depth 5.0",
        'sso_db_pool_connections_total{backend="postgres"} 4.0',
        'sso_db_pool_connections_idle{backend="postgres"} 1.0',
        'sso_db_pool_connections_max{backend="postgres"} 10.0',
    } <= set(lines(metrics))


async def test_the_gauges_are_refreshed_every_30_seconds(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    ports = FakePorts()
    metrics = started(ports, nursery)
    await wait_all_tasks_blocked()
    ports.platform_figures = PlatformFigures(
        active_users=9, organizations=3, mfa_users=2, queued_mails=0, queued_deliveries=0
    )
    ports.connections = Statistics(idle=4)

    await trio.sleep(30.5)

    assert PERIOD_SECONDS == 30
    assert "sso_active_users_total 9.0" in lines(metrics)
    assert 'sso_db_pool_connections_idle{backend="postgres"} 4.0' in lines(metrics)


async def test_without_a_database_the_gauges_keep_their_last_values(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    metrics = started(ports, nursery)
    await wait_all_tasks_blocked()
    ports.is_unavailable = True

    await trio.sleep(10 * PERIOD_SECONDS)

    assert len(ports.read_at) >= 10
    assert "sso_active_users_total 8.0" in lines(metrics)


async def test_each_outage_of_the_database_is_logged_once(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    ports = FakePorts()
    ports.is_unavailable = True

    with structlog.testing.capture_logs() as first_outage:
        started(ports, nursery)
        await trio.sleep(10 * PERIOD_SECONDS)
    ports.is_unavailable = False
    await trio.sleep(2 * PERIOD_SECONDS)
    ports.is_unavailable = True
    with structlog.testing.capture_logs() as second_outage:
        await trio.sleep(10 * PERIOD_SECONDS)

    expected = [("metrics.database_away", "warning")]
    assert [(line["event"], line["log_level"]) for line in first_outage] == expected
    assert [(line["event"], line["log_level"]) for line in second_outage] == expected


async def test_the_gauges_are_refreshed_when_the_database_is_back(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    ports.is_unavailable = True
    metrics = started(ports, nursery)
    # Half a period off, so that neither end of the sleep coincides with a refresh.
    await trio.sleep(2.5 * PERIOD_SECONDS)
    ports.is_unavailable = False

    await trio.sleep(PERIOD_SECONDS)

    assert "sso_active_users_total 8.0" in lines(metrics)
