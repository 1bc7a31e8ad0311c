"""Customers that a vendor makes: an organization without an owner, with its active customer record."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from core.customers.customers import OFFERS_MAX, OFFERS_WINDOW
from core.customers.made_customers import UNCLAIMED_MAX
from core.organizations import management
from core.organizations.organizations import Organization
from ports.unit_of_work import UnitOfWork
from tests.application import Answer, serving, with_mail_limits
from tests.concurrency import at_once
from tests.ids import Clock, FollowingRandomness
from tests.world.trade import Trade
from tests.world.world import assert_refused

if TYPE_CHECKING:
    from adapters.postgres.database import PostgresDatabase


async def test_a_made_customer_is_active_at_once_and_has_no_owner(trade: Trade) -> None:
    answer = await trade.at_vendor("POST", body={"name": "Globex Inc.", "external_id": "G-1"})

    assert answer.status == 200, answer.text
    slug = answer.json["organization"]["slug"]
    assert re.fullmatch("c-[a-z0-9]{8}", slug)
    assert answer.json == {
        "id": answer.json["id"],
        "organization": {"slug": slug, "name": "Globex Inc."},
        "state": "active",
        "external_id": "G-1",
        "paused": False,
        "shares_directory": False,
        "unclaimed": True,
        "vendor_setup": [],
        "last_sign_in_at": None,
        "created_at": answer.json["created_at"],
        "metadata": {},
    }
    assert (await trade.at_vendor("GET", f"/{answer.json['id']}")).json == answer.json
    [[status, is_unclaimed, members]] = trade.world.rows(
        """
        SELECT o.status, o.is_unclaimed, (SELECT count(*) FROM memberships WHERE organization_id = o.id)
        FROM   organizations o
        WHERE  o.slug = %s
        """,
        slug,
    )
    assert (status, is_unclaimed, members) == ("pending", True, 0)


async def test_both_logs_say_that_the_vendor_made_it(trade: Trade) -> None:
    made = (await trade.at_vendor("POST", body={"name": "Globex"})).json
    of_customer = trade.world.value("SELECT id FROM organizations WHERE slug = %s", made["organization"]["slug"])

    [[_, _, details]] = trade.log_of(trade.vendor, "customer.accepted")
    assert details["by"] == "vendor"
    assert details["organization_name"] == "Globex"
    [[actor, own]] = trade.world.rows(
        "SELECT actor_user_id, details FROM audit_entries WHERE organization_id = %s", of_customer
    )
    assert actor is None
    assert (own["by"], own["customer_id"]) == ("vendor", made["id"])


async def test_organization_and_name_exclude_each_other(trade: Trade) -> None:
    for body in ({}, {"external_id": "1"}, {"organization": "beta", "name": "Beta"}):
        assert_refused(await trade.at_vendor("POST", body=body), 400, "BAD_REQUEST")


async def test_a_name_and_an_external_id_are_checked_as_everywhere(trade: Trade) -> None:
    await trade.offer("nowhere", external_id="one")

    refused = await trade.at_vendor("POST", body={"name": "x", "external_id": ""})
    taken = await trade.at_vendor("POST", body={"name": "Globex", "external_id": "one"})

    assert_refused(refused, 400, "BAD_REQUEST")
    assert [one["field"] for one in refused.json["details"]] == ["name", "external_id"]
    assert_refused(taken, 409, "CONFLICT")


async def test_a_service_without_customers_has_none_made(trade: Trade) -> None:
    trade.set_policy("none", "all")

    assert_refused(await trade.at_vendor("POST", body={"name": "Globex"}), 400, "BAD_REQUEST")


async def test_of_two_at_once_with_one_external_id_one_is_made(trade: Trade) -> None:
    await trade.vendor.token("owner")
    body = {"name": "Globex", "external_id": "one"}

    answers = await at_once(*[lambda: trade.at_vendor("POST", body=body)] * 2)

    assert sorted(answer.status for answer in answers) == [200, 409]
    assert trade.world.value("SELECT count(*) FROM organizations WHERE is_unclaimed") == 1


async def test_an_organization_makes_100_an_hour(trade: Trade) -> None:
    token, path = await trade.vendor.token("owner"), f"{trade.vendor.path}/services/shop/customers"
    client = serving(with_mail_limits(trade.world.installation))

    async def make(number: int) -> Answer:
        return await client.request("POST", path, token=token, body={"name": f"Customer {number}"})

    made = [(await make(number)).status for number in range(OFFERS_MAX)]
    refused = await make(OFFERS_MAX)

    assert made == [200] * OFFERS_MAX
    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert refused.headers["Retry-After"] == "3600"
    trade.world.clock.advance(OFFERS_WINDOW)
    trade.vendor.tokens.clear()
    token = await trade.vendor.token("owner")
    assert (await make(OFFERS_MAX)).status == 200


async def test_an_organization_has_1000_that_no_person_has_claimed(trade: Trade) -> None:
    await trade.at_vendor("POST", body={"name": "Globex"})
    trade.world.rows(
        """
        WITH made AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, is_unclaimed, created_at, updated_at)
            SELECT gen_random_uuid(), 'unclaimed-' || n, 'Unclaimed', 'pending', o.tier_id, true, now(), now()
            FROM   generate_series(2, %s) AS n, organizations o
            WHERE  o.id = %s
            RETURNING id)
        INSERT INTO service_customers (id, vendor_id, service_id, organization_id, is_made, accepted_at, created_at)
        SELECT gen_random_uuid(), %s, %s, id, true, now(), now()
        FROM   made
        RETURNING id
        """,
        UNCLAIMED_MAX,
        *(trade.vendor.organization_id, trade.vendor.organization_id, trade.service.id),
    )

    refused = await trade.at_vendor("POST", body={"name": "One more"})

    assert_refused(refused, 429, "RATE_LIMIT_EXCEEDED")
    assert "1000" in refused.text.replace(",", "")


async def test_a_name_shows_what_it_is(trade: Trade) -> None:
    for name in ("Glo\u202ebex", "Globex\nBcc: eve@evil.example", "Glo\u200bbex", "\u0000Globex"):
        assert_refused(await trade.at_vendor("POST", body={"name": name}), 400, "BAD_REQUEST")

    assert trade.world.value("SELECT count(*) FROM organizations WHERE is_unclaimed") == 0


async def test_the_limits_are_of_the_vendor_whatever_its_services(trade: Trade) -> None:
    desk = trade.world.service(trade.vendor.organization_id, "desk")
    trade.world.serve_customers(desk)
    token = await trade.vendor.token("owner")
    client = serving(with_mail_limits(trade.world.installation))

    answers = [
        await client.request(
            "POST",
            f"{trade.vendor.path}/services/{('shop', 'desk')[number % 2]}/customers",
            token=token,
            body={"name": f"Customer {number}"},
        )
        for number in range(OFFERS_MAX + 2)
    ]

    assert [one.status for one in answers] == [200] * OFFERS_MAX + [429] * 2


class DrawingRandomness(FollowingRandomness):
    """Randomness of which the next texts are known."""

    def __init__(self, clock: Clock, *texts: str) -> None:
        super().__init__(clock)
        self._texts = list(texts)

    def choice(self, alphabet: str, length: int) -> str:
        """Return the next text."""
        return self._texts.pop(0)


async def test_a_random_slug_that_is_taken_is_drawn_again(trade: Trade) -> None:
    trade.world.organization("c-aaaaaaaa")
    database = cast("PostgresDatabase", trade.world.installation.database)
    randomness = DrawingRandomness(trade.world.clock, "aaaaaaaa", "bbbbbbbb")
    drawing = replace(database, tools=replace(database.tools, randomness=randomness))

    def add(uow: UnitOfWork) -> Organization:
        return management.add_unclaimed(uow, management.new_organization(uow, "", "Globex"))

    assert (await drawing.transact(add)).slug == "c-bbbbbbbb"
    assert trade.world.value("SELECT is_unclaimed FROM organizations WHERE slug = 'c-bbbbbbbb'") is True
