"""Who asks, and from where. Every use case finds both in the unit of work.

A caller is loaded from the database in the transaction of the use case, never believed from a token: a session that was
revoked, a role that was taken, an owner who was demoted count from the next request on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import Forbidden, Unauthorized

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a request came from, as the audit log and the login events will remember it; empty for background work."""

    request_id: str | None = None
    ip_address: str | None = None
    user_agent: str | None = None


BACKGROUND = Origin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A signed-in person, as their live session and account stand now.

    `organization_*` and `service_*` are the context that the session was begun or selected in, not the organization of
    a path; `role` is the membership in that organization (and `custom_permissions` what it allows, where it is a custom
    one), `is_end_user` the link to that service.
    """

    user_id: UUID
    email: str
    email_verified_at: datetime | None
    is_platform_owner: bool
    user_created_at: datetime
    session_id: UUID
    amr: list[str]
    authenticated_at: datetime
    device_id: UUID | None
    organization_id: UUID | None
    organization_slug: str | None
    organization_status: str | None
    role: str | None
    custom_permissions: list[str] | None
    service_id: UUID | None
    service_slug: str | None
    service_client_id: UUID | None
    is_end_user: bool
    impersonator_id: UUID | None
    organization_requires_mfa: bool = False

    @property
    def is_verified(self) -> bool:
        """Whether the person has proved that the address is theirs."""
        return self.email_verified_at is not None

    @property
    def belongs_to_context(self) -> bool:
        """Whether the person still is what the session's context made of them: a member, or the service's end user."""
        if self.service_id is not None:
            return self.is_end_user
        return self.organization_id is None or self.role is not None

    @property
    def is_organization_active(self) -> bool:
        """Whether the organization of the session's context is active; True without one."""
        return self.organization_status in {None, "active"}

    @property
    def is_impersonated(self) -> bool:
        """Whether a platform owner acts as this person."""
        return self.impersonator_id is not None

    @property
    def is_of_service(self) -> bool:
        """Whether the session is one with a service, whose makers have its tokens."""
        return self.service_id is not None

    @property
    def is_governing(self) -> bool:
        """Whether a platform owner asks, and not somebody who acts as one, nor a service that they use."""
        return self.is_platform_owner and not self.is_impersonated and not self.is_of_service

    @property
    def has_second_factor(self) -> bool:
        """Whether this session was begun with more than one factor, or on a device that remembers one."""
        return bool({"mfa", "trusted"} & set(self.amr))

    @property
    def is_remembered(self) -> bool:
        """Whether a device that remembers a second factor stood in for it."""
        return "trusted" in self.amr and "mfa" not in self.amr

    @property
    def lacks_second_factor(self) -> bool:
        """Whether the context asks for a second factor that this session was begun without.

        Organizations ask it of their members, not of the end users of a service, nor of who acts for a member.
        """
        is_asked = self.organization_requires_mfa and self.service_id is None and not self.is_impersonated
        return is_asked and not self.has_second_factor

    def forbid_services(self) -> None:
        """Refuse what a service must not do with the token of somebody who uses it (RFC 9068, 4: whom it is for)."""
        if self.is_of_service:
            raise Forbidden("Your token is for a service, which cannot do this for you. Sign in without naming one.")

    def forbid_impersonated(self) -> None:
        """Refuse what an impersonator must not do (identity 4.8), nor a service for whoever governs the platform.

        These are the changes that open an account or end it. By one of them whoever makes the service would govern.
        """
        if self.is_impersonated:
            raise Forbidden("This cannot be done while impersonating somebody.")
        if self.is_platform_owner:
            self.forbid_services()


def require_in_person(uow: UnitOfWork) -> Caller:
    """Say who asks; refuse whoever acts as somebody else."""
    caller = uow.caller
    caller.forbid_impersonated()
    return caller


def require_caller(uow: UnitOfWork) -> Caller:
    """Say who asks; raise `Unauthorized` when their session is over."""
    return uow.caller


def lock(uow: UnitOfWork) -> Caller:
    """Say who asks, and let nobody else change their account before this transaction ends.

    Whoever shuts somebody out holds the account while they end its sessions. So either they come first, and a request
    that was on its way is refused, or it comes first, and they find what it has changed.
    """
    caller = uow.caller
    uow.users.lock(caller.user_id)
    present_caller = uow.callers.of_session(caller.session_id)
    if present_caller is None:
        raise Unauthorized("This session is over. Sign in again.")
    return present_caller
