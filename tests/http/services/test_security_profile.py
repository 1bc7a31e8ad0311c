"""The security profile in the record of a service: what it demands of the other fields, and what it takes away."""

from __future__ import annotations

from typing import Any

import pytest

from entrypoints.settings import Settings
from tests.application import Answer
from tests.world.team import Team
from tests.world.world import assert_refused

KEYS = {"keys": [{"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}]}
STRICT: dict[str, Any] = {"security_profile": "fapi2", "jwks": KEYS}


async def create(team: Team, slug: str = "bank", **fields: Any) -> Answer:
    body = {"slug": slug, "name": "Bank", "service_type": "web", **fields}
    return await team.request("owner", "POST", "/services", body=body)


async def change(team: Team, slug: str = "bank", **fields: Any) -> Answer:
    return await team.request("owner", "PATCH", f"/services/{slug}", body=fields)


async def test_a_service_with_a_profile_has_no_secret_and_gets_none(team: Team) -> None:
    created = await create(team, **STRICT)
    rotated = await team.request("owner", "POST", "/services/bank/secret/rotate")

    assert created.status == 200, created.text
    assert created.json["service"]["security_profile"] == "fapi2"
    assert "client_secret" not in created.json
    assert_refused(rotated, 400, "BAD_REQUEST")
    assert "private_key_jwt" in rotated.json["error"]
    assert team.world.value("SELECT client_secret_hash FROM services") is None


async def test_the_profile_is_shown_listed_and_recorded(team: Team) -> None:
    await create(team, jwks=KEYS)
    changed = await change(team, security_profile="fapi2")
    shown = await team.request("owner", "GET", "/services/bank")
    listed = await team.request("owner", "GET", "/services")

    assert changed.json["security_profile"] == "fapi2"
    assert shown.json["security_profile"] == "fapi2"
    assert listed.json["services"][0]["security_profile"] == "fapi2"
    [entry] = team.world.audit_entries("service.updated")
    assert entry[-1]["changes"] == {"security_profile": {"from": None, "to": "fapi2"}}
    assert team.world.value("SELECT client_secret_hash FROM services") is None


async def test_without_the_profile_a_secret_is_made_by_rotating(team: Team) -> None:
    await create(team, **STRICT)

    cleared = await change(team, security_profile=None)
    rotated = await team.request("owner", "POST", "/services/bank/secret/rotate")

    assert cleared.json["security_profile"] is None
    assert rotated.json["client_secret"]


async def test_what_does_not_fit_the_profile_is_refused(team: Team, subtests: pytest.Subtests) -> None:
    rsa = {"kty": "RSA", "n": "AAAA", "e": "AQAB"}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"service_type": "mobile"}, ["service_type"]),
        ({"service_type": "desktop"}, ["service_type"]),
        ({"jwks": None}, ["jwks"]),
        ({"jwks": None, "service_type": "mobile"}, ["service_type", "jwks"]),
        ({"jwks": {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}]}}, ["jwks"]),
        ({"jwks": {"keys": [{"kty": "EC", "crv": "P-384", "x": "AAAA", "y": "AAAA"}]}}, ["jwks"]),
        ({"jwks": {"keys": [rsa | {"alg": "RS256"}]}}, ["jwks"]),
        ({"jwks": {"keys": [rsa | {"alg": ["PS256"]}]}}, ["jwks"]),
        ({"security_profile": "fapi1"}, ["security_profile"]),
        ({"security_profile": ""}, ["security_profile"]),
        ({"security_profile": 2}, ["security_profile"]),
    ]
    for fields, expected in cases:
        with subtests.test(fields=fields):
            answer = await create(team, **{**STRICT, **fields})

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.invalid_fields == expected
    assert (await create(team, "rsa", security_profile="fapi2", jwks={"keys": [rsa | {"alg": "PS256"}]})).status == 200
    at_address = await create(team, "uri", security_profile="fapi2", jwks_uri="https://shop.example/keys")
    assert at_address.status == 200


async def test_a_change_cannot_leave_the_profile_without_what_it_needs(team: Team, subtests: pytest.Subtests) -> None:
    await create(team, **STRICT)
    await create(team, "app", service_type="mobile")

    for slug, fields, field in (
        ("bank", {"service_type": "mobile"}, "service_type"),
        ("bank", {"jwks": None}, "jwks"),
        ("app", STRICT, "service_type"),
    ):
        with subtests.test(slug=slug, fields=fields):
            answer = await change(team, slug, **fields)

            assert_refused(answer, 400, "BAD_REQUEST")
            assert answer.invalid_fields == [field]


class TestOutsideDevelopment:
    """An installation that is not in development mode."""

    @pytest.fixture
    def settings(self) -> Settings:
        """Settings of production, as far as the rule depends on it."""
        return Settings(rate_limits=False)

    async def test_its_redirect_uris_are_https(self, team: Team) -> None:
        local = "http://127.0.0.1:9000/callback"

        refused = await create(team, redirect_uris=["https://shop.example/callback", local], **STRICT)

        assert_refused(refused, 400, "BAD_REQUEST")
        assert refused.invalid_fields == ["redirect_uris"]
        assert (await create(team, "usual", redirect_uris=[local])).status == 200
        assert (await create(team, redirect_uris=["https://shop.example/callback"], **STRICT)).status == 200


async def test_in_development_mode_a_redirect_uri_may_be_on_loopback(team: Team) -> None:
    assert (await create(team, redirect_uris=["http://127.0.0.1:9000/callback"], **STRICT)).status == 200
