"""Re-encrypts every sealed value with the first master key while the service runs.

`SEALED_COLUMNS` is the one list of the sealed columns; a capability that seals another column adds a line. The work is
done in short transactions that wait for no other transaction, so it may be stopped and started again at any time.

`DROPPED` of `adapters/postgres/backup/after_restore.py` says what becomes of the column without its key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, LiteralString, TypeAlias

from psycopg.errors import LockNotAvailable
from psycopg.sql import SQL, Composable, Composed, Identifier

from adapters.crypto.vault import SealBroken, Vault
from adapters.postgres.driver.connection import RawConnection
from core.lazy_dataclasses import dataclass

ShowProgress: TypeAlias = Callable[["SealedColumn", int, int], None]


# So few that their rows are locked only briefly.
PAGE_ROWS_MAX = 200
LOCK_WAIT_SECONDS_MAX = 3


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column whose values the vault sealed, and the primary key that they are bound to."""

    table: str
    column: str
    key: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


SEALED_COLUMNS: Final = (
    SealedColumn("mails", "values_sealed", "id"),
    SealedColumn("invitations", "token_sealed", "id"),
    SealedColumn("saml_certificates", "private_key_sealed", "id"),
    SealedColumn("server_secrets", "value_sealed", "name"),
    SealedColumn("signing_keys", "private_pem_sealed", "kid"),
    SealedColumn("elliptic_signing_keys", "private_pem_sealed", "kid"),
    SealedColumn("totp_secrets", "secret_sealed", "user_id"),
    SealedColumn("identities", "access_token_sealed", "id"),
    SealedColumn("identities", "refresh_token_sealed", "id"),
    SealedColumn("upstream_sign_ins", "proven_sealed", "id"),
    SealedColumn("provider_sessions", "id_token_sealed", "session_id"),
    SealedColumn("mfa_challenges", "id_token_sealed", "id"),
    SealedColumn("oauth_credentials", "client_secret_sealed", "id"),
    SealedColumn("upstream_connections", "client_secret_sealed", "id"),
    SealedColumn("connection_keys", "private_key_sealed", "id"),
    SealedColumn("webhooks", "secret_sealed", "id"),
    SealedColumn("webhooks", "previous_secret_sealed", "id"),
    SealedColumn("siem_streams", "token_sealed", "id"),
    SealedColumn("mail_servers", "password_sealed", "organization_id"),
    SealedColumn("shown_secrets", "secrets_sealed", "id"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrapped:
    """How many values of a column were re-encrypted, and how many were not."""

    column: SealedColumn
    rewrapped: int = 0
    unreadable: int = 0
    held: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether every value is sealed with the first key now, so that this column no longer needs the others."""
        return not self.unreadable and not self.held


def rewrap(
    connection: RawConnection, vault: Vault, report: Callable[[str], None], show: ShowProgress | None = None
) -> tuple[Rewrapped, ...]:
    """Re-encrypt every value that was not sealed with the first key; report what was done and the unreadable values.

    `show` is called after every page with the column, the rows that were read, and how many there are in all columns.
    The connection is in autocommit mode and used by nothing else. Processes that still seal with another key undo the
    work for the rows that they write, so they must get the new list of keys first.
    """
    assert connection.autocommit, "the connection must be in autocommit mode, because every page commits by itself"
    # Counting may run long, whatever limit on statements the role has.
    connection.execute(
        "SELECT set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false)",
        (f"{LOCK_WAIT_SECONDS_MAX}s",),
    )
    rows = _RowsRead(total=sum(_count(connection, column) for column in SEALED_COLUMNS), show=show)
    return tuple(_ColumnRewrap(connection, vault, column, report, rows).run() for column in SEALED_COLUMNS)


def _count(connection: RawConnection, column: SealedColumn) -> int:
    row = connection.execute(SQL("SELECT count(*) FROM {}").format(Identifier(column.table))).fetchone()
    assert row is not None, "a count returns one row"
    return row[0]


@dataclass
class _RowsRead:
    """How many rows were read so far, of those that there were at the beginning."""

    total: int
    show: ShowProgress | None
    done: int = 0

    def add(self, column: SealedColumn, rows: int) -> None:
        self.done += rows
        # Others may have added rows since.
        if self.show is not None:
            self.show(column, self.done, max(self.total, self.done))


class _ColumnRewrap:
    """The re-encryption of one column."""

    def __init__(
        self,
        connection: RawConnection,
        vault: Vault,
        column: SealedColumn,
        report: Callable[[str], None],
        rows: _RowsRead,
    ) -> None:
        self._connection = connection
        self._vault = vault
        self._report = report
        self._rows = rows
        self._done = Rewrapped(column=column)

    def run(self) -> Rewrapped:
        for keys, rows in self._pages():
            handled = self._reencrypt(keys, _FREE_ONLY)
            # A row that another transaction holds is waited for in a transaction of its own, which locks nothing else.
            for key in keys:
                if key not in handled:
                    self._reencrypt_when_free(key)
            self._rows.add(self._done.column, rows)
        self._report(f"{self._done.column}: {self._done.rewrapped} re-encrypted")
        return self._done

    def _pages(self) -> Iterator[tuple[list[Any], int]]:
        """Walk along the primary key; yield for each page the keys to re-encrypt, and its number of rows."""
        after: Composable = SQL("")
        while True:
            # The limit counts all rows: rows to re-encrypt may be rare, and the query could read the whole table.
            rows = self._connection.execute(
                self._named(
                    "SELECT {key}, {is_old} FROM {table} {after} ORDER BY {key} LIMIT {limit}",
                    after=after,
                    limit=PAGE_ROWS_MAX,
                )
            ).fetchall()
            yield [key for key, is_old in rows if is_old], len(rows)
            if len(rows) < PAGE_ROWS_MAX:
                return
            after = self._named("WHERE {key} > {last}", last=rows[-1][0])

    def _reencrypt_when_free(self, key: Any) -> None:
        try:
            self._reencrypt([key], _WAITING)
        except LockNotAvailable:
            self._report(
                f"{self._done.column} of {key} is locked by another transaction, so it was not re-encrypted. Try again."
            )
            self._done = replace(self._done, held=self._done.held + 1)

    def _reencrypt(self, keys: Sequence[Any], lock: SQL) -> set[Any]:
        """Re-encrypt, in one transaction, the rows that can be locked and are still old; return their keys."""
        if not keys:
            return set()
        with self._connection.transaction():
            rows = self._connection.execute(
                self._named("SELECT {key}, {column} FROM {table} WHERE {key} = ANY(%s) AND {is_old} {lock}", lock=lock),
                (list(keys),),
            ).fetchall()
            changes = [(sealed, key) for key, old in rows if (sealed := self._reencrypted(key, old)) is not None]
            self._connection.cursor().executemany(
                self._named("UPDATE {table} SET {column} = %s WHERE {key} = %s"), changes
            )
        self._done = replace(
            self._done,
            rewrapped=self._done.rewrapped + len(changes),
            unreadable=self._done.unreadable + len(rows) - len(changes),
        )
        return {key for key, _ in rows}

    def _reencrypted(self, key: Any, old: bytes) -> bytes | None:
        place = {"table": self._done.column.table, "column": self._done.column.column, "row": key}
        try:
            return self._vault.seal(self._vault.open(old, **place), **place)
        except SealBroken as broken:
            # One unreadable value must not keep the others under an old key; it is reported to the operator.
            self._report(str(broken))
            return None

    def _named(self, statement: LiteralString, **parts: Any) -> Composed:
        # The names come from SEALED_COLUMNS only, and are quoted all the same.
        column = self._done.column
        mark = self._vault.current_mark
        names = {"table": Identifier(column.table), "column": Identifier(column.column), "key": Identifier(column.key)}
        is_old = SQL("substring({column} FROM 1 FOR {length}) <> {mark}").format(**names, length=len(mark), mark=mark)
        return SQL(statement).format(**names, is_old=is_old, **parts)


_FREE_ONLY: Final = SQL("FOR UPDATE SKIP LOCKED")
_WAITING: Final = SQL("FOR UPDATE")
