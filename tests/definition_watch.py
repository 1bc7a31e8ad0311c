"""Notes in a database of tests that its definition changed, so that a reset need not read the whole catalogue.

Event triggers see every command that creates, changes or drops an object, but no setting of a role or a database. What
they need belongs to an extension that every database has, so that a dump of the database contains nothing of it.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import LiteralString

import psycopg
from psycopg.conninfo import make_conninfo

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.embedded.cluster import SUPERUSER

_WATCH: LiteralString = """
    CREATE SCHEMA of_tests;
    CREATE TABLE of_tests.definition_changes (command text);
    -- With the rights of its owner, because a role of the tests may only read the table.
    CREATE FUNCTION of_tests.note_change() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog AS $$
    BEGIN
        -- What is temporary ends with its connection.
        IF tg_event = 'sql_drop' THEN
            PERFORM FROM pg_event_trigger_dropped_objects() WHERE NOT is_temporary;
        ELSE
            PERFORM FROM pg_event_trigger_ddl_commands() WHERE schema_name IS DISTINCT FROM 'pg_temp';
        END IF;
        IF FOUND THEN
            INSERT INTO of_tests.definition_changes VALUES (tg_tag);
        END IF;
    END $$;
    GRANT USAGE ON SCHEMA of_tests TO PUBLIC;
    GRANT SELECT ON of_tests.definition_changes TO PUBLIC;
    CREATE EVENT TRIGGER of_tests_changed ON ddl_command_end EXECUTE FUNCTION of_tests.note_change();
    CREATE EVENT TRIGGER of_tests_dropped ON sql_drop EXECUTE FUNCTION of_tests.note_change();
    -- Also for a connection that skips triggers.
    ALTER EVENT TRIGGER of_tests_changed ENABLE ALWAYS;
    ALTER EVENT TRIGGER of_tests_dropped ENABLE ALWAYS;
    ALTER EXTENSION plpgsql ADD SCHEMA of_tests;
    ALTER EXTENSION plpgsql ADD TABLE of_tests.definition_changes;
    ALTER EXTENSION plpgsql ADD FUNCTION of_tests.note_change();
    ALTER EXTENSION plpgsql ADD EVENT TRIGGER of_tests_changed;
    ALTER EXTENSION plpgsql ADD EVENT TRIGGER of_tests_dropped;
    TRUNCATE of_tests.definition_changes;
"""


def watch_definition(url: str) -> None:
    """Note changes in that database and in its copies; do nothing on a server that grants us no superuser."""
    with (
        suppress(psycopg.OperationalError, psycopg.errors.InsufficientPrivilege),
        closing(psycopg.connect(make_conninfo(url, user=SUPERUSER))) as connection,
        connection.transaction(),
    ):
        connection.execute(_WATCH)


def is_watched(connection: RawConnection) -> bool:
    """Return whether changes are noted in the database of this connection."""
    [(table,)] = connection.execute("SELECT to_regclass('of_tests.definition_changes')").fetchall()
    return table is not None
