"""Keeps the actors running: a crash is logged, counted and followed by another run, and affects no other actor.

An actor is an `async def run()` that works until it is cancelled, and a box. The message `Drain` asks an actor to
finish its present work and return. After a crash nothing is kept in memory: the next run starts from the tables.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import structlog
import trio

from actors.mailboxes import Mailbox
from ports.actors import ActorReport, BackgroundTaskState
from ports.clock import Clock
from ports.mailboxes import Drain
from ports.metrics import Metrics

BACKOFF_SECONDS_MIN = 0.5
BACKOFF_SECONDS_MAX = 60.0
# Replicas that crashed of one cause must not restart at the same moment: each shortens its pause by up to this share.
BACKOFF_JITTER = 0.3
# After so long a run the next crash counts as a new problem, with the shortest pause.
HEALTHY_SECONDS_MIN = 120.0
# Enough for a mail that is being sent; process managers usually wait 30 seconds or more before SIGKILL.
DRAIN_SECONDS_MAX = 10.0

log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class _Actor:
    name: str
    run: Callable[[], Awaitable[None]]
    # None for the timekeeper and the poller, which hear of no messages.
    box: Mailbox | None
    since: datetime
    state: BackgroundTaskState = BackgroundTaskState.STARTING
    crashes: int = 0
    backoff_seconds: float = 0.0
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: trio.Event = field(default_factory=trio.Event)


class Supervisor:
    """The port `Actors`; starts and stops the actors, all in one nursery."""

    def __init__(self, nursery: trio.Nursery, *, clock: Clock, metrics: Metrics) -> None:
        self._nursery = nursery
        self._clock = clock
        self._metrics = metrics
        self._actors: dict[str, _Actor] = {}
        self._stopping = trio.Event()

    def supervise(self, name: str, run: Callable[[], Awaitable[None]], box: Mailbox | None = None) -> None:
        """Run an actor from now on, again after every crash, until `stop`; its box outlives its crashes."""
        assert name not in self._actors, f"an actor named {name} is already supervised"
        actor = _Actor(name=name, run=run, box=box, since=self._clock())
        self._actors[name] = actor
        self._enter(actor, BackgroundTaskState.STARTING)
        self._nursery.start_soon(self._keep_running, actor, name=name)

    async def stop(self) -> None:
        """Drain every actor, cancel those that take too long, and return when all have ended."""
        self._stopping.set()
        for actor in self._actors.values():
            if actor.box is not None and actor.box.drains and actor.state is BackgroundTaskState.RUNNING:
                actor.box.send(Drain())
            else:
                actor.scope.cancel()
        with trio.move_on_after(DRAIN_SECONDS_MAX):
            await self._all_ended()
            return
        for actor in self._actors.values():
            if actor.state is not BackgroundTaskState.STOPPED:
                log.warning("actor.cut_short", actor=actor.name, drain_seconds=DRAIN_SECONDS_MAX)
                actor.scope.cancel()
        await self._all_ended()

    def reports(self) -> Sequence[ActorReport]:
        """Report on every actor, in the order in which they were started."""
        return [
            ActorReport(
                name=actor.name,
                state=actor.state,
                since=actor.since,
                crashes=actor.crashes,
                messages=actor.box.waiting if actor.box is not None else 0,
                oldest_seconds=actor.box.oldest_seconds if actor.box is not None else 0.0,
            )
            for actor in self._actors.values()
        ]

    async def _all_ended(self) -> None:
        for actor in self._actors.values():
            await actor.ended.wait()

    async def _keep_running(self, actor: _Actor) -> None:
        try:
            while not self._stopping.is_set() and await self._run_once(actor):
                await self._back_off(actor)
        finally:
            self._enter(actor, BackgroundTaskState.STOPPED)
            actor.ended.set()
        if not self._stopping.is_set():
            log.warning("actor.returned", actor=actor.name)

    async def _run_once(self, actor: _Actor) -> bool:
        """Run the actor to its end; return whether that was a crash."""
        began_at = trio.current_time()
        if actor.crashes:
            self._metrics.actor_restarted(actor.name)
        self._enter(actor, BackgroundTaskState.RUNNING)
        try:
            # The scope is inside the `try`, because an actor may crash when it is cancelled.
            with trio.CancelScope() as actor.scope:
                await actor.run()
        except Exception as crash:  # noqa: BLE001 - every failure of an actor ends here
            self._record_crash(actor, crash, ran_seconds=trio.current_time() - began_at)
            return True
        return False

    async def _back_off(self, actor: _Actor) -> None:
        self._enter(actor, BackgroundTaskState.BACKING_OFF)
        jitter = random.uniform(1 - BACKOFF_JITTER, 1)  # noqa: S311 - nothing secret depends on it
        with trio.move_on_after(actor.backoff_seconds * jitter):
            await self._stopping.wait()

    def _record_crash(self, actor: _Actor, crash: Exception, *, ran_seconds: float) -> None:
        is_new_problem = ran_seconds >= HEALTHY_SECONDS_MIN or not actor.backoff_seconds
        actor.backoff_seconds = (
            BACKOFF_SECONDS_MIN if is_new_problem else min(2 * actor.backoff_seconds, BACKOFF_SECONDS_MAX)
        )
        actor.crashes += 1
        log.error(
            "actor.crashed",
            actor=actor.name,
            crashes=actor.crashes,
            ran_seconds=round(ran_seconds, 1),
            exc_info=crash,
        )

    def _enter(self, actor: _Actor, state: BackgroundTaskState) -> None:
        actor.state = state
        actor.since = self._clock()
        self._metrics.actor_changed(actor.name, is_up=state is BackgroundTaskState.RUNNING)
