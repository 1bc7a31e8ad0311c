"""The states of the actors, for readiness, metrics and operators."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from core.lazy_dataclasses import dataclass

# As the alert GatehouseMailboxStands has it.
MESSAGE_SECONDS_MAX: Final = 300


class BackgroundTaskState(StrEnum):
    """The state of an actor."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing_off"  # It crashed and will be run again.
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorReport:
    """The state of one actor, since when, and how often it has crashed; the messages that wait in its box."""

    name: str
    state: BackgroundTaskState
    since: datetime
    crashes: int
    messages: int = 0
    oldest_seconds: float = 0.0

    @property
    def stands_still(self) -> bool:
        """Whether a message waits for so long that the actor must be in trouble."""
        return self.oldest_seconds > MESSAGE_SECONDS_MAX


class Actors(Protocol):
    """The actors of this process."""

    def reports(self) -> Sequence[ActorReport]:
        """Return a report on every actor, in the order of their start."""
        ...
