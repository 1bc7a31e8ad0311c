"""Approving and rejecting more organizations than a page shows: a job of the platform."""

from __future__ import annotations

import re

import pytest

from tests.application import Answer
from tests.world.callers import Callers
from tests.world.jobs import work_off
from tests.world.visitor import Visitor

ORGANIZATIONS = "/app/platform/organizations"
APPROVALS = f"{ORGANIZATIONS}/approvals"
PENDING = f"{ORGANIZATIONS}?status=pending"
JOBS = "/app/platform/jobs"
MANY = 30


@pytest.fixture
def pending(callers: Callers) -> Callers:
    """More organizations that wait for approval than a page shows."""
    for number in range(MANY):
        callers.world.set_organization_status(callers.world.organization(f"new-{number}"), "pending")
    return callers


async def decide(owner: Visitor, decision: str, **fields: str) -> Answer:
    """Decide about all organizations that wait."""
    page = await owner.open(PENDING)
    action = re.findall(r'action="([^"]*/approvals[^"]*)"', page.text)[0].replace("&amp;", "&")
    return await owner.submit(page, action, {"decision": decision, "all": "on", **fields}, is_followed=False)


def statuses(callers: Callers) -> list[tuple[str, int]]:
    """Count the organizations by status."""
    return callers.world.connection.execute(
        "SELECT status, count(*) FROM organizations GROUP BY status ORDER BY status"
    ).fetchall()


async def test_all_organizations_that_wait_are_approved_in_the_background(
    pending: Callers, platform_owner: Visitor
) -> None:
    assert f"All {MANY} that are found, not only the chosen" in (await platform_owner.open(PENDING)).text

    begun = await decide(platform_owner, "approve")
    await work_off(pending.world.installation)

    path = begun.headers["Location"].partition("?")[0]
    page = await platform_owner.open(path)
    assert "Approve organizations" in page.text
    assert re.findall(r"<dd><a [^>]+>(\d+)<span", page.text) == [str(MANY), "0", "0"]
    assert statuses(pending) == [("active", MANY + 3)]
    rows = (await platform_owner.open(f"{path}/rows.csv")).text.splitlines()
    assert len(rows) == MANY + 1
    assert "(new-7)" in "".join(rows)
    assert path in (await platform_owner.open(JOBS)).text


async def test_all_are_rejected_with_a_reason_and_one_that_was_decided_is_left(
    pending: Callers, platform_owner: Visitor
) -> None:
    without = await decide(platform_owner, "reject")
    assert without.status == 400

    begun = await decide(platform_owner, "reject", reason="Not for companies.")
    pending.world.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = 'new-7'")
    await work_off(pending.world.installation)

    assert statuses(pending) == [("active", 4), ("rejected", MANY - 1)]
    page = await platform_owner.open(f"{begun.headers['Location'].partition('?')[0]}?state=refused")
    assert re.findall(r"<dd><a [^>]+>(\d+)<span", page.text) == [str(MANY - 1), "1", "0"]


async def test_a_job_of_the_platform_ends_when_its_maker_is_no_owner_any_more_and_can_be_stopped(
    pending: Callers, platform_owner: Visitor, support: Visitor
) -> None:
    begun = await decide(platform_owner, "approve")
    path = begun.headers["Location"].partition("?")[0]
    assert (await support.open(path)).status == 403

    stopped = await platform_owner.submit(await platform_owner.open(path), f"{path}/stop")
    begun = await decide(platform_owner, "approve")
    pending.world.connection.execute("UPDATE users SET is_platform_owner = false")
    await work_off(pending.world.installation)

    assert "Stopped" in stopped.text
    assert statuses(pending) == [("active", 3), ("pending", MANY)]
    pending.world.connection.execute(
        "UPDATE users SET is_platform_owner = true WHERE email = 'platform_owner@example.com'"
    )
    ended = await platform_owner.open(begun.headers["Location"].partition("?")[0])
    assert "Only a platform owner can do this." in ended.text


async def test_a_job_of_an_organization_is_none_of_the_platform(pending: Callers, platform_owner: Visitor) -> None:
    assert (await platform_owner.open(f"{JOBS}/01a204cd-ddd1-70ca-bd5b-fd94b16b010b")).status == 404
    page = await platform_owner.open(PENDING)
    pending.world.set_organization_status(pending.world.organization("one-more"), "pending")
    action = re.findall(r'action="([^"]*/approvals[^"]*)"', page.text)[0].replace("&amp;", "&")

    changed = await platform_owner.submit(page, action, {"decision": "approve", "all": "on"})

    assert changed.status == 409
    assert "The number of matches has changed" in changed.text
