"""What a lookup of an address answers, by the route of its domain."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.sign_in.lookup_email import AuthMethod, DomainLookup, EmailLookupResult, result_of
from core.sign_in.upstream.domains.domain_routes import OpenRoute

BASE_URL = "https://id.example"
CONNECTION_ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")


def test_a_domain_without_a_route_signs_in_by_password() -> None:
    result = result_of(DomainLookup(domain="corp.example", route=None), base_url=BASE_URL)

    assert result == EmailLookupResult(domain="corp.example", auth_method=AuthMethod.PASSWORD)


@pytest.mark.parametrize("is_enforced", [False, True])
def test_a_domain_with_a_route_signs_in_by_its_connection(is_enforced: bool) -> None:
    route = OpenRoute(
        connection_id=CONNECTION_ID, connection_name="Okta", organization_slug="corp", enforced=is_enforced
    )

    result = result_of(DomainLookup(domain="corp.example", route=route), base_url=BASE_URL)

    assert result == EmailLookupResult(
        domain="corp.example",
        auth_method=AuthMethod.UPSTREAM,
        connection_id=CONNECTION_ID,
        provider_name="Okta",
        organization="corp",
        sso_required=is_enforced,
        login_url=f"{BASE_URL}/auth/upstream?connection_id={CONNECTION_ID}",
    )
