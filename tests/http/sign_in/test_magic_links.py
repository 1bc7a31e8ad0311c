"""Signing in with a mailed link."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import trio

from adapters.postgres.driver.connection import Connection
from entrypoints.settings import Settings
from tests.application import Answer, Client, serving
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.waiting import waiting_for_a_lock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL, PASSWORD
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused

ROUNDS = 50


async def request(world: World, email: str = EMAIL, **others: str) -> Answer:
    """Request a link."""
    return await world.client.post("/api/auth/magic-link/request", body={"email": email, **others})


async def requested(world: World, email: str = EMAIL, **others: str) -> str:
    """Request a link, and return the token in the mail."""
    await world.mails()
    answer = await request(world, email, **others)
    assert answer.status == 200, answer.text
    return (await world.mail()).values["token"]


async def verify(world: World, token: Any, **others: Any) -> Answer:
    """Sign in with a link."""
    return await world.client.post("/api/auth/magic-link/verify", body={"token": token, **others})


class TestSigningIn:
    """Signing in with a valid link."""

    async def test_a_link_signs_in_with_the_answer_of_a_login(self, world: World) -> None:
        await world.register_and_verify()
        token = await requested(world)

        answer = await verify(world, token)

        assert UUID(token).version == 4
        assert answer.status == 200, answer.text
        assert set(answer.json) == {"access_token", "refresh_token", "expires_in", "token_type", "device_token"}
        assert answer.headers["Cache-Control"] == "no-store"
        claims = claims_of(answer.json["access_token"])
        assert (claims["email"], claims["amr"]) == (EMAIL, ["email"])
        assert world.events("user.login.success")[-1][2]["provider"] == "magic_link"

    async def test_the_mail_has_the_link_and_its_lifetime(self, world: World) -> None:
        await world.register_and_verify()
        await request(world, f" {EMAIL.upper()} ")

        message = await world.mail()

        rendered = world.installation.mail_renderer.render(message)
        link = f"http://localhost:8000/auth/magic-link?token={message.values['token']}"
        assert message.to == EMAIL
        assert rendered.subject == "Sign in"
        assert f"    {link}\n" in rendered.text
        assert f'href="{link}"' in rendered.html
        assert "15 minutes" in rendered.text
        assert not shows(rendered.text, "password")

    async def test_a_user_without_a_password_signs_in(self, world: World) -> None:
        await world.register_and_verify()
        world.remove_password()

        assert (await verify(world, await requested(world))).status == 200

    async def test_a_link_requests_the_second_factor(self, world: World, connection: Connection) -> None:
        await world.register_and_verify()
        connection.execute("UPDATE users SET mfa_enabled_at = created_at")

        answer = await verify(world, await requested(world))

        assert (answer.status, answer.json["mfa_required"], answer.json["refresh_token"]) == (200, True, "")

    async def test_a_link_signs_in_to_the_service_it_was_requested_for(self, world: World, acme_shop: AcmeShop) -> None:
        await world.register_and_verify()
        await world.mails()
        await request(world, **acme_shop.return_request)
        message = await world.mail()

        answer = await verify(world, message.values["token"])

        claims = claims_of(answer.json["access_token"])
        assert world.installation.mail_renderer.render(message).subject == "Sign in to “Acme Shop”"
        assert (claims["org"], claims["service"]) == ("acme", "shop")

    async def test_a_link_requested_without_context_signs_in_to_the_service_named_later(
        self, world: World, acme_shop: AcmeShop
    ) -> None:
        await world.register_and_verify()

        answer = await verify(world, await requested(world), org_slug="acme", service_slug="shop")

        assert claims_of(answer.json["access_token"])["service"] == "shop"

    async def test_a_link_requested_for_an_organization_signs_in_to_its_service(
        self, world: World, acme_shop: AcmeShop
    ) -> None:
        await world.register_and_verify()

        answer = await verify(world, await requested(world, org_slug="acme"), org_slug="acme", service_slug="shop")

        assert claims_of(answer.json["access_token"])["service"] == "shop"

    async def test_a_link_is_refused_in_another_context_than_the_requested_one(
        self, world: World, acme_shop: AcmeShop, connection: Connection
    ) -> None:
        await world.register_and_verify()
        world.service(acme_shop.organization_id, "desk", name="Acme Desk")
        token = await requested(world, **acme_shop.return_request)

        assert_refused(await verify(world, token, org_slug="other"), 400, "BAD_REQUEST")
        assert_refused(await verify(world, token, org_slug="acme", service_slug="desk"), 400, "BAD_REQUEST")
        # The refusals have not used the link.
        assert (await verify(world, token, org_slug="acme", service_slug="shop")).status == 200

    async def test_a_user_who_is_not_a_member_is_forbidden(self, world: World, acme_shop: AcmeShop) -> None:
        await world.register_and_verify()

        answer = await verify(world, await requested(world, org_slug="acme"))

        assert_refused(answer, 403, "FORBIDDEN")

    async def test_an_organization_suspended_after_the_request_refuses_the_link(
        self, world: World, acme_shop: AcmeShop, connection: Connection
    ) -> None:
        await world.register_and_verify()
        token = await requested(world, **acme_shop.return_request)
        connection.execute("UPDATE organizations SET status = 'suspended'")

        assert_refused(await verify(world, token), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_using_a_link_invalidates_the_users_other_links(self, world: World) -> None:
        await world.register_and_verify()
        first, second = await requested(world), await requested(world)
        await verify(world, second)

        assert_refused(await verify(world, first), 401, "UNAUTHORIZED")


class TestRefusals:
    """Refused links."""

    async def test_a_link_works_once(self, world: World) -> None:
        await world.register_and_verify()
        token = await requested(world)
        await verify(world, token)

        answer = await verify(world, token)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert "used already" in answer.json["error"]

    async def test_a_link_is_valid_for_15_minutes(self, world: World, clock: SettableClock) -> None:
        await world.register_and_verify()
        early, late = await requested(world), await requested(world)

        clock.advance(timedelta(minutes=15))
        answer = await verify(world, late)
        clock.advance(timedelta(seconds=-1))
        in_time = await verify(world, early)

        assert_refused(answer, 401, "UNAUTHORIZED")
        assert "expired" in answer.json["error"]
        assert in_time.status == 200

    async def test_a_malformed_token_is_400(self, world: World, subtests: pytest.Subtests) -> None:
        for token in ("", "nonsense", 7, None, "6fd2e1a8"):
            with subtests.test(token=token):
                answer = await verify(world, token)

                assert_refused(answer, 400, "BAD_REQUEST")
                assert answer.json["details"][0]["field"] == "token"

    async def test_an_unknown_token_is_401(self, world: World) -> None:
        assert_refused(await verify(world, str(uuid4())), 401, "UNAUTHORIZED")

    async def test_a_token_of_another_purpose_is_401(self, world: World) -> None:
        await world.register()
        token = (await world.mail()).values["token"]

        assert_refused(await verify(world, token), 401, "UNAUTHORIZED")
        accept = {"Accept": "application/json"}
        assert (await world.client.get(f"/auth/verify-email?token={token}", headers=accept)).status == 200

    async def test_a_deactivation_or_a_changed_address_invalidates_the_link(
        self, world: World, connection: Connection
    ) -> None:
        for number, change in enumerate(("deactivated_at = created_at", "email = 'elsewhere@example.com'")):
            email = f"person{number}@example.com"
            await world.register_and_verify(email)
            token = await requested(world, email)
            connection.execute(f"UPDATE users SET {change} WHERE email = %s".encode(), (email,))

            assert_refused(await verify(world, token), 401, "UNAUTHORIZED")

    async def test_of_two_concurrent_uses_of_a_link_exactly_one_wins(self, world: World) -> None:
        await world.register_and_verify()
        for _ in range(ROUNDS):
            token, statuses = await requested(world), list[int]()

            async def use(token: str, statuses: list[int]) -> None:
                statuses.append((await verify(world, token)).status)

            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(use, token, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_of_two_links_of_one_user_used_concurrently_exactly_one_wins(self, world: World) -> None:
        await world.register_and_verify()
        for _ in range(ROUNDS):
            tokens, statuses = [await requested(world) for _ in range(2)], list[int]()

            async def use(token: str, statuses: list[int]) -> None:
                statuses.append((await verify(world, token)).status)

            async with trio.open_nursery() as nursery:
                for token in tokens:
                    nursery.start_soon(use, token, statuses)

            assert sorted(statuses) == [200, 401]

    async def test_a_concurrently_deactivated_user_is_refused(self, world: World, connection: Connection) -> None:
        await world.register_and_verify()
        token = await requested(world)
        statuses: list[int] = []

        async def use() -> None:
            statuses.append((await verify(world, token)).status)

        async with trio.open_nursery() as nursery:
            with connection.transaction():
                world.deactivate()
                nursery.start_soon(use)
                await waiting_for_a_lock(connection)

        assert statuses == [401]
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (0,)

    async def test_a_refusal_is_counted_as_invalid_credentials_in_the_metrics(self, world: World) -> None:
        await verify(world, str(uuid4()))

        exposition = world.installation.metrics.exposition().decode()
        assert 'sso_login_failures_total{reason="invalid_credentials"} 1.0' in exposition


class TestVerifyingAddress:
    """A link verifies the address, and removes what an attacker may have set up before."""

    async def test_the_first_verification_removes_all_earlier_credentials_and_sessions(
        self, world: World, connection: Connection
    ) -> None:
        await world.register_and_sign_in("attacker@example.com")
        attacker = (await world.sign_in("attacker@example.com")).access_token
        connection.execute(
            """
            INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, aaguid, transports,
                                  backup_eligible, created_at)
            SELECT id, id, 'key', 'key', 0, 'mine', '', '{}', false, now() FROM users
            """
        )
        # The account gets the victim's address without a proof, and the attacker waits for the victim to sign in.
        world.set_unproved_address("attacker@example.com", "victim@example.com")
        token = await requested(world, "victim@example.com")

        answer = await verify(world, token)

        assert answer.status == 200
        assert (await world.client.get("/api/user", token=attacker)).status == 401
        assert (await world.log_in("victim@example.com")).status == 401
        assert connection.execute("SELECT count(*) FROM passkeys").fetchone() == (0,)
        assert (await world.client.get("/api/user", token=answer.json["access_token"])).json["email_verified"] is True

    async def test_the_mail_announces_the_verification(self, world: World) -> None:
        await world.register()
        await world.mails()
        await request(world)

        rendered = world.installation.mail_renderer.render(await world.mail())

        for text in (rendered.text, rendered.html):
            assert "that this address is yours" in text

    async def test_an_account_with_a_verified_address_keeps_everything(self, world: World) -> None:
        await world.register_and_verify()
        token = (await world.sign_in()).access_token

        await verify(world, await requested(world))

        assert (await world.client.get("/api/user", token=token)).status == 200
        assert (await world.log_in(EMAIL, PASSWORD)).status == 200


class TestRequesting:
    """Requesting a link does not reveal which accounts exist."""

    async def test_every_address_gets_the_same_answer(self, world: World) -> None:
        await world.register_and_verify()
        expected = await request(world)
        await world.register_and_verify("gone@example.com")
        world.deactivate("gone@example.com")
        await world.mails()

        for email in ("nobody@example.com", "gone@example.com", "no address at all", "", "x" * 5000):
            answer = await request(world, email)

            assert (answer.status, answer.json["message"]) == (200, expected.json["message"])
            assert set(answer.json) == {"message", "challenge_id"}
        assert await world.mails() == []

    async def test_a_malformed_email_field_is_refused(self, world: World) -> None:
        for body in ({}, {"email": None}, {"email": 3}, {"email": "a\x00@example.com"}):
            answer = await world.client.post("/api/auth/magic-link/request", body=body)

            assert (answer.status, answer.json["details"][0]["field"]) == (400, "email")

    async def test_unknown_contexts_and_unregistered_redirect_uris_are_refused(
        self, world: World, acme_shop: AcmeShop, subtests: pytest.Subtests
    ) -> None:
        for return_request, status in (
            ({"org_slug": "nowhere"}, 404),
            ({"org_slug": "acme", "service_slug": "nowhere"}, 404),
            ({"service_slug": "shop"}, 400),
            ({"org_slug": "acme", "service_slug": "shop", "redirect_uri": "https://shop.example/welcome/"}, 400),
            ({"org_slug": "acme", "redirect_uri": "https://shop.example/welcome"}, 400),
        ):
            with subtests.test(return_request=return_request, status=status):
                for email in (EMAIL, "nobody@example.com"):
                    assert (await request(world, email, **return_request)).status == status

    async def test_requests_for_one_address_are_rate_limited(self, world: World, limited: Client) -> None:
        statuses = [
            (await limited.post("/api/auth/magic-link/request", body={"email": EMAIL})).status for _ in range(6)
        ]

        assert statuses == [200] * 5 + [429]

    @pytest.fixture
    def limited(self, world: World) -> Client:
        """A client with rate limits."""
        return serving(replace(world.installation, settings=Settings(dev=True)))
