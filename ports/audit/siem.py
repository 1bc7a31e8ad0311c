"""Streaming the logs of an organization to its SIEM."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.siem import SiemStream, SignInCursor
from core.audit.siem_console import SiemThroughput
from core.audit.siem_stream import LeasedStream, Progress, SiemEvent, SiemTarget, StreamedSignIn, StreamReceipt
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


class SiemSender(Protocol):
    """Makes attempts; a failure of the receiver is returned, not raised."""

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> StreamReceipt:
        """Send as many of the events as fit into a batch, at least the first, and return the receiver's answer."""
        ...


class SiemSignIns(Protocol):
    """The finished sign-ins of an organization, at the products that it uses, and by its connections."""

    def first_after(self, organization_id: UUID, after: SignInCursor, *, until: datetime) -> UUID | None:
        """Return the lowest id of the sign-ins after a cursor and up to a time; None when there are none."""
        ...

    def page(
        self, organization_id: UUID, after: SignInCursor, *, first_id: UUID, until: datetime, limit: int
    ) -> Sequence[StreamedSignIn]:
        """Return the first of these sign-ins by time and id; `first_id` is what `first_after` has found.

        A sign-in from before its user belonged to the organization names neither the user nor the address of the
        request.
        """
        ...


class AuditTails(Protocol):
    """The readers of this process, by the log that they follow."""

    def place(self, log: UUID) -> AbstractContextManager[None]:
        """Occupy one of the places of a log while the context is open; raise `TailsTaken` when none is free."""
        ...

    async def wait(self, log: UUID, seen: int, seconds: float) -> None:
        """Return when the position of the log is no longer the one that the reader has seen, or after these seconds."""
        ...


class FollowedLogs(Protocol):
    """The same readers, for the actor that looks for new entries."""

    def followed(self) -> Collection[UUID]:
        """Return the logs that readers wait for."""
        ...

    def tell(self, positions: Mapping[UUID, int]) -> None:
        """Wake the readers of these logs who have not seen these positions."""
        ...
