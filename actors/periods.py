"""The loop of actors that do the same at every message: all that is due, even after a failure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, NotRequired, TypedDict, TypeVar, TypeVarTuple, Unpack

import structlog
import trio

from actors.batch_sizes import BatchSize
from actors.mailboxes import Mailbox
from actors.precedence import RequestsFirst
from core.errors import ServiceUnavailable
from ports.mailboxes import Mailboxes, WorkKind
from ports.metrics import Metrics

if TYPE_CHECKING:
    from ports.database import Database
    from ports.precedence import Precedence
    from ports.unit_of_work import UnitOfWork

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

log = structlog.get_logger(__name__)


class PeriodicConnections(TypedDict):
    """What every periodic actor is connected to, and the boxes of others, which some tell what they have done.

    One that deletes what has expired waits while `is_settled` says that the time may be wrong.
    """

    database: Database
    metrics: Metrics
    mailboxes: Mailboxes
    precedence: NotRequired[Precedence]
    is_settled: NotRequired[Callable[[], bool]]


class PeriodicActor(ABC):
    """An actor that is cancelled at any time: what it has not done waits in the tables for its next message."""

    # The name of the work, in the metrics and in the log.
    job_type: str
    # After so long without a message, the timekeeper sends one.
    period_seconds: float
    # After its work, messages wait so long in its box.
    rest_seconds: float = 0.0
    # What others tell it of.
    work_kind: WorkKind | None = None
    # Whether one process works for all.
    in_turn: bool = False

    def __init__(self, **connections: Unpack[PeriodicConnections]) -> None:
        self._database = connections["database"]
        self._metrics = connections["metrics"]
        self._mailboxes = connections["mailboxes"]
        self._precedence = connections.get("precedence") or RequestsFirst()
        self._is_settled = connections.get("is_settled") or (lambda: True)
        self._batches = dict[str, BatchSize]()
        self.box = Mailbox(self.work_kind, in_turn=self.in_turn)

    @abstractmethod
    async def work(self) -> None:
        """Do everything that is due; what fails with `ServiceUnavailable` is tried again at the next message."""

    async def run(self) -> NoReturn:
        """Work at every message, until cancelled; the first one comes as soon as it is the turn of this process."""
        await self.box.receive(0)
        while True:
            rest_seconds = await self._work_once()
            await self.box.receive(self.period_seconds, rest_seconds=rest_seconds)

    async def _work_once(self) -> float:
        """Work, and return how long to rest."""
        if not self._is_settled():
            log.warning("job.waits_for_clock", job=self.job_type, retry_seconds=self.period_seconds)
            return self.period_seconds
        began_at = trio.current_time()
        try:
            await self.work()
        except ServiceUnavailable as away:
            log.info("job.postponed", job=self.job_type, reason=away.message, retry_seconds=self.period_seconds)
        self._metrics.job_finished(self.job_type, trio.current_time() - began_at)
        return self.rest_seconds

    async def _in_batches(
        self,
        use_case: Callable[[UnitOfWork, *Arguments], int],
        *args: *Arguments,
        full: int,
        pause_seconds: float = 0.0,
        is_one_statement: bool = False,
    ) -> int:
        """Run a use case until its batch is not full, with a pause after each; return how much all of them did."""
        total = done = await self._after_requests(use_case, *args, is_one_statement=is_one_statement)
        while done >= full:
            await trio.sleep(pause_seconds)
            done = await self._after_requests(use_case, *args, is_one_statement=is_one_statement)
            total += done
        return total

    async def _in_short_batches(
        self, use_case: Callable[[UnitOfWork, int], int], *, rows_max: int, pause_seconds: float
    ) -> int:
        """Run a use case in batches that each take a short time, until no rows are left; return how many."""
        batch = self._batches.setdefault(use_case.__name__, BatchSize(rows_max))
        total = 0
        while True:
            rows = batch.rows
            done = await self._in_size(batch, use_case, rows)
            total += done
            if done < rows:
                return total
            await trio.sleep(pause_seconds)

    async def _in_size(
        self,
        batch: BatchSize,
        use_case: Callable[[UnitOfWork, *Arguments], Result],
        *args: *Arguments,
        is_one_statement: bool = False,
    ) -> Result:
        """Run a use case whose batch has the size that one of the arguments names, and adapt that size."""
        began_at = trio.current_time()
        try:
            done = await self._after_requests(use_case, *args, is_one_statement=is_one_statement)
        except ServiceUnavailable:
            batch.failed()
            raise
        batch.took(trio.current_time() - began_at)
        return done

    async def _after_requests(
        self,
        use_case: Callable[[UnitOfWork, *Arguments], Result],
        *args: *Arguments,
        is_one_statement: bool = False,
    ) -> Result:
        """Run a use case that requests need not wait for; one of a single statement needs no BEGIN and COMMIT."""
        await self._precedence.turn(self.job_type)
        self.box.take()
        run = self._database.step if is_one_statement else self._database.transact
        return await run(use_case, *args)
