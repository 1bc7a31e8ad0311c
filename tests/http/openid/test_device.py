"""A device gets tokens once its user has approved the code that it shows."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from core.openid import device as device_codes
from core.openid.device import UserCodeExpired
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.world.builder import EMAIL
from tests.world.relying_party import ProofKey, RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.world import World


async def begin(app: RelyingParty, **fields: str) -> dict[str, Any]:
    """Return the codes of a device."""
    answer = await app.post("/auth/device/code", {"scope": "openid", **fields})
    assert answer.status == 200, answer.text
    return answer.json


async def approve(app: RelyingParty, user_code: str) -> None:
    """Approve a device with a session that has begun for it."""
    tokens = await app.world.sign_in(EMAIL, org_slug=app.slug, service_slug=app.service_slug)
    await app.world.installation.database.transact(device_codes.give, user_code, tokens.session_id)


async def poll(app: RelyingParty, device_code: str) -> Answer:
    """Ask whether the device is approved."""
    return await app.token(device_codes.GRANT_TYPE, device_code=device_code)


def errors_of(answer: Answer) -> tuple[int, str, str]:
    """Return both names of a refusal."""
    return answer.status, answer.json["error"], answer.json["error_code"]


async def test_a_device_polls_until_its_user_has_approved_it(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)

    pending = await poll(app, device["device_code"])
    await approve(app, device["user_code"])
    world.clock.advance(timedelta(seconds=5))
    answer = await poll(app, device["device_code"])

    assert re.fullmatch("[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}", device["user_code"])
    assert (device["expires_in"], device["interval"]) == (300, 5)
    assert device["verification_uri_complete"] == f"{device['verification_uri']}?user_code={device['user_code']}"
    assert errors_of(pending) == (400, "authorization_pending", "DEVICE_CODE_PENDING")
    assert datetime.fromisoformat(pending.json["timestamp"]) == world.clock() - timedelta(seconds=5)
    assert answer.status == 200, answer.text
    assert claims_of(answer.json["id_token"])["aud"] == str(app.client_id)


async def test_the_bare_device_code_is_enough_for_a_public_client(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)
    await approve(app, device["user_code"])

    answer = await world.client.post("/auth/token", body={"device_code": device["device_code"]})

    assert answer.status == 200, answer.text


async def test_the_bare_device_code_is_not_enough_for_a_confidential_client(shop: RelyingParty, world: World) -> None:
    device = await begin(shop)
    await approve(shop, device["user_code"])

    answer = await world.client.post("/auth/token", body={"device_code": device["device_code"]})

    assert (answer.status, answer.json["error"]) == (401, "invalid_client")
    assert (await poll(shop, device["device_code"])).status == 200


async def test_a_device_that_polls_too_often_is_told_to_slow_down(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)
    await poll(app, device["device_code"])
    world.clock.advance(timedelta(seconds=4))

    too_soon = await poll(app, device["device_code"])
    world.clock.advance(timedelta(seconds=9))
    still_too_soon = await poll(app, device["device_code"])
    world.clock.advance(timedelta(seconds=15))
    in_time = await poll(app, device["device_code"])

    assert errors_of(too_soon) == errors_of(still_too_soon) == (400, "slow_down", "DEVICE_CODE_PENDING")
    assert errors_of(in_time) == (400, "authorization_pending", "DEVICE_CODE_PENDING")


async def test_a_device_code_expires_after_five_minutes(app: RelyingParty, shop: RelyingParty, world: World) -> None:
    device = await begin(app)
    world.clock.advance(timedelta(minutes=5))

    verified = await world.client.post("/auth/device/verify", body={"user_code": device["user_code"]})

    assert errors_of(await poll(app, device["device_code"])) == (400, "expired_token", "DEVICE_CODE_EXPIRED")
    assert errors_of(verified) == (400, "expired_token", "DEVICE_CODE_EXPIRED")


async def test_a_device_that_its_user_denies_learns_so(app: RelyingParty, shop: RelyingParty, world: World) -> None:
    device = await begin(app)
    await world.installation.database.transact(device_codes.deny, device["user_code"])

    assert errors_of(await poll(app, device["device_code"]))[:2] == (400, "access_denied")


async def test_a_device_code_that_is_used_twice_ends_the_session(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)
    await approve(app, device["user_code"])

    answers = await at_once(*[partial(poll, app, device["device_code"])] * 3)

    assert statuses_of(answers) == [200, 400, 400]
    [tokens] = [answer.json for answer in answers if answer.status == 200]
    assert not app.is_live(tokens)


async def test_a_device_is_answered_once(app: RelyingParty, shop: RelyingParty, world: World) -> None:
    device = await begin(app)
    await approve(app, device["user_code"])

    verified = await world.client.post("/auth/device/verify", body={"user_code": device["user_code"]})

    assert verified.status == 400


async def test_a_device_code_of_another_client_is_worth_nothing(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    other = insert_relying_party(world, "desktop", slug="evil", service_slug="evil")
    device = await begin(app)
    await approve(app, device["user_code"])

    stolen = await poll(other, device["device_code"])

    assert (stolen.status, stolen.json["error"]) == (400, "invalid_grant")
    assert (await poll(app, device["device_code"])).status == 200


async def test_a_user_code_says_which_service_asks_and_approves_nothing(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)
    typed = device["user_code"].lower().replace("-", " ")

    verified = await world.client.post("/auth/device/verify", body={"user_code": typed})
    unknown = await world.client.post("/auth/device/verify", body={"user_code": "BBBB-BBBB"})

    assert verified.json == {"org_slug": "globex", "service_slug": "app", "available_providers": []}
    assert (unknown.status, "timestamp" in unknown.json) == (404, True)
    assert errors_of(await poll(app, device["device_code"]))[1] == "authorization_pending"


async def test_the_slugs_of_another_service_are_refused(app: RelyingParty, shop: RelyingParty) -> None:
    right = await app.post("/auth/device/code", {"org": "globex", "service": "app"})
    wrong = await app.post("/auth/device/code", {"org": "acme", "service": "shop"})

    assert (right.status, wrong.status) == (200, 400)


async def test_an_unknown_device_code_is_refused(app: RelyingParty, shop: RelyingParty, world: World) -> None:
    bare = await world.client.post("/auth/token", body={"device_code": "unknown"})

    assert (await poll(app, "unknown")).json["error"] == bare.json["error"] == "invalid_grant"


async def test_a_device_is_denied_once(app: RelyingParty, shop: RelyingParty, world: World) -> None:
    device = await begin(app)
    await world.installation.database.transact(device_codes.deny, device["user_code"])

    with pytest.raises(UserCodeExpired):
        await world.installation.database.transact(device_codes.deny, device["user_code"])


async def test_the_tokens_of_a_device_may_be_bound_to_a_key(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    key = ProofKey()
    device = await begin(app)
    await approve(app, device["user_code"])
    first = key.proof("POST", "/auth/token", now=world.clock)
    asked = await app.token(device_codes.GRANT_TYPE, {"DPoP": first}, device_code=device["device_code"])
    proof = key.proof("POST", "/auth/token", now=world.clock, nonce=asked.headers["DPoP-Nonce"])

    answer = await app.token(device_codes.GRANT_TYPE, {"DPoP": proof}, device_code=device["device_code"])

    assert answer.json["token_type"] == "DPoP"


async def test_the_device_of_a_user_who_was_deactivated_gets_nothing(
    app: RelyingParty, shop: RelyingParty, world: World
) -> None:
    device = await begin(app)
    await approve(app, device["user_code"])
    world.deactivate()

    assert (await poll(app, device["device_code"])).json["error"] == "invalid_grant"
