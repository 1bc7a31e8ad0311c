"""Storage of workloads."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from core.services.workload_rules import RefusedAssertion, Workload
from core.services.workloads import HeldKey, WorkloadHolder


class Workloads(Protocol):
    """The workloads of services and of keys of organizations."""

    def of_holder(self, holder: WorkloadHolder) -> Sequence[Workload]:
        """List the workloads of a service or of a key, the newest first."""
        ...

    def add(
        self,
        holder: WorkloadHolder,
        workload: Workload,
        *,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        """Store a new workload with its maker, and which kind of second factor the maker's session had, if any."""
        ...

    def remove(self, holder: WorkloadHolder, workload_id: UUID) -> Workload | None:
        """Delete a workload and return it; None when there is none. Of concurrent calls one gets it."""
        ...

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, Workload]]:
        """Delete the workloads of keys that these users have made, in one organization or all.

        Return them with the ids of their organizations.
        """
        ...

    def key(self, key_id: UUID) -> HeldKey | None:
        """Return a key with its organization; None when its maker is deactivated or locked, or there is none."""
        ...

    def is_live(self, holder: WorkloadHolder, workload_id: UUID) -> bool:
        """Return whether the service has a workload with this id."""
        ...

    def record_use(self, holder: WorkloadHolder, workload_id: UUID, *, at: datetime) -> None:
        """Record that a workload got a token, unless a concurrent transaction does so; never wait for one."""
        ...

    def record_refusals(
        self, holder: WorkloadHolder, refusals: Sequence[tuple[UUID, RefusedAssertion]], *, every: timedelta
    ) -> None:
        """Store each workload's last refusal, unless the stored one is younger than `every`; never wait for a lock."""
        ...
