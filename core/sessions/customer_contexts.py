"""The customer for which a session acts at the service of another organization.

A session of a service names its vendor as its organization, as ever. Where the service has customers, the session may
act for one of them: then its token names the customer, and what the user is there. Every request reads this again, so
an end by either side, a pause, a lost membership or a lost assignment ends access with the row that changes.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sessions.mfa_methods import MfaMethods

CUSTOMER_CLAIMS: Final = (
    *("customer", "customer_id", "customer_name", "customer_role", "customer_external_id"),
    "service_roles",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerContext:
    """A customer that is open to the user of a session, and what the user is there.

    `id` is the record's between the two organizations, and `organization_id` the customer's, which the vendor never
    learns. `role` is None for a person that only the vendor admits. `service_roles` are the names of the vendor's own
    roles that the user has.
    """

    id: UUID
    organization_id: UUID
    slug: str
    name: str
    external_id: str | None
    role: str | None
    service_roles: list[str]
    # The user's groups there that the service learns of, one more than it can; None where it learns of none.
    groups: list[dict[str, str]] | None
    requires_mfa: bool
    mfa_methods: MfaMethods

    @property
    def claims(self) -> dict[str, Any]:
        """What the service learns of the customer, and of the user there."""
        claims: dict[str, Any] = {
            "customer": self.slug,
            "customer_id": str(self.id),
            "customer_name": self.name,
            "customer_role": self.role,
            "service_roles": self.service_roles,
        }
        return claims | ({"customer_external_id": self.external_id} if self.external_id is not None else {})


def month_of(at: datetime) -> date:
    """Return the first day of the month of a time."""
    return at.astimezone(UTC).date().replace(day=1)
