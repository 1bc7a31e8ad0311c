"""A database as large as an installation that has run for years: the ground for migrations and for periodic work.

It is seeded on the schema of the last release, so that the migrations after it find rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migrations import Migration
from ops.benchmarks import releases
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import CannotMeasure
from ops.seeding.copying import seed
from ops.seeding.population import Plan

FULL: Final = {
    "users": 500_000,
    "login_events": 2_000_000,
    "organizations": 3_280,
    "memberships": 100_000,
    "services": 3_280,
    "end_users": 500_000,
    "invitations": 10_000,
    "audit_entries": 1_000_000,
    "sessions": 500_000,
    "events": 50_000,
}
# A part that CI seeds in half a minute.
SMALL_SHARE: Final = 0.1


@contextmanager
def large_database(share: float, known: Sequence[Migration], say: Say) -> Generator[tuple[Path, str]]:
    """Yield the data folder and the address of a seeded database with the schema of these migrations."""
    plan = Plan(**{rows: round(count * share) for rows, count in FULL.items()}, until=datetime.now(UTC))
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as name:
        folder = Path(name) / "data"
        with EmbeddedPostgres(folder) as url:
            with migrations.connected(url) as connection:
                migrations.migrate(connection, lambda _line: None, known)
            with psycopg.connect(url, autocommit=True) as connection:
                seed(connection, plan, say)
            # Otherwise the writes of the seeding would delay the first commits.
            with psycopg.connect(make_conninfo(url, user=SUPERUSER), autocommit=True) as connection:
                connection.execute("CHECKPOINT")
            yield folder, url


def released_migrations() -> tuple[Migration, ...]:
    """Return the migrations of the newest release that has not all of this version."""
    known = migrations.known()
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as name:
        folder = Path(name) / "release"
        release = releases.extract_older(releases.RELEASES.read_text(), folder, len(known))
        files = {file.stem for file in (folder / releases.MIGRATIONS).glob("*.sql")}
    released = known[: len(files)]
    if {migration.id for migration in released} != files:
        raise CannotMeasure(f"The migrations of {release.version} are not the first {len(files)} of this version.")
    return released
