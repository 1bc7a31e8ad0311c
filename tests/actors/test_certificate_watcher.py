"""The watcher of certificates: it warns in batches."""

from __future__ import annotations

from typing import Any, cast

import trio
from trio.testing import MockClock

from actors.certificates import BATCH_ROWS_MAX, CertificateWatcher
from adapters.prometheus import PrometheusMetrics
from core.saml import certificates
from core.sign_in.upstream.connections import connection_keys, metadata_validity
from ports.database import Database
from tests.mailboxes import RecordedMailboxes, let_work


class FakeDatabase:
    """A fake database of certificates that end soon, whose owners got no warning; it records all other use cases."""

    def __init__(self, unwarned: int) -> None:
        self.unwarned = unwarned
        self.batches: list[int] = []
        self.others: list[object] = []

    async def transact(self, use_case: object, limit: int) -> int:
        await trio.lowlevel.checkpoint()
        if use_case is not certificates.warn:
            self.others.append(use_case)
            return len(self.others) % 2
        warned = min(self.unwarned, limit)
        self.unwarned -= warned
        self.batches.append(warned)
        return warned


async def test_all_owners_are_warned_in_batches(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    database, metrics = FakeDatabase(BATCH_ROWS_MAX + 3), PrometheusMetrics(version="1.2.3")
    watcher = CertificateWatcher(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )
    nursery.start_soon(watcher.run)

    await let_work(watcher)
    first = list(database.batches)
    others = list(database.others)
    await let_work(watcher)

    assert first == [BATCH_ROWS_MAX, 3]
    assert others == [connection_keys.warn, metadata_validity.warn]
    assert database.batches == [*first, 0]
    exposed = metrics.exposition().decode()
    assert f'sso_job_processing_duration_seconds_count{{job_type="{CertificateWatcher.job_type}"}} 2.0' in exposed
