"""Reads that a replica may serve: lists, logs, figures and files, for a caller who was authorized on the primary.

A unit of work chooses the place at the first of these reads: a replica that shows everything that was committed before
the caller was read, or else the primary. Reads that decide something go to the unit of work itself: sessions,
memberships, revocations, single uses and limits are in none of these aggregates, or in methods of them that no use case
calls here (`tests/core/test_reads_elsewhere.py`). Nothing is written here; a replica refuses writes.
"""

from typing import Final, Protocol

from ports.audit.analytics import Analytics
from ports.audit.audit_log import AuditLog
from ports.audit.chain import AuditChains
from ports.audit.person_records import PersonRecords
from ports.audit.search import AuditSearches
from ports.audit.sign_in_counts import SignInCounts
from ports.audit.sign_in_log import SignInLog
from ports.customers.customers import ServiceCustomers
from ports.customers.found_customers import FoundCustomers
from ports.customers.found_products import FoundProducts
from ports.customers.people import CustomerPeople
from ports.customers.product_sign_ins import ProductSignIns
from ports.customers.products import Products
from ports.customers.refused_sign_ins import RefusedSignIns
from ports.customers.setup_progress import CustomerSetupProgresses
from ports.invitations.invitations import Invitations
from ports.invitations.invited import Invited
from ports.organizations.bulk_jobs import BulkJobs
from ports.organizations.members import Members
from ports.organizations.people import People
from ports.platform.audit_log import PlatformAuditLog
from ports.platform.found_users import FoundUserList
from ports.platform.health_figures import Figures
from ports.platform.mails import PlatformMails
from ports.platform.mfa import PlatformMfa
from ports.platform.organization_records import OrganizationRecords
from ports.platform.organizations import PlatformOrganizations
from ports.platform.outbox import BrowsedOutbox
from ports.platform.overview import PlatformOverviews
from ports.platform.search import PlatformSearches
from ports.privacy.export import PrivacyExport
from ports.scim.directory import ScimDirectory
from ports.scim.directory_groups import DirectoryGroups
from ports.scim.log import ScimLog
from ports.service_api.analytics import ServiceFigures
from ports.service_api.subscriptions import ServiceSubscriptions
from ports.services.end_users import EndUsers
from ports.services.found_end_users import FoundEndUsers
from ports.services.found_services import FoundServicesOfOrganization
from ports.services.grants import ServiceGrants
from ports.services.plans import Plans
from ports.services.sales import SalesBook
from ports.services.services import Services
from ports.services.sold_subscriptions import SoldSubscriptions
from ports.sign_in.sign_ins import SignIns
from ports.webhooks.deliveries import WebhookDeliveries
from ports.webhooks.delivery_log import WebhookDeliveryLog
from ports.webhooks.events import EventFeed
from ports.webhooks.health import WebhookHealths
from ports.webhooks.known_addresses import KnownAddresses


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
