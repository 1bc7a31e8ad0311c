"""What ends the sessions for a customer of a service: one person's at once, many people's in batches."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.sessions import customer_endings
from tests.world.builder import EMAIL, Service
from tests.world.openid_connection import enforce
from tests.world.signing_in import SignedInUser, Tokens, claims_of
from tests.world.world import World

AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}
BOB = "bob@globex.example"


class Customers:
    """A vendor whose service Globex uses, with its owner Ann and its member Bob, who is signed in for it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.vendor_id = world.organization("vendor")
        self.service = world.service(self.vendor_id, "shop")
        world.connection.execute(b"UPDATE services SET backchannel_logout_uri = 'https://shop.example/logout'")
        self.role_ids = world.serve_customers(self.service, "editor")
        self.globex_id = world.organization("globex")
        self.bob_id = world.user(BOB)
        world.member(self.globex_id, self.bob_id)
        self.customer_id = world.customer(self.service, self.globex_id)
        self.ann: SignedInUser | None = None

    async def sign_in(self, email: str = BOB, **named: Any) -> Tokens:
        """Sign in to the service, for Globex if nothing else is said."""
        to: dict[str, Any] = {"customer": "globex"} | named
        return await self.world.sign_in(email, **AT_SHOP, **to)

    async def owner(self) -> SignedInUser:
        """Return the owner of Globex, signed in to it."""
        if self.ann is None:
            self.ann = await self.world.signed_in_member(self.globex_id, email="ann@globex.example")
        return self.ann

    def is_live(self, tokens: Tokens) -> bool:
        """Return whether a session is alive."""
        ended: datetime | None = self.world.value(
            "SELECT revoked_at FROM sessions WHERE id = %s", claims_of(tokens.access_token)["sid"]
        )
        return ended is None

    @property
    def logout_tokens(self) -> int:
        """How many logout tokens wait for the service."""
        return self.world.value("SELECT count(*) FROM logout_notices")

    async def batch(self) -> int:
        """Work off a batch of two sessions; return 0 when nothing waits."""
        return await self.world.installation.database.transact(customer_endings.recheck, 2)

    @property
    def waiting(self) -> int:
        """How many changes wait to be looked at for the first time."""
        return self.world.value("SELECT count(*) FROM customer_rechecks WHERE due_at IS NULL")

    async def sweep(self) -> int:
        """Work off all that waits; return how many batches it took."""
        taken = 0
        while await self.batch():
            taken += 1
        return taken


@pytest.fixture
def customers(world: World) -> Customers:
    return Customers(world)


async def _remove(customers: Customers) -> None:
    owner = await customers.owner()
    assert (await owner.post(f"/api/organizations/globex/members/{customers.bob_id}", {})).status == 200


async def _leave(customers: Customers) -> None:
    tokens = await customers.world.sign_in(BOB)
    left = await customers.world.client.post("/api/organizations/globex/leave", token=tokens.access_token)
    assert left.status == 204, left.text


async def _lose_role(customers: Customers) -> None:
    owner = await customers.owner()
    customers.world.connection.execute(b"UPDATE service_customers SET access = 'assigned'")
    customers.world.assign(customers.customer_id, "role:admin", "editor")
    customers.world.connection.execute(b"UPDATE memberships SET role = 'admin' WHERE user_id = %s", (customers.bob_id,))
    changed = await owner.patch(f"/api/organizations/globex/members/{customers.bob_id}", {"role": "member"})
    assert changed.status == 200, changed.text


@pytest.mark.parametrize("end", [_remove, _leave, _lose_role])
async def test_what_ends_it_for_one_person_ends_the_session_at_once_with_its_logout_token(
    customers: Customers, end: Any
) -> None:
    kept = await customers.world.sign_in(BOB)
    tokens = await customers.sign_in()

    await end(customers)

    assert not customers.is_live(tokens)
    assert customers.is_live(kept)
    assert customers.logout_tokens == 1
    assert (await customers.world.client.get("/api/user", token=tokens.access_token)).status == 401


CHANGES = {
    "the vendor pauses": "UPDATE service_customers SET vendor_paused_at = now()",
    "the customer pauses": "UPDATE service_customers SET customer_paused_at = now()",
    "it ends": "DELETE FROM service_customers",
    "the customer is suspended": "UPDATE organizations SET status = 'suspended' WHERE slug = 'globex'",
    "the vendor is suspended": "UPDATE organizations SET status = 'suspended' WHERE slug = 'vendor'",
    "the customer assigns it to nobody": "UPDATE service_customers SET access = 'assigned'",
    "the customer is deleted": "DELETE FROM organizations WHERE slug = 'globex'",
}
CHANGES_OF_INDIVIDUALS = "UPDATE services SET individuals = 'none'"


@pytest.mark.parametrize("change", CHANGES)
async def test_what_ends_it_for_many_ends_access_at_once_and_the_sessions_in_batches(
    customers: Customers, change: str
) -> None:
    world = customers.world
    tokens = [await customers.sign_in() for _ in range(5)]
    await customers.sweep()

    world.connection.execute(CHANGES[change].encode())
    answer = await world.client.get("/api/user", token=tokens[0].access_token)
    before = [customers.is_live(one) for one in tokens]
    batches = await customers.sweep()

    assert answer.status == 403, answer.text
    assert before == [True] * 5
    assert batches >= 3
    assert [customers.is_live(one) for one in tokens] == [False] * 5
    assert customers.logout_tokens == 5
    assert customers.waiting == 0
    ended = [data for _, _, data in world.events("session.revoked")]
    assert sum(data["sessions"] for data in ended) == 5


async def test_an_assignment_that_goes_ends_the_sessions_that_no_other_one_keeps(customers: Customers) -> None:
    world = customers.world
    carol = world.user("carol@globex.example")
    world.member(customers.globex_id, carol, "admin")
    world.connection.execute(b"UPDATE service_customers SET access = 'assigned'")
    world.assign(customers.customer_id, f"user:{customers.bob_id}", "editor")
    world.assign(customers.customer_id, "role:admin")
    bob, other = await customers.sign_in(), await customers.sign_in("carol@globex.example")
    assert claims_of(bob.access_token)["service_roles"] == ["editor"]

    # A role of the same name that is made anew is another one.
    world.connection.execute(b"""UPDATE services SET role_ids = '{"editor": "0191d3c1-0000-7000-8000-00000000000f"}'""")
    await customers.sweep()

    assert not customers.is_live(bob)
    assert customers.is_live(other)


async def test_individuals_who_are_people_of_a_customer_now_are_none_any_more(customers: Customers) -> None:
    world = customers.world
    world.user(EMAIL)
    before = await customers.sign_in(EMAIL, customer="")
    initech = world.organization("initech")
    world.member(initech, world.user_id(EMAIL))

    world.customer(Service(id=customers.service.id, client_id=customers.service.client_id), initech)
    refused = await world.client.get("/api/user", token=before.access_token)
    await customers.sweep()

    assert refused.status == 403
    assert not customers.is_live(before)


async def test_a_new_member_of_the_vendor_goes_on_without_a_customer_as_requests_do(customers: Customers) -> None:
    world = customers.world
    ada = world.user(EMAIL)
    world.user("eve@example.com")
    member, stranger, former = [
        await customers.sign_in(email, customer="") for email in (EMAIL, "eve@example.com", EMAIL)
    ]
    await customers.sweep()
    world.member(customers.vendor_id, ada, is_confirmed=False)
    # Another person has proved the address since: what is unconfirmed does not belong to the session.
    world.connection.execute(
        b"UPDATE sessions SET created_at = created_at - interval '1 hour' WHERE id = %s",
        (claims_of(former.access_token)["sid"],),
    )

    world.connection.execute(CHANGES_OF_INDIVIDUALS.encode())
    tokens = (member, stranger, former)
    statuses = [(await world.client.get("/api/user", token=one.access_token)).status for one in tokens]
    await customers.sweep()

    assert statuses == [200, 403, 403]
    assert [customers.is_live(one) for one in tokens] == [True, False, False]


async def test_an_enforced_route_ends_access_without_the_connection(customers: Customers) -> None:
    world = customers.world
    tokens = await customers.sign_in()
    await enforce(world, "globex", "globex.example")
    world.connection.execute(b"UPDATE domain_routes SET enforced = false")
    open_still = await world.client.get("/api/user", token=tokens.access_token)

    world.connection.execute(b"UPDATE domain_routes SET enforced = true")
    refused = await world.client.get("/api/user", token=tokens.access_token)
    await customers.sweep()

    assert (open_still.status, refused.status) == (200, 403)
    assert not customers.is_live(tokens)


async def test_what_changes_while_an_earlier_change_is_worked_off_is_worked_off_too(
    customers: Customers, database_url: str
) -> None:
    world = customers.world
    world.assign(customers.customer_id, "everyone")
    tokens = await customers.sign_in()
    await customers.sweep()

    with psycopg.connect(database_url) as other:
        world.connection.execute(b"UPDATE service_customers SET access = 'assigned'")
        other.execute("DELETE FROM customer_assignments")
        await customers.sweep()
    await customers.sweep()

    assert not customers.is_live(tokens)
    assert customers.logout_tokens == 1


async def test_what_waits_several_times_is_worked_off_once(customers: Customers) -> None:
    await customers.sweep()

    for paused_at in ("now()", "NULL") * 3:
        customers.world.connection.execute(f"UPDATE service_customers SET vendor_paused_at = {paused_at}".encode())

    assert customers.waiting == 6
    assert await customers.sweep() == 1


async def test_many_sessions_of_one_customer_do_not_delay_those_of_another_one(customers: Customers) -> None:
    world = customers.world
    many = [await customers.sign_in() for _ in range(6)]
    await customers.sweep()
    carol = world.user("carol@initech.example")
    initech = world.organization("initech")
    world.member(initech, carol)
    other = world.service(customers.vendor_id, "desk")
    world.serve_customers(other)
    other_customer_id = world.customer(other, initech)
    few = await world.sign_in("carol@initech.example", org_slug="vendor", service_slug="desk", customer="initech")
    await customers.sweep()

    pause = "UPDATE service_customers SET vendor_paused_at = now() WHERE id = %s"
    world.connection.execute(pause.encode(), (customers.customer_id,))
    await customers.batch()
    # Again, while it is worked off.
    world.connection.execute(
        b"UPDATE service_customers SET access = 'assigned' WHERE id = %s", (customers.customer_id,)
    )
    world.connection.execute(b"UPDATE service_customers SET access = 'members' WHERE id = %s", (customers.customer_id,))
    world.connection.execute(pause.encode(), (other_customer_id,))
    await customers.batch()
    await customers.batch()

    assert not customers.is_live(few)
    assert sum(map(customers.is_live, many)) == 2
    assert customers.waiting == 2
    await customers.sweep()
    assert not any(map(customers.is_live, many))
    assert customers.waiting == 0


BESIDE = """
    INSERT INTO sessions
    SELECT (jsonb_populate_record(s, jsonb_build_object('id', %s::uuid, 'refresh_hash', '\\x0123'))).*
    FROM   sessions s
    WHERE  id = %s
"""


@pytest.mark.parametrize("change", ["UPDATE service_customers SET vendor_paused_at = now()", CHANGES_OF_INDIVIDUALS])
async def test_a_session_that_was_committed_after_the_first_look_ends_too(
    customers: Customers, database_url: str, change: str
) -> None:
    world = customers.world
    is_alone = change == CHANGES_OF_INDIVIDUALS
    world.user(EMAIL)
    before = await (customers.sign_in(EMAIL, customer="") if is_alone else customers.sign_in())
    await customers.sweep()
    world.clock.advance(timedelta(minutes=1))
    await customers.sweep()
    beside = world.new_id()

    with psycopg.connect(database_url) as sign_in:
        sign_in.execute(BESIDE, (beside, claims_of(before.access_token)["sid"]))
        world.connection.execute(change.encode())
        await customers.sweep()
    world.clock.advance(timedelta(seconds=39))
    too_early = await customers.sweep()
    world.clock.advance(timedelta(seconds=1))
    await customers.sweep()

    assert too_early == 0
    assert not customers.is_live(before)
    assert world.value("SELECT revoked_at IS NOT NULL FROM sessions WHERE id = %s", beside)
    assert customers.logout_tokens == 2
    assert world.value("SELECT count(*) FROM customer_rechecks") == 0


async def test_a_session_that_was_committed_after_a_lost_role_ends_too(customers: Customers, database_url: str) -> None:
    world, owner = customers.world, await customers.owner()
    world.connection.execute(b"UPDATE service_customers SET access = 'assigned'")
    world.assign(customers.customer_id, "role:admin", "editor")
    await customers.sweep()
    world.clock.advance(timedelta(minutes=1))
    await customers.sweep()
    member = f"/api/organizations/globex/members/{customers.bob_id}"
    await owner.patch(member, {"role": "admin"})
    before = await customers.sign_in()
    world.connection.execute(b"DELETE FROM customer_rechecks")
    beside = world.new_id()

    with psycopg.connect(database_url) as sign_in:
        sign_in.execute(BESIDE, (beside, claims_of(before.access_token)["sid"]))
        for role in ("member", "admin", "member"):
            assert (await owner.patch(member, {"role": role})).status == 200
    # Several changes are looked at together, and not too early.
    assert world.value("SELECT count(*) FROM customer_rechecks") == 1
    assert await customers.sweep() == 0
    world.clock.advance(timedelta(seconds=40))
    await customers.sweep()

    assert not customers.is_live(before)
    assert world.value("SELECT revoked_at IS NOT NULL FROM sessions WHERE id = %s", beside)
    assert customers.logout_tokens == 2
    assert world.value("SELECT count(*) FROM customer_rechecks") == 0


async def test_another_connection_of_an_enforced_route_ends_the_sessions_by_the_one_before(
    customers: Customers,
) -> None:
    world = customers.world
    tokens = await customers.sign_in()
    owner = await enforce(world, "globex", "globex.example")
    [(route_id, connection_id)] = world.rows("SELECT id, connection_id FROM domain_routes")
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s, connection_id = %s WHERE id = %s",
        (customers.globex_id, connection_id, claims_of(tokens.access_token)["sid"]),
    )
    await customers.sweep()
    by_the_connection = await world.client.get("/api/user", token=tokens.access_token)
    body = {"type": "oidc", "name": "New", "issuer": "https://new.example", "client_id": "x", "client_secret": "secret"}
    other = await owner.post("/api/organizations/globex/upstream-providers", body)

    path = f"/api/organizations/globex/domain-routes/{route_id}"
    changed = await owner.patch(path, {"provider_id": other.json["id"]})
    refused = await world.client.get("/api/user", token=tokens.access_token)
    await customers.sweep()

    assert (by_the_connection.status, changed.status, refused.status) == (200, 200, 403)
    assert not customers.is_live(tokens)
