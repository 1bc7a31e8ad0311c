"""Running a use case in a transaction: the connection, the retries, and what failures of PostgreSQL mean.

When the database is away, a request is refused with `ServiceUnavailable` within a second. A transaction that lost a
race runs again. Actors are woken only after the commit.
"""

from __future__ import annotations

import contextlib
import random
import time
import traceback
from collections.abc import Callable, Hashable, Sequence
from contextlib import closing
from dataclasses import field
from functools import partial
from itertools import takewhile
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar, cast
from uuid import UUID

import psycopg
import structlog
import trio
from psycopg.errors import (
    ConnectionFailure,
    DeadlockDetected,
    ForeignKeyViolation,
    InternalError_,
    LockNotAvailable,
    OperationalError,
    QueryCanceled,
    ReadOnlySqlTransaction,
    SerializationFailure,
)

from adapters.postgres.driver.connection import OUTDATED, Connection
from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.places import Share
from adapters.postgres.driver.pool import NoConnection, Pool
from adapters.postgres.replicas import Reading, Replicas
from adapters.postgres.shares import KnownCredentials, background_share, request_share, session_credential
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork, TransactionRequired
from core.connection_uses import BACKGROUND_USE, ConnectionUse
from core.errors import DatabaseFailed, Refusal, ServiceUnavailable
from core.lazy_dataclasses import dataclass
from core.organizations.key_callers import TokenOfKey
from core.organizations.link_callers import SetupVisit
from core.prefixed_tokens import PrefixedToken
from core.sessions.origins import BACKGROUND, Origin
from core.spaced_reports import SpacedReports
from ports.mailboxes import Due, Mailboxes, WorkKind
from ports.metrics_of_work import StatementLimit

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# For waiting for a place and for a connection together; less than the second within which a request is refused.
WAIT_SECONDS_MAX = 0.8
ATTEMPTS_MAX = 4
RETRY_PAUSE_SECONDS_MAX = 0.05
RETRY_AFTER_SECONDS = 1
# What Citus says, without an SQLSTATE of its own, when a worker has closed the connection that a statement needs.
_LOST_NODE = "failure on connection marked as essential"

# Frames that are left out when the log names the place of a failed statement: ours around the driver, and its own.
_DRIVER = (
    str(Path(__file__).with_name("driver")),
    str(Path(__file__).with_name("transaction.py")),
    str(Path(psycopg.__file__).parent),
    str(Path(trio.__file__).parent),
    "psycopg_binary",
    contextlib.__file__,
)

_CORE = str(Path(__file__).parents[2] / "core")
# What the log and the metric call the limit that a statement has reached.
_LIMITS = {QueryCanceled: StatementLimit.STATEMENT_TIMEOUT, LockNotAvailable: StatementLimit.LOCK_TIMEOUT}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
# Runs a use case, given the connection to the primary, and what is read elsewhere if there are replicas.
Run: TypeAlias = Callable[[Connection, Reading | None], Result]

log = structlog.get_logger(__name__)


class _LostRace(Exception):
    """A serialization failure or a deadlock: this transaction was rolled back."""


class _ReferenceGone(Exception):
    """A foreign key has no target: the row was deleted at this moment, or the code is wrong."""

    def __init__(self, error: ForeignKeyViolation) -> None:
        super().__init__()
        self.error = error


class _TablesChanged(Exception):
    """A prepared statement no longer fits the tables, or the code is wrong in a way that looks the same."""

    def __init__(self, error: psycopg.Error) -> None:
        super().__init__()
        self.error = error


class _ServerReadOnly(Exception):
    """The server takes no writes: it became a standby, or was made read-only."""


class _ReplicaFailed(Exception):
    """A statement failed on a replica, so the use case runs again with everything from the primary."""


class _LostConnection(Exception):
    """The connection broke before a COMMIT was sent, so nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresDatabase:
    """The port `Database` over PostgreSQL."""

    pool: Pool
    tools: Tools
    mailboxes: Mailboxes
    origin: Origin = BACKGROUND
    session_id: UUID | None = None
    client_id: UUID | None = None
    api_key: PrefixedToken | None = None
    scim_token: PrefixedToken | None = None
    organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None = None
    use: ConnectionUse = BACKGROUND_USE
    known: KnownCredentials = field(default_factory=KnownCredentials)
    # An outage fails a thousand statements a minute in the same way.
    failures: SpacedReports = field(default_factory=SpacedReports)
    # Takes the use case and the limit of a statement that PostgreSQL has cancelled, for the metric.
    cancelled: Callable[[str, StatementLimit], None] = lambda _use_case, _limit: None
    wait_seconds_max: float = WAIT_SECONDS_MAX
    # None where everything is read from the primary.
    replicas: Replicas | None = None

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: UUID | None = None,
        client_id: UUID | None = None,
        api_key: PrefixedToken | None = None,
        scim_token: PrefixedToken | None = None,
        organization_credential: PrefixedToken | TokenOfKey | SetupVisit | None = None,
        use: ConnectionUse = BACKGROUND_USE,
    ) -> PostgresDatabase:
        # Written out, because every request passes here and `dataclasses.replace` takes several times as long.
        return PostgresDatabase(
            pool=self.pool,
            tools=self.tools,
            mailboxes=self.mailboxes,
            origin=origin,
            session_id=session_id,
            client_id=client_id,
            api_key=api_key,
            scim_token=scim_token,
            organization_credential=organization_credential,
            use=use,
            known=self.known,
            failures=self.failures,
            cancelled=self.cancelled,
            wait_seconds_max=self.wait_seconds_max,
            replicas=self.replicas,
        )

    def _unit_of_work(
        self, connection: Connection, reading: Reading | None, *, is_step: bool = False
    ) -> PostgresUnitOfWork:
        return PostgresUnitOfWork(
            connection,
            self.origin,
            self.tools,
            session_id=self.session_id,
            client_id=self.client_id,
            api_key=self.api_key,
            scim_token=self.scim_token,
            organization_credential=self.organization_credential,
            identified=self._identified,
            reading=reading,
            is_step=is_step,
        )

    def _share(self, *, may_lock: bool) -> Share:
        if self.use.is_background:
            return background_share(self.use, may_lock=may_lock)
        return request_share(
            self.use,
            self.origin.ip_address,
            self._credential(self.use.organization_slug),
            self.known,
            may_lock=may_lock,
        )

    def _credential(self, organization_slug: str | None) -> Hashable | None:
        token = self.scim_token or self.api_key or self.organization_credential
        if token is not None:
            return token.token_hash
        return session_credential(self.session_id, organization_slug) if self.session_id is not None else None

    def _identified(self, organization_slug: str | None, key: Hashable | None) -> None:
        """Remember the share of the credential that was just verified; None for the share of its network."""
        self.known.know(self._credential(organization_slug), key)

    async def transact(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result | Refusal],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:

        def run(connection: Connection, reading: Reading | None) -> tuple[Result | Refusal, set[WorkKind]]:
            uow = self._unit_of_work(connection, reading)
            is_committing = False
            try:
                with connection.transaction():
                    result = use_case(uow, *args, **kwargs)
                    is_committing = True
            except (OperationalError, InternalError_) as error:
                if is_committing and (connection.closed or _is_node_away(error)):
                    # PostgreSQL or a node of its cluster may have executed the COMMIT, so it is not tried twice. The
                    # line has the id of a request; what a job did is known by its use case.
                    log.warning("database.commit_unknown", use_case=_name_of(use_case, args))
                    raise _unavailable() from None
                raise
            return result, uow.made_due

        try:
            result, made_due = await self._run_with_retries(run, self._share(may_lock=True))
        except Refusal as refusal:
            if refusal.trace is not None:
                await self._leave(refusal.trace)
            raise
        # A cancelled task gets here too, so the actors learn of everything that was committed.
        for work in made_due:
            self.mailboxes.send(work, Due(self.tools.clock()))
        if isinstance(result, Refusal):
            raise result
        return result

    async def read(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        return await self.step(use_case, *args, **kwargs)

    async def step(
        self,
        use_case: Callable[Concatenate[UnitOfWork, Arguments], Result],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:

        def run(connection: Connection, reading: Reading | None) -> Result:
            uow = self._unit_of_work(connection, reading, is_step=True)
            result = use_case(uow, *args, **kwargs)
            assert not uow.made_due, "a use case outside a transaction made work due"
            connection.flush()
            return result

        try:
            return await self._run_with_retries(run, self._share(may_lock=False))
        except TransactionRequired:
            return await self.transact(use_case, *args, **kwargs)

    async def _leave(self, trace: Callable[[UnitOfWork], None]) -> None:
        """Store what a refusal leaves behind; that it cannot be stored does not change the answer."""

        def leave(uow: UnitOfWork) -> None:
            assert isinstance(uow, PostgresUnitOfWork), uow
            # Only for an account there is something to write: waiting for the disk would tell that there is one.
            uow.commit_without_waiting()
            trace(uow)

        try:
            await self.transact(leave)
        except ServiceUnavailable as away:
            log.warning("refusal.not_noted", reason=away.message)

    async def _run_with_retries(self, run: Run[Result], share: Share) -> Result:
        """Run with the replicas, and with the primary alone after a failure of a replica."""
        try:
            return await self._attempt(run, share, self.replicas)
        except _ReplicaFailed:
            return await self._attempt(run, share, None)

    async def _attempt(self, run: Run[Result], share: Share, replicas: Replicas | None) -> Result:
        """Run on a connection, and again after a failure that may pass; the connection is waited for in Trio."""
        deadline = time.monotonic() + self.wait_seconds_max
        has_repeated = has_renewed = False
        for _ in range(ATTEMPTS_MAX):
            try:
                return await run_in_greenlet(
                    partial(self._run_on_connection, run, deadline, replicas),
                    places=self.pool.places.claim(share),
                    wait_seconds_max=deadline - time.monotonic(),
                )
            except trio.TooSlowError:
                raise _unavailable() from None
            except _LostConnection:
                pass
            except _ServerReadOnly:
                # The other connections lead to the same server; new ones find the writable server, if there is one.
                self.pool.renew()
            except _LostRace:
                # The database is there, so the next attempt may wait as long as the first.
                deadline = time.monotonic() + self.wait_seconds_max
            except _ReferenceGone as gone:
                # The use case runs again, no longer finds the deleted row, and raises the refusal that fits.
                if has_repeated:
                    raise self._failed(gone.error) from None
                has_repeated = True
            except _TablesChanged as changed:
                if has_renewed:
                    raise self._failed(changed.error) from None
                has_renewed = True
                # The prepared statements of the other connections are outdated too.
                self.pool.renew()
            # Two transactions that met in a deadlock must not meet again at once.
            await trio.sleep(random.uniform(0, RETRY_PAUSE_SECONDS_MAX))  # noqa: S311 - jitter, not a secret
        raise self._given_up()

    def _note_cancelled(self, error: QueryCanceled | LockNotAvailable) -> None:
        """Log and count a statement that took too long; `ops/runbooks/cancelled-statements.md` goes on from there."""
        use_case, limit = _use_case(error), _LIMITS[type(error)]
        log.error(
            "database.statement_cancelled",
            use_case=use_case,
            limit=limit.value,
            sqlstate=error.sqlstate,
            where=_place(error),
        )
        self.cancelled(use_case, limit)

    def _run_on_connection(self, run: Run[Result], deadline: float, replicas: Replicas | None) -> Result:
        if replicas is None:
            return self._run_reading(run, deadline, None)
        with closing(replicas.reading()) as reading:
            return self._run_reading(run, deadline, reading)

    def _run_reading(self, run: Run[Result], deadline: float, reading: Reading | None) -> Result:
        try:
            pooled = self.pool.take(deadline)
        except NoConnection:
            raise _unavailable() from None
        connection = pooled.connection
        try:
            return run(connection, reading)
        except psycopg.Error as error:
            if reading is not None and reading.has_failed:
                self._require_repeatable(reading, error)
                raise _ReplicaFailed from None
            connection.write_failures.note(error)
            if isinstance(error, QueryCanceled | LockNotAvailable):
                self._note_cancelled(error)
                raise _unavailable() from None
            raise self._meaning(error, is_connection_lost=connection.closed) from None
        finally:
            self.pool.give_back(pooled)

    def _require_repeatable(self, reading: Reading, error: psycopg.Error) -> None:
        """Raise the error for a failed statement on a replica, unless the primary can run it instead."""
        if reading.may_repeat(error):
            return
        if isinstance(error, QueryCanceled):
            self._note_cancelled(error)
            raise _unavailable() from None
        raise self._failed(error) from None

    def _meaning(self, error: psycopg.Error, *, is_connection_lost: bool) -> Exception:
        """Return the exception that decides whether the attempt is repeated."""
        if isinstance(error, SerializationFailure | DeadlockDetected):
            return _LostRace()
        if isinstance(error, OUTDATED):
            return _TablesChanged(error)
        if isinstance(error, ReadOnlySqlTransaction):
            return _ServerReadOnly()
        if is_connection_lost or _is_node_away(error):
            return _LostConnection()
        if isinstance(error, ForeignKeyViolation):
            return _ReferenceGone(error)
        return self._failed(error)

    def _given_up(self) -> Exception:
        """Return what an attempt that was repeated in vain is to its caller."""
        if (times := self.failures.count(time.monotonic(), "gave up")) is not None:
            log.warning("database.gave_up", attempts=ATTEMPTS_MAX, times=times)
        return _unavailable()

    def _failed(self, error: psycopg.Error) -> Exception:
        """Return what a failed statement is to its caller, and log it: at intervals, with how often it has failed.

        What PostgreSQL lacks fails everywhere at once; what is wrong in a statement fails in one place.
        """
        is_outage, where = isinstance(error, OperationalError), _place(error)
        times = self.failures.count(time.monotonic(), (error.sqlstate, None if is_outage else where))
        if times is not None:
            # The driver's text may quote values, so only the class, the SQLSTATE and the place in our code are logged.
            log.error("database.failed", error=type(error).__name__, sqlstate=error.sqlstate, where=where, times=times)
        return _unavailable() if is_outage else DatabaseFailed()


def _is_node_away(error: psycopg.Error) -> bool:
    """Return whether the server has lost a node of its cluster; it connects to it anew for the next attempt."""
    return isinstance(error, ConnectionFailure) or (
        isinstance(error, InternalError_) and _LOST_NODE in (error.diag.message_primary or "")
    )


def _unavailable() -> ServiceUnavailable:
    return ServiceUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS)


def _place(error: psycopg.Error) -> str:
    """Return the file and line of our code that ran the statement."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_DRIVER)]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown"


def _name_of(use_case: Callable[..., object], args: Sequence[object]) -> str:
    """Return the name of a use case, such as `mail.mail.record_sent`."""
    while isinstance(use_case, partial):
        use_case = use_case.func
    # The holder of a setup link is served by functions that take the use case (`link_callers.serve`).
    for one in takewhile(lambda one: isinstance(one, FunctionType) and one.__name__ != "<lambda>", args):
        use_case = cast("FunctionType", one)
    module = getattr(use_case, "__module__", "").removeprefix("core.")
    return f"{module}.{getattr(use_case, '__name__', 'unknown')}"


def _use_case(error: psycopg.Error) -> str:
    """Return the use case that ran the statement, such as `organizations.members.browse`: a vocabulary of our code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(_CORE)]
    if not frames:
        return "unknown"
    module = Path(frames[-1].filename).relative_to(_CORE).with_suffix("")
    return ".".join([*module.parts, frames[-1].name])
