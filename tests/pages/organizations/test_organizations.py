"""The page of one's own organizations and invitations."""

from __future__ import annotations

import pytest

from tests.world.builder import EMAIL
from tests.world.inviter import GUEST, Inviter
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/account/organizations"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
async def guest(world: World, visitor: Visitor) -> Visitor:
    """A browser in which the guest of Acme has signed in."""
    world.user(GUEST)
    await visitor.sign_in(GUEST)
    return visitor


async def test_an_invitation_is_accepted(inviter: Inviter, guest: Visitor) -> None:
    await inviter.invite()

    page = await guest.submit(await guest.open(PAGE), f"{PAGE}/accept")

    assert "You are a member of the organization now." in page.text
    assert "Your role: member" in page.text
    assert f"{PAGE}/accept" not in page.text


async def test_an_invitation_is_declined(world: World, inviter: Inviter, guest: Visitor) -> None:
    await inviter.invite()

    page = await guest.submit(await guest.open(PAGE), f"{PAGE}/decline")

    assert "You declined the invitation." in page.text
    assert "You belong to no organization." in page.text
    assert world.value("SELECT status FROM invitations") == "rejected"


async def test_accepting_twice_joins_once(world: World, inviter: Inviter, guest: Visitor) -> None:
    await inviter.invite()
    form = await guest.open(PAGE)

    await guest.submit(form, f"{PAGE}/accept")
    again = await guest.submit(form, f"{PAGE}/accept")

    assert again.status == 400
    assert "This invitation was already answered" in again.text
    assert world.value("SELECT count(*) FROM memberships m JOIN users u ON u.id = user_id WHERE email = %s", GUEST) == 1


async def test_an_unknown_invitation_is_refused(inviter: Inviter, guest: Visitor, subtests: pytest.Subtests) -> None:
    await inviter.invite()

    for token in ("", "x", "0191d3c1-0000-4000-8000-00000000000f"):
        with subtests.test(token=token):
            page = await guest.submit(await guest.open(PAGE), f"{PAGE}/accept", token=token)

            assert page.status == 400
            assert "This invitation is not valid" in page.text


async def test_a_member_leaves_and_an_owner_has_no_button(world: World, visitor: Visitor) -> None:
    ada = world.user()
    world.member(world.organization("acme", name="Acme"), ada, "owner")
    world.member(world.organization("bolt", name=HOSTILE), ada)
    await visitor.sign_in(EMAIL)

    form = await visitor.open(PAGE)
    page = await visitor.submit(form, f"{PAGE}/leave")

    assert form.text.count(f'action="{PAGE}/leave"') == 1
    assert HOSTILE not in form.text
    assert "You left the organization." in page.text
    assert world.rows("SELECT slug FROM organizations o JOIN memberships m ON m.organization_id = o.id") == [("acme",)]


async def test_an_owner_who_sends_the_form_all_the_same_is_refused(world: World, visitor: Visitor) -> None:
    ada = world.user()
    world.member(world.organization("acme"), ada, "owner")
    world.member(world.organization("bolt"), ada)
    await visitor.sign_in(EMAIL)

    page = await visitor.submit(await visitor.open(PAGE), f"{PAGE}/leave", org_slug="acme")

    assert page.status == 400
    assert 'role="alert"' in page.text


async def test_an_organization_of_others_cannot_be_left(world: World, visitor: Visitor) -> None:
    world.organization("secret")
    world.member(world.organization("bolt"), world.user())
    await visitor.sign_in(EMAIL)

    page = await visitor.submit(await visitor.open(PAGE), f"{PAGE}/leave", org_slug="secret")

    assert page.status == 403
