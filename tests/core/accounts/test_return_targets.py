"""Return targets: where a service begins, as far as its registered addresses tell."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.accounts.return_targets import ReturnTarget
from core.services.services import Service, ServiceType

NIL = UUID(int=0)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def at(*redirect_uris: str, service_type: ServiceType = ServiceType.WEB) -> ReturnTarget:
    """Return the target of a service with these addresses."""
    service = Service(
        slug="shop",
        name="Shop",
        service_type=service_type,
        redirect_uris=list(redirect_uris),
        id=NIL,
        organization_id=NIL,
        client_id=NIL,
        created_at=NOW,
        updated_at=NOW,
    )
    return ReturnTarget(service=service)


@pytest.mark.parametrize(
    ("target", "start"),
    [
        (at("https://shop.example/callback"), "https://shop.example/"),
        (at("https://shop.example/a", "https://shop.example/b"), "https://shop.example/"),
        (at("http://localhost:3000/callback"), "http://localhost:3000/"),
        (at("https://shop.example/a", "https://other.example/b"), None),
        (at("https://shop.example/a", "http://shop.example/a"), None),
        (at("com.example.app:/callback", service_type=ServiceType.MOBILE), None),
        (at("http://127.0.0.1/callback", service_type=ServiceType.DESKTOP), None),
        (at(), None),
        (ReturnTarget(), None),
    ],
)
def test_a_service_begins_at_the_one_site_of_its_addresses(target: ReturnTarget, start: str | None) -> None:
    assert target.start == start
