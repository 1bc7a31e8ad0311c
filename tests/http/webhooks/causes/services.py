"""What causes events about services: their plans, subscriptions, keys, single sign-on and payment."""

from __future__ import annotations

from typing import Any

from tests.http.webhooks.causes.stage import Stage


async def create_a_service(stage: Stage) -> None:
    await stage.create_service()


async def delete_a_service(stage: Stage) -> None:
    await stage.create_service()
    await stage.request("DELETE", "/services/shop")


async def close_a_service(stage: Stage) -> None:
    await stage.create_service()
    await stage.request("PATCH", "/services/shop", {"access": "members"})


async def grant_a_service(stage: Stage) -> None:
    stage.world.service(stage.team.organization_id)
    await stage.request("PUT", f"/services/shop/grants/{stage.team.ids['member']}", {"relation": "viewer"})


async def create_a_plan(stage: Stage) -> None:
    await stage.create_plan()


async def change_a_plan(stage: Stage) -> None:
    await stage.request("PATCH", f"/services/shop/plans/{await stage.create_plan()}", {"price_cents": 1990})


async def delete_a_plan(stage: Stage) -> None:
    await stage.request("DELETE", f"/services/shop/plans/{await stage.create_plan()}")


async def subscribe(stage: Stage) -> None:
    await stage.subscribe()


async def change_a_subscription(stage: Stage) -> None:
    key, user_id = await stage.subscribe()
    await stage.service_request(key, "PATCH", f"/subscriptions/{user_id}", {"status": "past_due"})


async def cancel_a_subscription(stage: Stage) -> None:
    key, user_id = await stage.subscribe()
    await stage.service_request(key, "PATCH", f"/subscriptions/{user_id}", {"status": "cancelled"})


async def create_an_api_key(stage: Stage) -> None:
    await stage.create_service()
    await stage.create_api_key()


async def delete_an_api_key(stage: Stage) -> None:
    await stage.create_service()
    await stage.request("DELETE", f"/services/shop/api-keys/{(await stage.create_api_key())['id']}")


async def allow_a_workload(stage: Stage) -> dict[str, Any]:
    await stage.create_service()
    body = {"name": "Deployment", "issuer": "https://issuer.example", "match": {"sub": "job"}}
    return await stage.request("POST", "/services/shop/workloads", body)


async def delete_a_workload(stage: Stage) -> None:
    made = await allow_a_workload(stage)
    await stage.request("DELETE", f"/services/shop/workloads/{made['id']}")


async def set_up_saml(stage: Stage) -> None:
    await stage.create_service()
    body = {"enabled": True, "entity_id": "https://sp.example", "acs_url": "https://sp.example/acs"}
    await stage.request("POST", "/services/shop/saml", body)


async def create_a_saml_certificate(stage: Stage) -> None:
    await set_up_saml(stage)
    await stage.request("POST", "/services/shop/saml/certificate")


async def open_the_portal(stage: Stage) -> None:
    await stage.request("POST", "/billing/portal", {"return_url": "https://app.example.com/"})
