"""Fixtures for all tests: a database per test, the tools of a unit of work, and clocks that the test controls.

`database` is the real adapter, for tests of waiting and of whole flows. `transact` runs a use case in a transaction
without an event loop, for tests of SQL. Both have `clock`, which stands still until the test moves it.
"""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module
from typing import Any

import coverage
import pytest
from trio.testing import MockClock

from adapters.crypto.passkeys import PyWebAuthn
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import Vault
from adapters.domain_names import IdnaDomainNames
from adapters.geoip import NoLocations
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import timed_connection
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.sessions.origins import BACKGROUND
from core.sessions.signing_keys import SigningKey
from tests import forking

# One browser for the whole session; imported into several modules the fixture would start one for each.
from tests.browser import chromium, watch
from tests.citus import ARCHIVE, running_cluster
from tests.citus_databases import CitusDatabases
from tests.clock import SettableClock
from tests.costs import Costs
from tests.declared_events import watch_events
from tests.ids import FollowingRandomness, follow, now
from tests.mailboxes import RecordedMailboxes
from tests.memory import may_hold_programs, memory_folder
from tests.postgres import Databases, running_postgres
from tests.properties import draw_no_constants, register_profiles
from tests.sampling import is_asked
from tests.secret_watch import WATCH, SecretWatch, watch_everything
from tests.signing_keys import MASTER_KEY, first_keys
from tests.stopwatch import stopwatch
from tests.tracing import (
    COUNTS_EVERYTHING,
    enter_module,
    follow_stacks,
    is_traced,
    tracing_nothing,
    tracing_use_cases,
)
from tests.virtual_time import virtual_time
from tests.waiting import WAIT_SECONDS_MAX

__all__ = ["chromium", "stopwatch", "watch"]

# Fewer tests make these themselves.
WARMING_TESTS_MIN = 300
PAGES = "entrypoints.pages.frame.rendering"
# The garbage of a few tests rather than of a few calls.
NEW_OBJECTS_MAX = 50_000

register_profiles()
draw_no_constants()
watch_everything()
watch_events()
# A process started in the background ignores SIGINT, and the servers that tests stop with it would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# A process started by `nohup` ignores SIGHUP. A child inherits that but not a handler, so only the tests survive it.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run name the number of its processes, and the kind of its databases."""
    forking.add_option(parser)
    parser.addoption(
        "--database",
        choices=("plain", "citus"),
        default="plain",
        help=f"the databases of the tests; `citus`: on a cluster, with the archive that {ARCHIVE} names",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Count processor time, and keep the folders of tests in memory, unless the environment names another place."""
    costs = Costs()
    config.pluginmanager.register(costs)
    if number := config.getoption("processes"):
        config.pluginmanager.register(forking.Processes(config, number, costs.add))
    # Some tests copy programs into their folder and run them.
    if (folder := memory_folder()) and may_hold_programs(folder):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(folder))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the gate does not ask, and on a cluster what is the same without one."""
    on_cluster = config.getoption("database") == "citus"
    asked, left_out = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        is_due = _is_for_a_cluster(item) if on_cluster else _is_asked(item)
        (asked if is_due else left_out).append(item)
    items[:] = asked
    config.hook.pytest_deselected(items=left_out)


def _is_asked(item: pytest.Item) -> bool:
    # A matrix leaves out three of four by itself.
    return is_asked(item.nodeid) or item.get_closest_marker("matrix") is not None


def _is_for_a_cluster(item: pytest.Item) -> bool:
    is_of_one_server = any(item.get_closest_marker(name) for name in ("one_server", "plans"))
    return "databases" in getattr(item, "fixturenames", ()) and not is_of_one_server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Trace a test where it runs core: directly, or in greenlets. What a test does by chance is not traced at all."""
    runs_core_directly = "tests/core/" in item.nodeid or "transact" in getattr(item, "fixturenames", ())
    by_chance = item.get_closest_marker("hypothesis") or item.get_closest_marker("matrix")
    if (by_chance and not COUNTS_EVERYTHING) or not is_traced(item.nodeid):
        tracing = tracing_nothing()
    elif runs_core_directly or COUNTS_EVERYTHING:
        tracing = nullcontext()
    else:
        tracing = tracing_use_cases()
    with tracing:
        return (yield)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Make what many tests share, follow the stacks, and exclude all that was made from garbage collection."""
    if len(session.items) >= WARMING_TESTS_MIN and PAGES in sys.modules:
        import_module("tests.warming").warm_up()
    follow_stacks()
    # They live until the end, and scanning them repeatedly took an eighth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, *gc.get_threshold()[1:])


def pytest_sessionfinish() -> None:
    """Save what this process has covered: one that runs tests ends without what Python does at its end."""
    if (measured := coverage.Coverage.current()) is not None:
        measured.save()


@pytest.fixture(scope="module", autouse=True)
def covering_module(request: pytest.FixtureRequest) -> None:
    """What the tests of a module cover is theirs, where coverage tells modules apart."""
    enter_module(request.node.nodeid)


@pytest.fixture(autouse=True)
def secret_watch() -> Iterator[SecretWatch]:
    """The watch that fails a test when a secret is in its log."""
    WATCH.begin()
    yield WATCH
    assert WATCH.leaks() == []


@pytest.fixture(autouse=True)
def garbage_collection() -> Iterator[None]:
    """Fail a test that leaves garbage collection off, after which a process grows to gigabytes."""
    yield
    if not gc.isenabled():
        gc.enable()
        pytest.fail("the test has turned garbage collection off")


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
def database_url(request: pytest.FixtureRequest, databases: Databases) -> Iterator[str]:
    """A migrated database for one test, without data, or with the signing keys that its installation needs.

    It is a new one for a test that reads plans.
    """
    has_signing_keys = stored_signing_keys.__name__ in request.fixturenames
    reads_plans = any(request.node.get_closest_marker(name) for name in ("plans", "one_server"))
    make = databases.for_plans if reads_plans else databases.migrated
    with make(has_signing_keys=has_signing_keys) as url:
        yield url


@pytest.fixture
def stored_signing_keys(database_url: str) -> Sequence[SigningKey]:
    """The signing keys with which `database_url` gives a database to a test that asks for them."""
    return first_keys()


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
    """A vault with the master key of all tests, which has sealed the stored signing keys."""
    return Vault([MASTER_KEY])


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
        webauthn=cache(partial(PyWebAuthn, rp_id="localhost", origin="http://localhost:8000")),
        has_rate_limits=False,
    )


@pytest.fixture
def mailboxes() -> RecordedMailboxes:
    """Mailboxes that record their messages."""
    return RecordedMailboxes()


@pytest.fixture
def database(
    databases: Databases,
    database_url: str,
    tools: Tools,
    mailboxes: RecordedMailboxes,
    monkeypatch: pytest.MonkeyPatch,
) -> PostgresDatabase:
    """A database as the application sees it."""
    # A connection that was idle for longer is checked by a statement more, and how long it is depends on the machine.
    monkeypatch.setattr(timed_connection, "TRUSTED_SECONDS", math.inf)
    return PostgresDatabase(
        pool=databases.pool(database_url),
        tools=tools,
        mailboxes=mailboxes,
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
