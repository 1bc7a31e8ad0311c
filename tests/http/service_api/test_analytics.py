"""Figures about a service for its backend."""

from __future__ import annotations

from datetime import timedelta

from tests.clock import SettableClock
from tests.world.backend import Backend, insert_backend

PATH = "/analytics"


async def test_a_service_without_users_has_zeros(backend: Backend) -> None:
    default_id = str(backend.world.value("SELECT id FROM plans"))

    answer = await backend.request("GET", PATH)

    assert (answer.status, answer.json) == (
        200,
        {
            "total_users": 0,
            "active_users_30d": 0,
            "new_users_30d": 0,
            "total_logins_30d": 0,
            "active_subscriptions": 0,
            "subscriptions_by_plan": [{"plan_id": default_id, "plan_name": "Free", "count": 0}],
            "logins_by_provider": [],
        },
    )


async def test_users_sign_ins_and_subscriptions_of_the_service_alone_are_counted(
    backend: Backend, clock: SettableClock
) -> None:
    world = backend.world
    world.service(backend.organization_id, "till")
    insert_backend(world, "globex", key=f"sk_globex_{'g' * 43}")
    people = {name: world.user(f"{name}@example.com") for name in ("old", "ann", "bob")}
    await world.sign_in("old@example.com", org_slug="acme", service_slug="shop")
    clock.now += timedelta(days=31)
    for email in ("ann@example.com", "ann@example.com", "bob@example.com"):
        await world.sign_in(email, org_slug="acme", service_slug="shop")
    for org_slug, service_slug in (("acme", "till"), ("globex", "shop")):
        await world.sign_in("old@example.com", org_slug=org_slug, service_slug=service_slug)
    await world.log_in("ann@example.com", "a wrong password", org_slug="acme", service_slug="shop")
    world.connection.execute(
        """
        UPDATE login_events SET provider = 'passkey'
        WHERE id = (SELECT id FROM login_events WHERE user_id = %s ORDER BY created_at DESC LIMIT 1)
        """,
        (people["bob"],),
    )
    pro = backend.plan()
    for name, status in zip(people, ("active", "past_due", "cancelled"), strict=True):
        world.subscription(pro, people[name], status)

    figures = (await backend.request("GET", PATH)).json

    assert [(plan["plan_name"], plan["count"]) for plan in figures.pop("subscriptions_by_plan")] == [
        ("Free", 0),
        ("Pro", 2),
    ]
    assert figures == {
        "total_users": 3,
        "active_users_30d": 2,
        "new_users_30d": 2,
        "total_logins_30d": 3,
        "active_subscriptions": 2,
        "logins_by_provider": [{"provider": "password", "count": 2}, {"provider": "passkey", "count": 1}],
    }
