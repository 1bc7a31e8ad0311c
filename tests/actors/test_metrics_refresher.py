"""The refresher: gauges are fresh twice a minute, and stand still without fuss while the database is away."""

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

FIGURES = PlatformFigures(active_users=8, organizations=3, mfa_users=2, queued_mails=5)


@dataclass
class Statistics:
    """How the fake pool is doing."""

    total: int = 4
    idle: int = 1
    maximum: int = 10


class Installation:
    """The ports `Database`, `Figures` and `ConnectionPool`, as the test wants them to be."""

    def __init__(self) -> None:
        self.is_away = False
        self.answers = FIGURES
        self.asked_at: list[float] = []
        self.connections = Statistics()
        self.figures = self

    def statistics(self) -> Statistics:
        return self.connections

    def platform(self) -> PlatformFigures:
        return self.answers

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.asked_at.append(trio.current_time())
        if self.is_away:
            raise ServiceUnavailable(retry_after_seconds=1)
        return use_case(self, *args, **kwargs)

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("looking needs no transaction")

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("looking changes nothing")

    def on_behalf_of(self, origin: object, session_id: object = None, client_id: object = None) -> Database:
        return self


def started(installation: Installation, nursery: trio.Nursery) -> PrometheusMetrics:
    metrics = PrometheusMetrics(version="test")
    nursery.start_soon(MetricsRefresher(database=installation, pool=installation, metrics=metrics).run)
    return metrics


def lines(metrics: PrometheusMetrics) -> list[str]:
    return metrics.exposition().decode().splitlines()


async def test_the_gauges_are_set_at_once(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    metrics = started(Installation(), nursery)

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
    installation = Installation()
    metrics = started(installation, nursery)
    await wait_all_tasks_blocked()
    installation.answers = PlatformFigures(active_users=9, organizations=3, mfa_users=2, queued_mails=0)
    installation.connections = Statistics(idle=4)

    await trio.sleep(30.5)

    assert PERIOD_SECONDS == 30
    assert "sso_active_users_total 9.0" in lines(metrics)
    assert 'sso_db_pool_connections_idle{backend="postgres"} 4.0' in lines(metrics)


async def test_without_a_database_the_gauges_keep_their_last_value(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    installation = Installation()
    metrics = started(installation, nursery)
    await wait_all_tasks_blocked()
    installation.is_away = True

    await trio.sleep(10 * PERIOD_SECONDS)

    assert len(installation.asked_at) >= 10
    assert "sso_active_users_total 8.0" in lines(metrics)


async def test_an_absence_of_the_database_is_logged_once(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    installation = Installation()
    installation.is_away = True

    with structlog.testing.capture_logs() as first_absence:
        started(installation, nursery)
        await trio.sleep(10 * PERIOD_SECONDS)
    installation.is_away = False
    await trio.sleep(2 * PERIOD_SECONDS)
    installation.is_away = True
    with structlog.testing.capture_logs() as second_absence:
        await trio.sleep(10 * PERIOD_SECONDS)

    expected = [("metrics.database_away", "warning")]
    assert [(line["event"], line["log_level"]) for line in first_absence] == expected
    assert [(line["event"], line["log_level"]) for line in second_absence] == expected


async def test_the_gauges_follow_when_the_database_is_back(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    installation = Installation()
    installation.is_away = True
    metrics = started(installation, nursery)
    # Between two of its turns, so that neither end of the sleep falls on one.
    await trio.sleep(2.5 * PERIOD_SECONDS)
    installation.is_away = False

    await trio.sleep(PERIOD_SECONDS)

    assert "sso_active_users_total 8.0" in lines(metrics)
