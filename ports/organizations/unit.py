"""The part of the unit of work that belongs to the area `organizations`."""

from typing import Final, Protocol
from uuid import UUID

from core.organizations.access import AccessContext
from core.organizations.link_callers import LinkCaller
from core.organizations.organizations import MadeThrough
from ports.organizations.keys import MadeByKeys, MadeCredentials, OrganizationKeys, SetupLinks
from ports.organizations.members import GroupRules, Members, People, Roles, Tiers
from ports.organizations.organizations import (
    BulkJobs,
    DeletedOrganizations,
    Departures,
    Organizations,
    Overviews,
    Relations,
)
from ports.organizations.settings.settings import Brandings, BrandingVersions, CustomDomains, MailServers
from ports.organizations.takeovers import TakeoverClaims, TakeoverCredentials, TakeoverRecords, Takeovers


class OrganizationsUnit(Protocol):
    """The aggregates of the area, each in this transaction."""

    organizations: Final[Organizations]
    deleted_organizations: Final[DeletedOrganizations]
    tiers: Final[Tiers]
    members: Final[Members]
    overviews: Final[Overviews]
    people: Final[People]
    departures: Final[Departures]
    bulk_jobs: Final[BulkJobs]
    roles: Final[Roles]
    group_rules: Final[GroupRules]
    branding: Final[Brandings]
    branding_versions: Final[BrandingVersions]
    custom_domains: Final[CustomDomains]
    mail_servers: Final[MailServers]
    setup_links: Final[SetupLinks]
    organization_keys: Final[OrganizationKeys]
    made_by_keys: Final[MadeByKeys]
    made_credentials: Final[MadeCredentials]
    takeovers: Final[Takeovers]
    takeover_claims: Final[TakeoverClaims]
    takeover_credentials: Final[TakeoverCredentials]
    takeover_records: Final[TakeoverRecords]
    relations: Final[Relations]

    def access_context(self, slug: str) -> AccessContext:
        """Load the caller, an organization and their membership in it; raise `Unauthorized` as `caller` does.

        With a key of an organization, the caller and the membership are those of its maker, and `caller` is the maker
        from then on; raise `OrganizationKeyInvalid`. So it is with the cookie of a setup link; raise `SetupLinkDead`.
        """
        ...

    @property
    def link_caller(self) -> LinkCaller:
        """The holder of the setup link whose cookie the request brings; raise `SetupLinkDead`."""
        ...

    @property
    def made_through(self) -> MadeThrough | None:
        """The way by which a vendor makes something for a customer; None when an organization makes its own."""
        ...

    def caller_belongs_to(self, slug: str, organization_id: UUID) -> None:
        """Record that the caller belongs to this organization: their requests then use its share of the connections."""
        ...
