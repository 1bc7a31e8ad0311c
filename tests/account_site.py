"""A running server for tests that sign in to the account of the tests in a real browser, and signing in."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Page

from adapters.postgres.database import PostgresDatabase
from core.accounts.users import User
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from ports.clock import Clock
from ports.unit_of_work import UnitOfWork
from tests.browser import Prepare, Site
from tests.world.builder import EMAIL, PASSWORD, PASSWORD_HASH


@contextmanager
def running_site_with_account(
    database_url: str, key_pairs: tuple[KeyPair, KeyPair], *, clock: Clock | None = None
) -> Generator[Site]:
    """Run a server whose database has one account, with a proved address and a password."""
    with running_site(database_url, key_pairs, prepare=_add_account_to, clock=clock) as site:
        yield site


def sign_in(page: Page, *, password: str = PASSWORD) -> None:
    """Sign in by password where the browser is asked to."""
    page.get_by_label("Email address").fill(EMAIL)
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).press("Enter")


async def _prepare_nothing(_: PostgresDatabase) -> None:
    """Leave the database as it is."""


@contextmanager
def running_site(
    database_url: str,
    key_pairs: tuple[KeyPair, KeyPair],
    *,
    prepare: Prepare = _prepare_nothing,
    clock: Clock | None = None,
) -> Generator[Site]:
    """Run a server with a database that may be filled already."""
    routes = capabilities.routes(is_development=True)
    site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", clock=clock)
    try:
        yield site
    finally:
        site.close()


async def _add_account_to(database: PostgresDatabase) -> None:
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
