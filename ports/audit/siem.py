"""Storage of the streams to SIEMs, and the queue of those that have something to send."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.siem import SiemStream, SignInCursor
from core.audit.siem_console import SiemThroughput
from core.audit.siem_stream import LeasedStream, Progress, SiemEvent, SiemTarget
from core.secrets import Secret


class SiemStreams(Protocol):
    """At most one stream for each organization."""

    def find(self, organization_id: UUID) -> SiemStream | None:
        """Return the stream of an organization."""
        ...

    def save(self, organization_id: UUID, stream: SiemStream, token: Secret | None, *, keeps_token: bool) -> None:
        """Store or replace the stream with this token, or with the token that it has; it is due now.

        Where it was among entries and sign-ins stays known; one that begins with sign-ins does so at its place.
        What is being sent for the stream that it replaces is no longer recorded.
        """
        ...

    def throughput(self, organization_id: UUID) -> SiemThroughput:
        """Return what the receiver of a stream that exists has taken, and since when an entry waits."""
        ...

    def position_before(self, organization_id: UUID, first_id: UUID) -> int | None:
        """Return the position before the first entries with this id or later ones; None when none of them has any."""
        ...

    def restart(
        self, organization_id: UUID, *, position: int, starts_at: datetime | None, sign_ins: SignInCursor | None
    ) -> None:
        """Let the stream go on after this position with entries from this time on, and this place; it is due now.

        What is being sent meanwhile is no longer recorded.
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

        The stream is due again at `next_at` when its chain has more entries, else at `looks_at`, and when new ones are
        sealed.
        """
        ...
