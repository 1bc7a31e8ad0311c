"""Sending audit entries to SIEMs."""

from collections.abc import Sequence
from typing import Protocol

from core.audit.siem_stream import SiemEvent, SiemTarget, StreamReceipt


class SiemSender(Protocol):
    """Makes attempts; nothing that a receiver does is an error of the sender."""

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> StreamReceipt:
        """Send as many of the events as fit into a batch, at least the first, and return what came back."""
        ...
