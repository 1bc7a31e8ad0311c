"""What undoing a takeover does to customers that vendors have made: claimed, made or given away in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from core.platform import ended_organizations
from tests.world.backend import Backend
from tests.world.claims import ANN, Claims
from tests.world.customer_setups import CONNECTION, KEY, CustomerSetup, make_customer_setup
from tests.world.trade import Trade
from tests.world.visitor import FORM

THIEF = "thief@evil.example"
STEP = timedelta(seconds=10)


@dataclass
class Stolen:
    """An account whose address an intruder changes, and whose person undoes that."""

    claims: Claims
    email: str
    token: str = field(default="", repr=False)
    undo: str = field(default="", repr=False)

    async def take_over(self) -> None:
        """Change the address in a session of the account."""
        world = self.claims.trade.world
        self.token = (await world.sign_in(self.email)).access_token
        world.clock.advance(STEP)
        await world.mails()
        answer = await world.client.patch("/api/user", token=self.token, body={"email": THIEF})
        assert answer.status == 200, answer.text
        tokens = {mail.template.value: mail.values["token"] for mail in await world.mails()}
        world.clock.advance(STEP)
        data = urlencode({"token": tokens["verify_new_email"]}).encode()
        answer = await world.client.post("/auth/verify-email", data=data, headers={"Content-Type": FORM})
        assert answer.status == 200, answer.text
        tokens = {mail.template.value: mail.values["token"] for mail in await world.mails()}
        self.undo = tokens["email_changed"]
        world.clock.advance(STEP)

    async def get_back(self) -> None:
        """Undo the change by the link to the former address."""
        world = self.claims.trade.world
        world.clock.advance(STEP)
        data = urlencode({"token": self.undo}).encode()
        answer = await world.client.post("/auth/undo-email-change", data=data, headers={"Content-Type": FORM})
        assert answer.status == 200, answer.text


@pytest.fixture
def claims(trade: Trade) -> Claims:
    """A vendor that makes customers."""
    return Claims(trade)


@pytest.fixture
async def ann(claims: Claims) -> Stolen:
    """The account of a person of a customer, which an intruder has."""
    claims.trade.world.user(ANN)
    stolen = Stolen(claims, ANN)
    await stolen.take_over()
    return stolen


@pytest.fixture
async def owner(claims: Claims) -> Stolen:
    """The account of the vendor's admin, which an intruder has."""
    stolen = Stolen(claims, "admin@example.com")
    await stolen.take_over()
    return stolen


async def test_what_the_intruder_has_claimed_nobody_owns_again(claims: Claims, ann: Stolen) -> None:
    customer_id = await claims.make(external_id="G-1")
    internal = await claims.internal(customer_id)
    before = await claims.record(customer_id)
    claim = await claims.claim(
        await claims.browser(THIEF), await claims.token(customer_id, THIEF), name="Evil", vendor_setup="scim"
    )
    assert claim.status == 200
    stolen = claims.organization_of(customer_id)

    await ann.get_back()

    record = await claims.record(customer_id)
    assert record["organization"]["slug"].startswith("c-")  # type: ignore[index]
    assert record | {"organization": before["organization"]} == before
    assert record["organization"]["name"] == "Globex"  # type: ignore[index]
    world = claims.trade.world
    assert claims.organization_of(customer_id) != stolen
    assert world.rows("SELECT status, suspension_reason FROM organizations WHERE id = %s", stolen) == [
        ("suspended", "address_undone")
    ]
    query = "SELECT status FROM organizations WHERE id = %s"
    assert world.value(query, claims.organization_of(customer_id)) == "pending"
    assert world.value(query, internal) == "active"
    assert (
        world.value("SELECT count(*) FROM memberships WHERE organization_id = %s", claims.organization_of(customer_id))
        == 0
    )
    [*_, (_, _, details)] = claims.trade.log_of(claims.trade.vendor, "customer.changed")
    assert (details["unclaimed"], details["reason"]) == (True, "email_change_undone")


async def test_the_right_person_claims_it_afterwards(claims: Claims, ann: Stolen) -> None:
    customer_id = await claims.make()
    token = await claims.token(customer_id, THIEF)
    await claims.claim(await claims.browser(THIEF), token)
    await ann.get_back()

    bob = "bob@globex.example"
    answer = await claims.claim(await claims.browser(bob), await claims.token(customer_id, bob), slug="globex-2")

    assert answer.status == 200, answer.text
    assert (await claims.record(customer_id))["unclaimed"] is False


async def test_what_was_claimed_before_stays(claims: Claims) -> None:
    customer_id = await claims.claimed()
    before = claims.organization_of(customer_id)
    claims.trade.world.clock.advance(STEP)
    stolen = Stolen(claims, ANN)
    await stolen.take_over()

    await stolen.get_back()

    assert claims.organization_of(customer_id) == before
    assert (await claims.record(customer_id))["unclaimed"] is False


async def test_the_intruder_does_not_keep_it_by_giving_it_to_a_friend(claims: Claims, ann: Stolen) -> None:
    customer_id = await claims.make()
    await claims.claim(await claims.browser(THIEF), await claims.token(customer_id, THIEF))
    world = claims.trade.world
    world.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = 'globex'")
    friend = world.user("friend@evil.example")
    world.member(claims.organization_of(customer_id), friend)
    tokens = await world.sign_in(THIEF)
    answer = await world.client.post(
        "/api/organizations/globex/transfer-ownership",
        body={"new_owner_user_id": str(friend)},
        token=tokens.access_token,
    )
    assert answer.status == 200, answer.text

    await ann.get_back()

    assert (await claims.record(customer_id))["unclaimed"] is True


async def test_customers_that_the_intruder_made_end_for_good(claims: Claims, owner: Stolen) -> None:
    path = f"{claims.trade.vendor.path}/services/shop/customers"
    client = claims.trade.world.client
    made = [(await client.post(path, body={"name": name}, token=owner.token)).json["id"] for name in ("Evil", "Globex")]
    await claims.claim(await claims.browser(), await claims.token(made[1]))
    own = claims.organization_of(made[1])

    await owner.get_back()

    assert (await claims.trade.at_vendor("GET")).json["total"] == 0
    assert (await claims.trade.at_vendor("POST", f"/{made[0]}/restore")).status == 404
    while await claims.trade.world.installation.database.transact(ended_organizations.delete_next):
        pass
    organizations = {slug for (slug,) in claims.trade.world.rows("SELECT slug FROM organizations")}
    assert organizations == {"acme", "beta", "globex"}
    assert claims.trade.world.value("SELECT status FROM organizations WHERE id = %s", own) == "pending"


async def test_a_link_that_the_intruder_mailed_is_withdrawn(claims: Claims, owner: Stolen) -> None:
    customer_id = await claims.make()
    path = f"{claims.trade.vendor.path}/services/shop/customers/{customer_id}/owner"
    named = await claims.trade.world.client.post(path, body={"email": "friend@evil.example"}, token=owner.token)
    assert named.status == 200, named.text
    token = await claims.mailed_token()

    await owner.get_back()

    assert (await claims.trade.world.client.get(f"/app/claims?token={token}")).status == 400
    assert (await claims.record(customer_id))["unclaimed"] is True


async def test_of_several_links_to_an_owner_the_one_that_counted_is_named(claims: Claims, owner: Stolen) -> None:
    customer_id = await claims.make()
    world = claims.trade.world
    path = f"{claims.trade.vendor.path}/services/shop/customers/{customer_id}/owner"
    for email in ("friend@evil.example", "other@evil.example"):
        named = await world.client.post(path, body={"email": email}, token=owner.token)
        assert named.status == 200, named.text
    await world.mails()

    await owner.get_back()

    [mail] = [one for one in await world.mails() if one.template == "takeover_undone"]
    assert mail.values["withdrawn"].count("link to an owner") == 1
    assert (await claims.record(customer_id))["unclaimed"] is True


async def test_a_link_to_an_owner_of_a_customer_that_has_ended_is_passed_over(claims: Claims, owner: Stolen) -> None:
    customer_id = await claims.make()
    path = f"{claims.trade.vendor.path}/services/shop/customers/{customer_id}/owner"
    named = await claims.trade.world.client.post(path, body={"email": "friend@evil.example"}, token=owner.token)
    assert named.status == 200, named.text
    token = await claims.mailed_token()
    assert (await claims.trade.at_vendor("DELETE", f"/{customer_id}")).status == 204

    await owner.get_back()

    assert (await claims.trade.world.client.get(f"/app/claims?token={token}")).status == 400
    assert (await claims.trade.at_vendor("POST", f"/{customer_id}/restore")).status == 200
    assert (await claims.trade.world.client.get(f"/app/claims?token={token}")).status == 400


async def test_what_was_claimed_by_a_link_of_the_intruder_nobody_owns_again(claims: Claims, owner: Stolen) -> None:
    customer_id = await claims.make()
    path, friend = f"{claims.trade.vendor.path}/services/shop/customers/{customer_id}/owner", "friend@evil.example"
    await claims.trade.world.client.post(path, body={"email": friend}, token=owner.token)
    await claims.claim(await claims.browser(friend), await claims.mailed_token())
    assert (await claims.record(customer_id))["unclaimed"] is False

    await owner.get_back()

    assert (await claims.record(customer_id))["unclaimed"] is True
    assert claims.trade.world.value("SELECT status FROM organizations WHERE slug = 'globex'") == "suspended"


async def test_what_the_intruder_has_set_up_for_a_customer_ends_or_is_off_and_both_sides_read_it(
    claims: Claims, owner: Stolen
) -> None:
    trade = claims.trade
    customer_id = await claims.make()
    setup = CustomerSetup(trade, Backend(trade.world, trade.vendor.organization_id, trade.service.id, KEY), customer_id)
    trade.vendor.tokens["admin"] = owner.token
    bodies = {"/connections": CONNECTION, "/scim-tokens": {"name": "Okta"}, "/setup-links": {"parts": ["scim"]}}
    for path, body in bodies.items():
        answer = await setup.by_member("POST", path, by="admin", body=body)
        assert answer.status == 200, answer.text
    internal_id = setup.internal_id

    await owner.get_back()

    tables = ("setup_links", "scim_tokens")
    counts = [
        trade.world.value(f"SELECT count(*) FROM {one} WHERE organization_id = %s", internal_id) for one in tables
    ]
    assert counts == [0, 0]
    assert trade.world.rows("SELECT enabled, off_reason FROM upstream_connections") == [(False, "email_change_undone")]
    [[_, _, details]] = trade.log_of(trade.vendor, "customer.changed")
    assert (details["customer_id"], details["setup_withdrawn"]) == (customer_id, True)
    of_customer = trade.world.rows(
        "SELECT details ->> 'by', details ->> 'reason' FROM audit_entries WHERE organization_id = %s AND action = %s",
        claims.organization_of(customer_id),
        "customer.changed",
    )
    assert of_customer == [("vendor", "email_change_undone")]
    [mail] = [one for one in await trade.world.mails() if one.template == "takeover_undone"]
    assert all(kind in mail.values["withdrawn"] for kind in ("setup link", "SCIM token", "connection"))


async def test_what_was_set_up_for_a_customer_before_the_takeover_stays(claims: Claims) -> None:
    trade = claims.trade
    setup = await make_customer_setup(trade)
    await setup.by_member("POST", "/scim-tokens", by="admin", body={"name": "Okta"})
    stolen = Stolen(claims, "admin@example.com")
    await stolen.take_over()

    await stolen.get_back()

    assert trade.world.value("SELECT count(*) FROM scim_tokens") == 1
    assert trade.log_of(trade.vendor, "customer.changed") == []
