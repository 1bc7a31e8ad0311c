"""Anonymization removes personal data from sealed entries, and the chains of the audit logs stay verifiable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from core.audit.chain_verification import ChainBroken
from tests.audit_chains import add_entry, seal_all, verify
from tests.http.privacy.anonymizing import anonymize
from tests.world.platform import Platform
from tests.world.team import Team
from tests.world.world import World

Transact = Callable[..., Any]


BOB = "bob@example.com"


@pytest.fixture
def team(world: World) -> Team:
    """An organization with an owner who is no platform owner."""
    team = world.team()
    team.add("head", "owner")
    return team


@pytest.fixture
async def sealed_log(team: Team, transact: Transact) -> UUID:
    """A sealed log with entries by a member, about the member's address, and about others."""
    bob = team.add("bob", "admin")
    body = {"email": "eve@example.com", "role": "member"}
    assert (await team.request("bob", "POST", "/invitations", body=body)).status == 200
    add_entry(team.world.connection, team.organization_id, team.world.clock, reason=f"Asked by {BOB}.", count=3)
    add_entry(team.world.connection, team.organization_id, team.world.clock, reason="Asked by eve@example.com.")
    await decline(team)
    seal_all(transact)
    return bob


async def decline(team: Team) -> None:
    """Decline an invitation without signing in; only the invitation shows whose answer that is."""
    body = {"email": "carl@example.com", "role": "member"}
    invited = await team.request("head", "POST", "/invitations", body=body)
    answer = await team.world.client.post("/api/invitations/decline", body={"token": invited.json["token"]})
    assert answer.status == 200, answer.text
    team.user("carl")


def salts(team: Team) -> list[list[str]]:
    """Return the names of the fields that have salts, by the position of the entry."""
    found = team.world.rows("SELECT salts FROM audit_seals ORDER BY position")
    return [sorted(names) for (names,) in found]


async def test_the_chain_still_fits_and_what_was_removed_has_no_salt(
    platform: Platform, team: Team, sealed_log: UUID, transact: Transact
) -> None:
    before = salts(team)

    assert (await anonymize(platform, sealed_log)).status == 200

    by_bob, about_bob, *others = zip(before, salts(team), strict=True)
    assert by_bob == (
        ["details.invited_email", "details.role", "ip_address", "user_agent"],
        ["details.invited_email", "details.role"],
    )
    assert about_bob[1] == ["details.count", "ip_address", "user_agent"]
    assert all(now == then for then, now in others)
    # The anonymization and the end of the invitation that the user had sent are entries of the same organization.
    seal_all(transact)
    assert transact(verify, team.organization_id) == len(before) + 2


async def test_the_origin_of_an_invitation_that_was_declined_without_signing_in_has_no_salt(
    platform: Platform, team: Team, sealed_log: UUID, transact: Transact
) -> None:
    assert (await anonymize(platform, team.ids["carl"])).status == 200

    [(names,)] = team.world.rows(
        """
        SELECT s.salts
        FROM   audit_seals s JOIN audit_entries e ON e.organization_id = s.organization_id AND e.id = s.entry_id
        WHERE  e.action = 'invitation.declined'
        """
    )
    assert not {"ip_address", "user_agent"} & names.keys()
    assert transact(verify, team.organization_id)


async def test_a_value_cannot_be_changed_in_the_name_of_an_anonymization(
    platform: Platform, team: Team, sealed_log: UUID, transact: Transact
) -> None:
    await anonymize(platform, sealed_log)
    team.world.connection.execute(
        "UPDATE audit_entries SET details = %s WHERE details ? 'count'",
        (Jsonb({"reason": "Asked by eve.", "count": 3}),),
    )

    with pytest.raises(ChainBroken, match=r"Entry 2 .* was changed: the field details\.reason has no salt"):
        transact(verify, team.organization_id)


async def test_an_entry_that_is_sealed_after_the_anonymization_fits_as_well(
    platform: Platform, team: Team, transact: Transact
) -> None:
    bob = team.add("bob", "admin")
    await team.request("bob", "POST", "/invitations", body={"email": "eve@example.com", "role": "member"})

    await anonymize(platform, bob)
    seal_all(transact)

    actions = team.world.rows("SELECT action FROM audit_entries ORDER BY position")
    assert actions == [("user.invited",), ("user.anonymized",), ("invitation.revoked",)]
    assert transact(verify, team.organization_id) == len(actions)
