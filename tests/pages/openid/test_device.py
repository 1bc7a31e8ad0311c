"""A user approves a device in the browser, after seeing which service asks."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any

from psycopg.types.json import Jsonb

from core.openid import device as device_codes
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD
from tests.world.page_sign_ins import by_code_of_mail
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World


async def begin(app: RelyingParty) -> dict[str, Any]:
    """Return the codes of a device."""
    return (await app.post("/auth/device/code", {"scope": "openid"})).json


async def poll(app: RelyingParty, device: dict[str, Any]) -> Answer:
    """Ask whether the device is approved."""
    return await app.token(device_codes.GRANT_TYPE, device_code=device["device_code"])


def path_of(device: dict[str, Any]) -> str:
    """Return the path of the page with the code."""
    return device["verification_uri_complete"].removeprefix("http://localhost:8000")


async def test_a_user_types_the_code_signs_in_and_approves(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = await begin(app)
    await visitor.sign_in()

    typed = await visitor.submit(
        await visitor.open("/auth/device"), "/auth/device", user_code=device["user_code"].lower()
    )
    done = await visitor.submit(typed, "/auth/device/approve")

    assert "App" in typed.text
    assert "Globex" in typed.text
    assert "data:image/svg+xml" in typed.text
    assert "The device is signed in" in done.text
    tokens = (await poll(app, device)).json
    assert claims_of(tokens["access_token"])["email"] == EMAIL


async def test_the_page_quotes_the_sentences_of_what_the_device_asks_for(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    read, write = "See your <b>orders</b>.", "Change your orders."
    app.set(scopes=Jsonb([{"name": "read", "description": read}, {"name": "write", "description": write}]))
    device = (await app.post("/auth/device/code", {"scope": "openid  read other"})).json
    await visitor.sign_in()

    asked = await visitor.open(path_of(device))

    assert shows(asked.text, "See your &lt;b&gt;orders&lt;/b&gt;.")
    assert not shows(asked.text, write)
    await visitor.submit(asked, "/auth/device/approve")
    assert (await poll(app, device)).json["scope"] == "openid read"


async def test_a_user_signs_in_with_the_code_of_a_mail_on_the_way_to_approve(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = await begin(app)

    shown = await by_code_of_mail(app.world, visitor, await visitor.open(path_of(device)))
    await visitor.submit(shown, "/auth/device/approve")

    assert claims_of((await poll(app, device)).json["access_token"])["email"] == EMAIL


async def test_a_user_who_is_not_signed_in_signs_in_first(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = await begin(app)

    shown = await visitor.sign_in(path=path_of(device))

    assert device["user_code"] in shown.text
    assert (await poll(app, device)).json["error"] == "authorization_pending"


async def test_opening_the_page_approves_nothing(app: RelyingParty, shop: RelyingParty, visitor: Visitor) -> None:
    device = await begin(app)
    await visitor.sign_in()
    shown = await visitor.open(path_of(device))

    forged = await visitor.submit(shown, "/auth/device/approve", headers={"Sec-Fetch-Site": "cross-site"})

    assert forged.status == 403
    assert (await poll(app, device)).json["error"] == "authorization_pending"


async def test_a_device_is_answered_once_also_at_once(app: RelyingParty, shop: RelyingParty, visitor: Visitor) -> None:
    device = await begin(app)
    await visitor.sign_in()
    shown = await visitor.open(path_of(device))

    answers = await at_once(*[partial(visitor.submit, shown, "/auth/device/approve")] * 3)

    assert statuses_of(answers) == [200, 400, 400]


async def test_a_user_refuses_a_device(app: RelyingParty, shop: RelyingParty, visitor: Visitor) -> None:
    device = await begin(app)
    await visitor.sign_in()

    done = await visitor.submit(await visitor.open(path_of(device)), "/auth/device/deny")

    assert "not signed in" in done.text
    assert (await poll(app, device)).json["error"] == "access_denied"


async def test_a_wrong_code_is_said_to_be_wrong(app: RelyingParty, shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()

    typed = await visitor.submit(await visitor.open("/auth/device"), "/auth/device", user_code="BBBB-BBBB")

    assert typed.status == 404
    assert "eight letters" in typed.text


async def test_the_session_of_a_device_outlives_that_of_the_browser(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = await begin(app)
    await visitor.sign_in()
    await visitor.submit(await visitor.open(path_of(device)), "/auth/device/approve")
    tokens = (await poll(app, device)).json
    await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")

    assert app.is_live(tokens)


async def test_a_browser_without_the_second_factor_signs_in_again(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    device = await begin(app)
    await visitor.sign_in()
    shown = await visitor.open(path_of(device))
    person = Person(world, world.user_id(EMAIL), EMAIL, token=(await world.sign_in()).access_token)
    await person.turn_mfa_on()

    asked = await visitor.submit(shown, "/auth/device/approve")

    assert "/app/sign-in-again" in asked.text
    assert (await poll(app, device)).json["error"] == "authorization_pending"


async def test_a_service_may_have_an_activation_page_of_its_own(app: RelyingParty, shop: RelyingParty) -> None:
    app.set(device_activation_uri="https://app.example/activate?from=tv")

    device = await begin(app)

    assert device["verification_uri"] == "https://app.example/activate?from=tv"
    assert device["verification_uri_complete"].endswith(f"?from=tv&user_code={device['user_code']}")


async def test_the_command_line_gets_a_session_on_the_platform_after_a_new_sign_in(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    client_id = {"client_id": str(device_codes.COMMAND_LINE_CLIENT)}
    device = (await world.client.post("/auth/device/code", body=client_id)).json
    await visitor.sign_in()
    world.clock.advance(timedelta(minutes=4))
    early = await visitor.open(path_of(device))
    verified = (await world.client.post("/auth/device/verify", body={"user_code": device["user_code"]})).json
    await visitor.submit(early, "/auth/device/approve")

    stolen = await app.token(device_codes.GRANT_TYPE, device_code=device["device_code"])
    grant = {"grant_type": device_codes.GRANT_TYPE, "device_code": device["device_code"], **client_id}
    tokens = (await world.client.post("/auth/token", body=grant)).json

    assert "It can do everything that you can." in early.text
    assert verified == {"org_slug": "", "service_slug": "", "available_providers": []}
    assert stolen.json["error"] == "invalid_grant"
    assert claims_of(tokens["access_token"])["aud"] == "http://localhost:8000"
    assert (await world.client.get("/api/organizations", token=tokens["access_token"])).status == 200
    assert (await world.refresh(tokens["refresh_token"])).status == 200


async def test_the_command_line_is_approved_after_a_recent_sign_in_only(
    app: RelyingParty, visitor: Visitor, world: World, shop: RelyingParty
) -> None:
    await visitor.sign_in()
    world.clock.advance(timedelta(minutes=11))
    client_id = {"client_id": str(device_codes.COMMAND_LINE_CLIENT)}
    device = (await world.client.post("/auth/device/code", body=client_id)).json

    assert "/app/sign-in-again" in (await visitor.open(path_of(device))).text


async def test_the_code_is_not_typed_twice_when_a_new_sign_in_is_due(
    app: RelyingParty, visitor: Visitor, world: World, shop: RelyingParty
) -> None:
    await visitor.sign_in()
    client_id = {"client_id": str(device_codes.COMMAND_LINE_CLIENT)}
    device = (await world.client.post("/auth/device/code", body=client_id)).json
    early = await visitor.open(path_of(device))
    world.clock.advance(timedelta(minutes=11))
    device = (await world.client.post("/auth/device/code", body=client_id)).json
    typed = await visitor.submit(await visitor.open("/auth/device"), "/auth/device", user_code=device["user_code"])

    pressed = await visitor.submit(early, "/auth/device/approve", user_code=device["user_code"])
    question = await visitor.submit(
        await visitor.submit(typed, "/app/sign-in-again", password=PASSWORD), "/auth/device"
    )
    sent = await visitor.submit(pressed, "/app/sign-in-again", password=PASSWORD)

    assert "/auth/device/approve" in question.text
    [form] = [form for form in forms_of(sent) if form.action == "/auth/device/approve"]
    assert form.fields["user_code"] == device["user_code"]


async def test_the_question_is_shown_in_another_language_too(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor
) -> None:
    device = await begin(app)
    await visitor.sign_in()
    typed = await visitor.submit(await visitor.open("/auth/device"), "/auth/device", user_code=device["user_code"])

    german = await visitor.switch(typed, "de")
    done = await visitor.submit(german, "/auth/device/approve")

    assert '<html lang="de"' in german.text
    assert "Das Gerät ist angemeldet" in done.text


async def test_a_user_who_registers_on_the_way_is_led_back_to_the_device(
    app: RelyingParty, shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    device = await begin(app)
    page = await visitor.open(path_of(device))
    [register] = [part.split('"')[0] for part in page.text.split('href="')[1:] if part.startswith("/app/register")]
    form = await visitor.open(register.replace("&amp;", "&"))
    await visitor.submit(form, "/app/register", email="new@example.com", password=PASSWORD)
    message = await world.mail()

    opened = await visitor.open(f"/auth/verify-email?token={message.values['token']}")
    asked = await visitor.submit(opened, "/auth/verify-email/confirm")
    done = await visitor.submit(asked, "/auth/device/approve")

    assert message.values["place"] == "App"
    assert "The device is signed in" in done.text
    assert claims_of((await poll(app, device)).json["access_token"])["email"] == "new@example.com"
