"""The metrics refresher: it counts in turn, reads otherwise, and leaves the gauges when the database is unavailable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.metrics_refresher import COUNT_SECONDS as PERIOD_SECONDS
from actors.metrics_refresher import FIRST_SECONDS, READ_SECONDS, REST_SECONDS, MetricsRefresher
from actors.timekeeper import Timekeeper
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.key_certificates import WARNING
from core.platform.health_figures import Backlog, PlatformFigures
from core.platform.system import Cluster, ClusterNode
from ports.database import Database
from ports.listening import PollingRole
from ports.mailboxes import Changed, Figure
from ports.metrics_of_work import FolderSpace, ProcessUsage
from tests.mailboxes import keep_time

FIGURES = PlatformFigures(
    active_users=8, organizations=3, mfa_users=2, queued_mails=3, queued_deliveries=2, certificates_ending=1
)


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
        # Figures ask every node of a cluster.
        self.lacks_node = False
        self.platform_figures: PlatformFigures | None = FIGURES
        self.used: list[tuple[str, float]] = []
        self.shrunk = 0
        self.cpu_seconds = 0.0
        self.connections = Statistics()
        self.figures = self
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.clusters = self
        self.cluster: Cluster | None = None
        self.refresher: MetricsRefresher | None = None
        self.timekeeper: Timekeeper | None = None

    def statistics(self) -> Statistics:
        return self.connections

    def shrink(self) -> None:
        self.shrunk += 1

    def platform(self) -> PlatformFigures | None:
        return self.platform_figures

    def count(self, waiting: Backlog, *, certificates_before: datetime) -> PlatformFigures | None:
        assert certificates_before == self.now + WARNING
        assert waiting == self.backlog()
        return self.platform_figures

    def measure(self) -> Cluster | None:
        return self.cluster

    def backlog(self) -> Backlog:
        if self.lacks_node:
            raise ServiceUnavailable(retry_after_seconds=1)
        return Backlog(mail_seconds=90, failing_streams=2, is_on_cluster=self.cluster is not None)

    async def usage(self) -> ProcessUsage:
        self.cpu_seconds += 0.5
        return ProcessUsage(cpu_seconds=self.cpu_seconds, resident_bytes=1_000, proportional_bytes=600)

    async def space(self) -> FolderSpace | None:
        return FolderSpace(free_bytes=30, size_bytes=100)

    def count_accounts(self) -> None:
        self.platform_figures = FIGURES

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._run("read", use_case)

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._run("transact", use_case)

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return self._run("step", use_case, *args)

    def _run(self, method: str, use_case: Callable[..., Any], *args: Any) -> Any:
        self.used.append((f"{method} {use_case.__name__}", trio.current_time()))
        if self.is_unavailable:
            raise ServiceUnavailable(retry_after_seconds=1)
        return use_case(self, *args)

    def on_behalf_of(
        self,
        origin: object,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
        organization_credential: object = None,
        use: object = None,
    ) -> Database:
        return self


def started(ports: FakePorts, nursery: trio.Nursery, *, is_ours: bool = True) -> PrometheusMetrics:
    """Start a refresher, with a timekeeper in a process that polls or listens."""
    metrics = PrometheusMetrics(version="test")
    ports.refresher = MetricsRefresher(
        database=ports, pool=ports, metrics=metrics, usage=ports.usage, space=ports.space
    )
    ports.timekeeper = keep_time(nursery, ports.refresher)
    ports.timekeeper.enter(PollingRole.POLLING if is_ours else PollingRole.LISTENING)
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
        "sso_saml_certificates_ending 1.0",
        'sso_db_pool_connections_total{backend="postgres"} 4.0',
        'sso_db_pool_connections_idle{backend="postgres"} 1.0',
        'sso_db_pool_connections_max{backend="postgres"} 10.0',
        'sso_mail_oldest_waiting_seconds{server="platform"} 90.0',
        "sso_siem_streams_failing 2.0",
        'sso_worker_cpu_seconds_total{worker="0"} 0.5',
        "sso_data_folder_free_bytes 30.0",
        "sso_data_folder_size_bytes 100.0",
        'sso_worker_memory_bytes{kind="resident",worker="0"} 1000.0',
        'sso_worker_memory_bytes{kind="proportional",worker="0"} 600.0',
    } <= set(lines(metrics))


async def test_the_gauges_are_at_most_30_seconds_old_although_one_process_counts_and_another_one_reads(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    metrics = started(ports, nursery)
    await wait_all_tasks_blocked()
    ports.platform_figures = PlatformFigures(
        active_users=9, organizations=3, mfa_users=2, queued_mails=0, queued_deliveries=0, certificates_ending=0
    )
    ports.connections = Statistics(idle=4)

    await trio.sleep(PERIOD_SECONDS + 0.5)

    assert PERIOD_SECONDS + READ_SECONDS == 30
    assert "sso_active_users_total 9.0" in lines(metrics)
    assert 'sso_db_pool_connections_idle{backend="postgres"} 4.0' in lines(metrics)


async def test_a_process_whose_turn_it_is_not_any_more_tells_nothing_of_what_waits(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    metrics = started(FakePorts(), nursery, is_ours=False)

    await wait_all_tasks_blocked()

    assert 'sso_mail_oldest_waiting_seconds{server="platform"} 0.0' in lines(metrics)


async def test_the_nodes_of_a_cluster_are_exposed_only_where_there_is_one(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    metrics = started(ports, nursery)
    await wait_all_tasks_blocked()
    assert [line for line in lines(metrics) if line.startswith("sso_cluster_node")] == []
    ports.cluster = Cluster(nodes=[ClusterNode(name="w:5432", is_up=True, shards=4, bytes=7)], local_logs=[])

    # The first period learns that there is one.
    await trio.sleep(2 * PERIOD_SECONDS + 0.5)

    assert {'sso_cluster_nodes{state="up"} 1.0', 'sso_cluster_node_shards{node="w:5432"} 4.0'} <= set(lines(metrics))

    ports.lacks_node = True
    ports.cluster = Cluster(nodes=[ClusterNode(name="w:5432", is_up=False, shards=4, bytes=0)], local_logs=[])
    await trio.sleep(PERIOD_SECONDS)

    # Also while the figures are refused.
    assert {'sso_cluster_nodes{state="down"} 1.0', "sso_active_users_total 8.0"} <= set(lines(metrics))


async def test_without_a_database_the_gauges_keep_their_last_values(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    metrics = started(ports, nursery)
    await wait_all_tasks_blocked()
    ports.is_unavailable = True

    await trio.sleep(10 * PERIOD_SECONDS)

    assert len(ports.used) >= 10
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

    for outage in (first_outage, second_outage):
        reported = [(line["event"], line["log_level"]) for line in outage if line["event"] != "actor.told"]
        assert reported == [("metrics.database_away", "warning")]


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


async def test_the_process_whose_turn_it_is_counts_and_counts_all_accounts_only_once(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    ports.platform_figures = None
    started(ports, nursery)

    await trio.sleep(2.5 * PERIOD_SECONDS)

    # It learns once that the database is no cluster.
    first = ["read measure", "read backlog", "step count", "transact count_accounts", "step count"]
    assert [used for used, _ in ports.used] == [*first, *2 * ["read backlog", "step count"]]


async def test_the_other_processes_read_what_it_has_kept_and_the_first_figures_soon(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports, began_at = FakePorts(), trio.current_time()
    ports.platform_figures = None
    metrics = started(ports, nursery, is_ours=False)
    await trio.sleep(1.5 * FIRST_SECONDS)
    ports.platform_figures = FIGURES

    await trio.sleep(2 * FIRST_SECONDS + READ_SECONDS)

    assert [(used, at - began_at) for used, at in ports.used] == [
        ("read platform", at) for at in (0, FIRST_SECONDS, 2 * FIRST_SECONDS, 2 * FIRST_SECONDS + READ_SECONDS)
    ]
    assert "sso_active_users_total 8.0" in lines(metrics)


async def test_idle_connections_are_closed_before_the_pool_is_measured(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    started(ports, nursery)

    await trio.sleep(2.5 * PERIOD_SECONDS)

    assert ports.shrunk == 3


async def test_what_has_changed_is_measured_soon_and_a_flood_of_changes_at_intervals(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports, began_at = FakePorts(), trio.current_time()
    started(ports, nursery)
    await trio.sleep(REST_SECONDS + 1)
    assert ports.refresher is not None

    for _ in range(100):
        ports.refresher.box.send(Changed(Figure.BACKLOG))
        await trio.sleep(REST_SECONDS / 50)

    # In the process whose turn it is, they are counted.
    counted = [at - began_at for used, at in ports.used if used == "step count"]
    assert counted[:3] == pytest.approx([0, REST_SECONDS + 1, 2 * REST_SECONDS + 1])
    assert len(counted) <= 4


async def test_a_process_whose_turn_begins_counts_also_while_changes_leave_no_period(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    ports = FakePorts()
    started(ports, nursery, is_ours=False)
    assert ports.refresher is not None
    assert ports.timekeeper is not None
    for role in (PollingRole.LISTENING, PollingRole.POLLING, PollingRole.LISTENING):
        ports.timekeeper.enter(role)
        ports.used.clear()
        for _ in range(10):
            # After the rest, and before the period is over.
            await trio.sleep(REST_SECONDS + 1)
            ports.refresher.box.send(Changed(Figure.BACKLOG))
            await wait_all_tasks_blocked()

        assert ("step count" in [used for used, _ in ports.used]) is (role is PollingRole.POLLING)
