"""What a directory may do to accounts in its organization's verified mail domain, and to all other accounts."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.clock import SettableClock
from tests.world.builder import PASSWORD
from tests.world.directory import Directory, assert_scim_refused, insert_directory
from tests.world.signing_in import Tokens
from tests.world.world import assert_refused

ADA = "ada@acme.example"
OFF = {"op": "replace", "path": "active", "value": False}
ON = {"op": "replace", "path": "active", "value": True}


@pytest.fixture
def own_domain(directory: Directory) -> Directory:
    """Return the directory of an organization whose mail domain is acme.example."""
    directory.world.mail_domain(directory.organization_id, "acme.example")
    return directory


async def employee(directory: Directory, email: str = ADA) -> tuple[dict[str, Any], Tokens]:
    """Provision an account whose user has proved the address and chosen a password; return the user and a session."""
    world = directory.world
    user = await directory.create(email)
    await world.client.post("/api/auth/forgot-password", body={"email": email})
    token = [mail.values["token"] for mail in await world.mails() if mail.to == email and "token" in mail.values][-1]
    body = {"token": token, "new_password": PASSWORD}
    assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200
    return user, await world.sign_in(email)


def rename(user_name: str) -> dict[str, Any]:
    return {"op": "replace", "path": "userName", "value": user_name}


class TestDeactivation:
    async def test_an_employee_who_proved_the_address_loses_the_password_and_every_session(
        self, own_domain: Directory
    ) -> None:
        user, tokens = await employee(own_domain)

        assert (await own_domain.patch(user["id"], OFF)).status == 200

        assert (await own_domain.world.list_sessions(tokens)).status == 401
        assert_refused(await own_domain.world.log_in(ADA), 401, "UNAUTHORIZED")
        assert (await own_domain.patch(user["id"], ON)).json["active"] is True
        assert (await own_domain.world.log_in(ADA)).status == 200

    async def test_outside_of_the_mail_domain_the_account_goes_on(self, own_domain: Directory) -> None:
        user, tokens = await employee(own_domain, "ada@elsewhere.example")

        await own_domain.patch(user["id"], OFF)

        assert (await own_domain.world.list_sessions(tokens)).status == 200
        assert (await own_domain.world.log_in("ada@elsewhere.example")).status == 200

    async def test_a_stranger_whose_address_was_provisioned_and_deactivated_resets_a_password(
        self, directory: Directory
    ) -> None:
        await directory.create("stranger@elsewhere.example", active=False)

        await directory.world.client.post("/api/auth/forgot-password", body={"email": "stranger@elsewhere.example"})

        [token] = [mail.values["token"] for mail in await directory.world.mails() if "token" in mail.values]
        body = {"token": token, "new_password": PASSWORD}
        assert (await directory.world.client.post("/api/auth/reset-password", body=body)).status == 200
        assert (await directory.world.log_in("stranger@elsewhere.example")).status == 200

    async def test_it_lapses_when_the_organization_loses_the_domain_and_nothing_is_issued_before_a_proof(
        self, own_domain: Directory
    ) -> None:
        user, _ = await employee(own_domain)
        await own_domain.patch(user["id"], OFF)
        world = own_domain.world

        world.connection.execute("DELETE FROM domain_routes")

        assert_refused(await world.log_in(ADA), 401, "UNAUTHORIZED")
        assert world.rows("SELECT deactivated_at, email_verified_at FROM users WHERE email = %s", ADA) == [(None, None)]
        await world.client.post("/api/auth/forgot-password", body={"email": ADA})
        token = [mail.values["token"] for mail in await world.mails() if mail.to == ADA and "token" in mail.values][-1]
        body = {"token": token, "new_password": "another horse battery"}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200
        assert (await world.log_in(ADA, "another horse battery")).status == 200

    async def test_it_lapses_when_the_organization_is_deleted(self, own_domain: Directory) -> None:
        user, _ = await employee(own_domain)
        await own_domain.patch(user["id"], OFF)

        own_domain.world.connection.execute("DELETE FROM organizations WHERE id = %s", (own_domain.organization_id,))

        query = "SELECT deactivated_at, email_verified_at FROM users WHERE email = %s"
        assert own_domain.world.rows(query, ADA) == [(None, None)]


class TestDisownedAddress:
    """An account in the mail domain that the organization may not deactivate, because it belongs elsewhere too."""

    async def disowned(self, own_domain: Directory) -> tuple[dict[str, Any], Tokens]:
        world = own_domain.world
        user, tokens = await employee(own_domain)
        globex = world.organization("globex")
        world.member(globex, user["id"])
        await own_domain.patch(user["id"], OFF)
        return user, tokens

    async def test_sign_in_and_what_others_gave_stay_and_the_address_counts_as_unproved(
        self, own_domain: Directory
    ) -> None:
        _, tokens = await self.disowned(own_domain)
        world = own_domain.world

        assert (await world.log_in(ADA, org_slug="globex")).status == 200
        profile = await world.client.get("/api/user", token=tokens.access_token)
        assert (profile.status, profile.json["email_verified"]) == (200, False)
        assert_refused(await world.client.get("/api/invitations", token=tokens.access_token), 403, "FORBIDDEN")

    async def test_no_link_is_mailed_to_the_address(self, own_domain: Directory) -> None:
        await self.disowned(own_domain)
        world = own_domain.world
        await world.mails()

        for path in ("forgot-password", "magic-link/request"):
            assert (await world.client.post(f"/api/auth/{path}", body={"email": ADA})).status == 200

        assert await world.mails() == []

    async def test_nothing_new_is_given_by_the_address(self, own_domain: Directory) -> None:
        _, tokens = await self.disowned(own_domain)
        world = own_domain.world
        team = world.team("initech")
        directory = insert_directory(team, f"scim_live_initec_{'i' * 43}")

        await directory.create(ADA)

        selected = await world.client.post("/api/organizations/initech/select", token=tokens.access_token)
        assert_refused(selected, 403, "FORBIDDEN")
        assert_refused(await world.log_in(ADA, org_slug="initech"), 403, "FORBIDDEN")

    async def test_another_address_ends_it(self, own_domain: Directory) -> None:
        _, tokens = await self.disowned(own_domain)

        await own_domain.world.change_address(tokens.access_token, "ada@home.example")

        profile = await own_domain.world.client.get("/api/user", token=tokens.access_token)
        assert (profile.json["email"], profile.json["email_verified"]) == ("ada@home.example", True)

    async def test_activating_the_user_again_undoes_it(self, own_domain: Directory) -> None:
        user, tokens = await self.disowned(own_domain)

        await own_domain.patch(user["id"], ON)

        profile = await own_domain.world.client.get("/api/user", token=tokens.access_token)
        assert profile.json["email_verified"] is True

    async def test_deleting_the_user_has_the_same_effect_and_keeps_the_account(self, own_domain: Directory) -> None:
        user, tokens = await employee(own_domain)
        globex = own_domain.world.organization("globex")
        own_domain.world.member(globex, user["id"], is_confirmed=False)

        assert (await own_domain.request("DELETE", f"/Users/{user['id']}")).status == 204

        # Nothing is confirmed elsewhere, so the account is the organization's own to deactivate, but not to delete.
        assert own_domain.world.has_user(ADA)
        assert (await own_domain.world.list_sessions(tokens)).status == 401


class TestChangeOfAddress:
    async def test_within_the_mail_domain_proof_and_sessions_stay_and_both_addresses_are_told(
        self, own_domain: Directory
    ) -> None:
        user, tokens = await employee(own_domain)

        assert (await own_domain.patch(user["id"], rename("ada.l@acme.example"))).status == 200

        profile = await own_domain.world.client.get("/api/user", token=tokens.access_token)
        assert (profile.json["email"], profile.json["email_verified"]) == ("ada.l@acme.example", True)
        told = [mail.to for mail in await own_domain.world.mails() if mail.template == "email_changed_by_organization"]
        assert sorted(told) == ["ada.l@acme.example", ADA]

    async def test_out_of_the_mail_domain_all_sessions_end_and_nothing_is_issued_before_a_proof(
        self, own_domain: Directory
    ) -> None:
        user, tokens = await employee(own_domain)

        assert (await own_domain.patch(user["id"], rename("ada@elsewhere.example"))).status == 200

        assert (await own_domain.world.list_sessions(tokens)).status == 401
        assert_refused(await own_domain.world.log_in("ada@elsewhere.example"), 401, "UNAUTHORIZED")

    async def test_a_deactivated_account_that_moves_out_of_the_mail_domain_shuts_no_one_out(
        self, own_domain: Directory
    ) -> None:
        user = await own_domain.create(ADA, active=False)
        world = own_domain.world

        assert (await own_domain.patch(user["id"], rename("ada@elsewhere.example"))).status == 200

        await world.mails()
        await world.client.post("/api/auth/forgot-password", body={"email": "ada@elsewhere.example"})
        [token] = [mail.values["token"] for mail in await world.mails() if "token" in mail.values]
        body = {"token": token, "new_password": PASSWORD}
        assert (await world.client.post("/api/auth/reset-password", body=body)).status == 200
        assert (await own_domain.show(user["id"]))["active"] is False

    async def test_a_deactivated_user_who_moves_into_the_mail_domain_loses_the_account_too(
        self, own_domain: Directory
    ) -> None:
        world = own_domain.world
        user = await own_domain.create("ada@elsewhere.example")
        await own_domain.patch(user["id"], OFF)

        assert (await own_domain.patch(user["id"], rename(ADA))).status == 200

        assert world.value("SELECT deactivated_at IS NOT NULL FROM users WHERE id = %s", user["id"])
        assert (await own_domain.patch(user["id"], ON)).json["active"] is True
        assert world.value("SELECT deactivated_at IS NULL FROM users WHERE id = %s", user["id"])

    async def test_after_twenty_addresses_of_other_accounts_in_an_hour_every_change_is_429(
        self, directory: Directory, clock: SettableClock
    ) -> None:
        user = await directory.create()
        for number in range(21):
            directory.world.user(f"other{number}@example.com")
        for number in range(20):
            assert_scim_refused(
                await directory.patch(user["id"], rename(f"other{number}@example.com")), 409, "uniqueness"
            )

        for name in ("other20@example.com", "free@example.com"):
            refused = await directory.patch(user["id"], rename(name))
            assert (refused.status, refused.headers["Retry-After"]) == (429, "3600")
        clock.advance(timedelta(hours=1))
        assert (await directory.patch(user["id"], rename("free@example.com"))).status == 200
