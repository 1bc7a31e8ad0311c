"""Storage of the streams to SIEMs, and the queue of those that have something to send."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.siem import SiemStream
from core.audit.siem_stream import LeasedStream, Progress, SiemEvent, SiemTarget
from core.secrets import Secret


class SiemStreams(Protocol):
    """At most one stream for each organization."""

    def find(self, organization_id: UUID) -> SiemStream | None:
        """Return the stream of an organization."""
        ...

    def save(self, organization_id: UUID, stream: SiemStream, token: Secret | None, *, keeps_token: bool) -> None:
        """Store or replace the stream with this token, or with the token that it has; it is due now.

        What is being sent for the stream that it replaces is no longer recorded.
        """
        ...

    def remove(self, organization_id: UUID) -> bool:
        """Delete the stream; False when there is none."""
        ...

    def target(self, organization_id: UUID) -> SiemTarget | None:
        """Return the receiver of an organization with its token."""
        ...

    def lease(self, *, streams_max: int, leased_until: datetime) -> Sequence[LeasedStream]:
        """Lease enabled streams of active organizations that are due, those that waited longest first."""
        ...

    def events(self, stream: LeasedStream, *, through: int) -> tuple[Sequence[SiemEvent], bool]:
        """Return the entries after the position of a stream that its filter admits, in the order of the chain.

        They are at most as many, and hardly more bytes, than a batch has; the flag says that there are no others.
        """
        ...

    def record(self, stream: LeasedStream, progress: Progress) -> bool:
        """Store the progress and end the lease; False when this lease is over or the stream was replaced.

        The stream is due again at `next_at` when its chain has more entries, else when new ones are sealed.
        """
        ...
