"""The reader of a page of the console: their role in the organization, what it lacks, and who can help.

`read` authorizes the reader and runs the use case of the page in the same transaction, so that a page and the JSON
interface never decide differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.organizations import OWNER, Organization
from core.organizations.settings.branding import BrandedOrganization

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The reader of a page in its organization.

    `owner_email` is the address to ask for capabilities that the role lacks; None for the owner, and for a role that
    does not see the members. `brand` is None when the organization is not active, or has set none. `is_impersonated`
    means that a platform owner acts as the reader.
    """

    organization: Organization
    user_id: UUID
    role: str
    capabilities: frozenset[Capability]
    owner_email: str | None
    brand: BrandedOrganization | None = None
    is_impersonated: bool = False

    def lacks(self, operation: Operation) -> Capability | RequiredStanding | None:
        """Return what the role, or its impersonator, lacks for an operation; None for nothing."""
        missing = operation.missing(self.role, self.capabilities)
        if missing is None and self.is_impersonated and operation.is_closed_while_impersonating:
            return RequiredStanding.IN_PERSON
        return missing

    def lacks_lasting(self, operation: Operation) -> Capability | RequiredStanding | None:
        """Do what `lacks` does for the part of an operation that would outlast an impersonation."""
        missing = self.lacks(operation)
        if missing is None and self.is_impersonated and operation.may_outlast_impersonation:
            return RequiredStanding.IN_PERSON
        return missing


def read(
    uow: UnitOfWork,
    slug: str,
    operation: Operation,
    use_case: Callable[Concatenate[UnitOfWork, str, Arguments], Found],
    /,
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> tuple[Standing, Found]:
    """Authorize the caller for an operation; return their standing and the result of the use case."""
    return read_authorized(uow, authorize(uow, slug, operation), lambda: use_case(uow, slug, *args, **kwargs))


def read_authorized(
    uow: UnitOfWork, authorized: OrganizationAccess, use_case: Callable[[], Found]
) -> tuple[Standing, Found]:
    """Return the standing of an authorized caller and the result of the use case."""
    role = authorized.membership.role
    asks = role != OWNER and Capability.ORG_MEMBERS_VIEW in authorized.capabilities
    # It goes out with the next statement whose result is needed.
    brand = uow.branding.defer_brand(authorized.organization.id)
    owner_email = uow.members.owner_email(authorized.organization.id) if asks else None
    found = use_case()
    standing = Standing(
        organization=authorized.organization,
        user_id=authorized.membership.user_id,
        role=role,
        capabilities=authorized.capabilities,
        owner_email=owner_email,
        brand=brand(),
        is_impersonated=authorized.caller.limits.is_impersonated,
    )
    return standing, found
