"""What may be read from a replica: lists, logs, figures and files, for a caller who was authorized on the primary.

A unit of work chooses the place at the first of these reads: a replica that shows everything that was committed before
the caller was read, or else the primary. What decides something is read from the unit of work itself: sessions,
memberships, revocations, single uses and limits are in none of these aggregates, or in methods of them that no use case
calls here (`tests/core/test_reads_elsewhere.py`). Nothing is written here; a replica refuses it.
"""

from typing import Protocol

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

    @property
    def analytics(self) -> Analytics: ...

    @property
    def audit_chains(self) -> AuditChains: ...

    @property
    def audit_log(self) -> AuditLog: ...

    @property
    def audit_searches(self) -> AuditSearches: ...

    @property
    def browsed_outbox(self) -> BrowsedOutbox: ...

    @property
    def bulk_jobs(self) -> BulkJobs: ...

    @property
    def customer_people(self) -> CustomerPeople: ...

    @property
    def customer_setup_progress(self) -> CustomerSetupProgresses: ...

    @property
    def directory_groups(self) -> DirectoryGroups: ...

    @property
    def end_users(self) -> EndUsers: ...

    @property
    def event_feed(self) -> EventFeed: ...

    @property
    def figures(self) -> Figures: ...

    @property
    def found_customers(self) -> FoundCustomers: ...

    @property
    def found_end_users(self) -> FoundEndUsers: ...

    @property
    def found_products(self) -> FoundProducts: ...

    @property
    def found_services(self) -> FoundServicesOfOrganization: ...

    @property
    def found_users(self) -> FoundUserList: ...

    @property
    def invitations(self) -> Invitations: ...

    @property
    def invited(self) -> Invited: ...

    @property
    def known_addresses(self) -> KnownAddresses: ...

    @property
    def members(self) -> Members: ...

    @property
    def organization_records(self) -> OrganizationRecords: ...

    @property
    def people(self) -> People: ...

    @property
    def person_records(self) -> PersonRecords: ...

    @property
    def plans(self) -> Plans: ...

    @property
    def platform_audit_log(self) -> PlatformAuditLog: ...

    @property
    def platform_mails(self) -> PlatformMails: ...

    @property
    def platform_mfa(self) -> PlatformMfa: ...

    @property
    def platform_organizations(self) -> PlatformOrganizations: ...

    @property
    def platform_overviews(self) -> PlatformOverviews: ...

    @property
    def platform_searches(self) -> PlatformSearches: ...

    @property
    def privacy_export(self) -> PrivacyExport: ...

    @property
    def product_sign_ins(self) -> ProductSignIns: ...

    @property
    def products(self) -> Products: ...

    @property
    def refused_sign_ins(self) -> RefusedSignIns: ...

    @property
    def sales(self) -> SalesBook: ...

    @property
    def scim_directory(self) -> ScimDirectory: ...

    @property
    def scim_log(self) -> ScimLog: ...

    @property
    def service_customers(self) -> ServiceCustomers: ...

    @property
    def service_figures(self) -> ServiceFigures: ...

    @property
    def service_grants(self) -> ServiceGrants: ...

    @property
    def service_subscriptions(self) -> ServiceSubscriptions: ...

    @property
    def services(self) -> Services: ...

    @property
    def sign_in_counts(self) -> SignInCounts: ...

    @property
    def sign_in_log(self) -> SignInLog: ...

    @property
    def sign_ins(self) -> SignIns: ...

    @property
    def sold_subscriptions(self) -> SoldSubscriptions: ...

    @property
    def webhook_deliveries(self) -> WebhookDeliveries: ...

    @property
    def webhook_delivery_log(self) -> WebhookDeliveryLog: ...

    @property
    def webhook_healths(self) -> WebhookHealths: ...
