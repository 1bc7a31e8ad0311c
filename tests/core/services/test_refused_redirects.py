"""What is read of a redirect URI that was refused, and of a service in a list."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from core.positions import Position
from core.services.found_services import ListedService
from core.services.redirect_changes import RefusedRedirect
from core.services.services import ServiceType
from tests.world.builder import new_id

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("redirect_uri", "host", "is_registrable"),
    [
        ("https://app.example.com:8443/callback", "app.example.com", True),
        ("https://app.example.com@evil.example/callback", "evil.example", False),
        ("http://app.example.com/callback", "app.example.com", False),
        ("com.example.app:/callback", "com.example.app", True),
        ("/callback", "", False),
        ("https://[::1/callback", "", False),
    ],
)
def test_the_host_of_a_refused_address_is_the_one_that_a_browser_opens(
    redirect_uri: str, host: str, *, is_registrable: bool
) -> None:
    refused = RefusedRedirect(redirect_uri=redirect_uri, refused_at=MOMENT)

    assert (refused.host, refused.is_registrable) == (host, is_registrable)


@pytest.mark.parametrize(
    ("redirect_uri", "is_there"),
    [
        ("https://app.example.com/other", True),
        ("http://app.example.com/back", False),
        ("https://evil.example/back", False),
        ("https://login.app.example.com/back", False),
        ("https://app.example.com@evil.example/back", False),
        ("https://app.example.com.evil.example/back", False),
        ("app.example.com:/back", False),
        ("http://localhost:3000/callback", False),
        ("https://[::1/callback", False),
    ],
)
def test_an_address_is_offered_at_the_hosts_of_the_service_alone(redirect_uri: str, *, is_there: bool) -> None:
    service: Any = SimpleNamespace(redirect_uris=["https://app.example.com/back"])

    assert RefusedRedirect(redirect_uri=redirect_uri, refused_at=MOMENT).is_at_host_of(service) is is_there


def test_a_service_has_its_place_by_when_it_was_created() -> None:
    service = ListedService(
        id=new_id(), slug="shop", name="Shop", service_type=ServiceType.WEB, created_at=MOMENT, users=0
    )

    assert service.position == Position(at=MOMENT, id=service.id)
