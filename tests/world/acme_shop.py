"""An organization with a service to which users sign in."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from tests.world.builder import Builder


@dataclass(frozen=True)
class AcmeShop:
    """The active organization Acme Ltd, and its service Acme Shop."""

    organization_id: UUID
    service_id: UUID
    org_slug: str = "acme"
    service_slug: str = "shop"
    redirect_uri: str = "https://shop.example/welcome"

    @property
    def return_request(self) -> dict[str, str]:
        """The fields of a request's body that name the service it comes from."""
        return {
            "org_slug": self.org_slug,
            "service_slug": self.service_slug,
            "redirect_uri": self.redirect_uri,
        }


def insert_acme_shop(builder: Builder) -> AcmeShop:
    """Insert the organization and its service."""
    organization_id = builder.organization("acme", name="Acme Ltd")
    service = builder.service(organization_id, "shop", name="Acme Shop", redirect_uris=[AcmeShop.redirect_uri])
    return AcmeShop(organization_id, service.id)
