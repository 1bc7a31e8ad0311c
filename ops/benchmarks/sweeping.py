"""The invitation sweeper with many invitations to expire: the actor itself, with every transaction timed.

It holds its locks until the end of a transaction, so no lock is held longer than the longest transaction.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import trio

from actors.invitation_sweeper import InvitationSweeper
from actors.timekeeper import Timekeeper
from core.invitations.invitations import Swept
from entrypoints import database, main, settings
from ops.benchmarks.comparing import Spread
from ops.benchmarks.progress import Say
from ops.benchmarks.standing import StandingFigure
from ports.database import Database

LOCK_MS_MAX: Final = 50.0
SWEEP_SECONDS_MAX: Final = 600.0
REPORT_TRANSACTIONS: Final = 500


def sweep(data_folder: Path, expected: int, say: Say) -> list[StandingFigure]:
    """Let the sweeper expire all invitations that are due, once."""
    watch = trio.run(_sweep, settings.load({"GATEHOUSE_DATA_DIR": str(data_folder)}), say)
    percentiles = statistics.quantiles(watch.took_ms, n=100, method="inclusive")
    return [
        StandingFigure(name="invitations expired", unit="", values=Spread.of([watch.expired]), minimum=float(expected)),
        StandingFigure(
            name="sweeper: transaction, p50 and extremes",
            unit="ms",
            values=Spread(median=percentiles[49], least=min(watch.took_ms), most=max(watch.took_ms)),
        ),
        StandingFigure(
            name="sweeper: longest transaction",
            unit="ms",
            values=Spread.of([max(watch.took_ms)]),
            maximum=LOCK_MS_MAX,
        ),
        StandingFigure(name="sweeper: the whole sweep", unit="s", values=Spread.of([watch.seconds])),
    ]


@dataclass(slots=True, kw_only=True)
class _Watch:
    """A database that times every transaction, and sets an event after the last one of a sweep."""

    database: Database
    say: Say
    took_ms: list[float] = field(default_factory=list[float])
    expired: int = 0
    seconds: float = 0.0
    is_done: trio.Event = field(default_factory=trio.Event)

    async def step(self, use_case: Callable[..., bool], /, *args: Any, **kwargs: Any) -> bool:
        """Ask whether there is anything to sweep, which is not timed."""
        return await self.database.step(use_case, *args, **kwargs)

    async def transact(self, use_case: Callable[..., Swept], /, *args: Any, **kwargs: Any) -> Swept:
        """Run the transaction and record its duration."""
        began_at = trio.current_time()
        swept = await self.database.transact(use_case, *args, **kwargs)
        self.took_ms.append((trio.current_time() - began_at) * 1000)
        self.expired += swept.expired
        if len(self.took_ms) % REPORT_TRANSACTIONS == 0:
            self.say(f"{self.expired:,} invitations expired, the longest transaction took {max(self.took_ms):.0f} ms")
        if swept.continue_after is None:
            self.is_done.set()
        return swept


async def _sweep(read: settings.Settings, say: Say) -> _Watch:
    with database.address_of(read) as address:
        async with main.connected(read, address) as connected, trio.open_nursery() as nursery:
            installation = connected.installation
            watch = _Watch(database=installation.database, say=say)
            sweeper = InvitationSweeper(
                database=cast("Database", watch),
                metrics=installation.metrics,
                mailboxes=Timekeeper(installation.metrics),
            )
            began_at = trio.current_time()
            nursery.start_soon(sweeper.work)
            with trio.fail_after(SWEEP_SECONDS_MAX):
                await watch.is_done.wait()
            watch.seconds = trio.current_time() - began_at
            nursery.cancel_scope.cancel()
    return watch
