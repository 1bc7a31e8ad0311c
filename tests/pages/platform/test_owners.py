"""The pages of the platform's owners and its support."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import UUID

import pytest

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.pages.platform.conftest import browser_of
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor
from tests.world.world import World

OWNERS = "/app/platform/owners"
SUPPORT = f"{OWNERS}/support"
GRACE = "grace@example.com"
REASON = "She works elsewhere now."


@pytest.fixture
def grace(world: World) -> UUID:
    """A user with a second factor."""
    return world.user(GRACE, has_mfa=True)


def make_owner(world: World, email: str) -> None:
    world.connection.execute("UPDATE users SET is_platform_owner = true WHERE email = %s", (email,))


def is_owner(world: World, email: str = GRACE) -> bool:
    return world.value("SELECT is_platform_owner FROM users WHERE email = %s", email)


def is_support(world: World, email: str = GRACE) -> bool:
    return world.value("SELECT is_platform_support FROM users WHERE email = %s", email)


class TestList:
    """Who they are, and what protects their accounts."""

    async def test_owners_and_support_are_listed_with_their_protection(
        self, platform_owner: Visitor, world: World
    ) -> None:
        world.connection.execute(
            "UPDATE users SET name = '<script>alert(1)</script>' WHERE email = 'platform_owner@example.com'"
        )

        text = (await platform_owner.open(OWNERS)).text

        assert "platform_owner@example.com" in text
        assert "&lt;script&gt;" in text
        assert "<script>alert" not in text
        assert "support_without_factor@example.com" in text
        assert "no second factor" in text
        assert "not recorded" in text
        assert "That is you." in text
        assert "/api/platform/owners" in text

    async def test_support_may_not_open_it(self, support: Visitor) -> None:
        assert (await support.open(OWNERS)).status == 403


class TestAppoint:
    """Appointing a person by their address."""

    async def test_an_owner_is_appointed_and_since_when_is_shown(
        self, platform_owner: Visitor, grace: UUID, world: World
    ) -> None:
        page = await platform_owner.submit(await platform_owner.open(OWNERS), OWNERS, owner=" Grace@Example.com ")

        assert "This person is a platform owner" in page.text
        assert is_owner(world)
        assert f'href="{OWNERS}/{grace}/demote"' in page.text
        assert [entry[1:] for entry in world.platform_audit_entries("platform_owner.promoted")] == [(str(grace), {})]

    async def test_a_person_of_the_support_is_appointed(
        self, platform_owner: Visitor, grace: UUID, world: World
    ) -> None:
        page = await platform_owner.submit(await platform_owner.open(OWNERS), SUPPORT, support=GRACE)

        assert "now belongs to the platform&#39;s support, from their next request" in page.text
        assert is_support(world)
        assert f'href="{SUPPORT}/{grace}/demote"' in page.text

    async def test_what_is_refused_is_said_at_the_form_and_what_was_typed_stays(self, platform_owner: Visitor) -> None:
        form = await platform_owner.open(OWNERS)

        for typed, status, words in (
            ("nowhere@example.com", 404, "No account has this email address."),
            ("the boss", 400, "email address"),
            ("", 400, "email address"),
            ("platform_owner@example.com", 409, "already a platform owner"),
            (f"{'a' * 300}@example.com", 400, "email address"),
        ):
            page = await platform_owner.submit(form, OWNERS, owner=typed)

            assert page.status == status, typed
            problem = page.text.split('id="owner-problem">')[1].partition("<")[0]
            assert words in problem, typed
            assert f'value="{typed}"' in page.text

    async def test_support_needs_a_second_factor_and_the_problem_stands_at_its_form(
        self, platform_owner: Visitor, world: World
    ) -> None:
        world.user(GRACE)

        page = await platform_owner.submit(await platform_owner.open(OWNERS), SUPPORT, support=GRACE)

        assert page.status == 409
        assert 'id="new-support-problem">This user has no second factor.' in page.text
        assert 'id="owner-problem"' not in page.text
        assert not is_support(world)

    async def test_a_session_of_yesterday_signs_in_again_first_and_keeps_what_was_typed(
        self, platform_owner: Visitor, grace: UUID, world: World, clock: SettableClock
    ) -> None:
        page = await platform_owner.open(OWNERS)
        clock.advance(timedelta(hours=1))

        asked = await platform_owner.submit(page, OWNERS, owner=GRACE)

        assert not is_owner(world)
        assert "Sign in again" in asked.text
        assert f'value="{GRACE}"' in (await platform_owner.open(f"{OWNERS}?owner={GRACE}")).text

    async def test_an_address_that_a_link_fills_in_is_pointed_out(self, platform_owner: Visitor) -> None:
        filled_in = (await platform_owner.open(f"{OWNERS}?support=eve@example.com")).text

        assert "The address below comes from the link that led here." in filled_in
        assert "comes from the link" not in (await platform_owner.open(OWNERS)).text


class TestDemote:
    """Demoting, on a page of its own."""

    async def test_the_page_says_what_it_means_and_the_reason_is_recorded(
        self, platform_owner: Visitor, grace: UUID, world: World
    ) -> None:
        make_owner(world, GRACE)
        asked = await platform_owner.follow(await platform_owner.open(OWNERS), f"{OWNERS}/{grace}/demote")

        assert "One owner remains who can sign in: you." in asked.text
        page = await platform_owner.submit(asked, f"{OWNERS}/{grace}/demote", reason=REASON)

        assert "is no platform owner any more" in page.text
        assert not is_owner(world)
        [(_, target, details)] = world.platform_audit_entries("platform_owner.demoted")
        assert (target, details) == (str(grace), {"reason": REASON})

    async def test_the_support_is_demoted(self, platform_owner: Visitor, grace: UUID, world: World) -> None:
        world.connection.execute("UPDATE users SET is_platform_support = true WHERE id = %s", (grace,))
        asked = await platform_owner.open(f"{SUPPORT}/{grace}/demote")

        refused = await platform_owner.submit(asked, f"{SUPPORT}/{grace}/demote", reason=" ")
        assert (refused.status, "A reason has 1 to" in refused.text) == (400, True)
        page = await platform_owner.submit(refused, f"{SUPPORT}/{grace}/demote", reason=REASON)

        assert "no longer belongs to the platform&#39;s support" in page.text
        assert not is_support(world)
        again = await platform_owner.submit(asked, f"{SUPPORT}/{grace}/demote", reason=REASON)
        assert (again.status, "does not belong to the platform&#39;s support" in again.text) == (404, True)

    async def test_a_reason_is_required_and_what_was_typed_stays(
        self, platform_owner: Visitor, grace: UUID, world: World
    ) -> None:
        make_owner(world, GRACE)
        asked = await platform_owner.open(f"{OWNERS}/{grace}/demote")

        page = await platform_owner.submit(asked, f"{OWNERS}/{grace}/demote", reason="x" * 1001)

        assert page.status == 400
        assert "A reason has 1 to" in page.text
        assert "x" * 1001 in page.text
        assert is_owner(world)

    async def test_not_oneself(self, platform_owner: Visitor, callers: Callers, world: World) -> None:
        own = f"{OWNERS}/{callers.people[Caller.PLATFORM_OWNER]}/demote"

        page = await platform_owner.open(own)
        sent = await platform_owner.submit(page, OWNERS, is_followed=False)
        forged = await platform_owner.post(own, {"form_token": _token_of(page.text), "reason": REASON})

        assert (page.status, sent.status, forged.status) == (400, 400, 400)
        assert "You cannot demote yourself." in page.text
        assert "You cannot demote yourself." in forged.text
        assert is_owner(world, "platform_owner@example.com")

    async def test_of_a_person_without_the_role_the_list_is_shown(
        self, platform_owner: Visitor, grace: UUID, subtests: pytest.Subtests
    ) -> None:
        for path, words in (
            (f"{OWNERS}/{grace}/demote", "There is no such platform owner."),
            (f"{SUPPORT}/{grace}/demote", "does not belong to the platform&#39;s support"),
        ):
            with subtests.test(path=path):
                page = await platform_owner.open(path)

                assert (page.status, words in page.text) == (404, True)
                assert "platform_owner@example.com" in page.text

    async def test_an_owner_who_is_demoted_meanwhile_changes_nothing_more(
        self, platform_owner: Visitor, grace: UUID, world: World
    ) -> None:
        make_owner(world, GRACE)
        asked = await platform_owner.open(f"{OWNERS}/{grace}/demote")
        listed = await platform_owner.open(OWNERS)
        world.connection.execute(
            "UPDATE users SET is_platform_owner = false WHERE email = 'platform_owner@example.com'"
        )

        answers = [
            await platform_owner.submit(asked, f"{OWNERS}/{grace}/demote", reason=REASON),
            await platform_owner.submit(listed, OWNERS, owner="stranger@example.com"),
            await platform_owner.submit(listed, SUPPORT, support=GRACE),
            await platform_owner.open(OWNERS),
        ]

        assert [answer.status for answer in answers] == [403] * 4
        assert is_owner(world)
        assert not is_owner(world, "stranger@example.com")
        assert world.platform_audit_entries("platform_owner.demoted") == []

    async def test_of_two_owners_who_demote_each_other_one_remains(
        self, platform_owner: Visitor, callers: Callers, world: World
    ) -> None:
        make_owner(world, "stranger@example.com")
        other = browser_of(callers, Caller.STRANGER)
        paths = {
            one: f"{OWNERS}/{callers.people[of]}/demote"
            for one, of in (("first", Caller.STRANGER), ("second", Caller.PLATFORM_OWNER))
        }
        pages = [await platform_owner.open(paths["first"]), await other.open(paths["second"])]

        answers = await at_once(
            partial(platform_owner.submit, pages[0], paths["first"], reason=REASON, is_followed=False),
            partial(other.submit, pages[1], paths["second"], reason=REASON, is_followed=False),
        )

        assert sorted(answer.status for answer in answers) == [303, 403]
        assert world.value("SELECT count(*) FROM users WHERE is_platform_owner") == 1
        assert len(world.platform_audit_entries("platform_owner.demoted")) == 1


def _token_of(text: str) -> str:
    return text.split('name="form_token" value="')[1].partition('"')[0]
