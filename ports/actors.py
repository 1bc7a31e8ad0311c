"""The states of the actors, for readiness, metrics and operators."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.lazy_dataclasses import dataclass


class BackgroundTaskState(StrEnum):
    """The state of an actor."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing_off"  # It crashed and will be run again.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorReport:
    """The state of one actor, since when, and how often it has crashed."""

    name: str
    state: BackgroundTaskState
    since: datetime
    crashes: int


class Actors(Protocol):
    """The actors of this process."""

    def reports(self) -> Sequence[ActorReport]:
        """Return a report on every actor, in the order of their start."""
        ...
