"""What the periodic work costs on a large database, with nothing else to do: `ops/bench --periodic`.

The actors run as in the service, on a port `Database` that times what they call. So an actor that is added, or a use
case that gets other arguments, is measured without a change here.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import trio

from adapters.postgres.schema import migrations
from core.secrets import Secret
from core.sessions.origins import Origin
from entrypoints import main, settings
from ops.benchmarks import report
from ops.benchmarks.large_database import SMALL_SHARE, large_database
from ops.benchmarks.progress import Say
from ports.database import Database

# Every period that is not hours long has begun by then, and every batch was repeated.
SECONDS: Final = 90.0
# The aim for one transaction of periodic work.
TRANSACTION_MS_MAX: Final = 50.0
MILLISECONDS: Final = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodicFigures:
    """How often each use case ran, and what it took."""

    took_ms: dict[str, list[float]]

    def table(self) -> str:
        """Return a line for each use case, the one with the longest transaction first."""
        heading = ("periodic use case", "times", "p50 ms", f"longest ms (≤ {TRANSACTION_MS_MAX:.0f})", "together s", "")
        return report.table(
            heading,
            [
                (
                    name,
                    str(len(took)),
                    f"{statistics.median(took):.1f}",
                    f"{max(took):.1f}",
                    f"{sum(took) / MILLISECONDS:.2f}",
                    report.OVER if max(took) > TRANSACTION_MS_MAX else "",
                )
                for name, took in sorted(self.took_ms.items(), key=lambda each: -max(each[1]))
            ],
        )


def periodic(*, is_full: bool, say: Say) -> PeriodicFigures:
    """Seed a database, let the actors run on it for a while, and return what they took."""
    with large_database(1.0 if is_full else SMALL_SHARE, migrations.known(), say) as (folder, url):
        say(f"the actors run for {SECONDS:.0f} s")
        return trio.run(partial(run_actors, folder, url, SECONDS))


async def run_actors(folder: Path, url: str, seconds: float) -> PeriodicFigures:
    """Let the actors run on a database without requests."""
    watch = dict[str, list[float]]()
    read = settings.load({"GATEHOUSE_DATA_DIR": str(folder)})

    def timed(database: Database) -> Database:
        return cast("Database", _TimedDatabase(database=database, took_ms=watch))

    async with main.connected(read, Secret(url), observed=timed) as connected:
        await connected.load_secrets()
        watch.clear()
        connected.start_actors()
        await trio.sleep(seconds)
    return PeriodicFigures(took_ms=watch)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedDatabase:
    """The port `Database`, which notes how long each use case took."""

    database: Database
    took_ms: dict[str, list[float]]
    alone: trio.Lock = field(default_factory=trio.Lock)

    def on_behalf_of(self, origin: Origin, *identifiers: Any, **named: Any) -> Database:
        """Requests are not measured."""
        return self.database.on_behalf_of(origin, *identifiers, **named)

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run the transaction and note its duration."""
        return await self._timed(self.database.transact, use_case, *args, **kwargs)

    async def read(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Read and note the duration."""
        return await self._timed(self.database.read, use_case, *args, **kwargs)

    async def step(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run the statement and note its duration."""
        return await self._timed(self.database.step, use_case, *args, **kwargs)

    async def _timed(
        self, run: Callable[..., Awaitable[Any]], use_case: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        # One at a time, so that none waits for another one.
        async with self.alone:
            began_at = trio.current_time()
            try:
                return await run(use_case, *args, **kwargs)
            finally:
                took_ms = (trio.current_time() - began_at) * MILLISECONDS
                self.took_ms.setdefault(_name_of(use_case), []).append(took_ms)


def _name_of(use_case: Callable[..., Any]) -> str:
    function = use_case.func if isinstance(use_case, partial) else use_case
    return f"{function.__module__.removeprefix('core.')}.{getattr(function, '__qualname__', '')}"
