"""The overview of an organization: what is set up, what needs attention, and how many sign-ins there were."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, authorize

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SignIns = TypeVar("SignIns")

PERIOD: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSteps:
    """What is set up; `has_second_factor` is about the account of the reader."""

    has_service: bool
    has_colleague: bool
    has_provider: bool
    has_domain: bool
    has_webhook: bool
    has_second_factor: bool

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to set up."""
        return all(
            (
                self.has_service,
                self.has_colleague,
                self.has_provider,
                self.has_domain,
                self.has_webhook,
                self.has_second_factor,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Since when something fails, None for what does not; the numbers of webhooks.

    Of a day, `failing_webhooks` have a delivery that failed for good, and `retrying_webhooks` one that is repeated.
    """

    domain_failing_since: datetime | None
    mail_failing_since: datetime | None
    siem_failing_since: datetime | None
    failing_webhooks: int
    retrying_webhooks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Generic[SignIns]):
    """What the overview shows; None where the reader's role does not see it, or the organization is not active."""

    steps: SetupSteps
    sign_ins: SignIns | None
    attention: Attention | None


def show(uow: UnitOfWork, slug: str, read_sign_ins: Callable[[UnitOfWork, UUID, int], SignIns]) -> Overview[SignIns]:
    """Return the overview of an organization, with any status.

    `read_sign_ins` reads those of its last days for a reader who may see them (`core/audit/sign_in_counts.py`).
    """
    authorized = authorize(uow, slug, Operation.ORGANIZATION_READ)
    organization = authorized.organization
    organization_id: UUID = organization.id
    sees_sign_ins = organization.is_active and Capability.ANALYTICS_VIEW in authorized.capabilities
    sees_settings = organization.is_active and Capability.INTEGRATIONS_MANAGE in authorized.capabilities
    return Overview(
        steps=uow.overviews.steps(organization_id, authorized.membership.user_id),
        sign_ins=read_sign_ins(uow, organization_id, PERIOD.days) if sees_sign_ins else None,
        attention=uow.overviews.attention(organization_id, since=uow.now - timedelta(days=1))
        if sees_settings
        else None,
    )
