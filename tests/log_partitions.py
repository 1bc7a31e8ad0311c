"""Months of a log for tests: 24 after the entries from before there were months, and which of them a plan reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from adapters.postgres.driver.connection import Connection
from core.ids import first_id_at
from core.platform.log_months import Log
from tests.plans import nodes_of, table_of

MONTHS = [datetime(2027 + month // 12, month % 12 + 1, 1, tzinfo=UTC) for month in range(24)]
# Beside the months there are what was written before them, and what comes after them.
PARTITIONS = len(MONTHS) + 2


def make_months(connection: Connection, *logs: Log) -> None:
    """Make the months of logs."""
    for log in logs:
        for month in MONTHS:
            connection.execute("SELECT add_log_month(%s, %s)", (log.value, month.date()))


def times(per_month: int) -> Sequence[datetime]:
    """Return so many times of each month, and of the month before the first one."""
    months = [MONTHS[0] - timedelta(days=20), *MONTHS]
    return [month + timedelta(hours=1 + number) for month in months for number in range(per_month)]


def id_at(moment: datetime, number: int = 1) -> UUID:
    """Return an id of this time."""
    return UUID(int=first_id_at(moment).int + number)


def partitions_read(plan: dict[str, Any], log: Log) -> set[str]:
    """Return the partitions of a log that the execution of a plan read."""
    return {
        node["Relation Name"]
        for node in nodes_of(plan)
        if node["Node Type"] != "ModifyTable"
        and table_of(node.get("Relation Name", "")) == log.value
        and node["Actual Loops"] > 0
    }


def most_read(plans: Iterable[dict[str, Any]], log: Log) -> int:
    """Return how many partitions that plan read that read most."""
    return max(len(partitions_read(plan, log)) for plan in plans)
