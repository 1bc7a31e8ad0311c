"""All invalid fields of a body are named at once, also those that a rule of core finds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.world.platform import Platform
from tests.world.world import World, assert_refused

ORG = "/api/organizations/acme"
SHOP = f"{ORG}/services/shop"
OPENID = {"type": "oidc", "name": "Corp", "issuer": "https://id.example", "client_id": "c", "client_secret": "s"}
CASES: list[tuple[str, str, dict[str, Any], list[str]]] = [
    (
        "POST",
        f"{ORG}/services",
        {"slug": "Not a slug", "name": " ", "service_type": "web", "redirect_uris": ["javascript:alert(1)"]},
        ["slug", "name", "redirect_uris"],
    ),
    (
        "POST",
        f"{ORG}/services",
        {
            "slug": "x",
            "name": "Shop",
            "service_type": "web",
            "codehost_scopes": ["a b"],
            "post_logout_redirect_uris": ["com.example:/out"],
            "frontchannel_logout_uri": "nowhere",
            "audiences": ["http://api.example"],
            "backchannel_logout_uri": "nowhere",
            "jwks_uri": "nowhere",
            "jwks": {"keys": []},
        },
        [
            "slug",
            "codehost_scopes",
            "post_logout_redirect_uris",
            "frontchannel_logout_uri",
            "audiences",
            "backchannel_logout_uri",
            "jwks_uri",
            "jwks",
        ],
    ),
    ("PATCH", SHOP, {"name": "", "redirect_uris": ["x"], "jwks": {"keys": []}}, ["name", "redirect_uris", "jwks"]),
    (
        "POST",
        f"{SHOP}/plans",
        {"name": "", "price_cents": 1, "currency": "euros", "features": [""], "billing_price_id": " "},
        ["name", "currency", "features", "billing_price_id"],
    ),
    ("POST", f"{SHOP}/api-keys", {"name": "", "permissions": []}, ["name", "permissions"]),
    (
        "POST",
        f"{ORG}/upstream-providers",
        {"type": "saml", "name": "", "issuer": "https://id.example", "client_id": "c", "scopes": []},
        ["name", "issuer", "client_id", "scopes"],
    ),
    (
        "POST",
        f"{SHOP}/checkout",
        {"plan_id": "0191d3c1-0000-7000-8000-00000000000f", "success_url": "x", "cancel_url": "y"},
        ["success_url", "cancel_url"],
    ),
    (
        "POST",
        f"{SHOP}/saml",
        {"enabled": True, "acs_url": "x", "slo_url": "y", "sign_assertions": False, "sign_response": False},
        ["entity_id", "acs_url", "slo_url", "sign_response"],
    ),
    ("POST", f"{ORG}/invitations", {"email": "nobody", "role": "owner"}, ["role", "email"]),
    (
        "POST",
        f"{ORG}/upstream-providers",
        OPENID | {"name": "", "issuer": "x", "client_id": "a b", "client_secret": "", "scopes": ["a b"]},
        ["name", "issuer", "client_id", "client_secret", "scopes"],
    ),
    (
        "POST",
        f"{ORG}/upstream-providers",
        {"type": "oidc", "name": "", "issuer": "x", "attribute_mapping": {"age": "x"}},
        ["client_id", "client_secret", "name", "issuer", "attribute_mapping"],
    ),
]


@pytest.mark.parametrize(("method", "path", "body", "fields"), CASES)
async def test_all_invalid_fields_are_named(
    world: World, method: str, path: str, body: dict[str, Any], fields: list[str]
) -> None:
    organization_id = world.organization()
    world.service(organization_id)
    owner = await world.signed_in_member(organization_id)

    answer = await world.client.request(method, path, token=owner.tokens.access_token, body=body)

    assert_refused(answer, 400, "BAD_REQUEST")
    assert [detail["field"] for detail in answer.json["details"]] == fields


async def test_an_impersonation_without_a_reason_and_an_organization_names_both(
    world: World, platform: Platform
) -> None:
    body = {"reason": " ", "service_slug": "shop"}

    answer = await platform.request("POST", f"/api/platform/impersonate/{world.user()}", body)

    assert [detail["field"] for detail in answer.json["details"]] == ["reason", "org_slug"]


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.microsoftonline.com/common/v2.0",
        "https://login.microsoftonline.com/organizations/v2.0",
        "https://LOGIN.microsoftonline.com/Consumers/v2.0/",
        "https://login.microsoftonline.us/common",
        "https://sts.windows.net/common/",
        "https://login.microsoftonline.com/{tenantid}/v2.0",
        "https://login.microsoftonline.com/%7Btenantid%7D/v2.0",
        "https://<tenant>.okta.example",
    ],
)
async def test_an_issuer_with_a_placeholder_is_refused_with_what_to_enter(world: World, issuer: str) -> None:
    owner = await world.signed_in_member(world.organization())

    created = await owner.post(f"{ORG}/upstream-providers", OPENID | {"issuer": issuer})
    good = await owner.post(f"{ORG}/upstream-providers", OPENID | {"issuer": "https://id.example/common/v2.0"})
    assert good.status == 200, good.text
    path = f"{ORG}/upstream-providers/{good.json['id']}"
    changed = await owner.patch(path, {"issuer": issuer, "client_secret": "s"})

    for answer in (created, changed):
        assert_refused(answer, 400, "BAD_REQUEST")
        [detail] = answer.json["details"]
        assert detail["field"] == "issuer"
        assert "the id of your tenant" in detail["message"]
