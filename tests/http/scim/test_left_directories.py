"""What becomes of groups when their directory is disconnected, and when a person is forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.scim import left_directories
from tests.world.directory import Directory, insert_directory, insert_scim_token

DAY = timedelta(days=1)


@pytest.fixture
async def ruled(groups: Directory) -> Directory:
    """A directory whose group Sales gives a role to one of its two members."""
    groups.team.custom_role("sales", "services.view")
    sales = await groups.create_group("Sales", "member", "admin")
    body = {"rules": [{"source": "scim", "group": sales, "role": "sales"}]}
    assert (await groups.team.request("owner", "PUT", "/group-rules", body=body)).status == 200
    return groups


async def sweep(directory: Directory) -> int:
    """Delete what its retention has ended, and return of how many organizations."""
    transact, count = directory.world.installation.database.transact, 0
    while await transact(left_directories.forget_next):
        count += 1
    return count


async def revoke(directory: Directory) -> None:
    [token] = (await directory.team.request("owner", "GET", "/scim-tokens")).json["tokens"]
    await directory.team.request("owner", "DELETE", f"/scim-tokens/{token['id']}")


def ended(directory: Directory, days: int) -> None:
    """Let the directory have left so many days ago."""
    directory.world.connection.execute(
        "UPDATE directory_ends SET ended_at = %s", (directory.world.clock() - days * DAY,)
    )


async def test_groups_and_what_they_give_stay_for_30_days(ruled: Directory) -> None:
    await revoke(ruled)
    ended(ruled, 29)
    assert await sweep(ruled) == 0
    assert ruled.team.role_of("member") == "sales"

    ended(ruled, 31)
    assert await sweep(ruled) == 1

    assert ruled.team.role_of("member") == "member"
    assert ruled.world.rows("SELECT count(*) FROM directory_groups") == [(0,)]
    assert ruled.world.rows("SELECT count(*) FROM group_rules") == [(0,)]
    [(_, _, recorded)] = ruled.world.events("group.deleted")
    assert recorded["reason"] == "directory_left"


async def test_another_token_keeps_them(ruled: Directory) -> None:
    insert_scim_token(ruled.world, ruled.organization_id, f"scim_live_xyz789_{'u' * 43}", groups="directory")
    ruled.world.connection.execute("DELETE FROM scim_tokens WHERE prefix = 'scim_live_abc123'")
    ended(ruled, 31)

    assert await sweep(ruled) == 0


async def test_a_token_that_has_expired_is_gone_as_well(ruled: Directory) -> None:
    at = ruled.world.clock()
    ruled.world.connection.execute("UPDATE scim_tokens SET expires_at = %s", (at - 29 * DAY,))
    assert await sweep(ruled) == 0

    ruled.world.connection.execute("UPDATE scim_tokens SET expires_at = %s", (at - 31 * DAY,))

    assert await sweep(ruled) == 1


async def test_a_token_that_is_made_meanwhile_keeps_them(ruled: Directory) -> None:
    await revoke(ruled)
    ended(ruled, 31)
    transact = ruled.world.installation.database.transact
    # As if it had been found before the token was there.
    insert_directory(ruled.team, f"scim_live_xyz789_{'u' * 43}", groups="directory")

    await transact(left_directories.forget, ruled.organization_id)

    assert ruled.team.role_of("member") == "sales"


async def test_deleting_the_organization_leaves_nothing(ruled: Directory) -> None:
    ruled.world.connection.execute("DELETE FROM organizations")

    for table in (
        "directory_groups",
        "directory_group_members",
        "directory_authorities",
        "group_rules",
        "directory_ends",
    ):
        assert ruled.world.value(f"SELECT count(*) FROM {table}") == 0, table


async def test_the_export_names_the_groups_and_forgetting_removes_the_places(ruled: Directory) -> None:
    member = ruled.team.ids["member"]
    exported = await ruled.world.client.get(f"/api/privacy/export/{member}", token=await ruled.team.token("member"))

    assert exported.status == 200, exported.text
    assert exported.json["groups"] == [
        {"organization_id": str(ruled.organization_id), "source": "scim", "name": "Sales"}
    ]
