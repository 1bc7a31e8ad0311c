"""Enforcing a connection ends the sessions that began otherwise."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from adapters.resolver import DnsResolver
from entrypoints.installation import Installation
from tests.concurrency import at_once
from tests.name_server import LOOPBACK, NameServer
from tests.world.openid_acme import Acme
from tests.world.openid_connection import ROUTES
from tests.world.second_factors import insert_person
from tests.world.signing_in import SignedInUser
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

ADA, BOB = "ada@acme.example", "bob@acme.example"


@pytest.fixture
async def installation(installation: Installation, names: NameServer) -> Installation:
    """An installation that asks the test's name server."""
    return replace(installation, resolver=DnsResolver((LOOPBACK, names.port)))


async def is_alive(user: SignedInUser) -> bool:
    """Return whether the session of a user is alive."""
    return (await user.get("/api/user")).status == 200


async def route_of(acme: Acme) -> str:
    """Return the path of the one route of Acme."""
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]
    return f"{ROUTES}/{route['id']}"


async def test_the_sessions_of_members_and_end_users_that_began_otherwise_end(acme: Acme) -> None:
    ada = await acme.world.signed_in_member(acme.organization_id, "admin", ADA)
    bob = await acme.world.signed_in_user(BOB)
    service_id, _ = acme.world.service(acme.organization_id)
    acme.world.link(acme.organization_id, service_id, bob.id)
    browser = Visitor(acme.world.client)
    await browser.sign_in(ADA)
    chosen = await ada.post("/api/organizations/acme/select")

    await acme.enforce()

    assert not await is_alive(ada)
    assert not await is_alive(bob)
    assert (await acme.world.refresh(chosen.json["refresh_token"])).status == 401
    assert "/app/sign-in" in (await browser.open("/app/account")).text
    recorded = acme.world.events("session.revoked")
    assert {(organization_id, email) for organization_id, email, _ in recorded} == {
        (acme.organization_id, ADA),
        (acme.organization_id, BOB),
    }
    assert {data["reason"] for _, _, data in recorded} == {"sso_enforced"}
    [details] = [one for (one,) in acme.world.audit_entries("domain_route.updated", "details")]
    assert details["sessions_ended"] == 3


async def test_the_sessions_of_those_for_whom_it_is_not_enforced_stay(acme: Acme) -> None:
    outside = await acme.world.signed_in_member(acme.organization_id, "member", "carl@private.example")
    sub_domain = await acme.world.signed_in_member(acme.organization_id, "member", "dan@sub.acme.example")
    root = await acme.world.signed_in_platform_owner("root@acme.example")
    acme.world.member(acme.organization_id, root.id)
    stranger = await acme.world.signed_in_user("erin@acme.example")

    await acme.enforce()

    for user in (acme.owner, outside, sub_domain, root, stranger):
        assert await is_alive(user), user.email


async def test_the_sessions_of_the_connection_and_those_in_other_organizations_stay(acme: Acme) -> None:
    await acme.change(joins_as="member")
    await acme.sign_in()
    globex = acme.world.organization("globex")
    boss = await acme.world.signed_in_member(globex, "owner", BOB)
    acme.world.member(acme.organization_id, boss.id)
    assert (await boss.post("/api/organizations/globex/select")).status == 200

    await acme.enforce()

    assert acme.live_sessions == 1
    assert (await boss.get("/api/organizations/globex")).status == 200


async def test_a_session_that_stays_opens_the_organization_no_more_and_still_leaves_it(acme: Acme) -> None:
    globex = acme.world.organization("globex")
    bob = await acme.world.signed_in_member(globex, "member", BOB)
    acme.world.member(acme.organization_id, bob.id, "admin")
    assert (await bob.post("/api/organizations/globex/select")).status == 200
    await acme.enforce()

    for refused in (
        await bob.get("/api/organizations/acme/members"),
        await bob.patch("/api/organizations/acme", {"name": "Bobs"}),
        await bob.post("/api/organizations/acme/select"),
    ):
        assert_refused(refused, 403, "SSO_REQUIRED")
    assert (await bob.get("/api/organizations/globex")).status == 200
    assert (await bob.post("/api/organizations/acme/leave")).status == 204


async def test_a_half_finished_sign_in_is_refused_at_its_end(acme: Acme) -> None:
    ada = insert_person(acme.world, ADA)
    acme.world.member(acme.organization_id, ada.id)
    await ada.turn_mfa_on()
    half = await ada.preauth_token()

    await acme.enforce()

    assert_refused(await ada.verify(half, ada.code(1)), 403, "SSO_REQUIRED")


async def test_enforcing_again_ends_nothing_and_another_connection_ends_the_sessions_of_the_one_before(
    acme: Acme,
) -> None:
    await acme.change(joins_as="member")
    await acme.enforce()
    await acme.sign_in()
    other = await acme.owner.post(
        "/api/organizations/acme/upstream-providers",
        {
            "type": "oidc",
            "name": "Other",
            "issuer": "https://other.example",
            "client_id": "x",
            "client_secret": "other-secret",
        },
    )
    route = await route_of(acme)

    assert (await acme.owner.patch(route, {"enforced": True})).status == 200
    assert acme.live_sessions == 1
    assert (await acme.owner.patch(route, {"provider_id": other.json["id"]})).status == 200

    assert acme.live_sessions == 0


@pytest.mark.parametrize("way", ["verified", "switched on"])
async def test_a_route_that_comes_into_force_ends_them_too(acme: Acme, names: NameServer, way: str) -> None:
    [route] = (await acme.owner.get(ROUTES)).json["domain_routes"]
    path = f"{ROUTES}/{route['id']}"
    if way == "verified":
        acme.world.connection.execute("UPDATE domain_routes SET status = 'pending', verified_at = NULL")
    else:
        await acme.change(enabled=False)
    ada = await acme.world.signed_in_member(acme.organization_id, "member", ADA)
    assert (await acme.owner.patch(path, {"enforced": True})).status == 200
    assert await is_alive(ada)

    if way == "verified":
        names.publish(route["txt_name"], route["txt_value"])
        answer = await acme.owner.post(f"{path}/verify")
        assert answer.status == 200, answer.text
    else:
        await acme.change(enabled=True)

    assert not await is_alive(ada)


async def test_a_sign_in_by_password_that_races_with_the_enforcement_leaves_no_session(acme: Acme) -> None:
    ada = acme.world.user(ADA)
    acme.world.member(acme.organization_id, ada)
    route = await route_of(acme)

    await at_once(
        partial(acme.world.log_in, ADA),
        partial(acme.owner.patch, route, {"enforced": True}),
        partial(acme.world.log_in, ADA),
    )

    live = "SELECT count(*) FROM sessions WHERE user_id = %s AND revoked_at IS NULL"
    assert acme.world.value(live, ada) == 0


async def test_another_organization_enforces_nothing_with_a_domain_that_it_has_not_verified(acme: Acme) -> None:
    ada = await acme.world.signed_in_member(acme.organization_id, "member", ADA)
    globex = acme.world.organization("globex")
    owner = await acme.world.signed_in_member(globex, email="owner@globex.example")
    acme.world.member(globex, ada.id)
    made = await owner.post("/api/organizations/globex/upstream-providers", {"type": "saml", "name": "Globex"})
    claim = {"domain": "acme.example", "provider_id": made.json["id"], "enforced": True}

    assert (await owner.post("/api/organizations/globex/domain-routes", claim)).status == 200
    assert_refused(await owner.patch(await route_of(acme), {"enforced": True}), 403, "FORBIDDEN")

    assert await is_alive(ada)
