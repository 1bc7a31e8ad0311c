"""Sending audit entries to SIEMs."""

from collections.abc import Sequence
from typing import Protocol

from core.audit.siem_stream import SiemEvent, SiemTarget, StreamReceipt


class SiemSender(Protocol):
    """Makes attempts; a failure of the receiver is returned, not raised."""

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> StreamReceipt:
        """Send as many of the events as fit into a batch, at least the first, and return the receiver's answer."""
        ...
