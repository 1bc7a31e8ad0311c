"""One transaction: its connection, its time, the origin of the request, and the tools that aggregates use.

An aggregate is a class of SQL for one port of storage. Each is made from the transaction alone.

An aggregate reads its rows by `_one`, `_all`, `_value` and their like. Statements name the columns of an entity by
`columns`, `placeholders`, `assignments` and `values` (`driver/columns.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog

from adapters.crypto.vault import Vault
from adapters.postgres.driver.columns import Row, dict_row, kwargs_row, scalar_row
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.positions import COLUMN, with_position
from adapters.postgres.driver.statements import Parameters, Text
from adapters.postgres.session_kinds import SessionKinds
from core.deletions import AgedRows
from core.ids import PLATFORM
from core.lazy_dataclasses import dataclass
from core.prefixed_tokens import PrefixedToken
from core.sessions.callers import Caller
from core.sessions.origins import Origin
from ports.clock import Clock, Randomness
from ports.mailboxes import WorkKind

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.credentials.devices import Locations
    from ports.credentials.mfa import Totp
    from ports.credentials.passkeys import WebAuthn
    from ports.domain_names import DomainNames
    from ports.pepper import Pepper


log = structlog.get_logger(__name__)


def always() -> bool:
    """Say that the time is settled: of a clock that nothing is compared with."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Tools that all transactions of a process share."""

    clock: Clock
    randomness: Randomness
    vault: Vault
    pepper: Pepper
    domain_names: DomainNames
    locations: Locations
    totp: Totp
    webauthn: Callable[[], WebAuthn]
    """Makes it at the first call, and returns the same at every further one."""
    has_rate_limits: bool
    is_settled: Callable[[], bool] = always
    """Whether the time is certain enough to delete by it (`ports/clock.py`)."""
    session_kinds: SessionKinds = field(default_factory=SessionKinds)


@dataclass(slots=True, kw_only=True)
class Transaction:
    """The state that all aggregates of a transaction share; the actors of `made_due` get a message after the commit."""

    connection: Connection
    now: datetime
    origin: Origin
    vault: Vault
    randomness: Randomness
    is_settled: Callable[[], bool] = always
    session_id: UUID | None = None
    api_key: PrefixedToken | None = None
    scim_token: PrefixedToken | None = None
    session_kinds: SessionKinds = field(default_factory=SessionKinds)
    # As soon as it is known.
    caller: Caller | None = None
    # The details that every entry of a log has while the caller is impersonated; none otherwise.
    impersonation_in: Callable[[Transaction], Mapping[str, str]] = lambda _: {}
    # Whether the statement that reads the caller also reads the primary's position in its log, and that position.
    notes_position: bool = False
    position: str | None = None
    made_due: set[WorkKind] = field(default_factory=set["WorkKind"])
    # The organizations whose logs this transaction has marked.
    marked: set[UUID] = field(default_factory=set["UUID"])

    @property
    def impersonation(self) -> Mapping[str, str]:
        """The details that name the impersonator and the session; none while the caller is not impersonated."""
        return self.impersonation_in(self)

    def may_delete(self, rows: AgedRows) -> bool:
        """Return whether rows may be deleted because of their age: not while the time may be wrong, which is logged."""
        is_settled = self.is_settled()
        if not is_settled:
            log.info("deletion.waits_for_clock", rows=rows.value)
        return is_settled

    def mark_due(self, organization_ids: Iterable[UUID]) -> None:
        """Mark that something may wait in the logs of these organizations.

        Each transaction that writes events or audit entries does it once for an organization. It also keeps the
        organization from being deleted meanwhile, or fails because it is deleted. The platform's own log needs no mark,
        but takes the same statement, so that the time does not tell whether a person exists.
        """
        unmarked = set(organization_ids) - self.marked
        if unmarked:
            self.marked.update(unmarked)
            self.connection.execute_later(
                "SELECT mark_due(one) FROM unnest(%s::uuid[]) AS one", (sorted(unmarked - {PLATFORM}),)
            )


class Aggregate:
    """The SQL of one port of storage, in one transaction.

    `make`, a class or a function, is called with the values of a row by the names of its columns.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._connection = transaction.connection

    def _one(self, make: Callable[..., Row], text: Text, parameters: Parameters = ()) -> Row | None:
        """Return the first row; None when there is none."""
        return self._connection.cursor(row_factory=kwargs_row(make)).execute(text, parameters).fetchone()

    def _only(self, make: Callable[..., Row], text: Text, parameters: Parameters = ()) -> Row:
        """Return the row of a statement that always has exactly one."""
        [row] = self._connection.cursor(row_factory=kwargs_row(make)).execute(text, parameters)
        return row

    def _all(
        self,
        make: Callable[..., Row],
        text: Text,
        parameters: Parameters = (),
        *,
        prepare: bool = True,
        binary: bool = False,
    ) -> list[Row]:
        """Return all rows."""
        cursor = self._connection.cursor(row_factory=kwargs_row(make), binary=binary)
        return cursor.execute(text, parameters, prepare=prepare).fetchall()

    def _callers(
        self, make: Callable[..., Row], text: Text, parameters: Parameters = (), *, binary: bool = False
    ) -> list[Row]:
        """Return all rows of a statement that reads who calls.

        Where there are replicas it also tells the position of the primary, which they have to reach for this caller.
        """
        if not self._transaction.notes_position:
            return self._all(make, text, parameters, binary=binary)

        def make_noting(**columns: Any) -> Row:
            self._transaction.position = columns.pop(COLUMN)
            return make(**columns)

        return self._all(make_noting, with_position(text), parameters, binary=binary)

    def _caller(self, make: Callable[..., Row], text: Text, parameters: Parameters = ()) -> Row | None:
        """Return the first row of a statement that reads who calls, as `_callers` does; None when there is none."""
        if not self._transaction.notes_position:
            return self._one(make, text, parameters)
        return next(iter(self._callers(make, text, parameters)), None)

    def _row(self, text: Text, parameters: Parameters = ()) -> dict[str, Any] | None:
        """Return the first row by the names of its columns; None when there is none."""
        return self._connection.cursor(row_factory=dict_row).execute(text, parameters).fetchone()

    def _rows(self, text: Text, parameters: Parameters = (), *, prepare: bool = True) -> list[dict[str, Any]]:
        """Return all rows, each by the names of its columns."""
        return self._connection.cursor(row_factory=dict_row).execute(text, parameters, prepare=prepare).fetchall()

    def _defer_rows(self, text: Text, parameters: Parameters = ()) -> Deferred[list[dict[str, Any]]]:
        """Defer reading all rows, each by the names of its columns."""
        return self._connection.cursor(row_factory=dict_row).defer(text, parameters).fetchall

    def _page_of(
        self, make: Callable[..., Row], text: Text, parameters: Parameters = (), *, prepare: bool = True
    ) -> tuple[list[Row], int]:
        """Return the rows of a page and the total, which is a column of each of them.

        A row whose id is NULL means a page without rows; a page without any row has the total 0.
        """
        rows = self._rows(text, parameters, prepare=prepare)
        totals = [row.pop("total") for row in rows]
        return [make(**row) for row in rows if row.get("id", row) is not None], totals[0] if totals else 0

    def _value(self, text: Text, parameters: Parameters = ()) -> Any:
        """Return the first column of a statement that always has exactly one row."""
        [value] = self._connection.cursor(row_factory=scalar_row).execute(text, parameters)
        return value

    def _value_or_none(self, text: Text, parameters: Parameters = ()) -> Any:
        """Return the first column of the first row; None when there is no row, or when it is NULL."""
        return self._connection.cursor(row_factory=scalar_row).execute(text, parameters).fetchone()

    def _values(
        self, text: Text, parameters: Parameters = (), *, prepare: bool = True, binary: bool = False
    ) -> list[Any]:
        """Return the first column of all rows."""
        cursor = self._connection.cursor(row_factory=scalar_row, binary=binary)
        return cursor.execute(text, parameters, prepare=prepare).fetchall()

    def _finds_any(self, text: Text, parameters: Parameters = ()) -> bool:
        """Run a statement and return whether it found a row."""
        return self._connection.execute(text, parameters).rowcount > 0

    def _changes_one(self, text: Text, parameters: Parameters = ()) -> bool:
        """Run a statement and return whether it changed one row."""
        return self._connection.execute(text, parameters).rowcount == 1

    def _defer_one(self, make: Callable[..., Row], text: Text, parameters: Parameters = ()) -> Deferred[Row | None]:
        """Defer reading the first row; None when there is none."""
        return self._connection.cursor(row_factory=kwargs_row(make)).defer(text, parameters).fetchone

    def _defer_all(self, make: Callable[..., Row], text: Text, parameters: Parameters = ()) -> Deferred[list[Row]]:
        """Defer reading all rows."""
        return self._connection.cursor(row_factory=kwargs_row(make)).defer(text, parameters).fetchall

    def _defer_value_or_none(self, text: Text, parameters: Parameters = ()) -> Deferred[Any]:
        """Defer reading the first column of the first row; None when there is no row, or when it is NULL."""
        return self._connection.cursor(row_factory=scalar_row).defer(text, parameters).fetchone

    def _defer_values(self, text: Text, parameters: Parameters = ()) -> Deferred[list[Any]]:
        """Defer reading the first column of all rows."""
        return self._connection.cursor(row_factory=scalar_row).defer(text, parameters).fetchall

    def _defer_changes_one(self, text: Text, parameters: Parameters = ()) -> Deferred[bool]:
        """Defer a statement, and reading whether it changed one row."""
        changed = self._connection.cursor().defer(text, parameters)
        return lambda: changed.rowcount == 1
