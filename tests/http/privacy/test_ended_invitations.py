"""Invitations go 400 days after their answer, and leave nothing that a later anonymization would not find."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.audit_chains import seal_all, verify
from tests.http.privacy.anonymizing import anonymize
from tests.world.platform import Platform
from tests.world.team import Team
from tests.world.world import World

KEPT_FOR = Leftover.INVITATIONS.kept_for
MOMENT = timedelta(seconds=1)
CARL = "carl@example.com"
NETWORK = "203.0.113.77"
USER_AGENT = "Quixotic/9.9"
ORIGINS = "SELECT ip_address, user_agent FROM audit_entries WHERE action = %s"


@pytest.fixture
def team(world: World) -> Team:
    """An organization with an owner."""
    team = world.team()
    team.add("head", "owner")
    return team


@pytest.fixture
def sweep(transact: Callable[..., Any]) -> Callable[[], int]:
    """Deletes the invitations that are kept no longer, and returns how many these were."""
    return partial(transact, housekeeping.sweep, Leftover.INVITATIONS, KEPT_FOR, 100)


async def invite(team: Team, email: str = CARL) -> str:
    """Invite an address, and return the token."""
    invited = await team.request("head", "POST", "/invitations", body={"email": email, "role": "member"})
    assert invited.status == 200, invited.text
    return invited.json["token"]


async def decline(team: Team, token: str) -> None:
    """Decline an invitation without signing in."""
    answer = await team.world.client.post(
        "/api/invitations/decline", body={"token": token}, address=NETWORK, headers={"User-Agent": USER_AGENT}
    )
    assert answer.status == 200, answer.text


def left(world: World) -> list[str]:
    """Return the addresses of the invitations that are left."""
    return [email for (email,) in world.rows("SELECT email FROM invitations ORDER BY email")]


async def test_an_invitation_is_deleted_400_days_after_its_answer(team: Team, sweep: Callable[[], int]) -> None:
    token = await invite(team)
    team.world.clock.advance(timedelta(days=3))
    await decline(team, token)

    team.world.clock.advance(KEPT_FOR - MOMENT)
    assert sweep() == 0
    team.world.clock.advance(MOMENT)
    assert sweep() == 1

    assert left(team.world) == []


async def test_one_that_ended_without_an_answer_counts_from_its_end_and_one_that_waits_stays(
    team: Team, sweep: Callable[[], int]
) -> None:
    for name in ("expired", "pending"):
        await invite(team, f"{name}@example.com")
    team.world.rows("UPDATE invitations SET status = 'expired' WHERE email LIKE 'expired%%' RETURNING id")

    team.world.clock.advance(timedelta(days=7) + KEPT_FOR - MOMENT)
    assert sweep() == 0
    team.world.clock.advance(MOMENT)
    assert sweep() == 1

    assert left(team.world) == ["pending@example.com"]


async def test_the_origin_of_an_answer_without_a_sign_in_goes_with_the_invitation(
    team: Team, sweep: Callable[[], int], transact: Callable[..., Any]
) -> None:
    await decline(team, await invite(team))
    seal_all(transact)
    world = team.world
    assert world.rows(ORIGINS, "invitation.declined") == [(NETWORK, USER_AGENT)]
    invited = world.rows(ORIGINS, "user.invited")

    world.clock.advance(KEPT_FOR)
    assert sweep() == 1

    assert world.rows(ORIGINS, "invitation.declined") == [("0.0.0.0", "anonymized")]
    # The inviter signed in, and can be forgotten.
    assert world.rows(ORIGINS, "user.invited") == invited
    assert transact(verify, team.organization_id) == 2
    [(salts,)] = world.rows(
        """
        SELECT s.salts
        FROM   audit_seals s JOIN audit_entries e ON e.organization_id = s.organization_id AND e.id = s.entry_id
        WHERE  e.action = 'invitation.declined'
        """
    )
    assert not {"ip_address", "user_agent"} & salts.keys()


async def test_an_entry_that_is_sealed_only_afterwards_fits_as_well(
    team: Team, sweep: Callable[[], int], transact: Callable[..., Any]
) -> None:
    await decline(team, await invite(team))
    team.world.clock.advance(KEPT_FOR)
    assert sweep() == 1

    seal_all(transact)

    assert transact(verify, team.organization_id) == 2


async def test_what_a_program_did_with_a_key_keeps_its_origin(team: Team, sweep: Callable[[], int]) -> None:
    await decline(team, await invite(team))
    world = team.world
    world.rows(
        """
        UPDATE audit_entries
        SET    details = '{"organization_key_id": "1"}', actor_user_id = NULL
        WHERE  action = 'user.invited'
        RETURNING id
        """
    )
    before = world.rows(ORIGINS, "user.invited")
    world.clock.advance(KEPT_FOR)

    assert sweep() == 1

    assert world.rows(ORIGINS, "user.invited") == before
    assert before[0][0] is not None


async def test_a_person_who_is_forgotten_after_the_invitation_went_leaves_no_trace(
    platform: Platform, team: Team, sweep: Callable[[], int], transact: Callable[..., Any]
) -> None:
    await decline(team, await invite(team))
    seal_all(transact)
    team.world.clock.advance(KEPT_FOR)
    assert sweep() == 1
    carl = team.user("carl")

    root = await team.world.signed_in_platform_owner("other@example.com")
    assert (await anonymize(platform, carl, by=root.tokens)).status == 200

    for table in ("audit_entries", "events", "invitations", "mails", "audit_seals", "platform_audit_entries"):
        for trace in (CARL, NETWORK, USER_AGENT):
            found = team.world.value(f"SELECT count(*) FROM {table} x WHERE x::text LIKE %s", f"%{trace}%")
            assert found == 0, (table, trace)
    assert transact(verify, team.organization_id) >= 2
