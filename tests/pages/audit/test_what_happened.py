"""The audit log's list describes real changes in plain words, with names and without ids."""

from __future__ import annotations

import re

from tests.pages.audit.written import PAGE, rows
from tests.world.hooks import Hooks
from tests.world.people_events import publish_everything
from tests.world.platform import Platform
from tests.world.trade import insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")
CONNECTION = {
    "type": "oidc",
    "name": "Directory",
    "issuer": "https://login.example.com",
    "client_id": "acme",
    "client_secret": "not-known-to-anyone",
}


async def test_the_creation_of_an_organization_is_its_first_entry_and_its_approval_the_next(
    platform: Platform, visitor: Visitor
) -> None:
    world = platform.world
    world.user("ada@example.com")
    ada = await world.sign_in("ada@example.com")
    made = await world.client.request(
        "POST", "/api/organizations", body={"slug": "bolt", "name": "Bolt"}, token=ada.access_token
    )
    await platform.request("POST", f"/api/platform/organizations/{made.json['organization']['id']}/approve", {})
    await visitor.sign_in("ada@example.com")

    [approved, created] = rows(await visitor.open("/app/organizations/bolt/audit"))

    assert created.startswith("Created the organization")
    assert "ada@example.com Bolt Organization" in created
    assert approved.startswith("Approved the organization Status: Waits for approval → Active")
    assert [data.keys() for *_, data in world.events("organization.updated")] == [{"changes"}]


async def test_webhooks_keys_connections_links_and_roles_have_words_of_their_own_and_are_named(hooks: Hooks) -> None:
    team = hooks.team
    webhook_id = await hooks.create("https://crm.example.com/", name="CRM")
    await hooks.change(webhook_id, name="Sales")
    await hooks.request("DELETE", f"/{webhook_id}")
    for path, body in (
        ("/keys", {"name": "Deploy", "permissions": ["services.manage"]}),
        ("/upstream-providers", CONNECTION),
        ("/setup-links", {"parts": ["domain"]}),
        ("/roles", {"slug": "clerk", "name": "Clerk", "permissions": ["org.members.view"]}),
    ):
        answer = await team.request("owner", "POST", path, body=body)
        assert answer.status < 300, (path, answer.text)
    owner = Visitor(team.world.client)
    await owner.sign_in("owner@example.com")

    page = await owner.open(PAGE)

    shown = rows(page)
    for words, to_what in (
        ("Created a webhook", "CRM Webhook"),
        ("Changed a webhook", "Sales Webhook"),
        ("Deleted a webhook", "Sales Webhook"),
        ("Created a management key", "Deploy Key"),
        ("Created a connection to an identity provider", "Directory Connection to the identity provider"),
        ("Created a setup link", "owner@example.com Setup link"),
        ("Created a role", "Clerk Role"),
    ):
        [row] = [row for row in shown if row.startswith(words)]
        assert to_what in row, row
    assert not any("settings of the organization" in row or ID.search(row) for row in shown), shown


async def test_customers_and_their_people_are_named_as_far_as_the_vendor_knows_them(world: World) -> None:
    trade = insert_trade(world)
    await trade.begin(external_id="B-7")
    await trade.change_product(shares_directory=True)
    await publish_everything(world.installation.database)
    owner = Visitor(world.client)
    await owner.sign_in("owner@example.com")

    shown = rows(await owner.open(PAGE))
    world.connection.execute("DELETE FROM customer_users_told")
    unknown = rows(await owner.open(PAGE))

    added = [row for row in shown if row.startswith("A person of a customer was added")]
    assert sorted(re.findall(r"(\w+)@example.com Person", " ".join(added))) == ["chief", "head", "worker"]
    assert all("Customer of the service: Beta" in person for person in added)
    [customer] = [row for row in shown if row.startswith("An organization became a customer")]
    assert "Beta Customer of a service" in customer
    assert not any(ID.search(row) for row in (*shown, *unknown))
    assert not any("worker" in row for row in unknown)
