"""What vendors have made for an organization: its owner reads it, adopts it and removes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio

from core.sign_in.upstream.trials import trials
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.concurrency import at_once
from tests.identity_provider import IdentityProvider
from tests.waiting import waiting_for_a_lock
from tests.world.adoptions import DOMAIN, THINGS, Adoption, make_adoption
from tests.world.builder import NO_ID, new_id
from tests.world.customer_setups import CONNECTION
from tests.world.directory import Directory
from tests.world.internal import add_mail_domain, admit
from tests.world.organization_keys import insert_program
from tests.world.trade import Trade
from tests.world.world import assert_refused


@pytest.fixture
async def adoption(trade: Trade) -> Adoption:
    """Return a customer that its vendor sets up, and whose owner adopts what it makes."""
    return await make_adoption(trade)


async def make_everything(adoption: Adoption) -> dict[str, str]:
    """Make one thing of each kind; return their ids."""
    connection = await adoption.setup.connect()
    return {
        "connection": connection["id"],
        "mail_domain": (await adoption.make("/mail-domains", domain=DOMAIN, provider_id=connection["id"]))["id"],
        "scim_token": (await adoption.make("/scim-tokens", name="Okta"))["id"],
        "group_rule": (
            await adoption.make("/group-rules", source=connection["id"], group="Editors", service_roles=["editor"])
        )["id"],
        "setup_link": (await adoption.setup.link("scim", "groups"))["id"],
    }


def count_of(adoption: Adoption, table: str, thing_id: str) -> tuple[int, int]:
    """Return how many rows with an id are the organization's, and how many the internal organization's."""
    return tuple(
        adoption.world.value(
            f"SELECT count(*) FROM {table} WHERE id = %s AND organization_id = %s", thing_id, organization_id
        )
        for organization_id in (adoption.trade.customer.organization_id, adoption.setup.internal_id)
    )


async def both_at_once(
    first: Callable[[], Awaitable[Answer]], second: Callable[[], Awaitable[Answer]]
) -> tuple[Answer, Answer]:
    """Send two requests at once, and return the answer of each."""
    answers: dict[str, Answer] = {}

    async def keep(name: str, send: Callable[[], Awaitable[Answer]]) -> Answer:
        answers[name] = await send()
        return answers[name]

    await at_once(lambda: keep("first", first), lambda: keep("second", second))
    return answers["first"], answers["second"]


# Reading


async def test_the_owner_reads_what_the_vendor_has_made(adoption: Adoption) -> None:
    assert await adoption.things() == []
    made = await make_everything(adoption)
    by_member = await adoption.setup.by_member("POST", "/scim-tokens", body={"name": "Entra"})

    found = await adoption.things()

    assert [(one["kind"], one["name"], one["made_by"]) for one in found] == [
        ("connection", "Globex", "program"),
        ("mail_domain", DOMAIN, "program"),
        ("scim_token", "Entra", "member"),
        ("scim_token", "Okta", "program"),
        ("group_rule", "Editors", "program"),
        ("setup_link", "scim, groups", "program"),
    ]
    assert {one["id"] for one in found} == {*made.values(), by_member.json["id"]}
    assert all(one["vendor"] == {"slug": "acme", "name": "Acme"} for one in found)
    assert all(one["service"] == {"slug": "shop", "name": "Shop"} for one in found)
    assert all(one["made_at"] for one in found)


async def test_the_list_has_parts(adoption: Adoption) -> None:
    await make_everything(adoption)

    answer = await adoption.own("GET", f"{THINGS}?limit=2&offset=4")

    assert [one["kind"] for one in answer.json["things"]] == ["setup_link"]
    assert answer.json["total"] == 5


@pytest.mark.parametrize("by", ["chief", "worker"])
async def test_nobody_but_the_owner_reads_adopts_or_removes(adoption: Adoption, by: str) -> None:
    made = await make_everything(adoption)
    token = made["scim_token"]

    assert_refused(await adoption.trade.customer.request(by, "GET", THINGS), 403, "FORBIDDEN")
    assert_refused(await adoption.adopt(token, by=by), 403, "FORBIDDEN")
    assert_refused(await adoption.remove(token, by=by), 403, "FORBIDDEN")
    for method, path in (("GET", THINGS), ("POST", f"{THINGS}/{token}/adopt"), ("DELETE", f"{THINGS}/{token}")):
        foreign = await adoption.world.client.request(
            method, f"/api/organizations/beta{path}", token=await adoption.trade.vendor.token("owner")
        )
        assert_refused(foreign, 403, "FORBIDDEN")
    assert len(await adoption.things()) == 5


async def test_the_vendors_owner_reads_nothing_of_its_customers_at_home(adoption: Adoption) -> None:
    made = await make_everything(adoption)

    listed = await adoption.trade.vendor.request("owner", "GET", THINGS)
    adopted = await adoption.trade.vendor.request("owner", "POST", f"{THINGS}/{made['scim_token']}/adopt")

    assert listed.json == {"things": [], "total": 0}
    assert_refused(adopted, 404, "NOT_FOUND")


async def test_things_of_other_customers_are_unknown(adoption: Adoption) -> None:
    world, trade = adoption.world, adoption.trade
    other = world.team("initech")
    other.add("bill", "owner")
    made = await make_everything(adoption)

    for thing_id in (*made.values(), str(NO_ID)):
        assert_refused(await other.request("bill", "POST", f"{THINGS}/{thing_id}/adopt"), 404, "NOT_FOUND")
        assert_refused(await other.request("bill", "DELETE", f"{THINGS}/{thing_id}"), 404, "NOT_FOUND")
    assert (await other.request("bill", "GET", THINGS)).json["total"] == 0
    own = await trade.customer.request("head", "POST", "/scim-tokens", body={"name": "Own"})
    assert_refused(await adoption.adopt(own.json["id"]), 404, "NOT_FOUND")
    assert_refused(await adoption.remove(own.json["id"]), 404, "NOT_FOUND")


async def test_adopting_and_removing_take_a_fresh_sign_in(adoption: Adoption) -> None:
    made = await make_everything(adoption)
    await adoption.things()
    adoption.world.clock.advance(timedelta(minutes=11))

    assert_refused(await adoption.adopt(made["scim_token"]), 403, "FORBIDDEN")
    assert_refused(await adoption.remove(made["scim_token"]), 403, "FORBIDDEN")

    assert len(await adoption.things()) == 5


# SCIM tokens


async def test_an_adopted_token_is_the_organizations_own_with_another_secret(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    of_vendor = {"Authorization": f"Bearer {made['token']}"}
    assert (await adoption.world.client.request("GET", "/scim/v2/Users", headers=of_vendor)).status == 200

    adopted = await adoption.adopt(made["id"])

    assert adopted.status == 200, adopted.text
    assert adopted.json["kind"] == "scim_token"
    assert adopted.json["token"].startswith("scim_live")
    assert adopted.json["token"] != made["token"]
    assert (await adoption.world.client.request("GET", "/scim/v2/Users", headers=of_vendor)).status == 401
    own = {"Authorization": f"Bearer {adopted.json['token']}"}
    assert (await adoption.world.client.request("GET", "/scim/v2/Users", headers=own)).status == 200
    [listed] = (await adoption.own("GET", "/scim-tokens")).json["tokens"]
    assert (listed["id"], listed["name"], listed["groups"]) == (adopted.json["id"], "Okta", "directory")
    assert (await adoption.setup.by_key("GET", "/scim-tokens")).json["total"] == 0
    assert await adoption.things() == []


async def test_an_adopted_token_makes_members_and_outlives_the_relation(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    token = (await adoption.adopt(made["id"])).json["token"]

    assert (await adoption.trade.at_vendor("DELETE", f"/{adoption.setup.customer_id}")).status == 204

    created = await adoption.world.client.request(
        "POST",
        "/scim/v2/Users",
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/scim+json"},
        body={"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "new@globex.com"},
    )
    assert created.status == 201, created.text
    assert adoption.world.role_of(adoption.trade.customer.organization_id, "new@globex.com") == "member"


async def test_the_owner_who_adopts_a_token_is_its_maker(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")

    await adoption.adopt(made["id"])

    assert adoption.world.rows("SELECT created_by, maker_role, made_through FROM scim_tokens") == [
        (adoption.trade.customer.ids["head"], "owner", None)
    ]


async def test_a_token_that_has_expired_is_not_adopted(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    adoption.world.connection.execute("UPDATE scim_tokens SET expires_at = '2020-01-01'")

    assert_refused(await adoption.adopt(made["id"]), 409, "CONFLICT")

    assert (await adoption.remove(made["id"])).status == 204


async def test_a_token_beyond_the_limit_is_not_adopted(adoption: Adoption, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    monkeypatch.setattr("core.scim.tokens.TOKENS_MAX", 0)

    assert_refused(await adoption.adopt(made["id"]), 400, "BAD_REQUEST")

    assert count_of(adoption, "scim_tokens", made["id"]) == (0, 1)


async def test_of_two_that_adopt_a_token_at_once_one_does(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    await adoption.trade.customer.token("head")

    answers = await at_once(*[lambda: adoption.adopt(made["id"])] * 3)

    assert sorted(one.status for one in answers) == [200, 404, 404]
    assert adoption.world.value("SELECT count(*) FROM scim_tokens") == 1


async def test_of_the_vendor_that_revokes_and_the_owner_that_adopts_one_does(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    await adoption.trade.customer.token("head")

    adopted, revoked = await both_at_once(
        lambda: adoption.adopt(made["id"]), lambda: adoption.setup.by_key("DELETE", f"/scim-tokens/{made['id']}")
    )

    assert (adopted.status, revoked.status) in {(200, 404), (404, 204)}
    assert adoption.world.value("SELECT count(*) FROM scim_tokens") == int(adopted.status == 200)


async def test_a_token_that_is_made_while_the_part_is_taken_away_is_none_that_the_vendor_knows(
    adoption: Adoption,
) -> None:
    for turn in range(4):
        await adoption.trade.change_product(vendor_setup=["scim"])
        made, taken = await both_at_once(
            lambda: adoption.setup.by_key("POST", "/scim-tokens", body={"name": "Okta"}),
            lambda: adoption.trade.at_customer("PATCH", body={"vendor_setup": []}),
        )

        assert taken.status == 200, taken.text
        if made.status == 200:
            directory = Directory(adoption.trade.vendor, made.json["token"])
            assert (await directory.request("GET", "/Users")).status == 401, turn
        else:
            assert_refused(made, 403, "FORBIDDEN")


# Connections


async def test_a_connection_takes_its_mail_domains_proved_by_the_organization(adoption: Adoption) -> None:
    made = await adoption.setup.connect()
    refused = await adoption.adopt(made["id"])
    assert_refused(refused, 409, "CONFLICT")
    assert "Prove a mail domain" in refused.json["error"]
    add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN)
    await adoption.prove("globex.net")

    refused = await adoption.adopt(made["id"])

    assert_refused(refused, 409, "CONFLICT")
    assert DOMAIN in refused.json["error"]
    assert count_of(adoption, "upstream_connections", made["id"]) == (0, 1)
    await adoption.prove()
    assert (await adoption.adopt(made["id"])).status == 200


async def test_an_adopted_connection_is_the_organizations_own_and_off(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN)

    adopted = await adoption.adopt(made["id"])

    assert adopted.status == 200, adopted.text
    assert adopted.json == {"id": made["id"], "kind": "connection", "token": None}
    own = (await adoption.own("GET", f"/upstream-providers/{made['id']}")).json
    assert (own["name"], own["issuer"], own["enabled"]) == ("Globex", CONNECTION["issuer"], False)
    assert (own["joins_as"], own["trust_mfa"]) == (None, False)
    assert (await adoption.setup.by_key("GET", "/connections")).json["total"] == 0
    changed = await adoption.setup.by_key("PATCH", f"/connections/{made['id']}", body={"name": "Ours"})
    assert_refused(changed, 404, "NOT_FOUND")
    assert await adoption.things() == []
    assert adoption.world.value("SELECT count(*) FROM domain_routes WHERE made_for IS NOT NULL") == 0


async def test_the_secret_that_the_vendor_knows_is_gone(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    before = adoption.world.value("SELECT client_secret_sealed FROM upstream_connections WHERE id = %s", made["id"])

    await adoption.adopt(made["id"])

    def read(uow: Any) -> str:
        client = uow.upstream_connections.client_of(
            adoption.trade.customer.organization_id, made["id"], CONNECTION["issuer"], is_to_be_tested=True
        )
        return client.client_secret.reveal()

    assert await adoption.world.installation.database.transact(read) != CONNECTION["client_secret"]
    after = adoption.world.value("SELECT client_secret_sealed FROM upstream_connections WHERE id = %s", made["id"])
    assert before != after


async def test_an_adopted_saml_connection_keeps_its_certificates_and_takes_no_others(adoption: Adoption) -> None:
    await adoption.prove()
    idp = IdentityProvider(now=adoption.world.clock)
    made = await adoption.make("/connections", type="saml", name="Globex", metadata_xml=idp.metadata())
    asked = "SELECT certificates FROM upstream_connections WHERE id = %s"
    before = adoption.world.value(asked, made["id"])

    assert (await adoption.adopt(made["id"])).status == 200

    assert count_of(adoption, "upstream_connections", made["id"]) == (1, 0)
    assert before
    assert adoption.world.value(asked, made["id"]) == before


async def test_an_adopted_connection_is_not_enabled_before_a_trial(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    await adoption.adopt(made["id"])
    path = f"/upstream-providers/{made['id']}"

    for body in ({"enabled": True}, {"enabled": True, "client_secret": "another"}):
        assert_refused(await adoption.own("PATCH", path, body=body), 409, "CONFLICT")

    assert (await adoption.own("PATCH", path, body={"client_secret": "another"})).status == 200
    assert (await adoption.own("GET", path)).json["enabled"] is False


async def test_an_adopted_connection_is_enabled_after_a_trial_as_it_is(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    await adoption.adopt(made["id"])
    path, world = f"/upstream-providers/{made['id']}", adoption.world
    own_id, head = adoption.trade.customer.organization_id, adoption.trade.customer.ids["head"]

    def try_it(uow: UnitOfWork) -> None:
        found = uow.upstream_connections.find(own_id, UUID(made["id"]))
        assert found is not None, "the connection is there"
        world.connection.execute(
            """
            INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, state_hash, tested_as,
                                        expires_at, concluded_at)
            SELECT %s, %s, %s, user_id, id, %s, %s, %s, %s FROM sessions WHERE user_id = %s
            """,
            (own_id, new_id(), found.id, new_id().bytes, trials.fingerprint(found), uow.now, uow.now, head),
        )

    await world.installation.database.transact(try_it)
    # What was tested is not what would be enabled.
    assert_refused(await adoption.own("PATCH", path, body={"enabled": True, "client_id": "other"}), 409, "CONFLICT")

    assert (await adoption.own("PATCH", path, body={"enabled": True})).json["enabled"] is True

    # It is like every other one from then on.
    for is_on in (False, True):
        assert (await adoption.own("PATCH", path, body={"enabled": is_on})).status == 200


async def test_the_own_domains_lead_to_an_adopted_connection_where_no_other_one_is_on(adoption: Adoption) -> None:
    route_id = await adoption.prove()
    made = await adoption.setup.connect()
    add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN)

    await adoption.adopt(made["id"])

    [route] = (await adoption.own("GET", "/domain-routes")).json["domain_routes"]
    assert (route["id"], route["provider_id"], route["status"]) == (route_id, made["id"], "verified")


async def test_the_own_domains_stay_with_a_connection_that_is_on(adoption: Adoption) -> None:
    await adoption.prove()
    own = await adoption.own("POST", "/upstream-providers", body=CONNECTION | {"name": "Own"})
    adoption.world.connection.execute(
        "UPDATE domain_routes SET connection_id = %s WHERE made_for IS NULL", (own.json["id"],)
    )
    made = await adoption.setup.connect()
    add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN)

    assert (await adoption.adopt(made["id"])).status == 200

    [route] = (await adoption.own("GET", "/domain-routes")).json["domain_routes"]
    assert route["provider_id"] == own.json["id"]


async def test_identities_sessions_and_rules_of_before_end_with_adopting(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    world, internal_id = adoption.world, adoption.setup.internal_id
    await adoption.make("/group-rules", source=made["id"], group="Editors", service_roles=["editor"])
    ann = world.user("ann@globex.com")
    admit(world, internal_id, ann)
    world.connection.execute(
        """
        INSERT INTO identities (id, provider, subject, user_id, organization_id, connection_id, linked_at,
                                used_at)
        VALUES (%s, 'upstream', 'sub-1', %s, %s, %s, %s, %s)
        """,
        (new_id(), ann, internal_id, made["id"], world.clock(), world.clock()),
    )
    session = await world.sign_in("ann@globex.com")
    world.connection.execute(
        "UPDATE sessions SET connection_id = %s, confined_to = %s WHERE user_id = %s", (made["id"], internal_id, ann)
    )

    assert (await adoption.adopt(made["id"])).status == 200

    assert world.value("SELECT count(*) FROM identities") == 0
    assert world.value("SELECT count(*) FROM departed_identities") == 0
    assert world.value("SELECT count(*) FROM customer_group_rules") == 0
    assert world.value("SELECT revoked_at FROM sessions WHERE user_id = %s", ann) is not None
    assert session is not None
    # Adopting makes no members, and admitted people stay admitted.
    assert world.role_of(adoption.trade.customer.organization_id, "ann@globex.com") is None
    assert world.role_of(internal_id, "ann@globex.com") == "member"


async def test_an_adopted_connection_outlives_the_relation(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    await adoption.adopt(made["id"])

    assert (await adoption.trade.at_customer("DELETE")).status == 204

    assert (await adoption.own("GET", f"/upstream-providers/{made['id']}")).status == 200


async def test_of_two_that_adopt_a_connection_at_once_one_does(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()

    answers = await at_once(*[lambda: adoption.adopt(made["id"])] * 2)

    assert sorted(one.status for one in answers) == [200, 404]


async def test_of_the_vendor_that_changes_and_the_owner_that_adopts_nothing_is_mixed(adoption: Adoption) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()

    adopted, changed = await both_at_once(
        lambda: adoption.adopt(made["id"]),
        lambda: adoption.setup.by_key(
            "PATCH",
            f"/connections/{made['id']}",
            body={"issuer": "https://evil.example", "client_secret": "evil-secret"},
        ),
    )

    assert adopted.status == 200
    own = (await adoption.own("GET", f"/upstream-providers/{made['id']}")).json
    assert changed.status in {200, 404}
    assert own["issuer"] == ("https://evil.example" if changed.status == 200 else CONNECTION["issuer"])
    assert own["enabled"] is False


async def test_a_connection_beyond_the_limit_is_not_adopted(
    adoption: Adoption, monkeypatch: pytest.MonkeyPatch
) -> None:
    await adoption.prove()
    made = await adoption.setup.connect()
    monkeypatch.setattr("core.customers.made_for_us.CONNECTIONS_MAX", 1)

    assert_refused(await adoption.adopt(made["id"]), 400, "BAD_REQUEST")

    assert count_of(adoption, "upstream_connections", made["id"]) == (0, 1)


# Mail domains, rules and links


async def test_a_mail_domain_is_adopted_once_the_organization_has_proved_it(adoption: Adoption) -> None:
    made = await adoption.setup.connect()
    route_id = str(add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN))
    assert_refused(await adoption.adopt(route_id), 409, "CONFLICT")
    own_id = await adoption.prove()

    adopted = await adoption.adopt(route_id)

    assert adopted.json == {"id": own_id, "kind": "mail_domain", "token": None}
    assert [one["kind"] for one in await adoption.things()] == ["connection"]
    assert (await adoption.setup.by_key("GET", "/mail-domains")).json["total"] == 0


async def test_a_proof_that_is_no_longer_in_force_is_none(adoption: Adoption) -> None:
    made = await adoption.setup.connect()
    route_id = str(add_mail_domain(adoption.world, made["id"], adoption.setup.internal_id, DOMAIN))
    own_id = await adoption.prove()
    adoption.world.connection.execute(
        "UPDATE domain_routes SET status = 'failing', failing_since = %s WHERE id = %s",
        (adoption.world.clock() - timedelta(days=8), own_id),
    )

    assert_refused(await adoption.adopt(route_id), 409, "CONFLICT")
    assert_refused(await adoption.adopt(made["id"]), 409, "CONFLICT")


async def test_a_rule_for_a_group_becomes_an_assignment_to_the_own_group(adoption: Adoption, groups: Directory) -> None:
    token = await adoption.make("/scim-tokens", name="Okta")
    of_vendor = await adoption.world.client.request(
        "POST",
        "/scim/v2/Groups",
        headers={"Authorization": f"Bearer {token['token']}", "Content-Type": "application/scim+json"},
        body={"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Editors"},
    )
    assert of_vendor.status == 201, of_vendor.text
    rule = await adoption.make("/group-rules", source="scim", group=of_vendor.json["id"], service_roles=["editor"])
    refused = await adoption.adopt(rule["id"])
    assert_refused(refused, 409, "CONFLICT")
    assert "Editors" in refused.json["error"]
    own = await groups.request(
        "POST",
        "/Groups",
        body={"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "EDITORS"},
    )
    assert own.status == 201, own.text
    subject = f"group:{own.json['id']}"
    await adoption.trade.change_product(assignments=[{"subject": subject, "roles": ["viewer"]}])

    adopted = await adoption.adopt(rule["id"])

    assert adopted.json == {"id": own.json["id"], "kind": "group_rule", "token": None}
    product = (await adoption.trade.at_customer("GET")).json
    assert product["assignments"] == [{"subject": subject, "roles": ["editor", "viewer"]}]
    assert (await adoption.setup.by_key("GET", "/group-rules")).json["total"] == 0


async def test_a_rule_for_what_a_connection_names_and_a_link_are_only_removed(adoption: Adoption) -> None:
    made = await make_everything(adoption)

    for kind in ("group_rule", "setup_link"):
        refused = await adoption.adopt(made[kind])
        assert_refused(refused, 409, "CONFLICT")
        assert "emove" in refused.json["error"]
        assert (await adoption.remove(made[kind])).status == 204


async def test_each_kind_is_removed_once_and_the_vendor_finds_it_no_longer(adoption: Adoption) -> None:
    made = await make_everything(adoption)

    for kind in ("setup_link", "group_rule", "scim_token", "mail_domain", "connection"):
        assert (await adoption.remove(made[kind])).status == 204, kind
        assert_refused(await adoption.remove(made[kind]), 404, "NOT_FOUND")

    assert await adoption.things() == []
    for path in ("/setup-links", "/group-rules", "/scim-tokens", "/mail-domains", "/connections"):
        assert (await adoption.setup.by_key("GET", path)).json["total"] == 0, path


@pytest.mark.parametrize(
    ("kind", "table", "is_adopted"),
    [
        ("scim_token", "scim_tokens", True),
        ("scim_token", "scim_tokens", False),
        ("mail_domain", "domain_routes", False),
        ("setup_link", "setup_links", False),
    ],
)
async def test_what_ends_at_this_moment_is_neither_adopted_nor_removed(
    adoption: Adoption, kind: str, table: str, *, is_adopted: bool
) -> None:
    made, world = await make_everything(adoption), adoption.world
    take = adoption.adopt if is_adopted else adoption.remove
    answers: list[Answer] = []
    await adoption.trade.customer.token("head")

    async def send() -> None:
        answers.append(await take(made[kind]))

    async with trio.open_nursery() as nursery:
        with world.connection.transaction():
            # As the holder of a setup link does, or the end of a key, who lock no organization.
            world.connection.execute(f"DELETE FROM {table} WHERE id = %s", (made[kind],))
            nursery.start_soon(send)
            await waiting_for_a_lock(world.connection)

    assert_refused(answers[0], 404, "NOT_FOUND")


async def test_a_removed_link_is_dead(adoption: Adoption) -> None:
    link = await adoption.setup.link("scim")

    assert (await adoption.remove(link["id"])).status == 204

    opened = await adoption.world.client.request("GET", link["url"].removeprefix("http://localhost:8000"))
    assert opened.status == 404


# Relations


async def test_what_a_paused_relation_has_is_adopted_and_removed(adoption: Adoption) -> None:
    made = await make_everything(adoption)
    await adoption.trade.change_product(paused=True)

    assert len(await adoption.things()) == 5
    assert (await adoption.adopt(made["scim_token"])).status == 200
    assert (await adoption.remove(made["connection"])).status == 204


async def test_nothing_is_left_of_a_relation_that_has_ended(adoption: Adoption) -> None:
    made = await make_everything(adoption)

    assert (await adoption.trade.at_vendor("DELETE", f"/{adoption.setup.customer_id}")).status == 204

    assert await adoption.things() == []
    for thing_id in made.values():
        assert_refused(await adoption.adopt(thing_id), 404, "NOT_FOUND")
        assert_refused(await adoption.remove(thing_id), 404, "NOT_FOUND")


async def test_of_the_vendor_that_ends_the_relation_and_the_owner_that_adopts_each_is_whole(
    adoption: Adoption,
) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    await adoption.trade.customer.token("head")
    await adoption.trade.vendor.token("owner")

    adopted, ended = await both_at_once(
        lambda: adoption.adopt(made["id"]),
        lambda: adoption.trade.at_vendor("DELETE", f"/{adoption.setup.customer_id}"),
    )

    assert ended.status == 204, ended.text
    assert adopted.status in {200, 404}
    own = "SELECT count(*) FROM scim_tokens WHERE organization_id = %s"
    assert adoption.world.value(own, adoption.trade.customer.organization_id) == int(adopted.status == 200)


async def test_the_vendor_sets_up_anew_what_the_owner_still_lets_it(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    await adoption.adopt(made["id"])

    again = await adoption.make("/scim-tokens", name="Okta")

    assert [one["id"] for one in await adoption.things()] == [again["id"]]


# What is recorded


async def test_both_logs_and_the_vendors_events_have_it(adoption: Adoption) -> None:
    trade = adoption.trade
    await adoption.prove()
    made = await make_everything(adoption)
    adoption.world.connection.execute(
        "UPDATE domain_routes SET status = 'verified', verified_at = %(at)s, proved_at = %(at)s WHERE id = %(id)s",
        {"at": adoption.world.clock(), "id": made["mail_domain"]},
    )
    adoption.world.connection.execute("DELETE FROM events")

    await adoption.adopt(made["connection"])
    await adoption.adopt(made["scim_token"])
    await adoption.remove(made["setup_link"])

    own = [(actor, details["made_for_us"]) for _, actor, details in trade.log_of(trade.customer, "product_access.upd")]
    assert [(actor, one["kind"], one["action"]) for actor, one in own] == [
        (trade.customer.ids["head"], "connection", "adopted"),
        (trade.customer.ids["head"], "scim_token", "adopted"),
        (trade.customer.ids["head"], "setup_link", "removed"),
    ]
    of_vendor = trade.log_of(trade.vendor, "customer.changed")
    assert [(actor, one["by"], one["made_for_customer"]["name"]) for _, actor, one in of_vendor] == [
        (None, "customer", "Globex"),
        (None, "customer", "Okta"),
        (None, "customer", "scim, groups"),
    ]
    by_owner = [actor for _, actor, _ in trade.log_of(trade.customer, "scim_token.created") if actor is not None]
    assert by_owner == [trade.customer.ids["head"]]
    assert [one[1] for one in trade.log_of(trade.customer, "upstream_connection.created")][-1] is not None
    told = adoption.world.rows(
        """
        SELECT   type, data ->> 'state', data ->> 'domain', actor_user_id, actor_email
        FROM     events
        WHERE    organization_id = %s AND type <> 'customer.changed'
        ORDER BY id
        """,
        trade.vendor.organization_id,
    )
    assert told == [
        ("customer.connection_changed", "removed", None, None, None),
        ("customer.domain_lost", None, DOMAIN, None, None),
        ("customer.directory_changed", "removed", None, None, None),
    ]


async def test_no_secret_is_recorded(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")

    token = (await adoption.adopt(made["id"])).json["token"]

    for table in ("audit_entries", "events"):
        column = "details" if table == "audit_entries" else "data"
        assert adoption.world.value(f"SELECT count(*) FROM {table} WHERE {column}::text LIKE %s", f"%{token}%") == 0


# Other callers


async def test_no_key_of_the_organization_adopts_or_removes(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    program = insert_program(adoption.trade.customer, maker="head")

    for method, path in (
        ("GET", THINGS),
        ("POST", f"{THINGS}/{made['id']}/adopt"),
        ("DELETE", f"{THINGS}/{made['id']}"),
    ):
        assert (await program.request(method, path)).status in {401, 403}

    assert len(await adoption.things()) == 1


async def test_an_organization_that_waits_for_approval_adopts_what_it_has_claimed(
    adoption: Adoption, trade: Trade
) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    link = await adoption.setup.link("scim")
    adoption.world.connection.execute(
        "UPDATE organizations SET status = 'pending', claimed_at = now() WHERE slug = 'beta'"
    )

    assert len(await adoption.things()) == 2
    assert (await adoption.remove(link["id"])).status == 204
    adopted = await adoption.adopt(made["id"])

    assert adopted.status == 200, adopted.text
    assert trade.world.value(
        "SELECT count(*) FROM scim_tokens WHERE organization_id = %s", trade.customer.organization_id
    )


async def test_an_organization_that_is_suspended_adopts_nothing(adoption: Adoption) -> None:
    made = await adoption.make("/scim-tokens", name="Okta")
    await adoption.trade.customer.token("head")
    adoption.world.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'beta'")

    assert_refused(await adoption.adopt(made["id"]), 403, "ORGANIZATION_NOT_ACTIVE")
    assert_refused(await adoption.remove(made["id"]), 403, "ORGANIZATION_NOT_ACTIVE")
