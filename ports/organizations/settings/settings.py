"""Storage of an organization's settings: branding, custom domain, mail server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.mail.servers import MailServer
from core.organizations.domain_proofs import DomainProof
from core.organizations.settings.branding import BrandedOrganization, Branding, BrandingVersion
from core.organizations.settings.domain import DomainClaim
from core.organizations.settings.pictures import Picture, PictureKind
from core.organizations.settings.smtp import MailServerTrial, OwnerContact, StoredServer
from core.sessions.origins import CustomHost


class Brandings(Protocol):
    """The brandings of organizations. A transaction that changes one has locked the organization."""

    def of(self, organization_id: UUID) -> Branding:
        """Return the branding of an organization; an empty one when it has set none."""
        ...

    def brand(self, organization_id: UUID) -> BrandedOrganization | None:
        """Return an active organization with its branding; None when it has set none."""
        ...

    def defer_brand(self, organization_id: UUID) -> Deferred[BrandedOrganization | None]:
        """Defer `brand`."""
        ...

    def save(self, organization_id: UUID, branding: Branding) -> None:
        """Store the branding, replacing the previous one."""
        ...

    def set_picture(self, organization_id: UUID, kind: PictureKind, picture: Picture | None) -> None:
        """Store a picture, replacing the previous one, or delete it with None."""
        ...

    def picture(self, organization_id: UUID, name: str) -> Picture | None:
        """Return a picture of an active organization by its name; None when there is none with that name."""
        ...


class PictureCleaner(Protocol):
    """Rebuilds pictures from their harmless parts."""

    async def clean(self, picture: Picture) -> Picture:
        """Return the picture without anything active, hidden or appended; raise `PictureInvalid`."""
        ...


class BrandingVersions(Protocol):
    """The versions of brandings, with their pictures. A transaction that adds one has locked the organization."""

    def latest(self, organization_id: UUID) -> BrandingVersion | None:
        """Return the newest version; None when none is kept."""
        ...

    def add(self, organization_id: UUID, version: BrandingVersion) -> None:
        """Keep a version with the present pictures of the organization."""
        ...

    def remove_through(self, organization_id: UUID, number: int) -> None:
        """Delete the versions up to this number, and the pictures that no other version has."""
        ...

    def listed(self, organization_id: UUID) -> Sequence[tuple[BrandingVersion, str | None]]:
        """Return all versions, newest first, with the addresses of their makers as far as they have an account."""
        ...

    def find(self, organization_id: UUID, number: int) -> BrandingVersion | None:
        """Return a version; None when the organization has none of that number."""
        ...

    def pictures(self, organization_id: UUID, number: int) -> Mapping[PictureKind, Picture]:
        """Return the pictures of a version."""
        ...


class CustomDomains(Protocol):
    """The claims of organizations to domains, one each. A transaction that adds or removes one has locked it."""

    def of(self, organization_id: UUID) -> DomainClaim | None:
        """Return the claim of an organization; None when it has none."""
        ...

    def lock(self, organization_id: UUID, claim_id: UUID) -> DomainClaim | None:
        """Return a claim and lock it; None when it was given up."""
        ...

    def add(self, claim: DomainClaim) -> None:
        """Store a claim."""
        ...

    def save(self, organization_id: UUID, claim_id: UUID, proof: DomainProof) -> bool:
        """Store a claim after a check; False when it is verified and another verified claim to the domain exists.

        Concurrent transactions that verify the same domain wait for each other.
        """
        ...

    def count_uses(self, organization_id: UUID, claim_id: UUID, *, at: datetime) -> tuple[int, int]:
        """Return how many live sessions and how many passkeys would end with a claim."""
        ...

    def remove(self, organization_id: UUID, claim_id: UUID) -> None:
        """Delete a claim; end the sessions and delete the passkeys that were made there."""
        ...

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[DomainClaim]:
        """Return verified claims that are due to be checked, and postpone their next check until then."""
        ...

    def host(self, name: str) -> CustomHost | None:
        """Return the custom host of a domain whose proof is in force and whose organization is active; else None."""
        ...

    def verified_domains(self, organization_id: UUID) -> Sequence[str]:
        """List the domains of an organization whose proof is in force."""
        ...


class MailServers(Protocol):
    """The settings and the health of mail servers. A transaction that changes them has locked the organization."""

    def find(self, organization_id: UUID) -> StoredServer | None:
        """Return the mail server of an organization; None when it has none."""
        ...

    def save(self, organization_id: UUID, server: MailServer) -> None:
        """Store the mail server of an organization, replacing the previous one; it counts as working."""
        ...

    def remove(self, organization_id: UUID) -> None:
        """Delete the mail server, after the transactions that route a mail to it have ended."""
        ...

    def save_trial(self, organization_id: UUID, trial: MailServerTrial, *, settings_at: datetime) -> None:
        """Record the result of the last test, unless the settings were changed since."""
        ...

    def mark_working(self, organization_id: UUID, *, settings_at: datetime) -> None:
        """Record that the server took a mail, unless its settings were changed since, and wake the courier."""
        ...

    def find_owner(self, organization_id: UUID) -> OwnerContact | None:
        """Return what `owner_contact` does; None when the organization has no owner."""
        ...

    def owner_contact(self, organization_id: UUID) -> OwnerContact:
        """Return the address of an organization's owner, and the name of the organization."""
        ...
