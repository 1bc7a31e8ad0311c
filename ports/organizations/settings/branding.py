"""Storage of brandings, and the cleaning of pictures."""

from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.organizations.settings.branding import BrandedOrganization, Branding
from core.organizations.settings.pictures import Picture, PictureKind


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
