"""A person who registers on the way to a service provider ends there."""

from __future__ import annotations

from datetime import timedelta

from tests.application import Answer
from tests.clock import SettableClock
from tests.service_provider import posted_form
from tests.world.builder import PASSWORD
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor


async def registered(service: SamlService, team: Team, visitor: Visitor) -> Answer:
    """Register on the way to a service, and return the page of the mailed link."""
    page = await visitor.open(service.sso(relay_state="r"))
    [register] = [part.split('"')[0] for part in page.text.split('href="')[1:] if part.startswith("/app/register")]
    form = await visitor.open(register.replace("&amp;", "&"))
    await visitor.submit(form, "/app/register", email="new@example.com", password=PASSWORD)
    message = (await team.world.mails())[-1]
    assert message.values["place"] != ""
    return await visitor.open(f"/auth/verify-email?token={message.values['token']}")


async def test_the_link_in_the_mail_signs_in_to_the_service_provider(
    saml: SamlWorld, team: Team, visitor: Visitor
) -> None:
    service = await saml.service(team.organization_id, "acme", members_only=False)
    opened = await registered(service, team, visitor)

    form = posted_form((await visitor.submit(opened, "/auth/verify-email/confirm")).text)

    assert (form.action, form.fields["RelayState"]) == (service.sp.acs_url, "r")
    assert form.texts("//saml:Assertion/@ID") != []


async def test_the_page_says_when_an_account_alone_opens_nothing(saml: SamlWorld, team: Team) -> None:
    service = await saml.service(team.organization_id, "acme")
    shown: list[bool] = []
    for members_only in (True, False):
        team.world.connection.execute("UPDATE saml_configurations SET members_only = %s", (members_only,))
        visitor = Visitor(team.world.client)
        page = await visitor.open(service.sso(relay_state="r"))
        [register] = [part.split('"')[0] for part in page.text.split('href="')[1:] if part.startswith("/app/register")]
        form = await visitor.open(register.replace("&amp;", "&"))
        shown.append("An account alone opens nothing in" in form.text)

    assert shown == [True, False]


async def test_a_link_that_is_opened_after_the_request_has_ended_says_so(
    saml: SamlWorld, team: Team, visitor: Visitor, clock: SettableClock
) -> None:
    service = await saml.service(team.organization_id, "acme", members_only=False)
    opened = await registered(service, team, visitor)
    clock.now += timedelta(minutes=20)

    over = await visitor.submit(opened, "/auth/verify-email/confirm")

    assert over.status == 400
    assert "Go back to the application and start again" in over.text
    assert visitor.has_session
