"""Editors of the connections and domain routes of an organization: a member, or the holder of a setup link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import Forbidden
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.organizations import access
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize, authorize_and_lock, capabilities_of_role
from core.organizations.organizations import BUILT_IN_ROLES, MEMBER
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The capabilities to give every role.
_TRUSTING: Final = frozenset({Capability.ORG_MEMBERS_MANAGE, Capability.ORG_ROLES_MANAGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Editor:
    """A caller who may change what an organization has set; the organization is locked.

    `user_id` is the member, or the maker of the setup link whose holder calls (`is_link`), and `capabilities` are those
    of this member; None when metadata are read again without a caller. `is_for_customer`: a vendor sets this up for a
    customer.
    """

    organization_id: UUID
    user_id: UUID | None = None
    capabilities: frozenset[Capability] = frozenset()
    is_link: bool = False
    is_for_customer: bool = False

    @classmethod
    def of_caller(cls, uow: UnitOfWork, slug: str, operation: Operation) -> Editor:
        """Return the caller as an editor; raise as `authorize_and_lock`."""
        return cls.of(authorize_and_lock(uow, slug, operation))

    @classmethod
    def of_reader(cls, uow: UnitOfWork, slug: str, operation: Operation) -> Editor:
        """Do what `of_caller` does without a lock, before a change is made."""
        return cls.of(authorize(uow, slug, operation))

    @classmethod
    def of(cls, authorized: OrganizationAccess) -> Editor:
        """Return a caller who was authorized."""
        return cls(
            organization_id=authorized.organization.id,
            user_id=authorized.caller.maker_id,
            capabilities=authorized.capabilities,
            is_link=authorized.caller.limits.link is not None,
            is_for_customer=authorized.organization.is_internal,
        )

    def require_may_give(self, uow: UnitOfWork, role: str) -> bool:
        """Return whether a role exists that people may join with; raise `Forbidden` if the editor may not give it.

        For the holder of a setup link, the maker of the link has to be allowed to give it.
        """
        self._require(Capability.ORG_MEMBERS_MANAGE)
        if role != MEMBER and (role in BUILT_IN_ROLES or uow.roles.by_slug(self.organization_id, role) is None):
            return False
        self.require_may_keep(uow, role)
        return True

    def require_may_keep(self, uow: UnitOfWork, role: str) -> None:
        """Raise `Forbidden` for a role that people have by the connection and that the editor may not give."""
        self._require(Capability.ORG_MEMBERS_MANAGE)
        if role == MEMBER:
            return
        self._require(Capability.ORG_ROLES_MANAGE)
        if not access.allows_no_less(self.capabilities, capabilities_of_role(uow, self.organization_id, role)):
            raise Forbidden("People have a role by this connection that allows more than yours. Ask an owner or admin.")

    def require_may_trust(self) -> None:
        """Raise `Forbidden` unless the caller may let a connection replace the second factor of every person."""
        for capability in sorted(_TRUSTING):
            self._require(capability)

    @property
    def may_trust(self) -> bool:
        """Whether the editor is a member who may give every role; the holder of a setup link is not."""
        return not self.is_link and self.capabilities >= _TRUSTING

    @property
    def may_vouch_for_certificates(self) -> bool:
        """Whether the editor, or the maker of the editor's setup link, may give every role."""
        return self.capabilities >= _TRUSTING

    def _require(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise Forbidden(
                Wording(
                    "This change takes %(capability)s, because people sign in by the connection. Ask an"
                    " owner or admin.",
                    capability=capability,
                )
            )

    def record(self, uow: UnitOfWork, action: AuditAction, **details: Any) -> None:
        """Record a change to the organization."""
        uow.record(action, self.organization_id, organization_id=self.organization_id, **details)
