"""Sign-ins that begin at Gatehouse: GET …/saml/login."""

from __future__ import annotations

import pytest

from tests.service_provider import posted_form
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import assert_refused

LOGIN = "/services/shop/saml/login"
PATH = f"/api/organizations/acme{LOGIN}"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


async def test_a_token_is_answered_with_the_form(saml_shop: SamlService, team: Team) -> None:
    answer = await team.request("member", "GET", f"{LOGIN}?RelayState=r")

    form = posted_form(answer.text)
    assert (form.action, form.fields["RelayState"], form.statuses) == (saml_shop.sp.acs_url, "r", ["Success"])
    assert form.texts("//@InResponseTo") == []
    assert form.texts("//saml:NameID/text()") == ["member@example.com"]


async def test_a_browser_that_comes_from_our_own_page_is_answered_with_the_form(
    saml_shop: SamlService, team: Team, visitor: Visitor
) -> None:
    assert team.ids
    await visitor.sign_in("member@example.com")

    answer = await visitor.send("GET", PATH, headers=SAME_ORIGIN)

    assert posted_form(answer.text).action == saml_shop.sp.acs_url


@pytest.mark.parametrize("site", [None, "none", "cross-site", "same-site"])
async def test_a_browser_that_comes_from_elsewhere_is_asked_first(
    saml_shop: SamlService, team: Team, visitor: Visitor, site: str | None
) -> None:
    await visitor.sign_in("member@example.com")
    before = team.world.rows("SELECT id FROM sessions")

    asked = await visitor.send("GET", f"{PATH}?RelayState=r", headers={"Sec-Fetch-Site": site} if site else {})
    assert asked.status == 200
    assert "Shop of acme" in asked.text
    assert team.world.rows("SELECT id FROM sessions") == before
    pressed = await visitor.submit(asked, f"{saml_shop.path}/authenticate")

    form = posted_form(pressed.text)
    assert (form.statuses, form.fields["RelayState"]) == (["Success"], "r")


async def test_the_button_of_another_site_is_refused(saml_shop: SamlService, team: Team, visitor: Visitor) -> None:
    assert team.ids
    await visitor.sign_in("member@example.com")

    forged = await visitor.post(f"{saml_shop.path}/authenticate", {"saml_state": ""})

    assert forged.status == 403


async def test_a_browser_that_is_not_signed_in_is_led_to_the_sign_in(saml_shop: SamlService, visitor: Visitor) -> None:
    answer = await visitor.send("GET", PATH)

    assert answer.headers["Location"].startswith("/app/sign-in?")
    assert saml_shop.path


async def test_strangers_and_impersonators_get_none(saml_shop: SamlService, team: Team) -> None:
    team.user("stranger")
    assert_refused(await team.request("stranger", "GET", LOGIN), 403, "FORBIDDEN")
    owner = await team.world.signed_in_platform_owner()
    begun = await team.world.client.post(
        f"/api/platform/impersonate/{team.ids['member']}",
        token=owner.tokens.access_token,
        body={"reason": "a ticket"},
    )
    assert begun.status == 200, begun.text

    answer = await team.world.client.get(PATH, token=begun.json["access_token"])

    assert_refused(answer, 403, "FORBIDDEN")
    assert saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml'") == []


async def test_a_browser_that_acts_as_a_member_gets_none(saml_shop: SamlService, team: Team, visitor: Visitor) -> None:
    team.world.user("root@example.com", is_platform_owner=True)
    page = f"/app/platform/users/{team.ids['member']}/impersonation"
    await visitor.sign_in("root@example.com", path=page)
    await visitor.submit(await visitor.open(page), page, reason="a ticket")

    answer = await visitor.open(PATH)

    assert answer.status == 403
    assert "This is closed while you act as another person" in answer.text
    assert saml_shop.world.rows("SELECT id FROM sessions WHERE provider = 'saml'") == []


async def test_the_token_of_a_service_opens_no_other_service(
    saml_shop: SamlService, team: Team, saml: SamlWorld
) -> None:
    await saml.service(team.organization_id, "acme", "blog")
    tokens = await team.world.sign_in("member@example.com", org_slug="acme", service_slug="blog")

    assert_refused(await team.world.client.get(PATH, token=tokens.access_token), 403, "FORBIDDEN")
    assert saml_shop.path


async def test_there_is_none_without_saml(team: Team) -> None:
    team.world.service(team.organization_id)

    assert_refused(await team.request("member", "GET", LOGIN), 404, "NOT_FOUND")
