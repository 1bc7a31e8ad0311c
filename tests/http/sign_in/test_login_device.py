"""Device tokens in a sign-in with a password, and its answer when a second factor is needed."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_network

import pytest
from werkzeug.http import parse_cookie

from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import serving
from tests.world.builder import EMAIL, PASSWORD
from tests.world.world import World, assert_refused


class TestDevice:
    """A sign-in returns a device token in a cookie and in the body."""

    async def test_the_cookie_is_inaccessible_to_scripts_and_other_sites(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        value, *attributes = answer.headers["Set-Cookie"].split("; ")
        assert value == f"gatehouse_device={answer.json['device_token']}"
        assert {"HttpOnly", "SameSite=Lax", "Path=/", f"Max-Age={90 * 24 * 3600}"} < set(attributes)
        assert not any(attribute.startswith("Domain") for attribute in attributes)

    async def test_the_cookie_is_secure_on_https(self, world: World, installation: Installation) -> None:
        world.user()
        client = serving(replace(installation, settings=Settings(base_url="https://id.example.com")))

        answer = await client.post("/api/auth/login", body={"email": EMAIL, "password": PASSWORD})

        assert "Secure" in answer.headers["Set-Cookie"].split("; ")

    async def test_the_cookie_is_secure_behind_a_proxy_that_serves_https(
        self, world: World, installation: Installation
    ) -> None:
        world.user()
        client = serving(replace(installation, settings=Settings(trusted_proxies=(ip_network("192.0.2.0/24"),))))

        answer = await client.post(
            "/api/auth/login",
            body={"email": EMAIL, "password": PASSWORD},
            headers={"X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.1"},
            address="192.0.2.1",
        )

        assert "Secure" in answer.headers["Set-Cookie"].split("; ")
        assert world.value("SELECT ip_address FROM sessions") == "198.51.100.1"

    @pytest.mark.parametrize("transport", ["cookie", "header"])
    async def test_a_device_is_recognized_by_its_token(self, world: World, transport: str) -> None:
        world.user()
        token = (await world.sign_in()).device_token
        headers = {"Cookie": f"gatehouse_device={token}"} if transport == "cookie" else {"X-Device-Token": token}

        again = await world.sign_in(headers=headers | {"User-Agent": "another browser"})

        assert again.device_token == token
        assert world.value("SELECT count(*) FROM devices") == 1
        assert world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1") == []

    async def test_a_device_without_its_token_counts_as_new(self, world: World) -> None:
        world.user()
        token = (await world.sign_in()).device_token

        again = await world.sign_in()

        assert again.device_token != token
        assert world.value("SELECT risk_factors FROM login_events ORDER BY id DESC LIMIT 1") == ["new_device"]

    async def test_only_the_hash_of_the_token_is_stored(self, world: World) -> None:
        world.user()

        answer = await world.log_in()

        cookie = parse_cookie(answer.headers["Set-Cookie"])["gatehouse_device"]
        assert world.value("SELECT token_hash = sha256(%s) FROM device_tokens", cookie.encode())


class TestSecondFactor:
    """With MFA enabled, the password leads to a pre-auth token only."""

    async def test_the_answer_has_the_documented_fields(self, world: World) -> None:
        world.user(has_mfa=True)

        answer = await world.log_in()

        token = answer.json["preauth_token"]
        assert answer.json == {
            "access_token": token,
            "refresh_token": "",
            "expires_in": 600,
            "mfa_required": True,
            "preauth_token": token,
        }

    async def test_the_password_alone_begins_no_session_and_sets_no_device_cookie(self, world: World) -> None:
        world.user(has_mfa=True)

        answer = await world.log_in()

        assert world.value("SELECT count(*) FROM sessions") == 0
        assert "Set-Cookie" not in answer.headers

    async def test_the_pre_auth_token_is_refused_as_an_access_token(self, world: World) -> None:
        world.user(has_mfa=True)

        token = (await world.log_in()).json["access_token"]

        assert_refused(await world.client.get("/api/user/sessions", token=token), 401, "JWT_ERROR")
