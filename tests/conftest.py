"""What tests are given: a database of their own, the tools of a unit of work, and clocks that obey.

`database` is the real thing, for tests of what waits and of whole flows. `transact` runs a use case in a transaction
without an event loop, for tests of SQL. Both have `clock`, which stands still until the test moves it.
"""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from trio.testing import MockClock

from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import MasterKey, Vault
from adapters.geoip import NoLocations
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.sessions.callers import BACKGROUND

# One browser for the whole session; imported into several modules the fixture would start one for each.
from tests.browser import chromium, watch
from tests.clock import SettableClock
from tests.doorbells import RecordedDoorbells
from tests.memory import may_hold_programs, memory_folder
from tests.postgres import Databases, running_postgres
from tests.secret_watch import WATCH, SecretWatch, watch_everything
from tests.tracing import follow_stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adapters.postgres.driver.connection import Connection, RawConnection

__all__ = ["chromium", "watch"]

# Real seconds of stillness after which virtual time jumps. Longer than a transaction, because to Trio a task that waits
# for a thread is as still as one that sleeps; the fixture that pytest-trio brings jumps at once.
AUTOJUMP_SECONDS = 0.02
# As much as a few tests leave behind, rather than a few calls.
NEW_OBJECTS_MAX = 50_000

hypothesis.settings.register_profile("gatehouse", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("gatehouse")
watch_everything()
# Whoever is started in the background ignores Ctrl-C, and so would the servers that tests stop with it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# What `nohup` starts ignores SIGHUP. A child inherits that, but no handler, so this one lets only the tests survive.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def pytest_configure() -> None:
    """Keep the folders of tests in memory, unless somebody said where they are to be."""
    # Some tests copy programs there and run them.
    if (folder := memory_folder()) and may_hold_programs(folder):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(folder))


def pytest_collection_finish() -> None:
    """Begin, now that all is imported: follow the stacks, and let the garbage collector pass by what is there."""
    follow_stacks()
    # All of it stays until the end, and to look through it again and again took an eighth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, *gc.get_threshold()[1:])


@pytest.fixture(autouse=True)
def secret_watch() -> Iterator[SecretWatch]:
    """The watch that fails a test in whose log a secret is written."""
    WATCH.begin()
    yield WATCH
    assert WATCH.leaks() == []


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The PostgreSQL of this test run; `GATEHOUSE_TEST_DATABASE_URL` names another one to test on."""
    given = os.environ.get("GATEHOUSE_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with running_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def databases(postgres_url: str) -> Iterator[Databases]:
    """The maker of fresh databases."""
    databases = Databases(postgres_url)
    yield databases
    databases.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A freshly migrated database of its own."""
    with databases.migrated() as url:
        yield url


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """A database of its own without a schema."""
    with databases.empty() as url:
        yield url


@pytest.fixture
def clock() -> SettableClock:
    """A clock that the test moves."""
    return SettableClock()


@pytest.fixture
def vault() -> Vault:
    """A vault with a key of its own."""
    return Vault([MasterKey.generate()])


@pytest.fixture
def tools(clock: SettableClock, vault: Vault) -> Tools:
    """What a unit of work needs besides a connection."""
    pepper = HmacPepper()
    pepper.load(os.urandom(PEPPER_BYTES))
    return Tools(
        clock=clock,
        randomness=SystemRandomness(),
        vault=vault,
        pepper=pepper,
        locations=NoLocations(),
        totp=PyotpTotp(),
        webauthn=PyWebAuthn(rp_id="localhost", origin="http://localhost:8000"),
    )


@pytest.fixture
def doorbells() -> RecordedDoorbells:
    """Doorbells that remember."""
    return RecordedDoorbells()


@pytest.fixture
def database(databases: Databases, database_url: str, tools: Tools, doorbells: RecordedDoorbells) -> PostgresDatabase:
    """A database as the application sees it."""
    return PostgresDatabase(pool=databases.pool(database_url), tools=tools, doorbells=doorbells)


@pytest.fixture
def connection(databases: Databases, database_url: str) -> Iterator[Connection]:
    """A connection to the test's database, for looking behind the ports."""
    with databases.connection(database_url) as connection:
        yield connection


@pytest.fixture
def raw_connection(databases: Databases, database_url: str) -> Iterator[RawConnection]:
    """One more connection, of the driver's own: for what ours does not do, such as several statements in one text."""
    with databases.raw_connection(database_url) as connection:
        yield connection


@pytest.fixture
def transact(connection: Connection, tools: Tools) -> Callable[..., Any]:
    """Runs a use case in a transaction, at once: committed when it returns, rolled back when it raises."""

    def transact(use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with connection.transaction():
            return use_case(PostgresUnitOfWork(connection, BACKGROUND, tools), *args, **kwargs)

    return transact


@pytest.fixture
def autojump_clock() -> MockClock:
    """Virtual time that passes at once when everybody waits for it."""
    return MockClock(autojump_threshold=AUTOJUMP_SECONDS)
