"""What a transaction offers of the area `platform`."""

from typing import Final, Protocol

from ports.platform.operation import (
    BulkWork,
    Clusters,
    DueWork,
    Figures,
    Housekeeping,
    LeftCredentials,
    LogMonths,
    OverlookedWork,
    Primary,
    PublicNames,
    SystemReadings,
)
from ports.platform.platform import (
    BrowsedOutbox,
    ExplainedCustomers,
    FoundUserList,
    OrganizationRecords,
    PlatformAuditLog,
    PlatformMails,
    PlatformMfa,
    PlatformOrganizations,
    PlatformOverviews,
    PlatformOwners,
    PlatformSearches,
    PlatformSupportStaff,
    PlatformUsers,
)


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
