"""The records of refused sign-ins, and how many of them strangers can cause."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest

from core.accounts.sign_in_methods import Provider
from core.errors import Conflict
from core.sign_in import login_events as refusals
from core.sign_in.proofs import Destination, UsedWay
from core.sign_in.reasons import ROWS_MAX, SignInReason
from entrypoints.installation import Installation
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.http.sign_in.sign_ins import MEMBER, everywhere, reasons, refuse
from tests.world.signing_in import SignedInUser
from tests.world.team import Team
from tests.world.world import World


@pytest.fixture
async def root(world: World) -> SignedInUser:
    """A platform owner."""
    return await world.signed_in_platform_owner()


class TestTraces:
    """What a refusal leaves behind that has rolled everything else back."""

    async def test_a_refused_destination_leaves_its_reason_and_nothing_else(
        self, team: Team, root: SignedInUser
    ) -> None:
        team.world.organization("globex")
        before = team.world.value("SELECT count(*) FROM events")

        answer = await team.world.log_in(MEMBER, org_slug="globex")

        assert answer.status == 403
        assert [shown["reason"] for shown in await everywhere(root, team.ids["member"])] == ["not_a_member"]
        assert team.world.value("SELECT count(*) FROM events") == before
        assert team.world.value("SELECT count(*) FROM sessions WHERE user_id = %s", team.ids["member"]) == 0

    async def test_an_account_that_was_forgotten_meanwhile_gets_no_event(
        self, team: Team, root: SignedInUser, installation: Installation
    ) -> None:
        user_id = team.ids["member"]
        forgotten = await root.client.request("DELETE", f"/api/privacy/forget/{user_id}", token=root.token)
        assert forgotten.status == 200

        await installation.database.transact(
            refusals.note_refusal, user_id, UsedWay(Provider.PASSWORD), Destination(), SignInReason.NOT_A_MEMBER
        )

        assert team.world.value("SELECT count(*) FROM login_events WHERE user_id = %s", user_id) == 0

    async def test_a_refusal_for_another_cause_leaves_nothing(self) -> None:
        refusal = refusals.noted_refusal(Conflict(), uuid4(), UsedWay(Provider.PASSWORD), Destination())

        assert refusal.trace is None


class TestBounds:
    """What strangers cause is bounded."""

    async def test_of_many_refusals_of_a_kind_a_hundred_are_kept_in_fifteen_minutes(
        self, team: Team, clock: SettableClock
    ) -> None:
        await team.world.log_in(MEMBER, "wrong")
        team.world.connection.execute(
            """
            INSERT INTO recent_refusals (id, user_id, organization_id, reason, created_at)
            SELECT gen_random_uuid(), user_id, organization_id, reason, created_at
            FROM   recent_refusals, generate_series(2, %s)
            WHERE  user_id = %s AND reason = 'wrong_password'
            """,
            (ROWS_MAX, team.ids["member"]),
        )

        def total() -> int:
            return team.world.value("SELECT count(*) FROM login_events WHERE NOT success")

        await team.world.log_in(MEMBER, "wrong")
        assert total() == 1
        await refuse(team)
        await team.world.log_in(MEMBER, org_slug="nowhere")
        assert total() == 2
        clock.advance(timedelta(minutes=15, seconds=1))
        await team.world.log_in(MEMBER, "wrong")
        assert total() == 3

    async def test_refusals_of_right_passwords_do_not_raise_the_risk(self, team: Team, root: SignedInUser) -> None:
        team.world.organization("globex")
        await team.world.log_in(MEMBER, org_slug="globex")
        await team.world.log_in(MEMBER, org_slug="globex")

        await team.world.sign_in(MEMBER)

        assert (await everywhere(root, team.ids["member"]))[0]["risk_factors"] == ["new_device"]

    async def test_the_counts_of_sign_ins_stay_those_of_successes(self, team: Team) -> None:
        await team.world.sign_in(MEMBER, org_slug="acme")
        await refuse(team, 3)

        for name in ("login-trends", "logins-by-provider", "logins-by-service"):
            counted = await team.request("owner", "GET", f"/analytics/{name}")
            assert sum(row["count"] for row in counted.json) <= 1
        recent = await team.request("owner", "GET", "/analytics/recent-logins")
        assert len(recent.json) == 1

    async def test_two_refusals_at_once_are_both_kept(self, team: Team) -> None:
        await at_once(*[partial(team.world.log_in, MEMBER, "wrong", org_slug="acme")] * 2)

        assert await reasons(team) == [("refused", "wrong_password")] * 2
