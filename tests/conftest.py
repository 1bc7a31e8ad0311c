"""Fixtures for all tests: a database per test, the tools of a unit of work, and clocks that the test controls.

`database` is the real adapter, for tests of waiting and of whole flows. `transact` runs a use case in a transaction
without an event loop, for tests of SQL. Both have `clock`, which stands still until the test moves it.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import nullcontext
from typing import Any

import coverage
import hypothesis
import pytest
from trio.testing import MockClock

from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import MasterKey, Vault
from adapters.domain_names import IdnaDomainNames
from adapters.geoip import NoLocations
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.sessions.origins import BACKGROUND

# One browser for the whole session; imported into several modules the fixture would start one for each.
from tests.browser import chromium, watch
from tests.citus import ARCHIVE, running_cluster
from tests.citus_databases import CitusDatabases
from tests.clock import SettableClock
from tests.costs import Costs
from tests.doorbells import RecordedDoorbells
from tests.ids import FollowingRandomness, follow, now
from tests.memory import may_hold_programs, memory_folder
from tests.postgres import Databases, running_postgres
from tests.secret_watch import WATCH, SecretWatch, watch_everything
from tests.tracing import COUNTS_EVERYTHING, follow_stacks, tracing_nothing, tracing_use_cases
from tests.turns import in_turn
from tests.virtual_time import virtual_time
from tests.waiting import WAIT_SECONDS_MAX

__all__ = ["chromium", "watch"]

EXAMPLES_OF_THE_GATE = 10
# The garbage of a few tests rather than of a few calls.
NEW_OBJECTS_MAX = 50_000

# In CI too, where Hypothesis by itself would try the same examples each time; and without a check of their time.
hypothesis.settings.register_profile(
    "gatehouse",
    parent=hypothesis.settings.get_profile("default"),
    deadline=None,
    max_examples=EXAMPLES_OF_THE_GATE,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
# `--hypothesis-profile=thorough`, with which CI runs the tests of properties once more.
hypothesis.settings.register_profile("thorough", parent=hypothesis.settings.get_profile("gatehouse"), max_examples=100)
hypothesis.settings.load_profile("gatehouse")
watch_everything()
# A process started in the background ignores SIGINT, and the servers that tests stop with it would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# A process started by `nohup` ignores SIGHUP. A child inherits that but not a handler, so only the tests survive it.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run name the kind of its databases."""
    parser.addoption(
        "--database",
        choices=("plain", "citus"),
        default="plain",
        help=f"the databases of the tests; `citus`: on a cluster, with the archive that {ARCHIVE} names",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Count processor time, and keep the folders of tests in memory, unless the environment names another place."""
    config.pluginmanager.register(Costs())
    # Some tests copy programs into their folder and run them.
    if (folder := memory_folder()) and may_hold_programs(folder):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(folder))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the long parts whose turn it is not, in CI, and on a cluster what is the same without one."""
    items[:], left_out = in_turn(items)
    if config.getoption("database") == "citus":
        left_out += [item for item in items if not _is_for_a_cluster(item)]
        items[:] = [item for item in items if _is_for_a_cluster(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def _is_for_a_cluster(item: pytest.Item) -> bool:
    return "databases" in getattr(item, "fixturenames", ()) and item.get_closest_marker("one_server") is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Trace a test where it runs core: directly, or in greenlets. What a test does by chance is not traced at all."""
    runs_core_directly = "tests/core/" in item.nodeid or "transact" in getattr(item, "fixturenames", ())
    by_chance = item.get_closest_marker("hypothesis") or item.get_closest_marker("matrix")
    if by_chance and not COUNTS_EVERYTHING:
        tracing = tracing_nothing()
    elif runs_core_directly or COUNTS_EVERYTHING:
        tracing = nullcontext()
    else:
        tracing = tracing_use_cases()
    with tracing:
        return (yield)


def pytest_collection_finish() -> None:
    """Follow the stacks, and exclude all imported objects from garbage collection."""
    follow_stacks()
    # They live until the end, and scanning them repeatedly took an eighth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, *gc.get_threshold()[1:])


def pytest_sessionfinish() -> None:
    """Save what was covered: a process of pytest-xdist that takes more than 10 s to end afterwards is killed."""
    if (measured := coverage.Coverage.current()) is not None:
        measured.save()


@pytest.fixture(autouse=True)
def secret_watch() -> Iterator[SecretWatch]:
    """The watch that fails a test when a secret is in its log."""
    WATCH.begin()
    yield WATCH
    assert WATCH.leaks() == []


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The PostgreSQL of this test run; `GATEHOUSE_TEST_DATABASE_URL` selects another one."""
    given = os.environ.get("GATEHOUSE_TEST_DATABASE_URL")
    if given:
        yield given
        return
    with running_postgres() as url:
        yield url


@pytest.fixture(scope="session")
def citus_databases() -> Iterator[CitusDatabases]:
    """The maker of fresh databases on a cluster of this test run, which `GATEHOUSE_TEST_CITUS` makes possible."""
    with running_cluster() as cluster:
        databases = CitusDatabases(cluster)
        yield databases
        databases.close()


@pytest.fixture(scope="session")
def databases(request: pytest.FixtureRequest) -> Iterator[Databases]:
    """The maker of fresh databases; with `--database=citus` each is on the nodes of a cluster."""
    if request.config.getoption("database") == "citus":
        yield request.getfixturevalue("citus_databases")
        return
    databases = Databases(request.getfixturevalue("postgres_url"))
    yield databases
    databases.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A migrated database without data, for one test."""
    with databases.migrated() as url:
        yield url


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """A database without a schema, for one test."""
    with databases.empty() as url:
        yield url


@pytest.fixture
def clock() -> Iterator[SettableClock]:
    """A clock that the test controls, and that new ids follow."""
    clock = SettableClock()
    follow(clock)
    yield clock
    follow(now)


@pytest.fixture
def vault() -> Vault:
    """A vault with a new key."""
    return Vault([MasterKey.generate()])


@pytest.fixture
def tools(clock: SettableClock, vault: Vault) -> Tools:
    """What a unit of work needs besides a connection."""
    pepper = HmacPepper()
    pepper.load(os.urandom(PEPPER_BYTES))
    return Tools(
        clock=clock,
        randomness=FollowingRandomness(clock),
        vault=vault,
        pepper=pepper,
        domain_names=IdnaDomainNames(),
        locations=NoLocations(),
        totp=PyotpTotp(),
        webauthn=PyWebAuthn(rp_id="localhost", origin="http://localhost:8000"),
        has_rate_limits=False,
    )


@pytest.fixture
def doorbells() -> RecordedDoorbells:
    """Doorbells that record their rings."""
    return RecordedDoorbells()


@pytest.fixture
def database(databases: Databases, database_url: str, tools: Tools, doorbells: RecordedDoorbells) -> PostgresDatabase:
    """A database as the application sees it."""
    return PostgresDatabase(
        pool=databases.pool(database_url),
        tools=tools,
        doorbells=doorbells,
        wait_seconds_max=WAIT_SECONDS_MAX,
    )


@pytest.fixture
def connection(databases: Databases, database_url: str) -> Iterator[Connection]:
    """A connection to the test's database, to check it without the ports."""
    with databases.connection(database_url) as connection:
        yield connection


@pytest.fixture
def raw_connection(databases: Databases, database_url: str) -> Iterator[RawConnection]:
    """A connection of psycopg itself, for what ours does not support, such as several statements in one text."""
    with databases.raw_connection(database_url) as connection:
        yield connection


@pytest.fixture
def transact(connection: Connection, tools: Tools) -> Callable[..., Any]:
    """Runs a use case in a transaction: committed when it returns, rolled back when it raises."""

    def transact(use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        with connection.transaction():
            return use_case(PostgresUnitOfWork(connection, BACKGROUND, tools), *args, **kwargs)

    return transact


@pytest.fixture
def autojump_clock() -> Iterator[MockClock]:
    """Virtual time that jumps at once when all tasks wait for it, and stands still while work is outstanding."""
    with virtual_time() as clock:
        yield clock
