"""The customers for which a user has signed in, as the token of the service reads them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.world.team import Team
from tests.world.trade import Trade
from tests.world.world import assert_refused

EMAIL = "worker@example.com"


def join(trade: Trade, slug: str, **settings: Any) -> tuple[Team, UUID]:
    """Make the worker a member of another organization, which is a customer; return it with the id of the record."""
    team = trade.world.team(slug)
    trade.world.member(team.organization_id, trade.customer.ids["worker"])
    return team, trade.world.customer(trade.service, team.organization_id, **settings)


async def sign_in(trade: Trade, customer: str, *, service: str = "shop") -> str:
    """Sign the worker in to a service for a customer, and return the access token."""
    trade.world.clock.advance(timedelta(seconds=1))
    signed_in = await trade.world.log_in(EMAIL, org_slug="acme", service_slug=service, customer=customer)
    assert signed_in.status == 200, signed_in.text
    return signed_in.json["access_token"]


async def mine(trade: Trade, token: str) -> Answer:
    return await trade.world.client.get("/api/user/customers", token=token)


async def slugs(trade: Trade, token: str) -> list[str]:
    answer = await mine(trade, token)
    assert answer.status == 200, answer.text
    assert answer.json["total"] == len(answer.json["customers"])
    return [one["slug"] for one in answer.json["customers"]]


async def test_those_that_the_user_has_signed_in_for_are_listed_the_latest_first(trade: Trade) -> None:
    beta_id = await trade.begin(external_id="B-7")
    gamma, gamma_id = join(trade, "gamma")
    join(trade, "delta")
    await sign_in(trade, "beta")
    token = await sign_in(trade, "gamma")

    answer = await mine(trade, token)

    assert answer.status == 200, answer.text
    listed = answer.json
    times = [one.pop("last_sign_in_at") for one in listed["customers"]]
    assert listed == {
        "customers": [
            {"id": str(gamma_id), "slug": "gamma", "name": "Gamma"},
            {"id": beta_id, "slug": "beta", "name": "Beta"},
        ],
        "total": 2,
    }
    assert times == sorted(times, reverse=True)
    assert str(gamma.organization_id) not in answer.text


async def test_what_is_not_open_any_more_is_not_listed(trade: Trade) -> None:
    beta_id = await trade.begin()
    kept = [join(trade, slug)[0] for slug in ("gamma", "delta", "omega", "sigma")]
    for slug in ("beta", "gamma", "delta", "omega", "sigma"):
        token = await sign_in(trade, slug)
    assert sorted(await slugs(trade, token)) == ["beta", "delta", "gamma", "omega", "sigma"]
    gamma, delta, omega, _ = [one.organization_id for one in kept]

    await trade.at_vendor("PATCH", f"/{beta_id}", body={"paused": True})
    execute = trade.world.connection.execute
    execute("UPDATE service_customers SET access = 'assigned' WHERE organization_id = %s", (gamma,))
    execute("UPDATE memberships SET suspended_at = now() WHERE organization_id = %s", (delta,))
    execute("UPDATE organizations SET status = 'suspended' WHERE id = %s", (omega,))

    assert await slugs(trade, token) == ["sigma"]


async def test_a_membership_that_is_unconfirmed_again_does_not_count(trade: Trade) -> None:
    await trade.begin()
    join(trade, "gamma")
    await sign_in(trade, "beta")
    token = await sign_in(trade, "gamma")
    trade.world.connection.execute(
        "UPDATE memberships SET confirmed_at = NULL WHERE organization_id = %s", (trade.customer.organization_id,)
    )

    assert await slugs(trade, token) == ["gamma"]


async def test_each_service_has_its_own_and_the_platform_none(trade: Trade) -> None:
    blog = trade.world.service(trade.vendor.organization_id, "blog")
    trade.world.serve_customers(blog)
    await trade.begin()
    trade.world.customer(blog, trade.customer.organization_id)
    shop_token = await sign_in(trade, "beta")
    _, gamma_id = join(trade, "gamma")
    blog_token = await sign_in(trade, "beta", service="blog")

    [at_shop], [at_blog] = [(await mine(trade, token)).json["customers"] for token in (shop_token, blog_token)]

    assert at_shop["id"] != at_blog["id"] != str(gamma_id)
    assert await slugs(trade, await trade.customer.token("worker")) == []
    assert_refused(await trade.world.client.get("/api/user/customers"), 401, "UNAUTHORIZED")


async def test_one_who_comes_as_an_individual_may_switch_to_a_customer(trade: Trade) -> None:
    trade.set_policy("listed", "all")
    await trade.begin()
    await sign_in(trade, "beta")

    assert await slugs(trade, await sign_in(trade, "")) == ["beta"]


async def test_a_session_by_a_connection_shows_its_own_organization_alone(trade: Trade) -> None:
    await trade.begin()
    gamma, _ = join(trade, "gamma")
    await sign_in(trade, "beta")
    token = await sign_in(trade, "gamma")

    async def shown(*, lacks_connection: bool, confined_to: UUID, service_id: UUID | None = None) -> list[str]:
        trade.world.connection.execute(
            "UPDATE sessions SET confined_to = %s, confined_to_service = %s, lacks_connection = %s",
            (confined_to, service_id, lacks_connection),
        )
        return await slugs(trade, token)

    vendor_id = trade.vendor.organization_id
    assert await shown(lacks_connection=False, confined_to=gamma.organization_id) == ["gamma"]
    # The session lacks the sign-in that another organization requires, and goes on with everything but that one.
    assert await shown(lacks_connection=True, confined_to=vendor_id) == ["gamma", "beta"]
    # A session by an account that a service may have linked opens no customer at all.
    assert await shown(lacks_connection=False, confined_to=vendor_id, service_id=trade.service.id) == []
