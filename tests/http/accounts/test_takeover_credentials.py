"""Undoing a takeover withdraws or switches off what was made in it, and the mails list that."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.organizations import takeover_mails
from tests.application import Answer
from tests.clock import SettableClock
from tests.world.builder import EMAIL
from tests.world.takeovers import FRIEND, Intrusion
from tests.world.victim import NEW, Victim
from tests.world.world import World

BOSS = "boss@example.com"
WEEK = timedelta(days=7)
SERVICE = {"slug": "shop", "name": "Shop", "service_type": "web", "redirect_uris": ["https://shop.example/back"]}
WORKLOAD = {"name": "Job", "issuer": "https://issuer.example/evil", "match": {"sub": "job"}}
WEBHOOK = {"name": "Hook", "url": "https://hooks.example/in", "events": ["user.joined"]}
SIEM = {"provider": "http", "endpoint": "https://siem.example/in", "token": "the-token-of-the-siem"}
CONNECTION = {
    "type": "oidc",
    "name": "Idp",
    "issuer": "https://idp.example",
    "client_id": "gatehouse",
    "client_secret": "the-secret-of-acme",
}


@pytest.fixture
def intrusion(victim: Victim, clock: SettableClock) -> Intrusion:
    world = victim.world
    acme = world.organization()
    world.member(acme, victim.app.id, "owner")
    world.member(acme, world.user(BOSS), "admin")
    clock.advance(timedelta(minutes=1))
    return Intrusion(victim, clock, acme)


async def make_everything(one: Intrusion, service: dict[str, Any] = SERVICE) -> dict[str, Answer]:
    """Make one of each in the stolen session."""
    slug = service["slug"]
    return {
        "service": await one.act("POST", "/services", service),
        "invitation": await one.act("POST", "/invitations", {"email": f"{slug}@evil.example", "role": "admin"}),
        "setup link": await one.act("POST", "/setup-links", {"parts": ["scim"], "expires_in_days": 7}),
        "API key": await one.act("POST", f"/services/{slug}/api-keys", {"name": "Key", "permissions": ["read:users"]}),
        "workload": await one.act("POST", f"/services/{slug}/workloads", WORKLOAD),
        "SCIM token": await one.act("POST", "/scim-tokens", {"name": "Directory"}),
        "webhook": await one.act("POST", "/webhooks", WEBHOOK | {"name": slug}),
        "stream": await one.act("POST", "/siem", SIEM),
        "connection": await one.act("POST", "/upstream-providers", CONNECTION | {"name": slug}),
    }


def what_is_left(world: World) -> dict[str, list[Any]]:
    """Return what of each still works."""
    return {
        "invitations": world.rows("SELECT email FROM invitations WHERE status = 'pending'"),
        "setup links": world.rows("SELECT id FROM setup_links"),
        "API keys": world.rows("SELECT prefix FROM api_keys"),
        "workloads": world.rows("SELECT issuer FROM workloads"),
        "SCIM tokens": world.rows("SELECT prefix FROM scim_tokens"),
        "webhooks": world.rows("SELECT url FROM webhooks WHERE is_active"),
        "streams": world.rows("SELECT endpoint FROM siem_streams WHERE enabled"),
        "connections": world.rows("SELECT issuer FROM upstream_connections WHERE enabled"),
    }


async def accepts_secret(world: World, made: dict[str, Any]) -> bool:
    """Return whether the token endpoint takes the secret of a service."""
    answer = await world.client.post(
        "/auth/introspect",
        data=f"token=x&client_id={made['service']['client_id']}&client_secret={made['client_secret']}".encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    return answer.status == 200


async def test_everything_that_was_made_since_is_withdrawn_or_switched_off(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    made = await make_everything(intrusion)
    assert await accepts_secret(world, made["service"].json)
    assert all(what_is_left(world).values()), "something was not made"

    await intrusion.undo()

    assert not any(what_is_left(world).values())
    assert not await accepts_secret(world, made["service"].json)
    assert world.value("SELECT client_secret_hash IS NOT NULL FROM services"), "the service must not become public"
    recorded = world.rows(
        "SELECT action, details ->> 'change' FROM audit_entries WHERE details ->> 'reason' = 'email_change_undone'"
    )
    assert sorted(recorded, key=str) == [
        ("api_key.deleted", None),
        ("invitation.revoked", None),
        ("organization.updated", "webhook_switched_off"),
        ("organization.updated", None),
        ("scim_token.revoked", None),
        ("service.updated", "client_secret_withdrawn"),
        ("service.updated", None),
        ("siem.configured", None),
        ("upstream_connection.updated", None),
        ("workload.deleted", None),
    ]


async def test_what_a_member_made_with_the_role_of_such_a_rule_is_withdrawn(intrusion: Intrusion) -> None:
    world, acme = intrusion.world, intrusion.acme
    friend = world.user("friend@evil.example")
    world.member(acme, friend)
    theirs = (await world.sign_in("friend@evil.example")).access_token
    await intrusion.take_over()
    made = await intrusion.act("POST", "/upstream-providers", CONNECTION)
    rules = [{"source": made.json["id"], "group": "Friends", "role": "admin"}]
    await intrusion.act("PUT", "/group-rules", {"rules": rules})
    world.connection.execute(
        """
        UPDATE memberships
        SET    role = 'admin', role_source = %s, role_group = 'Friends'
        WHERE  organization_id = %s AND user_id = %s
        """,
        (made.json["id"], acme, friend),
    )
    await intrusion.act("POST", "/scim-tokens", {"name": "Mine"}, token=theirs)

    await intrusion.undo()

    assert world.rows("SELECT name FROM scim_tokens") == []
    assert world.role_of(acme, "friend@evil.example") in {"member", None}


async def test_an_owner_who_comes_back_is_so_by_no_rule(intrusion: Intrusion) -> None:
    world, acme = intrusion.world, intrusion.acme
    await intrusion.take_over()
    await intrusion.befriend()
    await intrusion.transfer_to(FRIEND)
    owner_id = intrusion.victim.app.id
    world.connection.execute(
        "UPDATE memberships SET role_source = 'scim', role_group = 'x' WHERE organization_id = %s AND user_id = %s",
        (acme, owner_id),
    )

    await intrusion.undo()

    found = world.rows("SELECT role, role_source, role_group FROM memberships WHERE user_id = %s", owner_id)
    assert found == [("owner", None, None)]


async def test_rules_of_groups_are_withdrawn_with_the_roles_that_they_gave(intrusion: Intrusion) -> None:
    world, acme = intrusion.world, intrusion.acme
    await intrusion.take_over()
    made = await intrusion.act("POST", "/upstream-providers", CONNECTION)
    friend = world.user("friend@evil.example")
    world.member(acme, friend)
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, scopes, linked_at,
                                used_at, groups, confirmed_at)
        VALUES (gen_random_uuid(), %s, 'upstream', 'friend', %s, %s, '{}', now(), now(), '{Friends}', now())
        """,
        (friend, acme, made.json["id"]),
    )
    rules = [{"source": made.json["id"], "group": "Friends", "role": "admin"}]
    await intrusion.act("PUT", "/group-rules", {"rules": rules})
    assert world.role_of(acme, "friend@evil.example") == "admin"

    await intrusion.undo()

    assert world.rows("SELECT id FROM group_rules") == []
    assert world.role_of(acme, "friend@evil.example") in {"member", None}


async def test_what_was_made_before_stays(intrusion: Intrusion) -> None:
    made = await make_everything(intrusion)
    before = what_is_left(intrusion.world)
    await intrusion.take_over()

    await intrusion.undo()

    assert what_is_left(intrusion.world) == before
    assert await accepts_secret(intrusion.world, made["service"].json)


async def test_what_leads_elsewhere_since_is_switched_off(intrusion: Intrusion) -> None:
    world = intrusion.world
    made = await make_everything(intrusion)
    await intrusion.take_over()
    await intrusion.act("PATCH", f"/webhooks/{made['webhook'].json['id']}", {"url": "https://evil.example/in"})
    await intrusion.act("POST", "/siem", SIEM | {"endpoint": "https://evil.example/siem", "token": "another-token"})
    await intrusion.act(
        "PATCH",
        f"/upstream-providers/{made['connection'].json['id']}",
        {"issuer": "https://evil.example", "client_secret": "another-secret"},
    )
    rotated = await intrusion.act("POST", "/services/shop/secret/rotate")

    await intrusion.undo()

    left = what_is_left(world)
    assert [left[name] for name in ("webhooks", "streams", "connections")] == [[], [], []]
    assert not await accepts_secret(world, {**made["service"].json, **rotated.json})
    assert not await accepts_secret(world, made["service"].json)
    # What was only made before, and not changed since, stays.
    assert [len(left[name]) for name in ("invitations", "setup links", "API keys", "workloads", "SCIM tokens")] == [
        1
    ] * 5


async def test_a_secret_made_since_is_not_kept_after_another_member_has_replaced_it(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    made = (await intrusion.act("POST", "/services", SERVICE)).json
    boss = (await world.sign_in(BOSS)).access_token
    kept = await intrusion.act("POST", "/services/shop/secret/rotate", {"keep_previous_hours": 168}, token=boss)
    assert await accepts_secret(world, made)

    await intrusion.undo()

    assert not await accepts_secret(world, made)
    assert await accepts_secret(world, {**made, **kept.json})


async def test_a_webhook_that_is_switched_on_again_shows_no_reason(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    made = await intrusion.act("POST", "/webhooks", WEBHOOK)
    await intrusion.undo()
    assert world.value("SELECT off_reason FROM webhooks") == "email_change_undone"

    boss = (await world.sign_in(BOSS)).access_token
    await intrusion.act("PATCH", f"/webhooks/{made.json['id']}", {"is_active": True}, token=boss)

    assert world.rows("SELECT is_active, off_reason FROM webhooks") == [(True, None)]


async def test_identities_and_sessions_by_a_connection_made_since_end(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    made = await intrusion.act("POST", "/upstream-providers", CONNECTION)
    friend = world.user(FRIEND)
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, connection_id, organization_id, linked_at, used_at)
        VALUES (gen_random_uuid(), %s, 'upstream', 'evil', %s, %s, %s, %s)
        """,
        (friend, made.json["id"], intrusion.acme, intrusion.clock(), intrusion.clock()),
    )
    tokens = await world.sign_in(FRIEND)
    world.connection.execute(
        "UPDATE sessions SET connection_id = %s, confined_to = %s WHERE user_id = %s",
        (made.json["id"], intrusion.acme, friend),
    )

    await intrusion.undo()

    assert world.rows("SELECT FROM identities") == []
    assert (await world.client.get("/api/user", token=tokens.access_token)).status == 401


async def test_credentials_of_an_accomplice_are_withdrawn(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    friend = await intrusion.befriend()
    await intrusion.transfer_to(FRIEND)
    key = {"name": "Key", "permissions": ["org.members.view"]}
    await intrusion.act("POST", "/keys", key, token=friend)
    await intrusion.act("POST", "/keys", {**key, "secret": False}, token=friend)
    await intrusion.act("POST", "/scim-tokens", {"name": "Directory"}, token=friend)
    await intrusion.act("POST", "/invitations", {"email": "x@evil.example", "role": "admin"}, token=friend)

    await intrusion.undo()

    assert not any(what_is_left(world).values())
    assert world.rows("SELECT FROM organization_keys") == []
    assert world.audit_entries("organization_key.deleted", "details ->> 'reason'") == [("email_change_undone",)] * 2


async def test_what_a_key_of_a_takeover_has_made_is_withdrawn(intrusion: Intrusion) -> None:
    world = intrusion.world
    await intrusion.take_over()
    await intrusion.act("POST", "/services", SERVICE)
    permissions = ["services.manage", "end_users.view", "integrations.manage", "org.members.manage"]
    key = (await intrusion.act("POST", "/keys", {"name": "Key", "permissions": permissions})).json["secret"]
    for path, body in (
        ("/services/shop/api-keys", {"name": "Key", "permissions": ["read:users"]}),
        ("/scim-tokens", {"name": "Directory"}),
        ("/setup-links", {"parts": ["scim"]}),
    ):
        answer = await world.client.post(f"/api/organizations/acme{path}", body=body, headers={"X-Api-Key": key})
        assert answer.status in {200, 201}, answer.text
    assert {"API keys", "SCIM tokens", "setup links"} <= {kind for kind, rows in what_is_left(world).items() if rows}

    await intrusion.undo()

    assert not any(what_is_left(world).values())
    assert world.rows("SELECT FROM organization_keys") == []


async def test_an_account_without_organizations_gets_a_mail_without_lists(victim: Victim) -> None:
    await victim.take_over()
    await victim.world.mails()

    assert (await victim.undo()).status == 200

    [mail] = await victim.world.mails()
    assert (mail.to, mail.template) == (EMAIL, "takeover_undone")
    assert "was undone" in victim.world.installation.mail_renderer.render(mail).text


class TestMails:
    """The account and the other owners and admins get a mail about what was withdrawn and what to check."""

    async def test_the_mails_list_what_was_made_before_what_was_withdrawn_and_what_was_changed(
        self, intrusion: Intrusion
    ) -> None:
        world = intrusion.world
        await intrusion.act("POST", "/webhooks", WEBHOOK)
        await intrusion.take_over()
        await intrusion.befriend()
        await intrusion.act("POST", "/scim-tokens", {"name": "www.evil.example"})
        await intrusion.act("PATCH", f"/members/{world.user_id(FRIEND)}", {"role": "member"})
        await world.mails()

        await intrusion.undo()

        mails = {mail.to: mail for mail in await world.mails() if "takeover" in mail.template}
        assert {to: mail.template for to, mail in mails.items()} == {
            EMAIL: "takeover_undone",
            BOSS: "member_takeover_undone",
        }
        for mail in mails.values():
            text = " ".join(world.installation.mail_renderer.render(mail).text.split())
            assert "acme: webhook to hooks.example, made on" in text
            assert "acme: SCIM token scim_live_" in text
            assert f"acme: suspended member {FRIEND}" in text
            assert "scim_token.created scim_live_" in text
            assert f"user.role_updated {FRIEND} admin → member" in text
            assert NEW not in text
            assert "www.evil.example" not in text, "a text of the intruder is in a mail"

    async def test_nobody_is_told_of_an_organization_in_which_nothing_was_done(self, intrusion: Intrusion) -> None:
        await intrusion.take_over()
        await intrusion.world.mails()

        await intrusion.undo()

        assert [mail.to for mail in await intrusion.world.mails() if "takeover" in mail.template] == [EMAIL]

    async def test_what_was_made_earlier_than_a_week_before_is_not_listed(
        self, intrusion: Intrusion, clock: SettableClock
    ) -> None:
        await intrusion.act("POST", "/webhooks", WEBHOOK)
        intrusion.world.connection.execute("UPDATE webhooks SET made_at = made_at - interval '8 days'")
        await intrusion.take_over()
        await intrusion.world.mails()

        await intrusion.undo()

        [mail] = [one for one in await intrusion.world.mails() if "takeover" in one.template]
        assert mail.values["made"] == ""

    async def test_the_lists_are_bounded(self, intrusion: Intrusion, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(takeover_mails, "LISTED_MAX", 2)
        await intrusion.take_over()
        for number in range(4):
            await intrusion.act("POST", "/webhooks", WEBHOOK | {"name": f"Hook {number}"})
        await intrusion.world.mails()

        await intrusion.undo()

        mail = next(one for one in await intrusion.world.mails() if one.template == "takeover_undone")
        assert mail.values["withdrawn"].split("; ")[2:] == ["and 2 more"]
        assert mail.values["changed"].split("; ")[2:] == ["and 1 more"]

    async def test_a_person_who_governs_several_organizations_gets_one_mail(self, intrusion: Intrusion) -> None:
        world = intrusion.world
        bolt = world.organization("bolt")
        world.member(bolt, intrusion.victim.app.id, "owner")
        world.member(bolt, world.user_id(BOSS), "admin")
        await intrusion.take_over()
        await intrusion.act("POST", "/webhooks", WEBHOOK)
        answer = await world.client.post(
            "/api/organizations/bolt/scim-tokens", token=intrusion.victim.token, body={"name": "Directory"}
        )
        assert answer.status == 200, answer.text
        await world.mails()

        await intrusion.undo()

        [mail] = [one for one in await world.mails() if one.to == BOSS]
        assert [line.partition(":")[0] for line in mail.values["withdrawn"].split("; ")] == ["bolt", "acme"]
