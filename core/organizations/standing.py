"""What a page of the console shows of its reader: their role in the organization, what it lacks, and who can help.

`read` authorizes the reader and runs the use case of the page in the same transaction, so that a page and the JSON
interface never decide differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from core.organizations.access import Capability, Operation, RequiredStanding, authorize
from core.organizations.memberships import ADMIN, OWNER

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from core.organizations.organizations import Organization
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The reader of a page in its organization.

    `owner_email` is the address to ask for what the role lacks; None for the owner, and for a role that does not see
    the members.
    """

    organization: Organization
    user_id: UUID
    role: str
    capabilities: frozenset[Capability]
    owner_email: str | None

    def lacks(self, operation: Operation) -> Capability | RequiredStanding | None:
        """Return what the role lacks for an operation; None when it lacks nothing."""
        missing = sorted(operation.capabilities - self.capabilities)
        if missing:
            return missing[0]
        is_admin = self.role in {OWNER, ADMIN}
        if operation.takes is RequiredStanding.OWNER and self.role != OWNER:
            return RequiredStanding.OWNER
        if operation.takes is RequiredStanding.ADMIN and not is_admin:
            return RequiredStanding.ADMIN
        return None


def read(
    uow: UnitOfWork,
    slug: str,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[Standing, Found]:
    """Authorize the caller for an operation; return their standing, and what the use case returns."""
    authorized = authorize(uow, slug, operation)
    role = authorized.membership.role
    asks = role != OWNER and Capability.ORG_MEMBERS_VIEW in authorized.capabilities
    standing = Standing(
        organization=authorized.organization,
        user_id=authorized.membership.user_id,
        role=role,
        capabilities=authorized.capabilities,
        owner_email=uow.members.owner_email(authorized.organization.id) if asks else None,
    )
    return standing, use_case(uow, slug, *args, **kwargs)
