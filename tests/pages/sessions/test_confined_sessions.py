"""The account pages in a session that is confined to an organization."""

from __future__ import annotations

from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

SESSIONS = "/app/account/sessions"
LIMITED = "You have signed in for one organization alone"


@pytest.fixture
async def ada(world: World, visitor: Visitor) -> Visitor:
    """A browser in which Ada, a member of two organizations, has signed in for acme alone."""
    user_id = world.user(EMAIL)
    ids = {slug: world.organization(slug) for slug in ("acme", "globex")}
    for organization_id in ids.values():
        world.member(organization_id, user_id)
    await visitor.sign_in()
    confine(world, ids["acme"])
    return visitor


def confine(world: World, organization_id: UUID) -> None:
    """Confine the sessions of browsers to an organization."""
    world.connection.execute(
        "UPDATE sessions SET confined_to = %s WHERE id IN (SELECT session_id FROM browser_sessions)", (organization_id,)
    )


async def post(visitor: Visitor, path: str) -> Answer:
    """Send a form that none of the pages shows."""
    [form] = forms_of(await visitor.open("/app/sign-out"))
    return await visitor.post(path, {"form_token": form.fields["form_token"]})


async def test_other_sessions_are_neither_shown_nor_ended(world: World, ada: Visitor) -> None:
    other = await world.sign_in(headers={"User-Agent": "curl/8.0"})

    shown = await ada.open(SESSIONS)
    forced = await post(ada, f"{SESSIONS}/{other.session_id}/end")
    all_others = await post(ada, f"{SESSIONS}/end-others")

    assert LIMITED in shown.text
    assert not shows(shown.text, "curl")
    assert (forced.status, all_others.status) == (404, 200)
    assert (await world.list_sessions(other)).status == 200


async def test_other_organizations_are_not_shown(ada: Visitor) -> None:
    for path in ("/app/account/organizations", "/app/choose-organization"):
        page = await ada.open(path)

        assert "Acme" in page.text
        assert not shows(page.text, "Globex")
    assert LIMITED in (await ada.open("/app/account/organizations")).text


async def test_the_page_of_an_organization_that_was_joined_is_there_for_this_one_alone(ada: Visitor) -> None:
    answers = {slug: await ada.open(f"/app/invitations/joined/{slug}") for slug in ("acme", "globex", "none-such")}

    assert {slug: answer.status for slug, answer in answers.items()} == {"acme": 200, "globex": 404, "none-such": 404}
    assert not shows(answers["globex"].text, "Globex")


async def test_an_invitation_of_another_organization_takes_a_sign_in(world: World, ada: Visitor) -> None:
    organization_id = world.organization("initech")
    world.member(organization_id, world.user("owner@example.com"), "owner")
    token = (await world.sign_in("owner@example.com")).access_token
    await world.client.post(
        "/api/organizations/initech/invitations", body={"email": EMAIL, "role": "member"}, token=token
    )
    values = (await world.mails())[-1].values

    page = await ada.open(f"/app/invitations/accept?token={values['token']}&proof={values['proof']}")
    joined = await ada.submit(page, "/app/invitations/accept", password=PASSWORD)

    assert "You are a member of Initech" in joined.text


async def test_devices_of_other_sessions_are_not_shown(world: World, ada: Visitor) -> None:
    await world.sign_in(headers={"User-Agent": "curl/8.0"})

    page = await ada.open("/app/account/devices")

    assert LIMITED in page.text
    assert not shows(page.text, "curl")


async def test_the_download_has_what_belongs_to_the_organization(ada: Visitor) -> None:
    page = await ada.open("/app/account/data")

    data = await ada.submit(page, "/app/account/data/download")

    assert [one["organization_slug"] for one in data.json["memberships"]] == ["acme"]


async def test_the_overview_and_signing_out_work(ada: Visitor) -> None:
    overview = await ada.open("/app/account")
    await ada.submit(await ada.open("/app/sign-out"), "/app/sign-out")

    assert EMAIL in overview.text
    assert "Email address" in (await ada.open("/app")).text
