"""The data of events about people: their accounts, sign-ins and memberships."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from core.events.data import ABSENT, Address, AddressOf, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSuccessData(EventData):
    """The actor is the user who signed in."""

    provider: str
    service_id: UUID | None
    customer_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFailedData(EventData):
    """The actor is the user whose sign-in was refused."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutData(EventData):
    """The actor is the user who signed out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupSuccessData(EventData):
    """The actor is the new user, unless a directory or the backend of a service created the account."""

    provider: str = ABSENT
    service_id: UUID | None = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT
    api_key_id: EventOnly[UUID] = ABSENT
    scim_token_id: EventOnly[UUID] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorsChangedData(EventData):
    """The actor is the user whose second factors changed, or the person who changed those of `user_id`."""

    user_id: EventOnly[UUID] = ABSENT
    user_email: UserAddress = ABSENT
    by_platform_owner: EntryOnly[bool] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorAskedData(EventData):
    """The actor is the user who was asked for a second factor."""

    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordChangedData(EventData):
    """The actor is the user whose password was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLockedData(EventData):
    """The actor, or the target of the entry, is the user whose account was locked."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRevokedData(EventData):
    """The actor is the user whose sessions were ended."""

    sessions: int
    reason: str = ABSENT
    connection_id: UUID = ABSENT
    revoked_by: EventOnly[str] = ABSENT
    revoked_by_email: Annotated[Address, AddressOf(key="revoked_by")] = ABSENT
    service_id: EventOnly[UUID] = ABSENT
    customer_id: EventOnly[UUID] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInvitedData(EventData):
    """The invited person and the role."""

    invited_email: str
    role: str
    services: list[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserJoinedData(EventData):
    """The new member, and what let them join: an invitation, a directory or a connection."""

    user_id: EventOnly[UUID]
    user_email: UserAddress
    role: str
    invitation_id: EventOnly[UUID] = ABSENT
    connection_id: UUID = ABSENT
    scim_token_id: UUID = ABSENT
    reason: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRemovedData(EventData):
    """The person who was removed from the organization or from one of its services."""

    user_id: UUID
    user_email: UserAddress
    role: str = ABSENT
    left: bool = ABSENT
    service_id: UUID = ABSENT
    service_slug: str = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRoleUpdatedData(EventData):
    """The member whose role was changed; `role_source` is there when the rule of a group gave the new role."""

    user_id: EventOnly[UUID]
    user_email: UserAddress
    old_role: str
    new_role: str
    role_source: dict[str, Any] | None = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserUpdatedData(EventData):
    """The changed fields of a user; the actor is the user if they changed their own name."""

    changed: list[str]
    user_id: EventOnly[UUID] = ABSENT
    user_email: UserAddress = ABSENT
    previous_user_id: UUID = ABSENT
    previous_user_email: Annotated[Address, AddressOf(key="previous_user_id")] = ABSENT
    service_id: UUID = ABSENT
    service_slug: str = ABSENT
    metadata: dict[str, list[str]] = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStateData(EventData):
    """The person that a directory deactivated or activated again."""

    user_id: EventOnly[UUID]
    user_email: UserAddress
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAnonymizedData(EventData):
    """The account that was anonymized, which has no address any more."""

    user_id: EventOnly[UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserExportedData(EventData):
    """The user whose data were exported."""

    user_id: EventOnly[UUID]
    user_email: UserAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class UserImpersonatedData(EventData):
    """The impersonated user and the customer; each side's event names the other organization."""

    user_id: UUID
    user_email: UserAddress
    impersonation_session: UUID
    expires_at: datetime
    customer_id: UUID
    client_id: UUID
    service_slug: str = ABSENT
    external_id: str | None = ABSENT
    organization_slug: str = ABSENT
    organization_name: str = ABSENT
    service_name: str = ABSENT
    vendor_slug: str = ABSENT
    vendor_name: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationAcceptedData(EventData):
    """The accepted invitation, the new member and the role."""

    invitation_id: EventOnly[UUID]
    user_id: UUID
    user_email: UserAddress
    role: str
    services: list[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationEndedData(EventData):
    """The invitation that was declined, was withdrawn or has expired."""

    invitation_id: EventOnly[UUID]
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT
    api_key_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCreatedData(EventData):
    """The group that a directory created, and the number of its members."""

    group_id: EventOnly[UUID]
    name: str
    external_id: str | None
    members_added: int
    scim_token_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChangedData(EventData):
    """The changed group of a directory."""

    group_id: EventOnly[UUID]
    name: str
    external_id: str | None
    members_added: int
    members_removed: int
    old_name: str = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDeletedData(EventData):
    """The deleted group; only its id when the organization has left its directory."""

    group_id: EventOnly[UUID]
    name: str = ABSENT
    external_id: str | None = ABSENT
    members_removed: int = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersKeptData(EventData):
    """The first members that a directory could not take out, and the number of all of them."""

    scim_token_id: UUID
    kept: list[UUID]
    kept_emails: Annotated[list[Address], AddressOf(key="kept")]
    kept_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerChangedData(EventData):
    """The old and the new owner."""

    old_owner_user_id: UUID
    old_owner_user_email: Annotated[Address, AddressOf(key="old_owner_user_id")]
    new_owner_user_id: UUID
    new_owner_user_email: Annotated[Address, AddressOf(key="new_owner_user_id")]
