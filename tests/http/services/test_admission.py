"""Which of an organization's own people may sign in to a service, and with which roles."""

from __future__ import annotations

from typing import Any

import pytest

from core.sessions import customer_endings
from tests.world.builder import EMAIL, Service
from tests.world.closed_service import TEXT, ClosedService, insert_closed_service
from tests.world.signing_in import claims_of
from tests.world.world import World, assert_refused


@pytest.fixture
def shop(world: World) -> ClosedService:
    return insert_closed_service(world)


async def sweep(shop: ClosedService) -> None:
    """Work off all that waits to be checked."""
    while await shop.world.installation.database.transact(customer_endings.recheck, 2):
        pass


def last_entry(shop: ClosedService) -> dict[str, Any]:
    """Return the details of the last change of who may sign in."""
    return shop.world.value(
        """
        SELECT   details
        FROM     audit_entries
        WHERE    action = 'service.access_changed'
        ORDER BY created_at DESC, id DESC
        LIMIT    1
        """
    )


class TestRecord:
    async def test_a_service_is_open_until_it_is_closed(self, shop: ClosedService) -> None:
        mia = f"user:{shop.team.ids['mia']}"
        before = await shop.team.request("olga", "GET", "/services/shop")
        changed = await shop.change(
            access="assigned",
            assignments=[{"subject": "role:admin", "roles": ["reader", "editor"]}, {"subject": mia, "roles": []}],
        )
        listed = await shop.team.request("olga", "GET", "/services")

        assert (before.json["access"], before.json["assignments"]) == ("everyone", [])
        assigned = [{"subject": "role:admin", "roles": ["editor", "reader"]}, {"subject": mia, "roles": []}]
        for record in (changed.json, listed.json["services"][0]):
            assert (record["access"], record["assignments"]) == ("assigned", assigned)

    async def test_a_new_service_takes_both(self, shop: ClosedService) -> None:
        body = {"slug": "wiki", "name": "Wiki", "service_type": "web", "roles": [{"name": "editor", "title": "Editor"}]}
        created = await shop.team.request(
            "olga",
            "POST",
            "/services",
            body=body | {"access": "members", "assignments": [{"subject": "everyone", "roles": ["editor"]}]},
        )

        assert created.status == 200, created.text
        assert created.json["service"]["access"] == "members"
        assert created.json["service"]["assignments"] == [{"subject": "everyone", "roles": ["editor"]}]
        assert last_entry(shop)["added"] == [{"subject": "everyone", "roles": ["editor"]}]

    async def test_the_log_says_what_was_added_and_removed(self, shop: ClosedService) -> None:
        await shop.close("members", "role:member")
        await shop.close("assigned", mia=["editor"])

        mia = f"user:{shop.team.ids['mia']}"
        entry = last_entry(shop)
        assert entry["access"] == "assigned"
        assert entry["added"] == [{"subject": mia, "roles": ["editor"]}]
        assert entry["removed"] == [{"subject": "role:member", "roles": []}]
        assert entry["service_slug"] == "shop"

    async def test_without_a_difference_nothing_is_recorded(self, shop: ClosedService) -> None:
        await shop.close("members", mia=["editor"])
        count = "SELECT count(*) FROM audit_entries WHERE action LIKE 'service.%%'"
        before = shop.world.value(count)

        again = await shop.change(access="members")
        await shop.close("members", mia=["editor"])

        assert again.status == 200
        assert shop.world.value(count) == before

    @pytest.mark.parametrize(
        "assigned",
        [
            {"subject": "role:none", "roles": []},
            {"subject": "group:0191d3c1-0000-7000-8000-00000000000f", "roles": []},
            {"subject": "user:0191d3c1-0000-7000-8000-00000000000f", "roles": []},
            {"subject": "nobody", "roles": []},
            {"subject": "everyone", "roles": ["none"]},
        ],
    )
    async def test_what_the_organization_or_the_service_does_not_have_is_400(
        self, shop: ClosedService, assigned: dict[str, Any]
    ) -> None:
        for answer in (
            await shop.change(assignments=[assigned]),
            await shop.team.request(
                "olga",
                "POST",
                "/services",
                body={"slug": "wiki", "name": "Wiki", "service_type": "web", "assignments": [assigned]},
            ),
        ):
            assert answer.status == 400, answer.text
            assert [one["field"] for one in answer.json["details"]] == ["assignments"]

    async def test_the_roles_of_a_repeated_subject_add_up(self, shop: ClosedService) -> None:
        mia = f"user:{shop.team.ids['mia']}"
        answer = await shop.change(
            assignments=[
                {"subject": mia, "roles": ["editor"]},
                {"subject": "everyone"},
                {"subject": mia.upper().replace("USER", "user"), "roles": ["reader"]},
            ]
        )

        assert answer.status == 200, answer.text
        assert answer.json["assignments"] == [
            {"subject": mia, "roles": ["editor", "reader"]},
            {"subject": "everyone", "roles": []},
        ]

    async def test_strangers_and_other_tenants_are_no_subjects(self, shop: ClosedService) -> None:
        globex = shop.world.organization("globex")
        shop.world.member(globex, shop.team.ids["sam"])
        shop.world.custom_role(globex, "support")

        for subject in (f"user:{shop.team.ids['sam']}", "role:support"):
            answer = await shop.change(assignments=[{"subject": subject, "roles": []}])
            assert answer.status == 400, answer.text

    async def test_assignments_are_for_those_who_see_the_members(self, shop: ClosedService) -> None:
        await shop.close("members", mia=["editor"])
        shop.team.custom_role("operator", "services.view", "services.manage")
        shop.team.add("oscar", "operator")

        read = await shop.team.request("oscar", "GET", "/services/shop")
        listed = await shop.team.request("oscar", "GET", "/services")
        closed = await shop.change("oscar", access="assigned")
        changed = await shop.change("oscar", assignments=[])

        for record in (read.json, listed.json["services"][0], closed.json):
            assert "assignments" not in record
        assert (read.json["access"], closed.json["access"]) == ("members", "assigned")
        assert_refused(changed, 403, "FORBIDDEN")

    async def test_a_key_of_the_service_changes_neither_and_sees_no_assignment(self, shop: ClosedService) -> None:
        await shop.close("members", mia=["editor"])
        made = await shop.team.request(
            "olga",
            "POST",
            "/services/shop/api-keys",
            body={"name": "k", "permissions": ["read:service", "write:service"]},
        )
        key = {"X-Api-Key": made.json["key"]}

        read = await shop.world.client.get("/api/service/info", headers=key)
        for body in ({"access": "everyone"}, {"assignments": []}):
            refused = await shop.world.client.patch("/api/service/info", headers=key, body=body)
            assert refused.status == 403, refused.text

        assert read.json["access"] == "members"
        assert "assignments" not in read.json


class TestSignIn:
    async def test_members_come_in_and_a_stranger_becomes_no_end_user(self, shop: ClosedService) -> None:
        await shop.close("members")

        stranger, member = await shop.log_in("sam"), await shop.log_in("mia")

        assert_refused(stranger, 403, "FORBIDDEN")
        assert stranger.json["error"] == TEXT
        assert member.status == 200, member.text
        assert shop.users() == 1

    async def test_assigned_members_alone_come_in(self, shop: ClosedService) -> None:
        await shop.close("assigned", mia=["editor"])
        shop.team.add("ben", "member")

        for name in ("sam", "ben", "olga"):
            answer = await shop.log_in(name)
            assert_refused(answer, 403, "FORBIDDEN")
            assert answer.json["error"] == TEXT

        assert (await shop.tokens("mia")).claims["service_roles"] == ["editor"]

    async def test_the_log_of_sign_ins_says_why(self, shop: ClosedService) -> None:
        shop.team.add("ben", "member")
        await shop.close("assigned", mia=[])
        await shop.log_in("sam")
        await shop.log_in("ben")

        reasons = shop.world.rows("SELECT reason FROM login_events WHERE reason IS NOT NULL ORDER BY created_at, id")
        assert reasons == [("not_member",), ("not_assigned",)]

    async def test_it_is_judged_before_a_second_factor_that_the_organization_requires(
        self, shop: ClosedService
    ) -> None:
        await shop.close("members")
        shop.world.connection.execute(b"UPDATE organizations SET mfa_required = true")

        assert (await shop.log_in("sam")).json["error"] == TEXT
        assert "multi-factor" in (await shop.log_in("mia")).json["error"]

    async def test_whom_a_key_has_linked_comes_in(self, shop: ClosedService) -> None:
        await shop.close("assigned")
        shop.world.link(shop.party.organization_id, shop.party.service_id, shop.team.ids["sam"])

        tokens = await shop.tokens("sam")

        assert (await shop.me(tokens)).status == 200
        assert tokens.claims["service_roles"] == []

    async def test_a_link_of_ones_own_lets_nobody_in(self, shop: ClosedService) -> None:
        before = await shop.tokens("sam")
        await shop.close("members")

        assert_refused(await shop.log_in("sam"), 403, "FORBIDDEN")
        assert (await shop.me(before)).status == 401

    async def test_a_suspended_member_does_not_come_in(self, shop: ClosedService) -> None:
        await shop.close("members")
        shop.world.connection.execute(
            b"UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (shop.team.ids["mia"],)
        )

        assert_refused(await shop.log_in("mia"), 403, "FORBIDDEN")

    async def test_an_unconfirmed_membership_counts_once_it_is_confirmed(self, shop: ClosedService) -> None:
        await shop.close("members")
        shop.world.member(shop.party.organization_id, shop.team.user("una"), is_confirmed=False)

        before = await shop.log_in("una")
        await shop.world.log_in("una@example.com", org_slug="acme")

        assert_refused(before, 403, "FORBIDDEN")
        assert (await shop.log_in("una")).status == 200

    async def test_a_link_that_was_mailed_before_lets_no_stranger_in(self, shop: ClosedService) -> None:
        client, to = shop.world.client, {"org_slug": "acme", "service_slug": "shop"}
        await client.post("/api/auth/magic-link/request", body={"email": "sam@example.com", **to})
        token = (await shop.world.mail()).values["token"]
        await shop.close("members")

        refused = await client.post("/api/auth/magic-link/verify", body={"token": token, **to})

        assert_refused(refused, 403, "FORBIDDEN")
        assert refused.json["error"] == TEXT
        assert shop.users() == 0

    async def test_an_open_service_is_open_to_strangers_with_assignments_too(self, shop: ClosedService) -> None:
        await shop.close("everyone", mia=["editor"])

        assert (await shop.tokens("sam")).claims["service_roles"] == []
        assert (await shop.tokens("mia")).claims["service_roles"] == ["editor"]


class TestRoles:
    async def test_the_roles_of_all_that_fit_add_up_wherever_they_are_told(self, shop: ClosedService) -> None:
        mia = f"user:{shop.team.ids['mia']}"
        await shop.change(
            assignments=[{"subject": "everyone", "roles": ["reader"]}, {"subject": mia, "roles": ["editor"]}]
        )
        tokens = await shop.tokens("mia")

        told = [
            tokens.claims["service_roles"],
            (await shop.introspect(tokens))["service_roles"],
            (await shop.me(tokens)).json["service_roles"],
        ]
        assert told == [["editor", "reader"]] * 3
        assert (await shop.tokens("olga")).claims["service_roles"] == ["reader"]

    async def test_openid_tells_them(self, shop: ClosedService) -> None:
        shop.world.user(EMAIL)
        shop.world.member(shop.party.organization_id, shop.world.user_id(EMAIL))
        await shop.change(assignments=[{"subject": "role:member", "roles": ["editor"]}])

        tokens = await shop.party.tokens()
        userinfo = await shop.world.client.get("/auth/userinfo", token=tokens["access_token"])

        assert claims_of(tokens["id_token"])["service_roles"] == ["editor"]
        assert userinfo.json["service_roles"] == ["editor"]

    async def test_introspection_tells_those_of_now(self, shop: ClosedService) -> None:
        await shop.close("everyone", mia=["editor"])
        tokens = await shop.tokens("mia")
        await shop.close("everyone", mia=["reader"])

        assert (await shop.introspect(tokens))["service_roles"] == ["reader"]

    async def test_a_service_without_roles_tells_nothing(self, shop: ClosedService) -> None:
        await shop.change(roles=[])
        tokens = await shop.tokens("mia")

        assert "service_roles" not in tokens.claims
        assert "service_roles" not in await shop.introspect(tokens)
        assert "service_roles" not in (await shop.me(tokens)).json

    async def test_a_role_that_is_made_again_inherits_nothing(self, shop: ClosedService) -> None:
        await shop.close("assigned", mia=["editor"])
        editor = {"name": "editor", "title": "Editor"}
        await shop.change(roles=[])
        await shop.change(roles=[editor])

        assert_refused(await shop.log_in("mia"), 403, "FORBIDDEN")
        assert (await shop.team.request("olga", "GET", "/services/shop")).json["assignments"] == []

    async def test_they_give_scopes(self, shop: ClosedService) -> None:
        await shop.change(
            scopes=[{"name": "shop:write", "description": "Change the shop"}],
            roles=[
                {"name": "editor", "title": "Editor", "scopes": ["shop:write"]},
                {"name": "reader", "title": "Reader"},
            ],
        )
        shop.team.add("ben", "member")
        await shop.close("everyone", mia=["editor"], ben=["reader"])

        assert (await shop.tokens("mia")).claims["scope"] == "shop:write"
        assert (await shop.tokens("ben")).claims["scope"] == ""

    async def test_they_are_a_source_of_claims(self, shop: ClosedService) -> None:
        await shop.change(claims=[{"claim": "roles", "from": "service_roles", "in_access_token": True}])
        await shop.close("everyone", mia=["editor"])

        assert (await shop.tokens("mia")).claims["roles"] == ["editor"]


class TestEnding:
    async def _everything_is_closed(self, shop: ClosedService, tokens: Any) -> None:
        assert (await shop.me(tokens)).status == 401
        assert await shop.introspect(tokens) == {"active": False}
        refreshed = await shop.world.refresh(tokens.refresh_token)
        assert refreshed.status == 401, refreshed.text

    async def test_what_is_narrowed_for_many_ends_with_the_row_and_the_sessions_in_batches(
        self, shop: ClosedService
    ) -> None:
        stranger, member = await shop.tokens("sam"), await shop.tokens("mia")
        await shop.close("members")

        await self._everything_is_closed(shop, stranger)
        assert shop.is_live(stranger)
        await sweep(shop)

        assert not shop.is_live(stranger)
        assert shop.is_live(member)
        assert (await shop.me(member)).status == 200

    async def test_what_takes_a_token_or_none_does_not_take_that_of_one_who_is_not_let_in(
        self, shop: ClosedService
    ) -> None:
        tokens = await shop.tokens("sam")
        await shop.team.request("olga", "POST", "/invitations", body={"email": "sam@example.com", "role": "member"})
        invitation = (await shop.world.mails())[-1].values
        await shop.close("members")
        body, client = {"token": invitation["token"]}, shop.world.client

        refused = await client.post("/api/invitations/accept", body=body, token=tokens.access_token)
        logged_out = await client.post("/api/auth/logout", token=tokens.access_token)

        assert_refused(refused, 401, "UNAUTHORIZED")
        assert logged_out.status == 200
        assert not shop.is_live(tokens)

    async def test_what_is_unassigned_ends_too(self, shop: ClosedService) -> None:
        await shop.close("assigned", "role:member")
        tokens = await shop.tokens("mia")
        await shop.close("assigned", "role:admin")

        await self._everything_is_closed(shop, tokens)
        await sweep(shop)
        assert not shop.is_live(tokens)

    async def test_the_token_endpoint_answers_invalid_grant(self, shop: ClosedService) -> None:
        shop.world.user(EMAIL)
        tokens = await shop.party.tokens()
        await shop.close("members")

        refused = await shop.party.token("refresh_token", refresh_token=tokens["refresh_token"])
        userinfo = await shop.world.client.get("/auth/userinfo", token=tokens["access_token"])

        assert (refused.status, refused.json["error"]) == (400, "invalid_grant")
        assert userinfo.status == 401

    async def test_a_code_that_was_issued_before_gives_nothing(self, shop: ClosedService) -> None:
        shop.world.user(EMAIL)
        code = await shop.party.code()
        await shop.close("members")

        refused = await shop.party.redeem(code)

        assert (refused.status, refused.json["error"]) == (400, "invalid_grant")

    @pytest.mark.parametrize("access", ["members", "assigned"])
    async def test_who_leaves_is_out_at_once_and_back_with_the_membership(
        self, shop: ClosedService, access: str
    ) -> None:
        # A link of their own, made before they were a member, does not outlive the membership here.
        shop.team.user("eve")
        own = await shop.tokens("eve")
        shop.world.member(shop.party.organization_id, shop.team.ids["eve"])
        await shop.close(access, "everyone")
        tokens = await shop.tokens("eve")
        removed = await shop.team.request("olga", "POST", f"/members/{shop.team.ids['eve']}", body={})
        assert removed.status == 200, removed.text

        assert not shop.is_live(tokens)
        assert not shop.is_live(own)
        assert_refused(await shop.log_in("eve"), 403, "FORBIDDEN")
        shop.world.member(shop.party.organization_id, shop.team.ids["eve"])
        assert (await shop.log_in("eve")).status == 200

    async def test_who_loses_the_role_that_is_assigned_is_out_at_once(self, shop: ClosedService) -> None:
        shop.team.add("ann", "admin")
        await shop.close("assigned", "role:admin")
        tokens = await shop.tokens("ann")

        changed = await shop.team.request("olga", "PATCH", f"/members/{shop.team.ids['ann']}", body={"role": "member"})

        assert changed.status == 200, changed.text
        assert not shop.is_live(tokens)

    async def test_an_assignment_of_a_person_ends_with_the_membership(self, shop: ClosedService) -> None:
        await shop.close("assigned", mia=["editor"])
        await shop.team.request("olga", "POST", f"/members/{shop.team.ids['mia']}", body={})
        shop.world.member(shop.party.organization_id, shop.team.ids["mia"])

        assert_refused(await shop.log_in("mia"), 403, "FORBIDDEN")


class TestCustomers:
    async def test_the_people_of_customers_come_for_them(self, shop: ClosedService) -> None:
        await shop.close("members")
        await shop.change(customers="listed", individuals="all")
        globex = shop.world.organization("globex")
        shop.world.member(globex, shop.team.ids["sam"])
        service = _service_of(shop)
        shop.world.customer(service, globex)

        for_it = await shop.world.log_in("sam@example.com", org_slug="acme", service_slug="shop", customer="globex")
        alone = await shop.world.log_in("sam@example.com", org_slug="acme", service_slug="shop", customer="")
        member = await shop.world.log_in("mia@example.com", org_slug="acme", service_slug="shop", customer="")

        assert for_it.status == 200, for_it.text
        assert_refused(alone, 403, "FORBIDDEN")
        assert member.status == 200, member.text


def _service_of(shop: ClosedService) -> Any:
    return Service(id=shop.party.service_id, client_id=shop.party.client_id)


async def test_why_names_the_rule(shop: ClosedService) -> None:
    shop.team.add("ben", "member")
    desk = await shop.world.signed_in_platform_owner()

    async def rules(name: str) -> list[tuple[str, str | None]]:
        fields = f"email={name}@example.com&organization=acme&service=shop&way=password"
        answer = await desk.get(f"/api/platform/why?{fields}")
        assert answer.status == 200, answer.text
        [walk] = answer.json["ways"]
        return [(one["verdict"], one["reason"]) for one in walk["rules"] if one["rule"] == "access"]

    assert await rules("mia") == []
    await shop.close("assigned", mia=[])

    assert await rules("mia") == [("passes", None)]
    assert await rules("ben") == [("refuses", "not_assigned")]
    assert await rules("sam") == [("refuses", "not_member")]
    # The organization reads about its own people alone.
    own = await shop.team.request("olga", "GET", "/why?email=ben@example.com&service=shop&way=password")
    assert own.json["ways"][0]["refused_by"] == "access"


async def test_nobody_acts_as_a_user_at_a_service_that_does_not_let_them_in(shop: ClosedService) -> None:
    before = await shop.tokens("sam")
    await shop.close("members")
    owner = await shop.world.signed_in_platform_owner()

    refused = await owner.post(
        f"/api/platform/impersonate/{shop.team.ids['sam']}",
        {"reason": "Ticket 4711", "org_slug": "acme", "service_slug": "shop"},
    )

    assert (await shop.me(before)).status == 401
    assert refused.status == 400, refused.text
