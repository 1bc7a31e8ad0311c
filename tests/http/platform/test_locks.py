"""Support locks and unlocks the accounts that it may help."""

from __future__ import annotations

from tests.world.builder import PASSWORD
from tests.world.support import SupportDesk
from tests.world.world import assert_refused


async def test_support_locks_and_unlocks_an_account(desk: SupportDesk) -> None:
    world = desk.world
    user_id = world.user("ada@example.com")
    hers = await world.sign_in("ada@example.com")
    path = f"/api/platform/users/{user_id}"

    locked = await desk.request("POST", f"{path}/lock")
    assert locked.status == 204, locked.text
    assert (await world.client.get("/api/user", token=hers.access_token)).status == 401
    assert (await desk.request("GET", path)).json["user"]["locked_at"] is not None
    unlocked = await desk.request("POST", f"{path}/unlock")

    assert unlocked.status == 204, unlocked.text
    assert (await desk.request("GET", path)).json["user"]["locked_at"] is None
    # The password stays void.
    assert (await world.log_in("ada@example.com", PASSWORD)).status == 401
    actions = [action for (action,) in world.platform_audit_entries(None, "action")]
    assert actions.count("user.locked") == actions.count("user.unlocked") == 1


async def test_a_platform_owner_does_not_exist_to_support(desk: SupportDesk) -> None:
    owner_id = desk.world.value("SELECT id FROM users WHERE is_platform_owner")

    for what in ("lock", "unlock"):
        assert_refused(await desk.request("POST", f"/api/platform/users/{owner_id}/{what}"), 404, "NOT_FOUND")
    assert desk.world.value("SELECT count(*) FROM users WHERE locked_at IS NOT NULL") == 0
