"""Browsers on the way to a service that is not open to everyone."""

from __future__ import annotations

from typing import Any

import pytest

from core.openid import device as device_codes
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back, push
from tests.world.closed_service import TEXT, ClosedService, insert_closed_service
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World

DENIED = {"error": "access_denied", "error_description": "This person may not use this application."}


@pytest.fixture
def closed(world: World) -> ClosedService:
    return insert_closed_service(world)


def refusal_of(back: dict[str, str]) -> dict[str, str]:
    """Return the error and its text that a service is led back with."""
    return {name: value for name, value in back.items() if name.startswith("error")}


async def sign_in(visitor: Visitor, name: str) -> None:
    await visitor.sign_in(f"{name}@example.com")


async def test_a_stranger_reads_whom_to_ask_and_gets_back(closed: ClosedService, visitor: Visitor) -> None:
    await closed.close("members")
    await sign_in(visitor, "sam")

    page = await visitor.open(address_of(closed.party))
    back = led_back(await visitor.submit(page, "/auth/authorize/deny"))

    assert page.status == 403
    assert shows(page.text, TEXT)
    assert shows(page.text, "Back to Shop")
    assert shows(page.text, "Use another account")
    assert refusal_of(back) == DENIED
    assert back["state"] == "s-1"
    assert closed.users() == 0
    assert await closed.troubles() == [("access", {"sent": None, "registered": ["members"]})]
    assert closed.world.rows("SELECT FROM sessions WHERE service_id IS NOT NULL") == []


async def test_a_stranger_who_signs_in_on_the_way_is_no_end_user_either(
    closed: ClosedService, visitor: Visitor
) -> None:
    await closed.close("assigned", mia=[])

    page = await visitor.sign_in("sam@example.com", path=address_of(closed.party))

    assert page.status == 403
    assert shows(page.text, TEXT)
    assert closed.users() == 0


async def test_what_cancel_says_is_said_of_cancel_alone(closed: ClosedService, visitor: Visitor) -> None:
    await sign_in(visitor, "sam")

    asked = await visitor.open(address_of(closed.party))
    back = led_back(await visitor.submit(asked, "/auth/authorize/deny"))

    assert refusal_of(back) == {"error": "access_denied", "error_description": "The user has not agreed."}


async def test_a_member_comes_in(closed: ClosedService, visitor: Visitor) -> None:
    await closed.close("assigned", mia=["editor"])
    await sign_in(visitor, "mia")

    back = led_back(await visitor.send("GET", address_of(closed.party)))

    assert (await closed.party.redeem(back["code"])).status == 200


async def test_without_a_page_it_comes_after_the_sign_in_and_before_the_consent(
    closed: ClosedService, visitor: Visitor
) -> None:
    closed.world.member(closed.party.organization_id, closed.team.user("una"), is_confirmed=False)
    await closed.close("members")
    silent = address_of(closed.party, prompt="none")

    signed_out = led_back(await visitor.send("GET", silent))
    await sign_in(visitor, "sam")
    stranger = led_back(await visitor.send("GET", silent))
    visitor.cookies.clear()
    await sign_in(visitor, "una")
    unconfirmed = led_back(await visitor.send("GET", silent))

    assert signed_out["error"] == "login_required"
    assert refusal_of(stranger) == DENIED
    assert unconfirmed["error"] == "consent_required"


async def test_a_pushed_request_is_refused_alike(closed: ClosedService, visitor: Visitor) -> None:
    await closed.close("members")
    await sign_in(visitor, "sam")

    page = await visitor.open(await push(closed.party))

    assert refusal_of(led_back(await visitor.submit(page, "/auth/authorize/deny"))) == DENIED


async def test_who_is_let_in_meanwhile_goes_on(closed: ClosedService, visitor: Visitor) -> None:
    """The answer to the question is judged once more, by the present rules."""
    await sign_in(visitor, "sam")
    asked = await visitor.open(address_of(closed.party))
    await closed.close("members")

    refused = await visitor.submit(asked, "/auth/authorize/allow")

    assert refused.status == 403
    assert shows(refused.text, TEXT)
    assert closed.users() == 0


class TestUnconfirmed:
    """Members who were added, and have not consented to it."""

    @pytest.mark.parametrize(
        ("by_directory", "text"),
        [
            (True, "The directory of <strong>Acme</strong> has added you"),
            (False, "<strong>Acme</strong> has added you"),
        ],
    )
    async def test_who_was_added_reads_by_whom_and_is_in(
        self, closed: ClosedService, visitor: Visitor, *, by_directory: bool, text: str
    ) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        if by_directory:
            closed.world.connection.execute(
                b"""
                INSERT INTO scim_profiles (organization_id, user_id, user_name, updated_at)
                VALUES (%s, %s, 'una', now())
                """,
                (closed.party.organization_id, una),
            )
        await closed.close("members")
        await sign_in(visitor, "una")

        asked = await visitor.open(address_of(closed.party))
        back = led_back(await visitor.submit(asked, "/auth/authorize/allow"))

        assert text in asked.text
        assert (await closed.party.redeem(back["code"])).status == 200
        assert closed.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", una)
        # Once is enough.
        assert "code" in led_back(await visitor.send("GET", address_of(closed.party)))

    async def test_signing_in_on_the_way_confirms_nothing(self, closed: ClosedService, visitor: Visitor) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close("members")

        asked = await visitor.sign_in("una@example.com", path=address_of(closed.party))

        assert shows(asked.text, "has added you as a member.")
        assert closed.world.value("SELECT confirmed_at IS NULL FROM memberships WHERE user_id = %s", una)

    async def test_who_signs_in_on_the_way_to_an_open_service_is_asked_too(
        self, closed: ClosedService, visitor: Visitor
    ) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close("everyone", una=["editor"])

        asked = await visitor.sign_in("una@example.com", path=address_of(closed.party))
        back = led_back(await visitor.submit(asked, "/auth/authorize/allow"))
        tokens = (await closed.party.redeem(back["code"])).json

        assert shows(asked.text, "has added you as a member.")
        assert closed.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", una)
        assert claims_of(tokens["access_token"])["service_roles"] == ["editor"]
        assert "code" in led_back(await visitor.send("GET", address_of(closed.party)))

    async def test_who_uses_an_open_service_already_is_asked_where_that_is_possible(
        self, closed: ClosedService, visitor: Visitor
    ) -> None:
        una = closed.team.user("una")
        new = led_back(await visitor.sign_in("una@example.com", path=address_of(closed.party)))
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        confirmed = "SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s"

        silent = led_back(await visitor.send("GET", address_of(closed.party, prompt="none")))
        by_json = await closed.log_in("una")
        assert not closed.world.value(confirmed, una)
        asked = await visitor.open(address_of(closed.party))
        back = led_back(await visitor.submit(asked, "/auth/authorize/allow"))

        assert all("code" in answer for answer in (new, silent, back))
        assert by_json.status == 200
        assert shows(asked.text, "has added you as a member.")
        assert closed.world.value(confirmed, una)

    @pytest.mark.parametrize("access", ["everyone", "members"])
    async def test_who_has_to_prove_the_address_does_so_before_the_question(
        self, closed: ClosedService, visitor: Visitor, access: str
    ) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        closed.world.connection.execute(b"UPDATE users SET changed_by_service_at = now() WHERE id = %s", (una,))
        await closed.close(access)
        await sign_in(visitor, "una")

        refused = await visitor.open(address_of(closed.party))
        silent = led_back(await visitor.send("GET", address_of(closed.party, prompt="none")))
        closed.world.connection.execute(b"UPDATE users SET changed_by_service_at = NULL WHERE id = %s", (una,))
        asked = await visitor.open(address_of(closed.party))

        assert refused.status == 403
        assert shows(refused.text, "confirm first that it is yours")
        assert not shows(refused.text, "has added you")
        assert silent["error"] == "consent_required"
        assert shows(asked.text, "has added you as a member.")

    async def test_who_is_new_to_an_open_service_is_not_let_in_without_a_page(
        self, closed: ClosedService, visitor: Visitor
    ) -> None:
        closed.world.member(closed.party.organization_id, closed.team.user("una"), is_confirmed=False)
        await sign_in(visitor, "una")

        silent = led_back(await visitor.send("GET", address_of(closed.party, prompt="none")))

        assert silent["error"] == "consent_required"

    async def test_who_would_not_be_let_in_is_not_asked(self, closed: ClosedService, visitor: Visitor) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close("assigned", mia=[])
        await sign_in(visitor, "una")

        page = await visitor.open(address_of(closed.party))

        assert page.status == 403
        assert not shows(page.text, "has added you")

    async def test_an_answer_to_another_question_confirms_nothing(
        self, closed: ClosedService, visitor: Visitor
    ) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close("members")
        await sign_in(visitor, "una")
        asked = await visitor.open(address_of(closed.party))

        again = await visitor.submit(asked, "/auth/authorize/allow", {"joins": ""})

        assert shows(again.text, "has added you as a member.")
        assert closed.world.value("SELECT confirmed_at IS NULL FROM memberships WHERE user_id = %s", una)


class TestDevices:
    """Devices of users who are not admitted."""

    async def begin(self, closed: ClosedService) -> dict[str, Any]:
        return (await closed.party.post("/auth/device/code", {"scope": "openid"})).json

    def path_of(self, device: dict[str, Any]) -> str:
        return device["verification_uri_complete"].removeprefix("http://localhost:8000")

    async def test_a_stranger_reads_whom_to_ask_and_the_device_learns_it(
        self, closed: ClosedService, visitor: Visitor
    ) -> None:
        await closed.close("members")
        device = await self.begin(closed)
        await sign_in(visitor, "sam")

        page = await visitor.open(self.path_of(device))
        await visitor.submit(page, "/auth/device/deny")

        assert shows(page.text, TEXT)
        assert await closed.troubles() == [("access", {"sent": None, "registered": ["members"]})]
        polled = await closed.party.token(device_codes.GRANT_TYPE, device_code=device["device_code"])
        assert polled.json["error"] == "access_denied"

    async def test_approving_it_all_the_same_is_refused(self, closed: ClosedService, visitor: Visitor) -> None:
        device = await self.begin(closed)
        await sign_in(visitor, "sam")
        page = await visitor.open(self.path_of(device))
        await closed.close("members")

        refused = await visitor.submit(page, "/auth/device/approve")

        assert refused.status == 403
        assert closed.users() == 0
        assert await closed.troubles() == [("access", {"sent": None, "registered": ["members"]})]

    async def test_who_was_added_confirms_it_by_approving(self, closed: ClosedService, visitor: Visitor) -> None:
        una = closed.team.user("una")
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close("members")
        device = await self.begin(closed)
        await sign_in(visitor, "una")

        page = await visitor.open(self.path_of(device))
        done = await visitor.submit(page, "/auth/device/approve")

        assert shows(page.text, "has added you as a member.")
        assert shows(done.text, "The device is signed in")
        assert closed.world.value("SELECT confirmed_at IS NOT NULL FROM memberships WHERE user_id = %s", una)

    @pytest.mark.parametrize("access", ["everyone", "members"])
    async def test_a_page_that_has_not_said_it_confirms_nothing(
        self, closed: ClosedService, visitor: Visitor, access: str
    ) -> None:
        una = closed.team.user("una")
        await closed.close("everyone")
        device = await self.begin(closed)
        await sign_in(visitor, "una")
        page = await visitor.open(self.path_of(device))
        closed.world.member(closed.party.organization_id, una, is_confirmed=False)
        await closed.close(access)

        done = await visitor.submit(page, "/auth/device/approve")

        assert not shows(page.text, "has added you")
        assert done.status == (200 if access == "everyone" else 403)
        assert closed.world.value("SELECT confirmed_at IS NULL FROM memberships WHERE user_id = %s", una)


async def test_tiles_show_what_one_may_use(closed: ClosedService, visitor: Visitor) -> None:
    closed.team.add("ben", "member")
    await closed.close("assigned", mia=[])

    for name, is_shown in (("mia", True), ("ben", False)):
        await sign_in(visitor, name)
        page = await visitor.open("/app/account/my-applications")
        assert bool(shows(page.text, "Shop")) is is_shown
        visitor.cookies.clear()
