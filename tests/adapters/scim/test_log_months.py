"""The log of provisioning by month: which months its statements read, with two years of calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.log_times import LogTimes
from core.platform.log_months import Log
from core.positions import Position
from core.scim.log import CallSearch
from ports.unit_of_work import UnitOfWork
from tests.log_partitions import MONTHS, id_at, make_months, most_read, times
from tests.plans import explained_statements
from tests.world.builder import Builder

Transact = Callable[..., Any]


LOG: Final = Log.SCIM_LOG_ENTRIES
DAY: Final = timedelta(days=1)
PER_MONTH: Final = 100


@pytest.mark.one_server
def test_each_statement_reads_the_months_that_it_needs(
    connection: Connection, builder: Builder, transact: Transact
) -> None:
    make_months(connection, LOG)
    acme = builder.organization("acme")
    moments = list(times(PER_MONTH))
    connection.execute(
        """
        INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)
        SELECT id, %s, id, '', 'GET', '/Users', CASE n %% 10 WHEN 0 THEN 404 ELSE 200 END, created_at
        FROM   unnest(%s::uuid[], %s::timestamptz[]) WITH ORDINALITY AS one (id, created_at, n)
        """,
        (acme, [id_at(moment) for moment in moments], moments),
    )
    connection.execute("VACUUM ANALYZE scim_log_entries")
    month = CallSearch(times=LogTimes(since=MONTHS[5] + DAY, until=MONTHS[6] - DAY), only_failed=False)
    failed = CallSearch(times=LogTimes(since=MONTHS[5]), only_failed=True)
    every = CallSearch(times=LogTimes(), only_failed=False)
    after = Position(at=MONTHS[6], id=id_at(MONTHS[6] + timedelta(days=3)))
    # The newest begin with the partition after the last month, which is empty.
    reads: dict[str, tuple[Callable[[UnitOfWork, UUID], object], int]] = {
        "the newest calls": (lambda uow, of: uow.scim_log.found(of, every, after=None, limit=50), 2),
        "the calls of a month": (lambda uow, of: uow.scim_log.found(of, month, after=None, limit=500), 1),
        "the next page of failures": (lambda uow, of: uow.scim_log.found(of, failed, after=after, limit=10), 2),
        "how many calls of a month": (lambda uow, of: uow.scim_log.count(of, month, counted_max=1000), 1),
        # Each tenth call has failed.
        "the last failures": (lambda uow, of: uow.scim_log.failures(of, limit=10), 3),
    }
    too_many: dict[str, int] = {}

    for name, (read, partitions_max) in reads.items():
        with explained_statements(connection) as plans:
            transact(read, acme)
        assert plans, name
        if (partitions := most_read(plans, LOG)) > partitions_max:
            too_many[name] = partitions

    assert too_many == {}
