"""Making and dropping a month of a large log: how long that takes, and how long a reader waits meanwhile."""

from __future__ import annotations

import tempfile
import threading
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from core.ids import first_id_at
from ops.benchmarks.comparing import Spread
from ops.benchmarks.progress import Say
from ops.benchmarks.standing import StandingFigure

# A year of twenty million rows.
ROWS: Final = 20_000_000 // 12
MONTHS: Final = (date(2030, 1, 1), date(2030, 2, 1), date(2030, 3, 1))
WAIT_MS_MAX: Final = 1000.0
_MILLISECONDS: Final = 1000.0
_FILL: Final = """
    INSERT INTO login_events (id, user_id, organization_id, provider, success, ip_address, user_agent, risk_score,
                              risk_factors, created_at)
    SELECT (overlay(%(first)s::text PLACING lpad(to_hex(n), 12, '0') FROM 25))::uuid, u.id, u.id, 'password', true,
           '203.0.113.7', 'Mozilla/5.0 (X11; Linux x86_64)', 0, '{}', %(at)s
    FROM   users u, generate_series(1, %(rows)s) AS n
"""
_USER: Final = """
    INSERT INTO users (id, email, name, created_at, updated_at)
    VALUES (gen_random_uuid(), 'a@example.com', 'A', now(), now())
"""


def log_months(say: Say) -> list[StandingFigure]:
    """Fill a month of the log of sign-ins, and drop it while another connection reads the log all the time."""
    with (
        tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder,
        EmbeddedPostgres(Path(folder) / "data") as url,
    ):
        with migrations.connected(url) as connection:
            migrations.migrate(connection, lambda _line: None)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(_USER)
            for month in MONTHS[:2]:
                connection.execute("SELECT add_log_month('login_events', %s)", (month,))
            at = datetime(MONTHS[0].year, MONTHS[0].month, 2, tzinfo=UTC)
            say(f"Writing {ROWS:,} sign-ins of a month.")
            connection.execute(_FILL, {"first": str(first_id_at(at)), "at": at, "rows": ROWS})
            # Otherwise the writes of the filling would delay the next ones.
            with psycopg.connect(make_conninfo(url, user=SUPERUSER), autocommit=True) as superuser:
                superuser.execute("CHECKPOINT")
            with _Reader(url) as reader:
                made_ms = _timed(connection, "SELECT add_log_month('login_events', %s)", (MONTHS[2],))
                waited_for_making = reader.longest_ms
                before = str(first_id_at(datetime(MONTHS[1].year, MONTHS[1].month, 1, tzinfo=UTC)))
                # The first is what was written before there were months, and is empty.
                connection.execute("SELECT drop_log_month('login_events', %s, true)", (before,))
                reader.longest_ms = 0.0
                dropped_ms = _timed(connection, "SELECT drop_log_month('login_events', %s, false)", (before,))
                waited_for_dropping = reader.longest_ms
    return [
        _figure("making a month", made_ms),
        _figure("longest read meanwhile", waited_for_making),
        _figure(f"dropping a month of {ROWS:,} rows", dropped_ms),
        _figure("longest read meanwhile ", waited_for_dropping),
    ]


def _figure(name: str, milliseconds: float) -> StandingFigure:
    return StandingFigure(name=name, unit="ms", values=Spread.of([milliseconds]), maximum=WAIT_MS_MAX)


def _timed(connection: psycopg.Connection[tuple[object, ...]], statement: str, values: tuple[object, ...]) -> float:
    began_at = time.perf_counter()
    row = connection.execute(statement.encode(), values).fetchone()
    assert row not in {None, (None,), (False,)}, f"nothing was done by: {statement}"
    return (time.perf_counter() - began_at) * _MILLISECONDS


class _Reader:
    """Reads the newest row of the log all the time, and keeps how long that took at most."""

    def __init__(self, url: str) -> None:
        self.longest_ms = 0.0
        self._url = url
        self._has_begun, self._is_done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> _Reader:
        self._thread.start()
        self._has_begun.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._thread.join()

    def _read(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._is_done.is_set():
                took = _timed(connection, "SELECT id FROM login_events ORDER BY id DESC LIMIT 1", ())
                self.longest_ms = max(self.longest_ms, took)
                self._has_begun.set()
