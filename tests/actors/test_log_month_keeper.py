"""The keeper of logs by month: it makes the months ahead, and drops those that are over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.housekeeper import LogMonthKeeper
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.prometheus import PrometheusMetrics
from core.errors import ServiceUnavailable
from core.platform import log_months
from core.platform.log_months import Log
from ports.database import Database
from tests.clock import SettableClock
from tests.mailboxes import RecordedMailboxes

LOG = Log.SCIM_LOG_ENTRIES


async def test_the_months_ahead_are_made_and_those_that_are_over_dropped(
    database: PostgresDatabase, connection: Connection, clock: SettableClock
) -> None:
    keeper = LogMonthKeeper(database=database, metrics=PrometheusMetrics(version="1"), mailboxes=RecordedMailboxes())
    clock.now = datetime(2031, 11, 20, tzinfo=UTC)

    def months() -> list[str]:
        found = connection.execute(
            "SELECT right(name, 7) FROM log_partitions WHERE log = %s AND first_id IS NOT NULL ORDER BY name",
            (LOG.value,),
        ).fetchall()
        return [name for (name,) in found]

    with capture_logs() as lines:
        await keeper.work()

    assert months() == ["2031_11", "2031_12", "2032_01", "2032_02"]
    of_log = [line for line in lines if line["log"] == LOG.value]
    assert of_log[0] == {"event": "log_months.made", "log": LOG.value, "month": "2031-11", "log_level": "info"}
    # Months that other tests have left are dropped as well.
    made = [line["month"] for line in of_log if line["event"] == "log_months.made"]
    assert made == ["2031-11", "2031-12", "2032-01", "2032-02"]

    assert LOG.kept_for is not None
    clock.now = datetime(2031, 12, 1, tzinfo=UTC) + LOG.kept_for
    with capture_logs() as lines:
        await keeper.work()

    assert months() == ["2031_12", "2032_01", "2032_02", "2032_03"]
    dropped = {"event": "log_months.dropped", "log": LOG.value, "partition": f"{LOG.value}_2031_11"}
    assert [line for line in lines if line["log"] == LOG.value][-1] == {**dropped, "log_level": "info"}


class BusyDatabase:
    """A fake database in which others hold the first log, and no log needs anything else."""

    def __init__(self) -> None:
        self.kept_for = dict[Log, timedelta | None]()

    async def transact(self, use_case: object, log: Log, *arguments: Any) -> None:
        await trio.lowlevel.checkpoint()
        if log is next(iter(Log)) and use_case is log_months.make_next:
            raise ServiceUnavailable(retry_after_seconds=1)
        if arguments:
            [self.kept_for[log]] = arguments


async def test_a_log_that_others_hold_is_kept_later_and_the_others_now(autojump_clock: MockClock) -> None:
    busy = BusyDatabase()
    keeper = LogMonthKeeper(
        database=cast("Database", cast("Any", busy)),
        metrics=PrometheusMetrics(version="1"),
        mailboxes=RecordedMailboxes(),
        kept_for={LOG: timedelta(days=7)},
    )

    with capture_logs() as lines:
        await keeper.work()

    first, *others = Log
    assert [(line["event"], line["log"]) for line in lines] == [("log_months.postponed", first.value)]
    assert busy.kept_for == {log: timedelta(days=7) if log is LOG else log.kept_for for log in others}
