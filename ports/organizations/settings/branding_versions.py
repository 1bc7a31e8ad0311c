"""Storage of the versions of brandings."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from core.organizations.settings.branding import BrandingVersion
from core.organizations.settings.pictures import Picture, PictureKind


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
