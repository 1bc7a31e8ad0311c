"""Why a connection could not be made, by what PostgreSQL, libpq and the system say; and what an operator reads."""

from __future__ import annotations

import gettext
from pathlib import Path

import psycopg
import pytest
import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import connect_failures
from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.suitability import ServerReadOnly
from adapters.postgres.schema import migrations
from adapters.postgres.transaction import Tools
from core.errors import ServiceUnavailable
from core.platform import health_figures
from ports.metrics_of_work import ConnectFailure
from tests.mailboxes import RecordedMailboxes
from tests.shown_text import shows

SAID = 'connection failed: connection to server at "127.0.0.1", port 5432 failed: FATAL:  '
MESSAGES = {
    ConnectFailure.LIMIT: [
        "sorry, too many clients already",
        "remaining connection slots are reserved for non-replication superuser connections",
        'too many connections for role "gatehouse"',
        'too many connections for database "gatehouse"',
    ],
    ConnectFailure.PASSWORD: [
        'password authentication failed for user "gatehouse"',
        'role "gatehouse" is not permitted to log in',
        'no pg_hba.conf entry for host "10.0.0.9", user "gatehouse", database "gatehouse", no encryption',
    ],
    ConnectFailure.STARTING: [
        "the database system is starting up",
        "the database system is shutting down",
        "the database system is in recovery mode",
        "the database system is not yet accepting connections",
    ],
}
# As `postgres.po` of PostgreSQL has them.
PATTERNS = {
    ConnectFailure.LIMIT: [
        "sorry, too many clients already",
        "remaining connection slots are reserved for non-replication superuser connections",
        'too many connections for role "%s"',
        'too many connections for database "%s"',
    ],
    ConnectFailure.PASSWORD: ['password authentication failed for user "%s"', 'role "%s" is not permitted to log in'],
    ConnectFailure.STARTING: [
        "the database system is starting up",
        "the database system is shutting down",
        "the database system is in recovery mode",
        "the database system is not yet accepting connections",
        "the database system is not accepting connections",
    ],
}
TRANSLATIONS = sorted(Path("/usr/share/locale").glob("*/LC_MESSAGES/postgres-*.mo"))


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in MESSAGES.items() for text in texts])
def test_what_postgres_says_is_known(kind: ConnectFailure, text: str) -> None:
    assert connect_failures.kind_of(psycopg.OperationalError(SAID + text)) is kind


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (ConnectFailure.LIMIT, "tut mir leid, schon zu viele Verbindungen"),
        (ConnectFailure.PASSWORD, "Passwort-Authentifizierung für Benutzer »gatehouse« fehlgeschlagen"),
        (ConnectFailure.STARTING, "das Datenbanksystem startet"),
        (ConnectFailure.LIMIT, "désolé, trop de clients sont déjà connectés"),
        (ConnectFailure.STARTING, "データベースシステムは起動処理中です"),
        (ConnectFailure.OTHER, "zum Beispiel etwas Neues"),
    ],
)
def test_what_postgres_says_in_another_language_is_known(kind: ConnectFailure, text: str) -> None:
    assert connect_failures.kind_of(psycopg.OperationalError(SAID + text)) is kind


@pytest.mark.skipif(not TRANSLATIONS, reason="no translations of PostgreSQL are installed (apt-get install postgresql)")
def test_each_translation_of_this_machine_is_known() -> None:
    wrong: list[tuple[str, str]] = []
    for file in TRANSLATIONS:
        with file.open("rb") as opened:
            catalogue = gettext.GNUTranslations(opened)
        for kind, patterns in PATTERNS.items():
            for pattern in patterns:
                said = catalogue.gettext(pattern).replace("%s", "gatehouse")
                if connect_failures.kind_of(psycopg.OperationalError(SAID + said)) is not kind:
                    wrong.append((file.parent.parent.name, said))

    assert wrong == []


def test_of_several_servers_one_that_answers_says_why() -> None:
    error = psycopg.OperationalError(
        "connection failed\nMultiple connection attempts failed. All failures were:\n- host: 'a', port: None:"
        " Connection refused\n- host: 'b', port: None: FATAL:  sorry, too many clients already"
    )

    assert connect_failures.kind_of(error) is ConnectFailure.LIMIT


def test_a_server_that_does_not_suit_is_none_of_these() -> None:
    assert connect_failures.kind_of(ServerReadOnly()) is ConnectFailure.OTHER
    assert connect_failures.kind_of(OSError("Too many open files")) is ConnectFailure.OTHER


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hush@127.0.0.1:1/db",
        "postgresql://me:hush@/db?host=/nowhere",
        "postgresql://me:hush@nowhere.invalid/db",
    ],
)
def test_a_server_that_is_not_there_is_unreachable(url: str) -> None:
    with pytest.raises(migrations.DatabaseUnreachable) as refused, migrations.connected(url):
        pass

    assert str(refused.value).startswith("The database cannot be reached: ")
    assert str(refused.value).endswith(". Check that it runs, and GATEHOUSE_DATABASE_URL.")
    assert not shows(str(refused.value), "hush")


def test_a_database_without_a_connection_left_is_not_said_to_be_away(
    raw_connection: RawConnection, database_url: str
) -> None:
    name = raw_connection.info.dbname
    raw_connection.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT 0'.encode())
    try:
        with pytest.raises(migrations.DatabaseUnreachable) as refused, migrations.connected(database_url):
            pass
    finally:
        raw_connection.execute(f'ALTER DATABASE "{name}" CONNECTION LIMIT -1'.encode())

    assert str(refused.value) == (
        f'The database runs, and has no connection left: too many connections for database "{name}". Lower'
        " GATEHOUSE_DATABASE_CONNECTIONS, or raise the limit that it names; see ops/runbooks/database-outage.md."
    )


def test_each_reason_has_an_advice_of_its_own() -> None:
    texts = [MESSAGES[kind][0] for kind in MESSAGES]
    advices = [connect_failures.advice(psycopg.OperationalError(SAID + text)) for text in texts]

    assert [text in advice for text, advice in zip(texts, advices, strict=True)] == [True] * len(texts)
    assert all(advice.startswith("The database runs, and ") for advice in advices)
    assert not any(shows(advice, "Check that it runs") for advice in advices)


async def test_the_pool_says_why_each_attempt_has_failed(database_url: str, tools: Tools) -> None:
    failures: list[ConnectFailure] = []
    pool = Pool(make_conninfo(database_url, host="/nowhere"), connections_max=1, failed=failures.append)

    with pytest.raises(ServiceUnavailable):
        await PostgresDatabase(pool=pool, tools=tools, mailboxes=RecordedMailboxes()).read(health_figures.probe)

    assert set(failures) == {ConnectFailure.UNREACHABLE}
    await trio.to_thread.run_sync(pool.close)
