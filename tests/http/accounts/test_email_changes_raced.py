"""Several accounts ask for one address: the first that proves it gets it."""

from __future__ import annotations

from functools import partial

import pytest

from tests.concurrency import at_once, statuses_of
from tests.world.address_changes import NEW, ROUNDS, asked, prove, shown
from tests.world.builder import EMAIL
from tests.world.world import World

OTHER = "grace@example.com"


class TestWhoeverProvesFirst:
    """Of several accounts that want an address, the one that proves it first has it."""

    async def test_who_comes_second_is_told_so_and_keeps_the_present_address(self, world: World) -> None:
        mine = (await world.register_and_sign_in()).access_token
        theirs = (await world.register_and_sign_in(OTHER)).access_token
        my_link, their_link = (await asked(world, mine))[NEW], (await asked(world, theirs))[NEW]
        await prove(world, their_link)

        opened = await world.client.get(f"/auth/verify-email?token={my_link}")
        pressed = await prove(world, my_link)

        for answer in (opened, pressed):
            assert answer.status == 400
            assert "Another account has verified this email address in the meantime" in answer.text
        assert await shown(world, mine) == (EMAIL, True)
        assert await shown(world, theirs) == (NEW, True)

    @pytest.mark.long
    async def test_of_two_who_prove_at_once_exactly_one_has_the_address(self, world: World) -> None:
        tokens = [(await world.register_and_sign_in(email)).access_token for email in (EMAIL, OTHER)]
        for number in range(ROUNDS):
            new = f"new{number}@example.com"
            links = [(await asked(world, token, new))[new] for token in tokens]

            answers = await at_once(*[partial(prove, world, link) for link in links])

            assert statuses_of(answers) == [200, 400]
            assert [await shown(world, token) for token in tokens].count((new, True)) == 1

    @pytest.mark.long
    async def test_of_two_who_press_one_link_exactly_one_succeeds(self, world: World) -> None:
        token = (await world.register_and_sign_in()).access_token
        for number in range(ROUNDS):
            new = f"new{number}@example.com"
            link = (await asked(world, token, new))[new]

            assert statuses_of(await at_once(*[partial(prove, world, link)] * 2)) == [200, 400]

    async def test_an_account_that_never_proved_the_address_is_removed(self, world: World) -> None:
        acme, mine = world.organization(), (await world.register_and_sign_in()).access_token
        link = (await asked(world, mine))[NEW]
        await world.register(NEW, "a password of a stranger")
        [verification] = await world.mails()
        squatter = world.user_id(NEW)
        world.member(acme, squatter, "admin")

        assert (await prove(world, link)).status == 200

        assert world.rows("SELECT id FROM users WHERE email = %s", NEW) == [(world.user_id(NEW),)]
        assert world.user_id(NEW) != squatter
        assert (await world.log_in(NEW, "a password of a stranger")).status == 401
        assert (await prove(world, verification.values["token"])).status == 400
        # What was given to the address stays with it, unconfirmed.
        assert world.rows("SELECT user_id, role, confirmed_at FROM memberships") == [
            (world.user_id(NEW), "admin", None)
        ]
        assert world.audit_entries("user.removed", "target_id", "details") == []

    @pytest.mark.parametrize("power", ["platform owner", "owner"])
    async def test_an_unverified_account_that_governs_is_never_removed(self, world: World, power: str) -> None:
        mine = (await world.register_and_sign_in()).access_token
        link = (await asked(world, mine))[NEW]
        holder = world.user(NEW, is_verified=False, is_platform_owner=power == "platform owner")
        world.member(world.organization("bolt"), holder, "admin")
        world.member(world.organization("acme"), holder, "owner" if power == "owner" else "member")

        assert (await prove(world, link)).status == 400

        assert world.user_id(NEW) == holder
        assert len(world.rows("SELECT FROM memberships WHERE user_id = %s", holder)) == 2
        assert await shown(world, mine) == (EMAIL, True)

    @pytest.mark.long
    async def test_a_proof_beside_the_registration_of_the_same_address_leaves_one_account(self, world: World) -> None:
        mine = (await world.register_and_sign_in()).access_token
        for number in range(ROUNDS):
            new = f"new{number}@example.com"
            link = (await asked(world, mine, new))[new]

            answers = await at_once(partial(prove, world, link), partial(world.register, new))

            assert statuses_of(answers) in ([200, 200], [200, 409])
            assert await shown(world, mine) == (new, True)

    @pytest.mark.long
    async def test_a_proof_beside_the_other_accounts_own_verification_lets_exactly_one_have_the_address(
        self, world: World
    ) -> None:
        mine = (await world.register_and_sign_in()).access_token
        for number in range(ROUNDS):
            new = f"new{number}@example.com"
            link = (await asked(world, mine, new))[new]
            await world.register(new)
            theirs = (await world.mail()).values["token"]

            answers = await at_once(partial(prove, world, link), partial(prove, world, theirs, as_program=True))

            assert statuses_of(answers) == [200, 400]
            assert world.value("SELECT email_verified_at IS NOT NULL FROM users WHERE email = %s", new) is True
