"""Clients configure themselves from the discovery documents, from any origin."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from entrypoints import capabilities
from tests.application import Client, serving
from tests.world.world import World

ROUTES = {(route.method, route.path) for route in capabilities.routes(is_development=True)}


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"])
async def test_a_document_describes_the_endpoints_that_are_there(client: Client, path: str) -> None:
    answer = await client.get(path)
    document = answer.json
    endpoints = {name: url for name, url in document.items() if name.endswith(("_endpoint", "_uri"))}

    assert document["issuer"] == "http://localhost:8000"
    assert answer.headers["Cache-Control"] == "public, max-age=300"
    for name, url in endpoints.items():
        served = url.removeprefix(document["issuer"])
        assert {("GET", served), ("POST", served)} & ROUTES, name


async def test_security_txt_names_the_contact_of_the_installation_and_expires(world: World) -> None:
    without = replace(world.installation.settings, security_contact=None)
    client = serving(replace(world.installation, settings=without))

    answer = await world.client.get("/.well-known/security.txt")

    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    expires_at = f"{world.clock() + timedelta(days=90):%Y-%m-%d}T00:00:00Z"
    assert answer.text.splitlines() == [
        "Contact: mailto:security@example.com",
        f"Expires: {expires_at}",
        "Preferred-Languages: en, de",
        "Canonical: http://localhost:8000/.well-known/security.txt",
    ]
    assert (await client.get("/.well-known/security.txt")).status == 404


async def test_pages_of_any_origin_may_call_without_cookies(client: Client, subtests: pytest.Subtests) -> None:
    for path in (
        "/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
        "/.well-known/jwks.json",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/api.example.com/orders",
        "/auth/token",
        "/auth/userinfo",
        "/auth/revoke",
    ):
        with subtests.test(path=path):
            preflight = await client.request(
                "OPTIONS", path, headers={"Origin": "https://spa.example", "Access-Control-Request-Method": "POST"}
            )

            assert preflight.headers["Access-Control-Allow-Origin"] == "*"
            assert "DPoP" in preflight.headers["Access-Control-Allow-Headers"]
            assert "Access-Control-Allow-Credentials" not in preflight.headers
            answer = await client.get(path, headers={"Origin": "https://spa.example"})
            assert answer.status == 405 or answer.headers["Access-Control-Allow-Origin"] == "*"


async def test_other_endpoints_are_not_for_other_origins(client: Client, subtests: pytest.Subtests) -> None:
    for path in ("/auth/introspect", "/auth/par", "/api/user"):
        with subtests.test(path=path):
            answer = await client.request(
                "OPTIONS", path, headers={"Origin": "https://spa.example", "Access-Control-Request-Method": "POST"}
            )

            assert "Access-Control-Allow-Origin" not in answer.headers
