"""What is to be known about the actors: readiness, the metrics and operators ask whether each of them is well."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class ActorState(StrEnum):
    """Where in its life an actor is."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing_off"  # It crashed and will be run again.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorReport:
    """How one actor is doing."""

    name: str
    state: ActorState
    since: datetime
    crashes: int


class Actors(Protocol):
    """Knows the actors of this process."""

    def reports(self) -> Sequence[ActorReport]:
        """Report on every actor, in the order in which they were started."""
        ...
