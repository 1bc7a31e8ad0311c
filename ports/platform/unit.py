"""What a transaction offers of the area `platform`."""

from typing import Protocol

from ports.platform.audit_log import PlatformAuditLog
from ports.platform.bulk_work import BulkWork
from ports.platform.cluster import Clusters
from ports.platform.explained_customers import ExplainedCustomers
from ports.platform.found_users import FoundUserList
from ports.platform.health_figures import Figures
from ports.platform.housekeeping import Housekeeping
from ports.platform.left_credentials import LeftCredentials
from ports.platform.log_months import LogMonths
from ports.platform.mails import PlatformMails
from ports.platform.mfa import PlatformMfa
from ports.platform.organization_records import OrganizationRecords
from ports.platform.organizations import PlatformOrganizations
from ports.platform.outbox import BrowsedOutbox
from ports.platform.overlooked import OverlookedWork
from ports.platform.overview import PlatformOverviews
from ports.platform.owners import PlatformOwners
from ports.platform.polling import DueWork
from ports.platform.public_names import PublicNames
from ports.platform.replicas import Primary
from ports.platform.search import PlatformSearches
from ports.platform.support import PlatformSupportStaff
from ports.platform.system import SystemReadings
from ports.platform.users import PlatformUsers


class PlatformUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    @property
    def platform_organizations(self) -> PlatformOrganizations: ...

    @property
    def bulk_work(self) -> BulkWork: ...

    @property
    def primary(self) -> Primary: ...

    @property
    def platform_owners(self) -> PlatformOwners: ...

    @property
    def organization_records(self) -> OrganizationRecords: ...

    @property
    def platform_overviews(self) -> PlatformOverviews: ...

    @property
    def platform_searches(self) -> PlatformSearches: ...

    @property
    def platform_support(self) -> PlatformSupportStaff: ...

    @property
    def explained_customers(self) -> ExplainedCustomers: ...

    @property
    def platform_mails(self) -> PlatformMails: ...

    @property
    def browsed_outbox(self) -> BrowsedOutbox: ...

    @property
    def platform_audit_log(self) -> PlatformAuditLog: ...

    @property
    def platform_users(self) -> PlatformUsers: ...

    @property
    def found_users(self) -> FoundUserList: ...

    @property
    def platform_mfa(self) -> PlatformMfa: ...

    @property
    def housekeeping(self) -> Housekeeping: ...

    @property
    def log_months(self) -> LogMonths: ...
    @property
    def clusters(self) -> Clusters: ...

    @property
    def overlooked_work(self) -> OverlookedWork: ...

    @property
    def left_credentials(self) -> LeftCredentials: ...

    @property
    def public_names(self) -> PublicNames: ...

    @property
    def figures(self) -> Figures: ...

    @property
    def system(self) -> SystemReadings: ...

    @property
    def due_work(self) -> DueWork: ...
