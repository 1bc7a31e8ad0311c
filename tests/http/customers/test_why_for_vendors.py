"""What a vendor reads about sign-ins by what it has made for a customer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.sign_in.lookup_email import MOVES_AFTER
from tests.world import internal
from tests.world.customer_setups import CustomerSetup, make_customer_setup
from tests.world.platform import Platform
from tests.world.trade import Trade

ADA = "ada@globex.example"
DOMAIN = "globex.example"


@pytest.fixture
async def setup(trade: Trade) -> CustomerSetup:
    """A customer that the vendor has made, with a connection."""
    setup = await make_customer_setup(trade)
    await setup.connect()
    return setup


async def ask(setup: CustomerSetup, email: str = ADA, *, by: str = "owner", **query: object) -> dict[str, Any]:
    """Ask why a person cannot sign in for the customer."""
    asked = {"email": email, "service": "shop", "customer": setup.customer_id, **query}
    fields = "&".join(f"{name}={value}" for name, value in asked.items())
    answer = await setup.trade.vendor.request(by, "GET", f"/why?{fields}")
    assert answer.status == 200, answer.text
    return answer.json


def connection_id(setup: CustomerSetup) -> Any:
    return setup.trade.world.value("SELECT id FROM upstream_connections WHERE organization_id = %s", setup.internal_id)


async def test_what_is_made_is_told_alike_whether_an_account_has_the_address(setup: CustomerSetup) -> None:
    setup.trade.world.user(ADA)

    known, unknown = [await ask(setup, email) for email in (ADA, f"nobody@{DOMAIN}")]

    assert known == unknown
    assert (known["account"], known["customer"]) == (None, None)
    made = known["setup"]
    assert [one["name"] for one in made["connections"]] == ["Globex"]
    assert (made["organization"], made["route"], made["leads_to"], made["takes_code"]) == ("pending", None, None, True)
    assert (made["admitted_by"], made["is_deactivated"], made["domain"]) == (None, None, DOMAIN)


async def test_where_the_mail_domain_leads_is_told(setup: CustomerSetup) -> None:
    world = setup.trade.world
    made = await setup.by_key(
        "POST", "/mail-domains", body={"domain": DOMAIN, "provider_id": str(connection_id(setup))}
    )
    assert made.status == 200
    told = [(await ask(setup))["setup"]]
    world.connection.execute("DELETE FROM domain_routes")
    route = internal.add_mail_domain(world, connection_id(setup), setup.internal_id, DOMAIN)
    told.append((await ask(setup))["setup"])
    world.connection.execute(
        "UPDATE domain_routes SET status = 'failing', failing_since = %s WHERE id = %s", (world.clock(), route)
    )
    told.append((await ask(setup))["setup"])

    assert [one["route"] for one in told] == ["unproved", "leads", "failing"]
    assert {one["leads_to"] for one in told} == {str(connection_id(setup))}


async def test_a_mail_domain_that_an_organization_has_proved_for_itself_leads_there_no_more(
    setup: CustomerSetup,
) -> None:
    world = setup.trade.world
    internal.add_mail_domain(world, connection_id(setup), setup.internal_id, DOMAIN)
    world.mail_domain(world.organization("initech"), DOMAIN)
    world.connection.execute(
        "UPDATE upstream_connections SET enabled = true, issuer = 'https://initech.example' WHERE name = 'Directory'"
    )
    before = (await ask(setup))["setup"]
    setup.trade.pass_time(MOVES_AFTER)

    made = (await ask(setup))["setup"]

    assert (before["route"], made["route"]) == ("leads", "taken")
    assert {before["leads_to"], made["leads_to"]} == {str(connection_id(setup))}


async def test_the_platform_is_told_that_a_person_is_admitted_and_no_member(
    setup: CustomerSetup,
) -> None:
    world = setup.trade.world
    root = world.user("root@platform.example", is_platform_owner=True)
    platform = Platform(world, root, await world.sign_in("root@platform.example"))
    internal.admit(world, setup.internal_id, world.user(ADA))

    query = f"email={ADA}&organization=acme&service=shop&customer={setup.customer_id}"
    told = await platform.request("GET", f"/api/platform/why?{query}")

    assert told.status == 200, told.text
    assert told.json["customer"]["membership"] == "admitted"


async def test_by_what_a_person_was_admitted_is_told(setup: CustomerSetup) -> None:
    world = setup.trade.world
    ada = world.user(ADA)
    internal.admit(world, setup.internal_id, ada)
    by_directory = await ask(setup)
    world.connection.execute(
        """
        INSERT INTO identities (id, user_id, provider, subject, organization_id, connection_id, linked_at, used_at)
        VALUES (gen_random_uuid(), %s, 'upstream', 'ada', %s, %s, %s, %s)
        """,
        (ada, setup.internal_id, connection_id(setup), world.clock(), world.clock()),
    )
    by_connection = await ask(setup)
    world.connection.execute("UPDATE memberships SET suspended_at = %s WHERE user_id = %s", (world.clock(), ada))
    deactivated = await ask(setup)

    assert by_directory["account"]["email"] == ADA
    told = [
        (one["setup"]["admitted_by"], one["setup"]["takes_code"], one["setup"]["is_deactivated"])
        for one in (by_directory, by_connection, deactivated)
    ]
    assert told == [("directory", True, False), ("connection", False, False), ("connection", False, True)]


@pytest.mark.parametrize("status", ["pending", "rejected", "suspended"])
async def test_the_status_of_an_organization_that_no_person_owns_is_told(setup: CustomerSetup, status: str) -> None:
    setup.trade.world.connection.execute(
        """
        UPDATE organizations SET status = %s
        WHERE  id = (SELECT organization_id FROM service_customers WHERE id = %s)
        """,
        (status, setup.customer_id),
    )

    made = (await ask(setup))["setup"]

    assert made["organization"] == status
    assert made["takes_code"] is (True if status == "pending" else None)


async def test_while_the_customer_is_paused_no_sign_in_takes_anything(setup: CustomerSetup) -> None:
    await setup.trade.at_vendor("PATCH", f"/{setup.customer_id}", body={"paused": True})

    assert (await ask(setup))["setup"]["takes_code"] is None


async def test_why_sign_ins_failed_is_told_without_whose_they_were(setup: CustomerSetup) -> None:
    world = setup.trade.world
    world.connection.execute(
        """
        INSERT INTO upstream_failures (organization_id, connection_id, problem, first_at, last_at, occurrences,
                                       last_request_id)
        VALUES (%s, %s, 'wrong_secret', %s, %s, 1, 'abc')
        """,
        (setup.internal_id, connection_id(setup), world.clock() - timedelta(hours=1), world.clock()),
    )

    told = await ask(setup)

    assert [failure["problem"] for one in told["problems"] for failure in one["failures"]] == ["wrong_secret"]
    assert told["setup"]["connections"][0]["failing_since"] is not None


async def test_of_a_claimed_customer_it_is_what_its_owner_lets_the_vendor_set_up(setup: CustomerSetup) -> None:
    setup.claim()
    nothing = await ask(setup)
    setup.claim("mail_domain")
    domains = await ask(setup)
    setup.claim("upstream")
    connections = await ask(setup)

    assert (nothing["setup"], nothing["problems"]) == (None, [])
    assert domains["setup"]["connections"] == []
    assert (connections["setup"]["organization"], len(connections["setup"]["connections"])) == (None, 1)


async def test_who_manages_no_services_is_told_nothing_of_it(setup: CustomerSetup) -> None:
    role = {"slug": "helper", "name": "Helper", "permissions": ["end_users.manage"]}
    made = await setup.trade.vendor.request("owner", "POST", "/roles", body=role)
    assert made.status == 200, made.text
    setup.trade.world.connection.execute(
        "UPDATE memberships SET role = 'helper' WHERE user_id = %s", (setup.trade.vendor.ids["member"],)
    )

    told = await ask(setup, by="member")

    assert (told["setup"], told["problems"]) == (None, [])
