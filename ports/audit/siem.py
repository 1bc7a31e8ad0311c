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
        """Store or replace the stream, with this token or with the one that it has; it is due now.

        A replaced stream goes on from its position among entries and sign-ins. The outcome of a batch that is being
        sent meanwhile is not recorded.
        """
        ...

    def throughput(self, organization_id: UUID) -> SiemThroughput:
        """Return how much the receiver of an existing stream has accepted, and since when an entry waits."""
        ...

    def position_before(self, organization_id: UUID, first_id: UUID) -> int | None:
        """Return the position before the first entry with this or a later id; None when none of them has a position."""
        ...

    def restart(
        self, organization_id: UUID, *, position: int, starts_at: datetime | None, sign_ins: SignInCursor | None
    ) -> None:
        """Let the stream go on after this position, with entries since `starts_at` and these sign-ins; it is due now.

        The outcome of a batch that is being sent meanwhile is not recorded.
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
        """Return a batch of the entries after the position of a stream that its filter admits, in the chain's order.

        It may exceed the size of a batch a little, never the number of entries. The flag says that no others follow.
        """
        ...

    def record(self, stream: LeasedStream, progress: Progress) -> bool:
        """Store the progress and end the lease; False when this lease is over or the stream was replaced.

        The stream is due again at `next_at` when its chain has more entries, else at `looks_at`, and when new ones are
        sealed.
        """
        ...
