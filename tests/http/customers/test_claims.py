"""Previews of tokens: by the code that signs them, for people whose records the vendor may see."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import NO_ID
from tests.world.directory import insert_directory
from tests.world.signing_in import claims_of
from tests.world.trade import Trade, insert_trade
from tests.world.world import World, assert_refused

PATH = "/services/shop/claims/preview"
# Claims that differ in every token.
OF_ISSUE = {"jti", "iat", "exp", "sid", "auth_time", "at_hash"}
CLAIMS = [
    {"claim": "seats", "from": "service_user.metadata.seats", "in_access_token": True},
    {"claim": "roles", "from": "membership.role"},
    {"claim": "of", "from": "customer.metadata.of", "in_access_token": True},
]


@pytest.fixture
def trade(world: World) -> Trade:
    """A vendor with a service for customers."""
    return insert_trade(world)


async def _preview(trade: Trade, user_id: UUID, *, by: str = "owner", claims: Any = None, **query: Any) -> Answer:
    given = "".join(f"&{name}={value}" for name, value in query.items())
    path = f"{PATH}?user_id={user_id}{given}"
    if claims is None:
        return await trade.vendor.request(by, "GET", path)
    return await trade.vendor.request(by, "POST", path, body={"claims": claims})


async def _claim(trade: Trade, *claims: Any) -> None:
    answer = await trade.vendor.request("owner", "PATCH", "/services/shop", body={"claims": list(claims)})
    assert answer.status == 200, answer.text


def _rows(world: World) -> list[Any]:
    return [
        world.rows(f"SELECT count(*) FROM {table}")
        for table in ("sessions", "service_users", "customer_users", "login_events", "audit_entries", "events")
    ]


async def test_a_preview_says_what_the_next_token_says(trade: Trade, world: World) -> None:
    await _claim(trade, *CLAIMS)
    member = trade.vendor.ids["member"]
    world.link(trade.vendor.organization_id, trade.service.id, member)
    world.connection.execute(
        "INSERT INTO service_user_metadata VALUES (%s, %s, %s, '{\"seats\": 5}')",
        (trade.service.id, trade.vendor.organization_id, member),
    )
    token = (await world.sign_in("member@example.com", org_slug="acme", service_slug="shop")).access_token
    before = _rows(world)

    shown = (await _preview(trade, member)).json

    assert _rows(world) == before
    signed = {name: value for name, value in claims_of(token).items() if name not in OF_ISSUE}
    assert {name: shown["access_token"][name] for name in signed} == signed
    assert shown["access_token"]["seats"] == shown["id_token"]["seats"] == shown["userinfo"]["seats"] == 5
    assert (shown["id_token"]["roles"], "roles" in shown["access_token"]) == (["member"], False)
    assert shown["claims"] == [
        {"claim": "seats", "from": "service_user.metadata.seats", "value": 5},
        {"claim": "roles", "from": "membership.role", "value": "member"},
        {"claim": "of", "from": "customer.metadata.of", "value": None},
    ]
    assert (shown["saml"], shown["warnings"]) == (None, [])
    assert 0 < shown["bytes"] < 2048
    assert not shows(str(shown), "eyJ")


async def test_a_list_is_shown_before_it_is_saved_and_judged_alike(trade: Trade) -> None:
    member = trade.vendor.ids["member"]

    shown = await _preview(trade, member, claims=[{"claim": "x", "from": "organization.slug"}], scope="email")

    assert shown.json["claims"] == [{"claim": "x", "from": "organization.slug", "value": "acme"}]
    assert (shown.json["id_token"], shown.json["userinfo"]) == (None, None)
    assert shown.json["access_token"]["scope"] == "email"
    assert (await _preview(trade, member)).json["claims"] == []
    refused = await _preview(trade, member, claims=[{"claim": "sub", "from": "user.id"}])
    assert (refused.status, refused.json["details"][0]["field"]) == (400, "claims")


async def test_a_large_token_is_warned_of(trade: Trade, world: World) -> None:
    member = trade.vendor.ids["member"]
    world.connection.execute(
        "UPDATE organizations SET metadata = jsonb_build_object('n', repeat('x', 1500), 'm', repeat('y', 2500))"
    )
    claims = [{"claim": name, "from": f"organization.metadata.{name}", "in_access_token": True} for name in ("n", "m")]

    shown = (await _preview(trade, member, claims=claims)).json

    assert shown["bytes"] > 5000
    assert [one.partition(" token")[0] for one in shown["warnings"]] == [
        "The access",
        "The ID",
        "Too large for the access",
    ]
    assert ("n" in shown["access_token"], "m" in shown["access_token"]) == (True, False)


async def test_only_those_are_shown_whom_the_vendor_sees(trade: Trade, world: World) -> None:
    vendor, organization_id = trade.vendor, trade.vendor.organization_id
    customer_id = await trade.begin()
    stranger, invited, added = (vendor.user(name) for name in ("stranger", "invited", "added"))
    world.member(organization_id, invited, is_confirmed=False)
    world.link(organization_id, trade.service.id, added)
    world.connection.execute("UPDATE service_users SET last_login_at = NULL WHERE user_id = %s", (added,))
    worker = trade.customer.ids["worker"]

    unseen = [await _preview(trade, one) for one in (stranger, invited, added, worker, NO_ID)]
    unseen += [await _preview(trade, one, customer=customer_id) for one in (worker, vendor.ids["member"], NO_ID)]

    assert {(one.status, one.json["error"]) for one in unseen} == {(404, unseen[0].json["error"])}
    world.connection.execute("UPDATE service_users SET last_login_at = now() WHERE user_id = %s", (added,))
    assert (await _preview(trade, added)).status == 200
    world.connection.execute("UPDATE memberships SET suspended_at = now() WHERE user_id = %s", (vendor.ids["member"],))
    assert (await _preview(trade, vendor.ids["member"])).status == 404


async def test_a_user_is_named_by_the_id_by_which_the_organization_knows_them(trade: Trade, world: World) -> None:
    user, known_id = trade.vendor.user("user"), uuid4()
    world.link(trade.vendor.organization_id, trade.service.id, user)
    world.connection.execute("UPDATE service_users SET last_login_at = now()")
    world.connection.execute(
        "INSERT INTO known_account_ids (organization_id, known_id, user_id) VALUES (%s, %s, %s)",
        (trade.vendor.organization_id, known_id, user),
    )

    shown = await _preview(trade, known_id)

    # The token names the account, as every token does.
    assert shown.json["access_token"]["sub"] == str(user)


async def test_a_person_of_a_customer_is_shown_in_its_context(trade: Trade, world: World) -> None:
    await _claim(trade, *CLAIMS, {"claim": "directory", "from": "directory.external_id"})
    customer_id = await trade.begin()
    world.connection.execute('UPDATE service_customers SET metadata = \'{"of": "record"}\'')
    worker = trade.customer.ids["worker"]
    world.connection.execute(
        "INSERT INTO scim_profiles (organization_id, user_id, user_name, external_id, updated_at)"
        " VALUES (%s, %s, 'worker', 'theirs', now())",
        (trade.customer.organization_id, worker),
    )
    assert (await _preview(trade, worker, customer=customer_id)).status == 404
    signed_in = await world.log_in("worker@example.com", org_slug="acme", service_slug="shop", customer="beta")

    shown = (await _preview(trade, worker, customer=customer_id)).json

    token = claims_of(signed_in.json["access_token"])
    signed = {name: value for name, value in token.items() if name not in OF_ISSUE}
    assert {name: shown["access_token"][name] for name in signed} == signed
    assert (shown["access_token"]["of"], shown["access_token"]["customer_id"]) == ("record", customer_id)
    assert "directory" not in shown["id_token"]
    await trade.change_product(shares_directory=True)
    assert (await _preview(trade, worker, customer=customer_id)).json["id_token"]["directory"] == "theirs"
    # The sign-in that the customer requires counts as done.
    await trade.change_product(paused=True)
    assert (await _preview(trade, worker, customer=customer_id)).status == 404
    assert_refused(await _preview(trade, worker, customer=NO_ID), 404, "NOT_FOUND")


async def test_it_takes_both_capabilities(trade: Trade) -> None:
    member = trade.vendor.ids["member"]
    for number, permissions in enumerate(
        (["services.manage"], ["end_users.view"], ["services.manage", "end_users.view"])
    ):
        name = f"reader-{number}"
        trade.vendor.custom_role(name, *permissions)
        trade.vendor.add(name, name)
        assert (await _preview(trade, member, by=name)).status == (200 if number == 2 else 403), permissions


async def test_attributes_of_saml_are_shown_where_it_is_set_up(trade: Trade) -> None:
    member = trade.vendor.ids["member"]
    body = {"enabled": True, "entity_id": "https://sp.example", "acs_url": "https://sp.example/acs"}
    assert (await trade.vendor.request("owner", "POST", "/services/shop/saml", body=body)).status == 200

    shown = (await _preview(trade, member, claims=[{"claim": "of", "from": "organization.slug"}])).json["saml"]

    assert (shown["email"], shown["of"]) == ("member@example.com", "acme")


async def test_groups_are_shown_in_their_form_and_by_name_in_saml(trade: Trade) -> None:
    member, vendor = trade.vendor.ids["member"], trade.vendor
    group = await insert_directory(vendor, groups="directory").create_group("Sales", "member")
    body = {"enabled": True, "entity_id": "sp", "acs_url": "https://sp.example/acs"}
    assert (await vendor.request("owner", "POST", "/services/shop/saml", body=body)).status == 200
    change = {"group_claims": ["all"], "groups_as": "ids"}
    assert (await vendor.request("owner", "PATCH", "/services/shop", body=change)).status == 200

    shown = (await _preview(trade, member, claims=[{"claim": "teams", "from": "directory.groups"}])).json

    tokens = [shown[kind] for kind in ("id_token", "access_token", "userinfo")]
    assert [token["groups"] for token in tokens] == [[group]] * 3
    assert shown["id_token"]["teams"] == shown["claims"][0]["value"] == [group]
    assert shown["saml"]["teams"] == ["Sales"]


async def test_nothing_is_shown_for_a_customer_that_has_not_accepted(trade: Trade) -> None:
    customer_id = await trade.offer()

    refused = await _preview(trade, trade.vendor.ids["member"], customer=customer_id)

    assert_refused(refused, 404, "NOT_FOUND")
