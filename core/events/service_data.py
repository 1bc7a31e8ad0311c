"""The data of events about services: what they are, their keys, plans, subscriptions and customers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from core.events.data import ABSENT, Address, AddressOf, Changes, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceData(EventData):
    """Which service was created or deleted."""

    service_id: EventOnly[UUID]
    service_slug: str
    service_name: str
    service_type: str
    client_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUpdatedData(EventData):
    """What was changed: `changes` of its own fields, else `change` names it.

    A grant names the user and the relation, a changed customer what the vendor sees of it.
    """

    service_slug: str
    service_id: EventOnly[UUID] = ABSENT
    service_name: str = ABSENT
    service_type: str = ABSENT
    client_id: UUID = ABSENT
    changes: Changes = ABSENT
    change: str = ABSENT
    reason: str = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT
    relation: str | None = ABSENT
    previous_secret_hours: int = ABSENT
    customer_id: UUID = ABSENT
    external_id: str | None = ABSENT
    organization_slug: str = ABSENT
    organization_name: str = ABSENT
    old_external_id: EntryOnly[str | None] = ABSENT
    old_relation: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAssignment:
    """The subject (`everyone`, `role:<slug>`, `group:<id>` or `user:<id>`) and the names of its roles."""

    subject: str
    user_email: Annotated[Address, AddressOf(key="subject")] = ABSENT
    roles: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccessChangedData(EventData):
    """Who may sign in to a service now, and which assignments were added and removed."""

    service_id: EventOnly[UUID]
    service_slug: str
    service_name: str
    service_type: str
    client_id: UUID
    access: str
    added: list[ChangedAssignment]
    removed: list[ChangedAssignment]
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyData(EventData):
    """Which API key was created or deleted."""

    api_key_id: UUID
    service_id: UUID
    service_slug: str
    name: str
    permissions: list[str]
    expires_at: datetime | None = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadData(EventData):
    """Which program may authenticate without a secret, or may not any more: of a service, or as a management key."""

    workload_id: UUID
    name: str
    issuer: str = ABSENT
    audience: str | None = ABSENT
    match: dict[str, str] = ABSENT
    service_id: UUID | None = ABSENT
    service_slug: str = ABSENT
    key_id: UUID | None = ABSENT
    key_name: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCreatedData(EventData):
    """Which plan was created, and what it costs."""

    plan_id: UUID
    plan_name: str
    service_id: UUID
    service_slug: str
    price_cents: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdatedData(EventData):
    """Which fields of a plan were changed."""

    plan_id: UUID
    plan_name: str
    service_id: UUID
    service_slug: str
    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDeletedData(EventData):
    """Which plan was deleted."""

    plan_id: UUID
    plan_name: str
    service_id: UUID
    service_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionCreatedData(EventData):
    """Who has subscribed to which plan."""

    subscription_id: UUID
    service_id: UUID
    user_id: UUID
    user_email: UserAddress
    plan_id: UUID
    plan_name: str
    status: str
    billing_subscription_id: str = ABSENT
    source: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionUpdatedData(EventData):
    """How a subscription was changed."""

    subscription_id: UUID
    service_id: UUID
    user_id: UUID
    user_email: UserAddress
    plan_id: UUID
    plan_name: str
    status: str
    changes: Changes
    billing_subscription_id: str = ABSENT
    source: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionCanceledData(EventData):
    """Which subscription was cancelled, or deleted together with its user; only its id when its user has left."""

    subscription_id: UUID
    service_id: UUID = ABSENT
    user_id: UUID = ABSENT
    user_email: UserAddress = ABSENT
    plan_id: UUID = ABSENT
    plan_name: str = ABSENT
    status: str = ABSENT
    changes: Changes = ABSENT
    deleted: bool = ABSENT
    reason: str = ABSENT
    billing_subscription_id: str = ABSENT
    source: str = ABSENT
    scim_token_id: UUID = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerOfferedData(EventData):
    """To which organization a service was offered."""

    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerData(EventData):
    """What happened to a customer or an offer, and which side did it; an offer has no name."""

    by: str
    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str = ABSENT
    restored: bool = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerOwnerNamedData(EventData):
    """To which address the link was mailed that makes its reader the owner of a customer."""

    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str
    owner_email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerClaimedData(EventData):
    """The slug and the name that its owner chose for a customer, and what the vendor may go on setting up."""

    by: str
    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str
    vendor_setup: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerChangedData(EventData):
    """The names of what the vendor has noted of a customer and has removed, or that it has no owner again.

    `setup_withdrawn` says that what was made for it with the power of a takeover is ended or switched off, and
    `made_for_customer` what the customer has adopted or removed of what the vendor had made for it.
    """

    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str
    metadata: dict[str, list[str]] = ABSENT
    unclaimed: bool = ABSENT
    setup_withdrawn: bool = ABSENT
    reason: str = ABSENT
    by: str = ABSENT
    made_for_customer: dict[str, str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerSetupData(EventData):
    """Of which customer something is that the vendor has set up."""

    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerConnectionData(CustomerSetupData):
    """How far a connection of a customer is: configured, tested, failing or removed, and why it fails."""

    provider_id: UUID
    state: str
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDomainData(CustomerSetupData):
    """Which mail domain of a customer was proved or lost, and why it was lost."""

    domain: str
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDirectoryData(CustomerSetupData):
    """How far the directory of a customer is: configured, connected or removed, and which token that is about."""

    scim_token_id: UUID
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerUserData(EventData):
    """Who may use a service for a customer; the address is in `email`."""

    customer_id: UUID
    external_id: str | None
    client_id: UUID
    service_slug: str
    user_id: UUID
    email: EventOnly[str | None]
    name: EventOnly[str | None]
    service_roles: list[str]
    own_roles: EntryOnly[list[str]] = ABSENT
    old_own_roles: EntryOnly[list[str]] = ABSENT
    reason: EntryOnly[str] = ABSENT
    # In the log of the customer, of the people that its vendor lets in.
    user_email: EntryOnly[str | None] = ABSENT
    connection_id: EntryOnly[UUID] = ABSENT
    change: EntryOnly[str] = ABSENT
    changed: EntryOnly[list[str]] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerUserRemovedData(EventData):
    """The person who may not use a service for a customer any more, without address and name."""

    customer_id: UUID
    external_id: str | None
    client_id: UUID
    service_slug: str
    user_id: UUID
    user_email: EntryOnly[str | None] = ABSENT
    change: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAccessData(EventData):
    """What happened to the use of a product, and which side did it."""

    customer_id: UUID
    client_id: UUID
    service_name: str
    vendor_slug: str
    vendor_name: str
    by: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAccessUpdatedData(EventData):
    """Which settings of the use of a product were changed, or what was adopted or removed that the vendor had made."""

    customer_id: UUID
    client_id: UUID
    service_name: str
    vendor_slug: str
    vendor_name: str
    changes: Changes
    by: str = ABSENT
    made_for_us: dict[str, str] = ABSENT
    reason: str = ABSENT
