"""The sign-ins of a user, and why they were refused: who sees which of them."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from core.limits import PAGE_ITEMS_MAX
from tests.clock import SettableClock
from tests.http.sign_in.sign_ins import MEMBER, everywhere, of_team, reasons, refuse
from tests.world.builder import EMAIL, PASSWORD
from tests.world.second_factors import insert_person
from tests.world.signing_in import SignedInUser
from tests.world.team import Team
from tests.world.world import World, assert_refused


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


class TestWhatIsListed:
    """One sign-in after the other, the newest first."""

    async def test_a_refused_sign_in_is_shown_with_its_reason_place_and_origin(self, team: Team) -> None:
        service_id, _ = team.world.service(team.organization_id, "shop")
        await team.world.sign_in(MEMBER, org_slug="acme")

        refused = await team.world.log_in(
            MEMBER, "wrong", org_slug="acme", service_slug="shop", headers={"User-Agent": "curl/8.5.0"}
        )

        answer = await of_team(team)
        assert (answer.status, answer.json["total"]) == (200, 2)
        first, second = answer.json["sign_ins"]
        assert first == {
            "id": first["id"],
            "created_at": team.world.clock().isoformat().replace("+00:00", "Z"),
            "provider": "password",
            "mailed_proof": None,
            "outcome": "refused",
            "reason": "wrong_password",
            "reason_text": "The password was wrong.",
            "organization": {"id": str(team.organization_id), "slug": "acme", "name": first["organization"]["name"]},
            "service": {"id": str(service_id), "slug": "shop", "name": first["service"]["name"]},
            "connection": None,
            "customer": None,
            "ip_address": first["ip_address"],
            "user_agent": "curl/8.5.0",
            "device": first["device"],
            "device_id": None,
            "geo_country": None,
            "geo_city": None,
            "risk_score": 30,
            "risk_factors": ["new_device"],
            "request_id": refused.headers["X-Request-Id"],
        }
        assert first["ip_address"].startswith("10.")
        assert "curl" in first["device"]
        assert (second["outcome"], second["reason"], second["reason_text"]) == ("success", None, None)
        assert second["device_id"] is not None

    async def test_each_refusal_has_its_own_reason(self, team: Team) -> None:
        world, organization_id = team.world, team.organization_id
        world.service(organization_id, "shop")
        credentials = {"email": MEMBER, "password": PASSWORD, "org_slug": "acme"}
        user_id = team.ids["member"]

        await world.client.post("/api/auth/login", body={**credentials, "service_slug": "nowhere"})
        world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (user_id,))
        await world.client.post("/api/auth/login", body={**credentials, "service_slug": "shop"})
        await world.client.post("/api/auth/login", body=credentials)
        world.connection.execute("UPDATE memberships SET suspended_at = NULL WHERE user_id = %s", (user_id,))
        world.connection.execute("UPDATE organizations SET mfa_required = true")
        await world.client.post("/api/auth/login", body=credentials)
        world.connection.execute("UPDATE organizations SET mfa_required = false")
        world.set_organization_status(organization_id, "suspended")
        await world.client.post("/api/auth/login", body=credentials)
        world.set_organization_status(organization_id, "active")
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (user_id,))
        await world.client.post("/api/auth/login", body=credentials)
        world.remove_password(MEMBER)
        await world.client.post("/api/auth/login", body=credentials)
        world.deactivate(MEMBER)
        await world.client.post("/api/auth/login", body=credentials)

        assert [reason for _, reason in await reasons(team)] == [
            "deactivated",
            "no_password",
            "email_not_verified",
            "organization_not_active",
            "second_factor_required",
            "suspended",
            "suspended",
            "unknown_service",
        ]

    async def test_a_second_factor_is_asked_for_then_wrong_then_right(self, world: World, root: SignedInUser) -> None:
        ada = insert_person(world)
        await ada.turn_mfa_on()
        ada.next_step()
        shown: list[tuple[str, str | None]] = []

        token = await ada.preauth_token()
        for code in (None, ada.wrong_code(), ada.code()):
            if code is not None:
                await ada.verify(token, code)
            [newest, *_] = await everywhere(root, ada.id)
            shown.append((newest["outcome"], newest["reason"]))
        await ada.verify(token, ada.code())
        [newest, before, *_] = await everywhere(root, ada.id)

        assert shown == [("second_factor_asked", "second_factor_asked"), ("refused", "wrong_code"), ("success", None)]
        assert (newest["reason"], before["outcome"]) == ("sign_in_over", "success")

    async def test_a_used_and_an_expired_link_say_which_they_are(self, world: World, clock: SettableClock) -> None:
        user_id = world.user()
        tokens: list[str] = []
        for _ in range(2):
            await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL})
            tokens.append([mail.values["token"] for mail in await world.mails() if mail.template == "magic_link"][-1])
            if len(tokens) == 1:
                await world.client.post("/api/auth/magic-link/verify", body={"token": tokens[0]})

        used = await world.client.post("/api/auth/magic-link/verify", body={"token": tokens[0]})
        clock.advance(timedelta(minutes=16))
        expired = await world.client.post("/api/auth/magic-link/verify", body={"token": tokens[1]})
        unknown = await world.client.post("/api/auth/magic-link/verify", body={"token": str(uuid4())})

        assert [answer.status for answer in (used, expired, unknown)] == [401] * 3
        root = await world.signed_in_platform_owner()
        assert [shown["reason"] for shown in await everywhere(root, user_id)] == ["expired_link", "used_link", None]

    async def test_a_refusal_of_before_reasons_were_kept_is_shown_without_one(
        self, world: World, root: SignedInUser
    ) -> None:
        user_id = world.user()
        await world.log_in(password="wrong")
        world.connection.execute("UPDATE login_events SET reason = NULL WHERE user_id = %s", (user_id,))
        await world.log_in(password="wrong")
        world.connection.execute("UPDATE login_events SET reason = 'of_a_later_version' WHERE reason IS NOT NULL")

        shown = await everywhere(root, user_id)

        assert [(one["outcome"], one["reason"]) for one in shown] == [("refused", "not_recorded")] * 2


class TestPaging:
    async def test_pages_follow_each_other_without_gap_or_repetition(self, team: Team) -> None:
        await refuse(team, 5)

        pages = [(await of_team(team, query=f"?limit=2&page={page}")).json for page in (1, 2, 3, 4)]

        ids = [[shown["id"] for shown in page["sign_ins"]] for page in pages]
        everything = [shown["id"] for shown in (await of_team(team)).json["sign_ins"]]
        assert [len(page) for page in ids] == [2, 2, 1, 0]
        assert [shown for page in ids for shown in page] == everything
        assert [page["total"] for page in pages] == [5] * 4

    async def test_a_limit_is_lowered_and_nonsense_refused(self, team: Team) -> None:
        await refuse(team, 2)

        assert len((await of_team(team, query="?limit=100000")).json["sign_ins"]) == 2
        assert (await of_team(team, query="?page=1000000000")).json == {"sign_ins": [], "total": 2}
        for query in ("?limit=0", "?page=0", "?limit=-1", "?page=x", "?limit=1.5"):
            assert_refused(await of_team(team, query=query), 400, "BAD_REQUEST")
        assert PAGE_ITEMS_MAX == 100


class TestWhoSeesWhat:
    """An organization sees sign-ins in its own context, of people who confirmed before that they belong to it."""

    async def test_sign_ins_on_the_platform_and_elsewhere_are_not_shown(self, team: Team) -> None:
        world = team.world
        globex = world.organization("globex")
        world.member(globex, team.ids["member"])

        await world.sign_in(MEMBER)
        await world.log_in(MEMBER, "wrong")
        await world.log_in(MEMBER, "wrong", org_slug="globex")
        await world.sign_in(MEMBER, org_slug="globex")

        assert await reasons(team) == []

    async def test_a_user_of_two_organizations_is_shown_to_each_with_its_own_part(
        self, team: Team, root: SignedInUser
    ) -> None:
        world = team.world
        organization_id = world.organization("globex")
        world.member(organization_id, team.ids["member"])
        other = await world.signed_in_member(organization_id, email="boss@globex.example")

        await refuse(team)
        await world.log_in(MEMBER, "wrong", org_slug="globex")
        await world.sign_in(MEMBER, org_slug="globex")

        shown = await other.get(f"/api/organizations/globex/users/{team.ids['member']}/sign-ins")
        assert [one["outcome"] for one in shown.json["sign_ins"]] == ["success", "refused"]
        assert {one["organization"]["slug"] for one in shown.json["sign_ins"]} == {"globex"}
        assert await reasons(team) == [("refused", "wrong_password")]
        assert len(await everywhere(root, team.ids["member"])) == 3

    async def test_whoever_is_neither_member_nor_end_user_does_not_exist(self, team: Team) -> None:
        world = team.world
        team.user("stranger")
        globex = world.organization("globex")
        world.member(globex, team.ids["stranger"])
        await world.log_in("stranger@example.com", "wrong", org_slug="acme")
        await world.log_in("stranger@example.com", org_slug="acme")

        known = await of_team(team, "stranger")
        unknown = await team.request("owner", "GET", f"/users/{uuid4()}/sign-ins")

        for answer in (known, unknown):
            assert_refused(answer, 404, "NOT_FOUND")
        assert known.json["error"] == unknown.json["error"]
        malformed = await team.request("owner", "GET", "/users/not-an-id/sign-ins")
        assert_refused(malformed, 404, "NOT_FOUND")

    async def test_a_stranger_s_attempt_names_no_organization_but_the_user_s_own(
        self, team: Team, root: SignedInUser
    ) -> None:
        team.world.organization("globex")

        await team.world.log_in(MEMBER, "wrong", org_slug="globex")
        await team.world.log_in(MEMBER, org_slug="globex")

        refused, guessed = await everywhere(root, team.ids["member"])
        assert (guessed["reason"], guessed["organization"]) == ("wrong_password", None)
        assert (refused["reason"], refused["organization"]["slug"]) == ("not_a_member", "globex")

    async def test_an_unconfirmed_member_shows_nothing_and_later_nothing_earlier(
        self, team: Team, clock: SettableClock
    ) -> None:
        world = team.world
        world.member(team.organization_id, team.user("guest"), is_confirmed=False)
        await refuse(team, email="guest@example.com")
        assert (await of_team(team, "guest")).json == {"sign_ins": [], "total": 0}

        clock.advance(timedelta(minutes=1))
        await world.sign_in("guest@example.com", org_slug="acme")
        clock.advance(timedelta(minutes=1))
        await refuse(team, email="guest@example.com")

        assert await reasons(team, "guest") == [("refused", "wrong_password"), ("success", None)]

    async def test_an_end_user_whom_a_key_has_linked_shows_nothing_before_the_first_sign_in(
        self, team: Team, clock: SettableClock
    ) -> None:
        world = team.world
        service_id, _ = world.service(team.organization_id, "shop")
        world.connection.execute(
            "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, origin)"
            " VALUES (%s, %s, %s, %s, 'key')",
            (service_id, team.organization_id, team.user("buyer"), clock()),
        )
        await refuse(team, email="buyer@example.com", service_slug="shop")
        assert await reasons(team, "buyer") == []

        clock.advance(timedelta(minutes=1))
        await world.sign_in("buyer@example.com", org_slug="acme", service_slug="shop")

        assert await reasons(team, "buyer") == [("success", None)]

    async def test_an_account_that_the_organization_has_created_is_shown_like_any_other(self, team: Team) -> None:
        user_id = team.user("made")
        team.world.member(team.organization_id, user_id, is_confirmed=False)
        team.world.connection.execute(
            "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (team.organization_id, user_id)
        )

        await refuse(team, email="made@example.com")
        unconfirmed = await reasons(team, "made")
        team.world.connection.execute("UPDATE memberships SET confirmed_at = created_at")
        confirmed = await reasons(team, "made")

        assert unconfirmed == []
        assert confirmed == [("refused", "wrong_password")]

    async def test_it_takes_the_capability_and_an_active_organization(self, team: Team) -> None:
        team.custom_role("billing", "billing.manage")
        team.add("accountant", "billing")
        team.add("colleague", "member")

        assert_refused(await of_team(team, by="accountant"), 403, "FORBIDDEN")
        assert (await of_team(team, by="colleague")).status == 200
        team.world.set_organization_status(team.organization_id, "suspended")
        assert_refused(await of_team(team), 403, "ORGANIZATION_NOT_ACTIVE")

    async def test_the_platform_is_for_its_owners_and_shows_every_account(self, team: Team, root: SignedInUser) -> None:
        path = f"/api/platform/users/{team.ids['member']}/sign-ins"
        await team.world.sign_in(MEMBER)
        await refuse(team)

        assert [shown["outcome"] for shown in await everywhere(root, team.ids["member"])] == ["refused", "success"]
        assert_refused(await root.get(f"/api/platform/users/{uuid4()}/sign-ins"), 404, "NOT_FOUND")
        denied = await team.world.client.get(path, token=await team.token("owner"))
        assert_refused(denied, 403, "FORBIDDEN")

    async def test_an_impersonated_owner_reads_them_of_the_organization_but_not_of_the_platform(
        self, team: Team, root: SignedInUser
    ) -> None:
        await refuse(team)
        begun = await root.post(f"/api/platform/impersonate/{team.ids['owner']}", {"reason": "Case 42"})
        token, user_id = begun.json["access_token"], team.ids["member"]

        shown = await team.world.client.get(f"{team.path}/users/{user_id}/sign-ins", token=token)
        denied = await team.world.client.get(f"/api/platform/users/{user_id}/sign-ins", token=token)

        assert [one["reason"] for one in shown.json["sign_ins"]] == ["wrong_password"]
        assert_refused(denied, 403, "FORBIDDEN")

    async def test_a_forgotten_user_keeps_reasons_without_origins(self, team: Team, root: SignedInUser) -> None:
        await refuse(team)
        user_id = team.ids["member"]

        forgotten = await root.client.request("DELETE", f"/api/privacy/forget/{user_id}", token=root.token)

        assert forgotten.status == 200, forgotten.text
        [shown] = (await of_team(team)).json["sign_ins"]
        assert (shown["reason"], shown["ip_address"], shown["geo_city"]) == ("wrong_password", "0.0.0.0", None)

    async def test_who_came_back_unconfirmed_shows_nothing_of_the_time_between(
        self, team: Team, clock: SettableClock
    ) -> None:
        world, user_id = team.world, team.user("made")
        world.connection.execute(
            "UPDATE users SET created_by_organization_id = %s WHERE id = %s", (team.organization_id, user_id)
        )
        # A customer of another organization, who has left this one, tries once more.
        world.member(world.organization("globex"), user_id)
        clock.advance(timedelta(days=1))
        await world.log_in("made@example.com", org_slug="acme")
        clock.advance(timedelta(days=1))

        world.member(team.organization_id, user_id, is_confirmed=False)

        assert await reasons(team, "made") == []
