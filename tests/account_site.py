"""A running server with the account of the tests, for those that sign in to it in a real browser."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.accounts.users import User
from entrypoints import capabilities
from tests.browser import Site
from tests.world.builder import EMAIL, PASSWORD_HASH

if TYPE_CHECKING:
    from collections.abc import Generator

    from adapters.postgres.database import PostgresDatabase
    from core.sessions.signing_keys import KeyPair
    from ports.unit_of_work import UnitOfWork


@contextmanager
def running_site_with_account(database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Generator[Site]:
    """Run a server whose database has one account, with a proved address and a password."""
    site = Site(capabilities.routes(is_development=True), database_url, key_pairs, prepare=_prepare, name="localhost")
    try:
        yield site
    finally:
        site.close()


async def _prepare(database: PostgresDatabase) -> None:
    await database.transact(_add_account)


def _add_account(uow: UnitOfWork) -> None:
    user = User(
        id=uow.randomness.new_id(),
        email=EMAIL,
        email_verified_at=uow.now,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )
    uow.users.add(user)
    uow.credentials.set_password_hash(user.id, PASSWORD_HASH)
