"""The readable schema: ops/schema.sql describes exactly the schema that the migrations create."""

from __future__ import annotations

import psycopg

from adapters.postgres.driver.connection import Connection
from ops.dump_schema import SCHEMA, dump


def test_the_readable_schema_equals_the_migrated_schema(database_url: str) -> None:
    assert SCHEMA.read_text() == dump(database_url), (
        "ops/schema.sql differs from the migrated schema; run ops/dump-schema"
    )


def test_the_readable_schema_can_be_loaded_and_is_complete(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url) as connection:
        connection.execute(SCHEMA.read_bytes())

    assert dump(empty_database_url) == SCHEMA.read_text()


def test_every_table_has_a_comment(connection: Connection) -> None:
    without_comment = connection.execute(
        """
        SELECT relname
        FROM   pg_class
        WHERE  relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND obj_description(oid) IS NULL
        """
    ).fetchall()

    assert without_comment == []


def test_every_foreign_key_has_an_index_for_deletions(connection: Connection) -> None:
    # An index suffices if it begins with the column and has an entry for every value that can be searched.
    unindexed = connection.execute(
        """
        SELECT c.conrelid::regclass::text, a.attname
        FROM   pg_constraint c
        JOIN   pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE  c.contype = 'f'
          AND  NOT EXISTS (SELECT
                           FROM   pg_index i
                           WHERE  i.indrelid = c.conrelid
                             AND  i.indkey[0] = a.attnum
                             AND  (i.indpred IS NULL
                                   OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname)))
        """
    ).fetchall()

    assert unindexed == []
