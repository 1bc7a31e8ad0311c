"""Reads that a replica may serve: lists, logs, figures and files, for a caller who was authorized on the primary.

A unit of work chooses the place at the first of these reads: a replica that shows everything that was committed before
the caller was read, or else the primary. Reads that decide something go to the unit of work itself: sessions,
memberships, revocations, single uses and limits are in none of these aggregates, or in methods of them that no use case
calls here (`tests/core/test_reads_elsewhere.py`). Nothing is written here; a replica refuses writes.
"""

from typing import Final, Protocol

from ports.audit.audit_log import Analytics, AuditLog, AuditSearches, PersonRecords, SignInCounts, SignInLog
from ports.audit.chain import AuditChains
from ports.customers.customers import FoundCustomers, ServiceCustomers
from ports.customers.people import CustomerPeople
from ports.customers.products import FoundProducts, Products, ProductSignIns, RefusedSignIns
from ports.customers.setup import CustomerSetupProgresses
from ports.invitations.invitations import Invitations, Invited
from ports.organizations.members import Members, People
from ports.organizations.organizations import BulkJobs
from ports.platform.operation import Figures
from ports.platform.platform import (
    BrowsedOutbox,
    FoundUserList,
    OrganizationRecords,
    PlatformAuditLog,
    PlatformMails,
    PlatformMfa,
    PlatformOrganizations,
    PlatformOverviews,
    PlatformSearches,
)
from ports.privacy.export import PrivacyExport
from ports.scim.scim import DirectoryGroups, ScimDirectory, ScimLog
from ports.service_api.service_api import ServiceFigures, ServiceSubscriptions
from ports.services.end_users import EndUsers, FoundEndUsers, ServiceGrants
from ports.services.sales import Plans, SalesBook, SoldSubscriptions
from ports.services.services import FoundServicesOfOrganization, Services
from ports.sign_in.sign_in import SignIns
from ports.webhooks.deliveries import EventFeed, WebhookDeliveries, WebhookDeliveryLog
from ports.webhooks.webhooks import KnownAddresses, WebhookHealths


class ReadsElsewhere(Protocol):
    """The aggregates that are read elsewhere."""

    analytics: Final[Analytics]
    audit_chains: Final[AuditChains]
    audit_log: Final[AuditLog]
    audit_searches: Final[AuditSearches]
    browsed_outbox: Final[BrowsedOutbox]
    bulk_jobs: Final[BulkJobs]
    customer_people: Final[CustomerPeople]
    customer_setup_progress: Final[CustomerSetupProgresses]
    directory_groups: Final[DirectoryGroups]
    end_users: Final[EndUsers]
    event_feed: Final[EventFeed]
    figures: Final[Figures]
    found_customers: Final[FoundCustomers]
    found_end_users: Final[FoundEndUsers]
    found_products: Final[FoundProducts]
    found_services: Final[FoundServicesOfOrganization]
    found_users: Final[FoundUserList]
    invitations: Final[Invitations]
    invited: Final[Invited]
    known_addresses: Final[KnownAddresses]
    members: Final[Members]
    organization_records: Final[OrganizationRecords]
    people: Final[People]
    person_records: Final[PersonRecords]
    plans: Final[Plans]
    platform_audit_log: Final[PlatformAuditLog]
    platform_mails: Final[PlatformMails]
    platform_mfa: Final[PlatformMfa]
    platform_organizations: Final[PlatformOrganizations]
    platform_overviews: Final[PlatformOverviews]
    platform_searches: Final[PlatformSearches]
    privacy_export: Final[PrivacyExport]
    product_sign_ins: Final[ProductSignIns]
    products: Final[Products]
    refused_sign_ins: Final[RefusedSignIns]
    sales: Final[SalesBook]
    scim_directory: Final[ScimDirectory]
    scim_log: Final[ScimLog]
    service_customers: Final[ServiceCustomers]
    service_figures: Final[ServiceFigures]
    service_grants: Final[ServiceGrants]
    service_subscriptions: Final[ServiceSubscriptions]
    services: Final[Services]
    sign_in_counts: Final[SignInCounts]
    sign_in_log: Final[SignInLog]
    sign_ins: Final[SignIns]
    sold_subscriptions: Final[SoldSubscriptions]
    webhook_deliveries: Final[WebhookDeliveries]
    webhook_delivery_log: Final[WebhookDeliveryLog]
    webhook_healths: Final[WebhookHealths]
