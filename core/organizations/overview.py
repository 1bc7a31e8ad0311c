"""The overview of an organization: what needs a person (`matters.py`), what is set up, and the latest sign-ins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations import matters
from core.organizations.access import Capability, Operation, allows_no_less, authorize
from core.organizations.matters import Matter

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SignIns = TypeVar("SignIns")

PERIOD: Final = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupSteps:
    """What is set up; `has_second_factor` concerns the account of the reader."""

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
class Overview(Generic[SignIns]):
    """What the overview shows; None where the reader's role does not see it, or the organization is not active.

    `is_new` means that the steps are not complete, and come first.
    """

    steps: SetupSteps | None
    is_new: bool
    sign_ins: SignIns | None
    matters: Sequence[Matter] | None


def show(uow: UnitOfWork, slug: str, read_sign_ins: Callable[[UnitOfWork, UUID, int], SignIns]) -> Overview[SignIns]:
    """Return the overview of an organization, with any status.

    `read_sign_ins` reads the sign-ins of its last days for a reader who may see them (`core/audit/sign_in_counts.py`).
    """
    authorized = authorize(uow, slug, Operation.ORGANIZATION_READ)
    organization = authorized.organization
    organization_id: UUID = organization.id
    is_active = organization.is_active
    sees_sign_ins = is_active and Capability.ANALYTICS_VIEW in authorized.capabilities
    # A reader with no more than the views of a member can set up nothing.
    sets_up = is_active and not allows_no_less(frozenset(), authorized.capabilities)
    steps = uow.overviews.steps(organization_id, authorized.membership.user_id) if sets_up else None
    return Overview(
        steps=steps,
        is_new=steps is not None and not steps.is_complete and organization.created_at > uow.now - PERIOD,
        sign_ins=read_sign_ins(uow, organization_id, PERIOD.days) if sees_sign_ins else None,
        matters=matters.list_for(uow, authorized) if is_active else None,
    )
