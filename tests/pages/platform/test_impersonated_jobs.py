"""Jobs that begin while a platform owner acts as another user: they name both, and end with the impersonation."""

from __future__ import annotations

import re

from core.platform.bulk_work import ROWS_AT_ONCE
from tests.world.callers import ACME, Caller, Callers
from tests.world.jobs import lease, work_off, worker_of
from tests.world.visitor import Visitor

INVITED = f"/app/organizations/{ACME}/people/invited"
STOP = "/app/impersonation/stop"
MANY = 120


async def test_a_job_ends_when_its_maker_is_acted_as_no_longer(platform_owner: Visitor, callers: Callers) -> None:
    installation, world = callers.world.installation, callers.world
    begin = f"/app/platform/users/{callers.people[Caller.ADMIN]}/impersonation"
    acting = await platform_owner.submit(await platform_owner.open(begin), begin, reason="Ticket 4711")
    assert "You act as" in acting.text
    lines = "\n".join(f"p{number}@example.org" for number in range(MANY))
    begun = await platform_owner.submit(
        await platform_owner.open(INVITED), INVITED, emails=lines, role="member", is_followed=False
    )
    path = begun.headers["Location"].partition("?")[0]
    [leased] = await lease(installation)
    await worker_of(installation).serve(leased)

    await platform_owner.submit(await platform_owner.open(path), STOP)
    await work_off(installation)

    invited = world.rows(
        "SELECT actor_user_id, details ->> 'impersonator_id' FROM audit_entries WHERE action = %s", "user.invited"
    )
    assert (
        invited
        == [
            (callers.people[Caller.ADMIN], str(callers.people[Caller.PLATFORM_OWNER])),
        ]
        * ROWS_AT_ONCE
    )
    assert world.rows("SELECT state, done, refused FROM bulk_jobs") == [("ended", ROWS_AT_ONCE, 0)]
    # The owner is themselves again, and no member there.
    assert (await platform_owner.open(path)).status in {403, 404}
    assert re.search("Ticket 4711", str(await world.mails())) is None
