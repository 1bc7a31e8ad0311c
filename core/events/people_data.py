"""The data of events about people: their accounts, sign-ins and memberships."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from core.events.data import ABSENT, Address, AddressOf, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginSuccessData(EventData):
    """Who signed in is the actor."""

    provider: str
    service_id: UUID | None
    customer_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginFailedData(EventData):
    """Whose sign-in was refused is the actor."""

    provider: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutData(EventData):
    """Who signed out is the actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignupSuccessData(EventData):
    """The new user is the actor, unless a directory or the backend of a service has created them."""

    provider: str = ABSENT
    service_id: UUID | None = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT
    api_key_id: EventOnly[UUID] = ABSENT
    scim_token_id: EventOnly[UUID] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorsChangedData(EventData):
    """Whose second factors were changed is the actor; `user_id` is there when somebody else has changed them."""

    user_id: EventOnly[UUID] = ABSENT
    user_email: UserAddress = ABSENT
    by_platform_owner: EntryOnly[bool] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorAskedData(EventData):
    """Who was asked for a second factor is the actor."""

    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordChangedData(EventData):
    """Whose password was changed is the actor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLockedData(EventData):
    """Whose account was locked is the actor, or the target of the entry."""

    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRevokedData(EventData):
    """Whose sessions were ended is the actor."""

    sessions: int
    reason: str = ABSENT
    connection_id: UUID = ABSENT
    revoked_by: EventOnly[str] = ABSENT
    revoked_by_email: Annotated[Address, AddressOf(key="revoked_by")] = ABSENT
    service_id: EventOnly[UUID] = ABSENT
    customer_id: EventOnly[UUID] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserInvitedData(EventData):
    """Who was invited, as what."""

    invited_email: str
    role: str
    services: list[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserJoinedData(EventData):
    """Who has become a member, and by what: an invitation, a directory or a connection."""

    user_id: EventOnly[UUID]
    user_email: UserAddress
    role: str
    invitation_id: EventOnly[UUID] = ABSENT
    connection_id: UUID = ABSENT
    scim_token_id: UUID = ABSENT
    reason: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserRemovedData(EventData):
    """Who was removed, from the organization or from one of its services."""

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
    """Whose role was changed; `role_source` is there when the rule of a group has given it."""

    user_id: EventOnly[UUID]
    user_email: UserAddress
    old_role: str
    new_role: str
    role_source: dict[str, Any] | None = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class UserUpdatedData(EventData):
    """What of a user was changed; who has changed their own name is the actor."""

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
    """Whose data were exported."""

    user_id: EventOnly[UUID]
    user_email: UserAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class UserImpersonatedData(EventData):
    """The user as whom the platform acts, and the customer; it names the other organization to each of the two."""

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
    """Which invitation was accepted, and who has become a member as what."""

    invitation_id: EventOnly[UUID]
    user_id: UUID
    user_email: UserAddress
    role: str
    services: list[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationEndedData(EventData):
    """Which invitation was declined or withdrawn, or has expired."""

    invitation_id: EventOnly[UUID]
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT
    api_key_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCreatedData(EventData):
    """Which group a directory has created, with how many members."""

    group_id: EventOnly[UUID]
    name: str
    external_id: str | None
    members_added: int
    scim_token_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChangedData(EventData):
    """How a group of a directory was changed."""

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
    """Which group was deleted; only its id when the organization has left its directory."""

    group_id: EventOnly[UUID]
    name: str = ABSENT
    external_id: str | None = ABSENT
    members_removed: int = ABSENT
    reason: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersKeptData(EventData):
    """Which members a directory could not take out, the first of them, and how many they are."""

    scim_token_id: UUID
    kept: list[UUID]
    kept_emails: Annotated[list[Address], AddressOf(key="kept")]
    kept_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerChangedData(EventData):
    """Who was the owner, and who is."""

    old_owner_user_id: UUID
    old_owner_user_email: Annotated[Address, AddressOf(key="old_owner_user_id")]
    new_owner_user_id: UUID
    new_owner_user_email: Annotated[Address, AddressOf(key="new_owner_user_id")]
