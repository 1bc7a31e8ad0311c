"""The database of the settings: where it is, waiting for it, and its schema; an embedded one runs while it is needed.

How it is asked is connected in `main.py`.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from adapters.postgres.embedded import folder as embedded_folder
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from core.secrets import Secret
from entrypoints.refusals import CannotStart

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from entrypoints.settings import Settings

WAIT_SECONDS_MAX: Final = 30.0
POLL_SECONDS: Final = 0.5


def serving_lock(settings: Settings) -> embedded_folder.ServingLock:
    """Give the lock that keeps a second server out of the same data folder."""
    return embedded_folder.ServingLock(settings.data_dir)


def make_data_folder(folder: Path) -> None:
    """Make the folder for the embedded database and for what is generated, which is nobody else's to read."""
    embedded_folder.make_data_folder(folder)


@contextmanager
def address_of(settings: Settings) -> Generator[Secret]:
    """Give the address of the database, and run the embedded one for as long as somebody needs it."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.data_dir) as address:
        yield Secret(address)


def wait_for(address: Secret, report: Callable[[str], None]) -> None:
    """Wait a while for a database that is still starting."""
    give_up_at = time.monotonic() + WAIT_SECONDS_MAX
    is_told = False
    while True:
        try:
            with migrations.connected(address.reveal()):
                return
        except migrations.DatabaseAway as away:
            if time.monotonic() >= give_up_at:
                raise
            if not is_told:
                report(f"{away} Trying again for {WAIT_SECONDS_MAX:.0f} s.")
            is_told = True
        time.sleep(POLL_SECONDS)


def migrate(address: Secret, report: Callable[[str], None]) -> list[migrations.Migration]:
    """Bring the schema up to date."""
    with migrations.connected(address.reveal()) as connection:
        return migrations.migrate(connection, report)


def migration_plan(address: Secret) -> migrations.Plan:
    """Say what `migrate` would do."""
    with migrations.connected(address.reveal()) as connection:
        return migrations.plan(connection)


def require_schema(address: Secret) -> None:
    """Refuse a database that was not migrated to this version."""
    pending = migration_plan(address).pending
    if pending:
        raise CannotStart(
            f"The database's schema is behind by {len(pending)}. Look with `gatehouse migrate --plan`,"
            " then run `gatehouse migrate`."
        )
