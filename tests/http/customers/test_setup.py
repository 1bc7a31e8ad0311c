"""Setting a customer up: what a vendor makes for it, by its members and by its program."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
import trio

from core.sign_in.upstream.connections import setup_states
from core.sign_in.upstream.connections.setup_states import ConnectionSetupState
from core.sign_in.upstream.trials import trials
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.waiting import waiting_for_a_lock
from tests.world.backend import Backend, insert_key
from tests.world.builder import NO_ID, new_id
from tests.world.customer_setups import CONNECTION, CustomerSetup, make_customer_setup
from tests.world.trade import Trade
from tests.world.world import assert_refused


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """Return a made customer, and a key that sets it up."""
    return await make_customer_setup(trade)


async def test_a_link_is_made_listed_and_revoked_by_both(setup: CustomerSetup) -> None:
    for send in (setup.by_member, setup.by_key):
        assert (await send("GET", "/setup-links")).json == {"setup_links": [], "total": 0}
        body = {"parts": ["upstream", "groups"], "actor": "ann@globex.com", "expires_in_minutes": 5}

        made = await send("POST", "/setup-links", body=body)

        assert made.status == 200, made.text
        assert made.json["url"].startswith("http")
        assert made.json["parts"] == ["upstream", "groups"]
        assert made.json["actor"] == "ann@globex.com"
        [listed] = (await send("GET", "/setup-links")).json["setup_links"]
        assert listed["id"] == made.json["id"]
        assert listed["last_attempt"] is None
        assert (await send("DELETE", f"/setup-links/{made.json['id']}")).status == 204
        assert_refused(await send("DELETE", f"/setup-links/{made.json['id']}"), 404, "NOT_FOUND")


async def test_a_connection_is_made_read_changed_and_deleted(setup: CustomerSetup) -> None:
    for send in (setup.by_member, setup.by_key):
        made = await send("POST", "/connections", body=CONNECTION)

        assert made.status == 200, made.text
        assert {"joins_as", "trust_mfa", "client_secret"}.isdisjoint(made.json)
        assert (made.json["state"], made.json["last_attempt"]) == ("configured", None)
        path = f"/connections/{made.json['id']}"
        assert (await send("GET", path)).json == made.json
        assert (await send("GET", "/connections")).json == {"connections": [made.json], "total": 1}
        changed = await send("PATCH", path, body={"name": "Globex Inc."})
        assert changed.json["name"] == "Globex Inc."
        assert (await send("DELETE", path)).status == 204
        assert_refused(await send("GET", path), 404, "NOT_FOUND")


async def test_a_mail_domain_token_and_rule(setup: CustomerSetup) -> None:
    connection = await setup.connect()
    for send in (setup.by_member, setup.by_key):
        made = await send("POST", "/mail-domains", body={"domain": "globex.com", "provider_id": connection["id"]})
        assert made.status == 200, made.text
        assert (made.json["status"], made.json["txt_name"]) == ("pending", "_gatehouse.globex.com")
        assert (await send("GET", f"/mail-domains/{made.json['id']}")).json == made.json
        assert_refused(await send("POST", f"/mail-domains/{made.json['id']}/verify"), 400, "BAD_REQUEST")
        [listed] = (await send("GET", "/mail-domains")).json["mail_domains"]
        assert listed["last_attempt"]["succeeded"] is False
        assert (await send("DELETE", f"/mail-domains/{made.json['id']}")).status == 204

        token = await send("POST", "/scim-tokens", body={"name": "Okta"})
        assert token.status == 200, token.text
        assert token.json["token"].startswith("scim_live")
        [listed] = (await send("GET", "/scim-tokens")).json["tokens"]
        assert (listed["id"], listed["last_attempt"]) == (token.json["id"], None)
        assert (await send("DELETE", f"/scim-tokens/{token.json['id']}")).status == 204

        rule = await send(
            "POST",
            "/group-rules",
            body={"source": connection["id"], "group": "Editors", "service_roles": ["editor"]},
        )
        assert rule.status == 200, rule.text
        assert rule.json["service_roles"] == ["editor"]
        changed = await send("PATCH", f"/group-rules/{rule.json['id']}", body={"service_roles": ["viewer", "editor"]})
        assert changed.json["service_roles"] == ["editor", "viewer"]
        assert (await send("GET", "/group-rules")).json["total"] == 1
        assert (await send("DELETE", f"/group-rules/{rule.json['id']}")).status == 204


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", "/connections", {}),
        ("DELETE", "/connections", {}),
        ("GET", "/mail-domains", {}),
        ("DELETE", "/mail-domains", {}),
        ("DELETE", "/scim-tokens", {}),
        ("GET", "/group-rules", {}),
        ("PATCH", "/group-rules", {"body": {"service_roles": ["editor"]}}),
        ("DELETE", "/group-rules", {}),
    ],
)
async def test_what_was_never_made_is_unknown(
    setup: CustomerSetup, method: str, path: str, options: dict[str, Any]
) -> None:
    for send in (setup.by_member, setup.by_key):
        assert_refused(await send(method, f"{path}/{NO_ID}", **options), 404, "NOT_FOUND")


async def test_a_rule_gives_roles_that_the_service_has(setup: CustomerSetup) -> None:
    connection = await setup.connect()
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}

    for names in ([], ["nothing"], ["editor", "nothing"]):
        refused = await setup.by_key("POST", "/group-rules", body=rule | {"service_roles": names})
        assert_refused(refused, 400, "BAD_REQUEST")
        assert [one["field"] for one in refused.json["details"]] == ["service_roles"]


async def test_a_customer_has_few_rules(setup: CustomerSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = await setup.connect()
    monkeypatch.setattr("core.customers.group_rules.RULES_MAX", 1)
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    assert (await setup.by_key("POST", "/group-rules", body=rule)).status == 200

    refused = await setup.by_key("POST", "/group-rules", body=rule | {"group": "Viewers"})

    assert_refused(refused, 400, "BAD_REQUEST")
    assert (await setup.by_key("GET", "/group-rules")).json["total"] == 1


async def test_a_customer_has_few_links_and_a_vendor_more(
    setup: CustomerSetup, trade: Trade, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await trade.at_vendor("POST", body={"name": "Initech"})
    other = CustomerSetup(trade, setup.backend, made.json["id"])
    monkeypatch.setattr("core.customers.setup_links.LINKS_MAX", 1)
    monkeypatch.setattr("core.customers.setup_links.VENDOR_LINKS_MAX", 2)
    body = {"parts": ["scim"]}

    first, of_one = [await setup.by_key("POST", "/setup-links", body=body) for _ in range(2)]
    second, of_all = [await other.by_key("POST", "/setup-links", body=body) for _ in range(2)]

    assert (first.status, second.status) == (200, 200)
    assert_refused(of_one, 400, "BAD_REQUEST")
    assert_refused(of_all, 400, "BAD_REQUEST")
    assert of_one.json["error"] != of_all.json["error"]
    assert "Your customers can have at most" in of_all.json["error"]


async def test_a_connection_by_which_sign_ins_fail_is_failing(setup: CustomerSetup, trade: Trade) -> None:
    connection, now = await setup.connect(), trade.world.clock()
    trade.world.connection.execute(
        """
        INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,
                                       last_request_id)
        VALUES (%s, %s, 'wrong_secret', %s, %s, 1, 'abc')
        """,
        (setup.internal_id, connection["id"], now, now),
    )

    shown = (await setup.by_key("GET", f"/connections/{connection['id']}")).json

    assert shown["state"] == "failing"
    assert (shown["last_attempt"]["succeeded"], shown["last_attempt"]["reason"]) == (False, "wrong_secret")


async def test_the_last_call_of_a_directory_is_the_last_attempt_of_its_token(
    setup: CustomerSetup, trade: Trade
) -> None:
    made = (await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"})).json
    headers = {"Authorization": f"Bearer {made['token']}"}
    attempts: list[dict[str, Any]] = []

    for body in ({}, {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"], "userName": "ann@globex.com"}):
        await trade.world.client.post("/scim/v2/Users", body=body, headers=headers)
        [listed] = (await setup.by_key("GET", "/scim-tokens")).json["tokens"]
        attempts.append(listed["last_attempt"])

    assert [one["succeeded"] for one in attempts] == [False, True]
    assert attempts[0]["reason"]
    assert attempts[1]["reason"] is None


async def test_a_key_whose_service_is_deleted_at_this_moment_sets_nothing_up(setup: CustomerSetup) -> None:
    connection = setup.trade.world.connection
    answers: list[Answer] = []

    async def send() -> None:
        answers.append(await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"}))

    async with trio.open_nursery() as nursery:
        with connection.transaction():
            connection.execute("SELECT FROM organizations WHERE slug = 'acme' FOR NO KEY UPDATE")
            nursery.start_soon(send)
            await waiting_for_a_lock(connection)
            connection.execute("DELETE FROM services")

    assert_refused(answers[0], 401, "UNAUTHORIZED")


async def test_a_key_without_the_permission_and_a_member_without_the_right_set_nothing_up(
    setup: CustomerSetup, trade: Trade
) -> None:
    key = f"sk_write1_{'w' * 43}"
    insert_key(
        trade.world,
        trade.vendor.organization_id,
        trade.service.id,
        key,
        permissions=["read:customers", "write:customers"],
    )
    other = setup.backend.with_key(key)

    for path in ("/setup-links", "/connections", "/mail-domains", "/scim-tokens", "/group-rules"):
        assert_refused(await other.request("GET", f"/customers/{setup.customer_id}{path}"), 403, "FORBIDDEN")
        assert_refused(await setup.by_member("GET", path, by="member"), 403, "FORBIDDEN")


async def test_a_key_whose_maker_has_no_account_any_more_sets_nothing_up(setup: CustomerSetup) -> None:
    setup.trade.world.connection.execute("UPDATE api_keys SET created_by = NULL")

    assert_refused(await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"}), 403, "FORBIDDEN")


async def test_a_claimed_customer_is_set_up_in_the_parts_that_its_owner_allows(setup: CustomerSetup) -> None:
    connection = await setup.connect()
    setup.claim()
    assert_refused(await setup.by_key("GET", "/connections"), 403, "FORBIDDEN")
    assert_refused(await setup.by_key("GET", "/setup-links"), 403, "FORBIDDEN")

    setup.claim("upstream")

    assert (await setup.by_key("GET", f"/connections/{connection['id']}")).status == 200
    assert_refused(await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"}), 403, "FORBIDDEN")
    assert_refused(await setup.by_key("POST", "/setup-links", body={"parts": ["upstream", "scim"]}), 403, "FORBIDDEN")
    await setup.link("upstream")


async def test_an_organization_that_accepted_an_offer_is_set_up_only_where_it_allows_it(
    setup: CustomerSetup, trade: Trade
) -> None:
    customer_id = await trade.offer()
    refused = await trade.at_vendor("GET", f"/{customer_id}/connections")
    assert_refused(refused, 403, "FORBIDDEN")
    await trade.accept()

    assert_refused(await trade.at_vendor("GET", f"/{customer_id}/connections"), 403, "FORBIDDEN")


async def test_nothing_is_set_up_while_the_customer_is_paused(setup: CustomerSetup) -> None:
    await setup.connect()
    paused = await setup.trade.at_vendor("PATCH", f"/{setup.customer_id}", body={"paused": True})
    assert paused.status == 200

    for method, path, body in (
        ("GET", "/connections", None),
        ("POST", "/setup-links", {"parts": ["scim"]}),
        ("POST", "/connections", CONNECTION),
    ):
        options: dict[str, Any] = {"body": body} if body is not None else {}
        assert (await setup.by_key(method, path, **options)).status == 403


async def test_customers_of_others_are_unknown(setup: CustomerSetup, trade: Trade) -> None:
    await setup.connect()
    blog = trade.world.service(trade.vendor.organization_id, "blog")
    key = f"sk_blog12_{'b' * 43}"
    insert_key(trade.world, trade.vendor.organization_id, blog.id, key, permissions=["setup:customers"])
    other = Backend(trade.world, trade.vendor.organization_id, blog.id, key)
    trade.world.connection.execute("UPDATE api_keys SET created_by = %s", (trade.vendor.ids["admin"],))

    for path in ("/setup-links", "/connections", "/mail-domains", "/scim-tokens", "/group-rules"):
        assert_refused(await other.request("GET", f"/customers/{setup.customer_id}{path}"), 404, "NOT_FOUND")


async def test_two_customers_see_nothing_of_each_other(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()
    made = await trade.at_vendor("POST", body={"name": "Initech"})
    other = CustomerSetup(trade, setup.backend, made.json["id"])

    assert (await other.by_key("GET", "/connections")).json["total"] == 0
    assert_refused(await other.by_key("GET", f"/connections/{connection['id']}"), 404, "NOT_FOUND")
    domain = {"domain": "globex.com", "provider_id": connection["id"]}
    assert_refused(await other.by_key("POST", "/mail-domains", body=domain), 400, "BAD_REQUEST")
    rule = {"source": connection["id"], "group": "Editors", "service_roles": ["editor"]}
    assert_refused(await other.by_key("POST", "/group-rules", body=rule), 400, "BAD_REQUEST")


async def test_a_link_leads_back_to_an_origin_of_the_service_alone(setup: CustomerSetup) -> None:
    setup.trade.world.connection.execute(
        "UPDATE services SET redirect_uris = %s WHERE id = %s",
        (["https://shop.example.com/callback"], setup.trade.service.id),
    )
    allowed = "https://shop.example.com/customers/7?step=2"

    assert (await setup.link("scim", return_url=allowed))["return_url"] == allowed
    for url in ("https://evil.example.com/", "http://shop.example.com/", "https://shop.example.com:8443/", "/next"):
        refused = await setup.by_key("POST", "/setup-links", body={"parts": ["scim"], "return_url": url})
        assert_refused(refused, 400, "BAD_REQUEST")
        assert [one["field"] for one in refused.json["details"]] == ["return_url"]


async def test_a_link_of_other_parts_and_times_is_refused(setup: CustomerSetup) -> None:
    for body in (
        {"parts": []},
        {"parts": ["domain"]},
        {"parts": ["saml"]},
        {"parts": ["scim"], "expires_in_minutes": 4},
        {"parts": ["scim"], "expires_in_minutes": 43_201},
        {"parts": ["scim"], "actor": ""},
    ):
        assert_refused(await setup.by_key("POST", "/setup-links", body=body), 400, "BAD_REQUEST")


async def test_what_is_made_is_in_both_logs(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()

    [[_, _, own]] = trade.log_of(trade.vendor, "upstream_connection.created")
    assert own["provider_id"] == connection["id"]
    assert own["customer_id"] == setup.customer_id
    assert "api_key_id" in own
    [[actor, details]] = trade.world.rows(
        """
        SELECT a.actor_user_id, a.details
        FROM   audit_entries a
        JOIN   service_customers c ON c.organization_id = a.organization_id
        WHERE  c.id = %s AND a.action = 'upstream_connection.created'
        """,
        setup.customer_id,
    )
    assert actor is None
    assert (details["by"], details["customer_id"]) == ("vendor", setup.customer_id)
    assert details["vendor_slug"] == "acme"
    assert "api_key_id" not in details
    assert trade.world.value("SELECT count(*) FROM audit_entries WHERE organization_id = %s", setup.internal_id) == 0


async def test_the_vendor_is_told_how_far_things_are(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()
    token = (await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"})).json
    await setup.by_key("DELETE", f"/scim-tokens/{token['id']}")
    await setup.by_key("DELETE", f"/connections/{connection['id']}")

    told = trade.world.rows(
        """
        SELECT   type, data ->> 'state', data ->> 'customer_id'
        FROM     events
        WHERE    organization_id = %s AND type LIKE 'customer.%%_changed'
        ORDER BY id
        """,
        trade.vendor.organization_id,
    )
    assert told == [
        ("customer.connection_changed", "configured", setup.customer_id),
        ("customer.directory_changed", "configured", setup.customer_id),
        ("customer.directory_changed", "removed", setup.customer_id),
        ("customer.connection_changed", "removed", setup.customer_id),
    ]
    assert trade.world.value("SELECT count(*) FROM events WHERE organization_id = %s", setup.internal_id) == 0


async def test_a_connection_is_tested_until_it_leads_elsewhere(setup: CustomerSetup, trade: Trade) -> None:
    connection = await setup.connect()

    def try_it(uow: UnitOfWork) -> None:
        found = uow.upstream_connections.find(setup.internal_id, UUID(connection["id"]))
        assert found is not None, "the connection is there"
        trade.world.connection.execute(
            """
            INSERT INTO trial_sign_ins (organization_id, id, connection_id, state_hash, tested_as, expires_at,
                                        concluded_at, visit_hash)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (setup.internal_id, new_id(), found.id, b"state", trials.fingerprint(found), uow.now, uow.now, b"visit"),
        )
        setup_states.change(uow, setup.internal_id, found.id, ConnectionSetupState.TESTED)

    await trade.world.installation.database.transact(try_it)
    path = f"/connections/{connection['id']}"
    changes = ({"name": "Globex"}, {"enabled": False}, {"enabled": True}, {"client_id": "other"})
    states = [(await setup.by_key("PATCH", path, body=change)).json["state"] for change in changes]

    assert states == ["tested", "tested", "tested", "configured"]
    told = trade.world.rows(
        "SELECT data ->> 'state' FROM events WHERE organization_id = %s AND type = %s ORDER BY id",
        trade.vendor.organization_id,
        "customer.connection_changed",
    )
    assert told == [("configured",), ("tested",), ("configured",)]


@pytest.mark.parametrize("path", ["/scim/v2/Users", "/scim/v2/Groups", "/scim/v2/ServiceProviderConfig"])
async def test_the_vendor_is_told_once_that_a_directory_has_called(
    setup: CustomerSetup, trade: Trade, path: str
) -> None:
    token = (await setup.by_key("POST", "/scim-tokens", body={"name": "Okta"})).json["token"]

    # Most directories begin with a request that changes nothing.
    answers = [await trade.world.client.get(path, token=token) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    told = trade.world.rows(
        "SELECT data ->> 'state' FROM events WHERE organization_id = %s AND type = %s ORDER BY id",
        trade.vendor.organization_id,
        "customer.directory_changed",
    )
    assert told == [("configured",), ("connected",)]


async def test_what_is_set_up_ends_with_the_customer(setup: CustomerSetup, trade: Trade) -> None:
    await setup.connect()
    await setup.link("upstream")
    internal_id = setup.internal_id
    setup.claim("upstream")

    ended = await trade.at_vendor("DELETE", f"/{setup.customer_id}")

    assert ended.status == 204
    for table in ("setup_links", "upstream_connections"):
        count = trade.world.value(f"SELECT count(*) FROM {table} WHERE organization_id = %s", internal_id)
        assert count == 0, table


async def test_what_is_set_up_for_an_unclaimed_customer_is_closed_until_it_is_restored(
    setup: CustomerSetup, trade: Trade
) -> None:
    await setup.connect()

    assert (await trade.at_vendor("DELETE", f"/{setup.customer_id}")).status == 204

    assert trade.world.value("SELECT status FROM organizations WHERE id = %s", setup.internal_id) == "suspended"
    assert_refused(await setup.by_key("GET", "/connections"), 404, "NOT_FOUND")
    assert (await trade.at_vendor("POST", f"/{setup.customer_id}/restore")).status == 200
    assert (await setup.by_key("GET", "/connections")).json["total"] == 1


async def test_deleting_the_key_ends_its_links_and_keeps_what_it_made(setup: CustomerSetup, trade: Trade) -> None:
    await setup.connect()
    await setup.link("upstream")
    of_member = await setup.by_member("POST", "/setup-links", body={"parts": ["scim"]})
    key_id = trade.world.value("SELECT id FROM api_keys")

    deleted = await trade.vendor.request("owner", "DELETE", f"/services/shop/api-keys/{key_id}")

    assert deleted.status == 204, deleted.text
    left = (await setup.by_member("GET", "/setup-links")).json["setup_links"]
    assert [one["id"] for one in left] == [of_member.json["id"]]
    assert (await setup.by_member("GET", "/connections")).json["total"] == 1
