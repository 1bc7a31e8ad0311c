"""A user cancels a sign-in that a service provider has asked for; the provider gets the answer "request denied"."""

from __future__ import annotations

from datetime import timedelta

from tests.clock import SettableClock
from tests.service_provider import posted_form
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor, forms_of


async def test_the_pages_of_the_sign_in_can_be_left_for_the_service_provider(
    saml_shop: SamlService, team: Team, visitor: Visitor
) -> None:
    assert team.ids
    page = await visitor.open(saml_shop.sso(relay_state="r"))
    action = f"{saml_shop.path}/authenticate/cancel"

    methods = await visitor.submit(page, "/app/sign-in", email="member@example.com")
    forged = await visitor.submit(methods, action, headers={"Sec-Fetch-Site": "cross-site"})
    form = posted_form((await visitor.submit(methods, action)).text)
    again = await visitor.submit(page, action)

    assert forged.status == 403
    assert (form.action, form.fields["RelayState"]) == (saml_shop.sp.acs_url, "r")
    assert form.statuses == ["Responder", "RequestDenied"]
    assert form.texts("//saml:Assertion/@ID") == []
    assert again.status == 400


async def test_the_question_of_a_first_visit_can_be_cancelled(
    saml: SamlWorld, team: Team, visitor: Visitor, clock: SettableClock
) -> None:
    service = await saml.service(team.organization_id, "acme", members_only=False)
    team.world.user("stranger@example.com")
    await visitor.sign_in("stranger@example.com")
    clock.now += timedelta(minutes=1)

    page = await visitor.open(service.sso(relay_state="r"))
    form = posted_form((await visitor.submit(page, f"{service.path}/authenticate/cancel")).text)

    assert (form.statuses, form.fields["RelayState"]) == (["Responder", "RequestDenied"], "r")
    assert team.world.rows("SELECT user_id FROM service_users") == []


async def test_a_request_of_another_service_or_browser_is_not_cancelled(
    saml_shop: SamlService, blog: SamlService, team: Team, visitor: Visitor
) -> None:
    assert team.ids
    page = await visitor.open(saml_shop.sso())
    fields = {form.action: form.fields for form in forms_of(page)}[f"{saml_shop.path}/authenticate/cancel"]
    other = type(visitor)(visitor.client, "10.9.9.9")
    foreign = {form.action: form.fields for form in forms_of(await other.open("/app/sign-in"))}["/app/sign-in"]

    elsewhere = await other.post(f"{saml_shop.path}/authenticate/cancel", {**foreign, "return_id": fields["return_id"]})
    crossed = await visitor.open(saml_shop.sso())
    mixed = {form.action: form.fields for form in forms_of(crossed)}[f"{saml_shop.path}/authenticate/cancel"]
    wrong = await visitor.post(f"{blog.path}/authenticate/cancel", mixed)

    assert [elsewhere.status, wrong.status] == [400, 400]
