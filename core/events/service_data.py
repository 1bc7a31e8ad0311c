"""The data of events about services: what they are, their keys, plans, subscriptions and customers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from core.events.data import ABSENT, Address, AddressOf, Changes, EntryOnly, EventData, EventOnly, UserAddress
from core.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceData(EventData):
    """The service that was created or deleted."""

    service_id: EventOnly[UUID]
    service_slug: str
    service_name: str
    service_type: str
    client_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceUpdatedData(EventData):
    """The change: `changes` of the service's own fields, else its name in `change`.

    For a grant also the user and the relation, for a changed customer what the vendor sees of it.
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
class ServiceAccessChangedData(ServiceData):
    """The present access to a service, and the assignments that were added and removed."""

    access: str
    added: list[ChangedAssignment]
    removed: list[ChangedAssignment]
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeyData(EventData):
    """The API key that was created or deleted."""

    api_key_id: UUID
    service_id: UUID
    service_slug: str
    name: str
    permissions: list[str]
    expires_at: datetime | None = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadData(EventData):
    """The program that may authenticate without a secret, or no longer may: for a service, or as a management key."""

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
class PlanData(EventData):
    """The plan, and its service."""

    plan_id: UUID
    plan_name: str
    service_id: UUID
    service_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCreatedData(PlanData):
    """The new plan and its price."""

    price_cents: int
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUpdatedData(PlanData):
    """The changed fields of a plan."""

    changes: Changes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDeletedData(PlanData):
    """The deleted plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionCreatedData(EventData):
    """The new subscription, its user and its plan."""

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
    """The changed subscription."""

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
    """The subscription that was cancelled, or deleted together with its user; only its id when its user has left."""

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
    """The organization to which a service was offered."""

    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCustomerData(CustomerOfferedData):
    """The customer, which has a name."""

    organization_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerData(EventData):
    """The customer or the offer, and the side that acted; an offer has no name."""

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
class CustomerOwnerNamedData(NamedCustomerData):
    """The customer, and the address to which the link that makes its reader the owner was mailed."""

    owner_email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerClaimedData(EventData):
    """The slug and the name that its owner chose for a customer, and what the vendor may still set up."""

    by: str
    customer_id: UUID
    client_id: UUID
    service_slug: str
    external_id: str | None
    organization_slug: str
    organization_name: str
    vendor_setup: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerChangedData(NamedCustomerData):
    """The names of the notes on a customer that the vendor set and removed; `unclaimed` if it has no owner again.

    `setup_withdrawn` marks that what was made for the customer during a takeover was ended or switched off, and
    `made_for_customer` names what the customer adopted or removed of what the vendor had made for it.
    """

    metadata: dict[str, list[str]] = ABSENT
    unclaimed: bool = ABSENT
    setup_withdrawn: bool = ABSENT
    reason: str = ABSENT
    by: str = ABSENT
    made_for_customer: dict[str, str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerConnectionData(NamedCustomerData):
    """The state of a connection of a customer (configured, tested, failing or removed), and why it fails."""

    provider_id: UUID
    state: str
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDomainData(NamedCustomerData):
    """The mail domain of a customer that was proved or lost, and why it was lost."""

    domain: str
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerDirectoryData(NamedCustomerData):
    """The state of the directory of a customer (configured, connected or removed), and its token."""

    scim_token_id: UUID
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerUserData(EventData):
    """The person who may use a service for a customer; the address is in `email`."""

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
    """The person who may no longer use a service for a customer, without address and name."""

    customer_id: UUID
    external_id: str | None
    client_id: UUID
    service_slug: str
    user_id: UUID
    user_email: EntryOnly[str | None] = ABSENT
    change: EntryOnly[str] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAccessData(EventData):
    """The use of a product, and the side that acted."""

    customer_id: UUID
    client_id: UUID
    service_name: str
    vendor_slug: str
    vendor_name: str
    by: str = ABSENT
    reason: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductAccessUpdatedData(EventData):
    """The changed settings of the use of a product, or what was adopted or removed of what the vendor had made."""

    customer_id: UUID
    client_id: UUID
    service_name: str
    vendor_slug: str
    vendor_name: str
    changes: Changes
    by: str = ABSENT
    made_for_us: dict[str, str] = ABSENT
    reason: str = ABSENT
