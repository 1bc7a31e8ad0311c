"""What a transaction offers of the area `platform`."""

from typing import Final, Protocol

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

    platform_organizations: Final[PlatformOrganizations]
    bulk_work: Final[BulkWork]
    primary: Final[Primary]
    platform_owners: Final[PlatformOwners]
    organization_records: Final[OrganizationRecords]
    platform_overviews: Final[PlatformOverviews]
    platform_searches: Final[PlatformSearches]
    platform_support: Final[PlatformSupportStaff]
    explained_customers: Final[ExplainedCustomers]
    platform_mails: Final[PlatformMails]
    browsed_outbox: Final[BrowsedOutbox]
    platform_audit_log: Final[PlatformAuditLog]
    platform_users: Final[PlatformUsers]
    found_users: Final[FoundUserList]
    platform_mfa: Final[PlatformMfa]
    housekeeping: Final[Housekeeping]
    log_months: Final[LogMonths]
    clusters: Final[Clusters]
    overlooked_work: Final[OverlookedWork]
    left_credentials: Final[LeftCredentials]
    public_names: Final[PublicNames]
    figures: Final[Figures]
    system: Final[SystemReadings]
    due_work: Final[DueWork]
