"""The pages of the settings of an organization: its name and limits, leaving, the ownership, and the deletion."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PAGE = "/app/organizations/acme/settings"
OWNERSHIP = f"{PAGE}/ownership"
HOSTILE = "<b onclick=alert(1)>Bolt</b>"


@pytest.fixture
def acme(world: World) -> Team:
    """An organization with an owner, an admin and a member."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.add("cid", "member")
    return team


@pytest.fixture
async def ann(acme: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


def name_of(acme: Team) -> str:
    """Return the name of the organization."""
    return acme.world.value("SELECT name FROM organizations WHERE id = %s", acme.organization_id)


class TestSettings:
    """The name and the limits."""

    async def test_the_name_is_changed_and_the_limits_are_shown(self, acme: Team, ann: Visitor) -> None:
        acme.world.service(acme.organization_id, "shop")

        page = await ann.open(PAGE)
        saved = await ann.submit(page, PAGE, name="Acme & Sons")

        assert "<dd>acme</dd>" in page.text
        assert "Services: 1 of " in page.text
        assert "<meter" in page.text
        assert "Tier: " in page.text
        assert "The name is saved." in saved.text
        assert name_of(acme) == "Acme & Sons"

    async def test_an_invalid_name_is_refused_at_its_field(self, acme: Team, ann: Visitor) -> None:
        before = name_of(acme)
        for name in ("", "x", HOSTILE * 10):
            refused = await ann.submit(await ann.open(PAGE), PAGE, name=name)

            assert refused.status == 400
            assert 'aria-invalid="true"' in refused.text
            assert HOSTILE not in refused.text
        assert name_of(acme) == before

    async def test_a_name_that_was_changed_meanwhile_is_not_overwritten(self, acme: Team, ann: Visitor) -> None:
        form = await ann.open(PAGE)
        await ann.submit(form, PAGE, name="Of the other")

        refused = await ann.submit(form, PAGE, name="Mine")
        again = await ann.submit(refused, PAGE)

        assert refused.status == 409
        assert "Another person has changed the name of the organization meanwhile." in refused.text
        assert 'value="Mine"' in refused.text
        assert "The name is saved." in again.text
        assert name_of(acme) == "Mine"

    async def test_a_member_reads_it_and_finds_what_the_role_lacks(self, acme: Team, visitor: Visitor) -> None:
        await visitor.sign_in("cid@example.com")

        page = await visitor.open(PAGE)

        assert f'action="{PAGE}"' not in page.text
        assert "This needs <code>org.settings.manage</code>." in page.text
        assert "Only the owner can do this." in page.text
        assert f'href="{PAGE}/leave"' in page.text
        assert [(await visitor.open(path)).status for path in (OWNERSHIP, f"{PAGE}/delete")] == [403, 403]

    async def test_it_opens_while_the_organization_waits_for_approval(self, acme: Team, ann: Visitor) -> None:
        acme.world.connection.execute("UPDATE organizations SET status = 'pending'")

        page = await ann.open(PAGE)

        assert page.status == 200
        assert f'action="{PAGE}"' not in page.text


class TestLeaving:
    """Leaving the organization."""

    async def test_a_member_leaves_after_what_ends_was_said(self, acme: Team, visitor: Visitor) -> None:
        world, cid = acme.world, acme.ids["cid"]
        shop = world.service(acme.organization_id, "shop")
        world.grant(acme.organization_id, shop.id, cid, "viewer")
        await visitor.sign_in("cid@example.com")

        asked = await visitor.open(f"{PAGE}/leave")
        left = await visitor.submit(asked, f"{PAGE}/leave")

        assert "Your membership with the role member." in asked.text
        assert "The right to look after one service." in asked.text
        assert "You have left the organization." in left.text
        assert acme.role_of("cid") is None
        assert (await visitor.open(PAGE)).status == 403

    async def test_the_owner_cannot(self, acme: Team, visitor: Visitor) -> None:
        await visitor.sign_in("bob@example.com")
        form = await visitor.open(f"{PAGE}/leave")
        acme.world.connection.execute("UPDATE memberships SET role = 'member' WHERE role = 'owner'")
        acme.world.connection.execute("UPDATE memberships SET role = 'owner' WHERE role = 'admin'")

        refused = await visitor.submit(form, f"{PAGE}/leave")

        assert refused.status == 400
        assert "You own this organization." in refused.text
        assert f'action="{PAGE}/leave"' not in refused.text
        assert acme.role_of("bob") == "owner"


class TestOwnership:
    """Transferring the ownership."""

    async def test_the_new_owner_is_searched_and_what_changes_is_said(self, acme: Team, ann: Visitor) -> None:
        empty = await ann.open(OWNERSHIP)
        found = await ann.open(f"{OWNERSHIP}?search=BOB")
        asked = await ann.follow(found, OWNERSHIP)
        asked = await ann.open(f"{OWNERSHIP}?to={acme.ids['bob']}")
        done = await ann.submit(asked, OWNERSHIP)

        assert "bob@example.com" not in empty.text
        assert "bob@example.com" in found.text
        assert "cid@example.com" not in found.text
        assert "Make bob@example.com the owner?" in asked.text
        assert "You become an admin." in asked.text
        assert "The ownership is transferred." in done.text
        assert (acme.role_of("ann"), acme.role_of("bob")) == ("admin", "owner")
        assert (await ann.open(OWNERSHIP)).status == 403

    async def test_who_cannot_become_the_owner_is_no_choice_and_refused(self, acme: Team, ann: Visitor) -> None:
        asked = await ann.open(f"{OWNERSHIP}?to={acme.ids['cid']}")
        acme.world.connection.execute(
            "UPDATE memberships SET confirmed_at = NULL WHERE user_id = %s", (acme.ids["cid"],)
        )

        found = await ann.open(f"{OWNERSHIP}?search=cid")
        unconfirmed = await ann.submit(asked, OWNERSHIP)
        damaged = await ann.submit(asked, OWNERSHIP, new_owner_user_id="x")
        stranger = await ann.submit(asked, OWNERSHIP, new_owner_user_id=str(acme.user("eve")))
        own = await ann.submit(asked, OWNERSHIP, new_owner_user_id=str(acme.ids["ann"]))

        assert "?to=" not in found.text
        assert "Not confirmed yet" in found.text
        assert [one.status for one in (unconfirmed, damaged, stranger, own)] == [400] * 4
        assert "This person has not confirmed their membership." in unconfirmed.text
        assert "You are the owner already." in own.text
        assert "eve@example.com" not in stranger.text
        assert (await ann.open(f"{OWNERSHIP}?to={acme.ids['eve']}")).status == 404
        assert acme.role_of("ann") == "owner"

    async def test_it_asks_to_sign_in_again(self, acme: Team, ann: Visitor) -> None:
        form = await ann.open(f"{OWNERSHIP}?to={acme.ids['bob']}")
        acme.world.clock.advance(timedelta(minutes=11))

        asked, sent = await ann.open(OWNERSHIP), await ann.submit(form, OWNERSHIP)

        assert 'action="/app/sign-in-again"' in asked.text
        assert 'action="/app/sign-in-again"' in sent.text
        assert acme.role_of("ann") == "owner"


class TestDeletion:
    """Deleting the organization."""

    async def test_it_says_what_ends_in_numbers_and_takes_the_typed_slug(self, acme: Team, ann: Visitor) -> None:
        acme.world.service(acme.organization_id, "shop")
        asked = await ann.open(f"{PAGE}/delete")

        refused = await ann.submit(asked, f"{PAGE}/delete", slug=HOSTILE)
        deleted = await ann.submit(refused, f"{PAGE}/delete", slug=" acme ")

        assert "<dt>Members</dt><dd>3</dd>" in asked.text
        assert "<dt>Services</dt><dd>1</dd>" in asked.text
        assert refused.status == 400
        assert "This is not the slug of the organization." in refused.text
        assert HOSTILE not in refused.text
        assert "This waits for 14 days" in asked.text
        assert "The organization is deleted. You can restore it below for 14 days." in deleted.text
        assert acme.world.value("SELECT status FROM organizations WHERE slug = 'acme'") == "deleting"

    async def test_one_without_other_members_is_deleted_for_good(self, world: World, visitor: Visitor) -> None:
        world.member(world.organization("solo"), world.user("solo@example.com"), "owner")
        await visitor.sign_in("solo@example.com")
        page = "/app/organizations/solo/settings/delete"
        asked = await visitor.open(page)

        deleted = await visitor.submit(asked, page, slug="solo")

        assert "because it never had another member" in asked.text
        assert "The organization is deleted for good." in deleted.text
        assert world.value("SELECT count(*) FROM organizations WHERE slug = 'solo'") == 0

    async def test_it_asks_to_sign_in_again(self, acme: Team, ann: Visitor) -> None:
        form = await ann.open(f"{PAGE}/delete")
        acme.world.clock.advance(timedelta(minutes=11))

        asked, sent = await ann.open(f"{PAGE}/delete"), await ann.submit(form, f"{PAGE}/delete", slug="acme")

        assert 'action="/app/sign-in-again"' in asked.text
        assert 'action="/app/sign-in-again"' in sent.text
        assert acme.world.value("SELECT count(*) FROM organizations WHERE slug = 'acme'") == 1

    async def test_the_owner_of_another_organization_is_refused(self, acme: Team, ann: Visitor, world: World) -> None:
        world.team("globex").add("gus", "owner")
        form = await ann.open(f"{PAGE}/delete")
        gus = Visitor(client=ann.client)
        await gus.sign_in("gus@example.com")
        token = (await gus.open("/app/organizations")).text.partition('name="form_token" value="')[2].partition('"')[0]

        sent = await gus.post(f"{PAGE}/delete", {"form_token": token, "slug": "acme"})

        assert form.status == 200
        assert sent.status == 403
        assert acme.role_of("ann") == "owner"
