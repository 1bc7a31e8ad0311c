"""Actions on more members than one form takes: a job, which acts as its maker, row by row."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import trio

from core.errors import BadRequest
from core.invitations import invitations
from core.mail.limits import MailLimit
from core.organizations import bulk_jobs
from core.organizations.bulk_jobs import UNFINISHED_MAX, JobKind, WantedRow
from core.platform import bulk_work
from core.platform.bulk_work import LEASED_FOR, ROWS_AT_ONCE, LeaseLost
from core.sessions.origins import BACKGROUND
from ports.mailboxes import Drain
from tests.application import Answer, with_mail_limits
from tests.shown_text import shows
from tests.waiting import eventually
from tests.world.jobs import lease, work_off, worker_of
from tests.world.platform import Platform
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

PEOPLE = "/app/organizations/acme/people"
CHANGE = f"{PEOPLE}/selected/change"
JOBS = "/app/organizations/acme/jobs"
MANY = 103
LEFT_OUT = 7


@pytest.fixture
def crowd(world: World) -> Team:
    """An organization with an owner, an admin, a clerk, and so many members that they become a job."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "admin")
    team.custom_role("clerk", "org.members.view")
    team.add("cleo", "clerk")
    for number in range(MANY):
        team.add(f"m{number}", "member")
    return team


@pytest.fixture
async def ann(crowd: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor


async def send(visitor: Visitor, page: Answer, action: str, **fields: str) -> Answer:
    """Send the form of a page, with these fields, and return what it answers."""
    return await visitor.submit(page, action, fields, is_followed=False)


async def begin(visitor: Visitor, action: str = "change", **fields: str) -> str:
    """Begin a job for all members with the role of a member, and return the path of its page."""
    page = await visitor.open(f"{PEOPLE}/selected/{action}?found=1&role=member")
    answer = await send(visitor, page, f"{PEOPLE}/selected/{action}", all="on", **fields)
    assert answer.status == 303, answer.text
    return answer.headers["Location"].partition("?")[0]


async def token_of(visitor: Visitor) -> str:
    """Return the token of the forms of a browser."""
    return re.findall('name="form_token" value="([^"]+)"', (await visitor.open("/app")).text)[0]


def numbers(page: Answer) -> list[int]:
    """Return how many rows of a job are done, refused and waiting."""
    return [int(found) for found in re.findall(r"<dd><a [^>]+>(\d+)<span", page.text)]


def roles(team: Team) -> list[str | None]:
    """Return the roles of the many."""
    return [team.role_of(f"m{number}") for number in range(MANY)]


async def test_more_members_than_a_form_takes_are_changed_in_the_background(crowd: Team, ann: Visitor) -> None:
    page = await ann.open(f"{CHANGE}?found=1&role=member")
    assert f"All {MANY} that are found, not only these" in page.text

    path = await begin(ann, role="clerk")
    begun = await ann.open(path)

    assert numbers(begun) == [0, 0, MANY]
    assert '<noscript><meta http-equiv="refresh"' in begun.text
    # A damaged query shows the begin.
    assert "m0@example.com" in (await ann.open(f"{path}?after=abc&state=odd")).text
    assert "No row of the job is in this state." in (await ann.open(f"{path}?after=99999")).text
    await work_off(crowd.world.installation)
    done = await ann.open(path)
    assert numbers(done) == [MANY, 0, 0]
    assert not shows(done.text, "refresh")
    assert roles(crowd) == ["clerk"] * MANY
    # Each change is in the audit log, by the person who began the job.
    found = crowd.world.connection.execute(
        "SELECT count(*) FROM audit_entries WHERE action = 'user.role_updated' AND actor_user_id = %s",
        (crowd.ids["ann"],),
    ).fetchall()
    assert found == [(MANY,)]
    crowd.world.connection.execute("UPDATE users SET name = 'Mo Zero' WHERE email = 'm0@example.com'")
    assert "Mo Zero" in (await ann.open(path)).text
    file = await ann.open(f"{path}/rows.csv")
    assert file.text.splitlines()[:2] == ["number,row,name,state,problem", "1,m0@example.com,Mo Zero,done,"]
    assert len(file.text.splitlines()) == MANY + 1
    assert "m99@example.com" in (await ann.open(f"{path}?after=50&state=done")).text
    assert "Change the roles of members" in (await ann.open(JOBS)).text


async def test_a_row_that_changed_meanwhile_is_refused_and_the_others_are_done(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    crowd.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (crowd.ids["m7"],))

    await work_off(crowd.world.installation)

    refused = await ann.open(f"{path}?state=refused")
    assert numbers(refused) == [MANY - 1, 1, 0]
    assert "m7@example.com" in refused.text
    assert "Another person has changed the role of this member meanwhile." in refused.text
    assert (await ann.open(f"{path}/rows.csv?state=refused")).text.count("\n") == 2


async def test_a_job_ends_when_its_maker_may_no_longer_do_it(crowd: Team, visitor: Visitor) -> None:
    await visitor.sign_in("bob@example.com")
    path = await begin(visitor, "remove", note="They have left.")
    [first] = await lease(crowd.world.installation)
    await worker_of(crowd.world.installation).serve(first)
    crowd.world.connection.execute("UPDATE memberships SET role = 'member' WHERE user_id = %s", (crowd.ids["bob"],))

    await work_off(crowd.world.installation)

    assert roles(crowd).count(None) == ROWS_AT_ONCE
    assert (await visitor.open(path)).status == 404
    crowd.world.connection.execute("UPDATE memberships SET role = 'admin' WHERE user_id = %s", (crowd.ids["bob"],))
    ended = await visitor.open(path)
    assert "Ended early" in ended.text
    assert "org.members.manage" in ended.text
    assert numbers(ended) == [ROWS_AT_ONCE, 0, MANY - ROWS_AT_ONCE]


async def test_a_job_ends_with_the_session_of_its_maker(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    crowd.world.connection.execute("DELETE FROM sessions WHERE user_id = %s", (crowd.ids["ann"],))

    await work_off(crowd.world.installation)

    assert roles(crowd) == ["member"] * MANY
    await ann.sign_in("ann@example.com")
    assert "The session in which it was begun has ended." in (await ann.open(path)).text


async def test_a_job_goes_on_after_a_crash_and_does_nothing_twice(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    [crashed] = await lease(crowd.world.installation)
    database = crowd.world.installation.database.on_behalf_of(crashed.origin, crashed.session_id)
    for row in crashed.rows[:3]:
        await database.transact(bulk_work.perform, crashed, row)

    assert await lease(crowd.world.installation) == []
    crowd.world.clock.advance(LEASED_FOR)
    await work_off(crowd.world.installation)

    assert numbers(await ann.open(path)) == [MANY, 0, 0]
    # A process that was only slow works on no row of a job that another process has taken.
    with pytest.raises(LeaseLost):
        await database.transact(bulk_work.perform, crashed, crashed.rows[5])


async def test_an_organization_that_is_deleted_or_replaced_meanwhile_is_left_alone(crowd: Team, ann: Visitor) -> None:
    await begin(ann, "remove", note="")
    [leased] = await lease(crowd.world.installation)
    connection = crowd.world.connection
    members = connection.execute("SELECT user_id, role FROM memberships").fetchall()
    connection.execute("DELETE FROM organizations WHERE slug = 'acme'")
    worker = worker_of(crowd.world.installation)

    await worker.serve(leased)
    # One of the same slug, with the same people.
    replacing = crowd.world.organization("acme")
    for user_id, role in members:
        crowd.world.member(replacing, user_id, "member" if role == "clerk" else role)
    await worker.serve(leased)

    assert crowd.world.value("SELECT count(*) FROM memberships WHERE organization_id = %s", replacing) == len(members)
    assert crowd.world.rows("SELECT 1 FROM bulk_jobs UNION ALL SELECT 1 FROM bulk_job_rows") == []
    assert await work_off(crowd.world.installation) == 0


async def test_a_job_ends_when_its_organization_is_suspended(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    crowd.world.set_organization_status(crowd.organization_id, "suspended")

    await work_off(crowd.world.installation)

    assert roles(crowd) == ["member"] * MANY
    crowd.world.set_organization_status(crowd.organization_id, "active")
    assert "Ended early" in (await ann.open(path)).text


async def test_a_job_can_be_stopped_and_what_is_done_stays_done(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    [leased] = await lease(crowd.world.installation)
    await worker_of(crowd.world.installation).serve(leased)

    stopped = await send(ann, await ann.open(path), f"{path}/stop")
    again = await ann.post(f"{path}/stop", {"form_token": await token_of(ann)})

    assert stopped.status == 303
    assert again.status == 409
    assert "This job has ended already." in again.text
    assert await work_off(crowd.world.installation) == 0
    page = await ann.open(path)
    assert "Stopped" in page.text
    assert roles(crowd).count("clerk") == ROWS_AT_ONCE


async def test_a_process_that_ends_leaves_the_other_rows(crowd: Team, ann: Visitor) -> None:
    path = await begin(ann, role="clerk")
    [leased] = await lease(crowd.world.installation)
    worker = worker_of(crowd.world.installation)

    worker.box.send(Drain())
    await worker.serve(leased)

    assert numbers(await ann.open(path)) == [0, 0, MANY]
    await work_off(crowd.world.installation)
    assert roles(crowd) == ["clerk"] * MANY


async def test_the_actor_works_on_a_job_as_soon_as_it_is_begun(
    crowd: Team, ann: Visitor, nursery: trio.Nursery
) -> None:
    path = await begin(ann, role="clerk")
    nursery.start_soon(worker_of(crowd.world.installation).run)

    async def is_finished() -> bool:
        return numbers(await ann.open(path)) == [MANY, 0, 0]

    await eventually(is_finished, seconds_max=120)


async def test_a_list_that_changed_is_shown_again_and_nothing_begins(crowd: Team, ann: Visitor) -> None:
    page = await ann.open(f"{CHANGE}?found=1&role=member")
    crowd.add("new", "member")

    answer = await send(ann, page, CHANGE, all="on", role="clerk")

    assert answer.status == 409
    assert "The number of matches has changed" in answer.text
    assert f"All {MANY + 1} that are found" in answer.text
    assert re.search(r'<option value="clerk" selected', answer.text)
    assert "There is no job yet" in (await ann.open(JOBS)).text


async def test_an_organization_has_few_unfinished_jobs_at_once(crowd: Team, ann: Visitor) -> None:
    for _ in range(UNFINISHED_MAX):
        await begin(ann, role="clerk")
    page = await ann.open(f"{CHANGE}?found=1&role=member")

    answer = await send(ann, page, CHANGE, all="on", role="clerk")

    assert answer.status == 409
    assert "Five jobs are not finished yet." in answer.text
    # One place for each organization, however many jobs it has.
    assert len(await lease(crowd.world.installation)) == 1
    assert await lease(crowd.world.installation) == []


async def test_a_job_is_shown_to_those_who_could_have_begun_it(crowd: Team, ann: Visitor, world: World) -> None:
    path = await begin(ann, role="clerk")
    other = world.team("globex")
    other.add("eve", "owner")
    eve, cleo = Visitor(world.client), Visitor(world.client)
    await eve.sign_in("eve@example.com")
    await cleo.sign_in("cleo@example.com")

    assert (await cleo.open(path)).status == 404
    assert "There is no job yet" in (await cleo.open(JOBS)).text
    foreign = path.replace("/acme/", "/globex/")
    for address in (foreign, f"{foreign}/rows.csv", path):
        assert (await eve.open(address)).status in {403, 404}
    assert (await eve.post(f"{foreign}/stop", {"form_token": await token_of(eve)})).status == 404
    assert numbers(await ann.open(path)) == [0, 0, MANY]


async def test_people_beyond_the_limit_of_an_hour_are_invited_when_it_allows_it(crowd: Team, ann: Visitor) -> None:
    limited = with_mail_limits(crowd.world.installation)
    people = [f"Person {number};p{number}@example.org" for number in range(MANY)]
    lines = "\n".join(["Name;Address", *people, "P0@example.org"])
    crowd.world.service(crowd.organization_id, "shop")
    page = await ann.open(f"{PEOPLE}/invited")

    included = {"services": "shop", "message": "Hi all"}
    answer = await send(ann, page, f"{PEOPLE}/invited", emails=lines, role="member", **included)
    path = answer.headers["Location"].partition("?")[0]
    await work_off(limited)

    waiting = await ann.open(path)
    # The line without an address, the repeated one, and the names, which share rows.
    refused = await ann.open(f"{path}?state=refused")
    assert numbers(waiting) == [100, LEFT_OUT, MANY - 100]
    assert "A limit is reached. The job goes on by itself" in waiting.text
    for named in ("Name;Address", "P0@example.org", "Person 0, Person 1, ", ", Person 102"):
        assert named in refused.text
    assert "The list has this address more than once; it is invited once." in refused.text
    assert "These texts have no address, so they were taken as names." in refused.text
    crowd.world.clock.advance(timedelta(hours=1))
    await work_off(limited)
    assert numbers(await ann.open(path)) == [MANY, LEFT_OUT, 0]
    assert len({one.to for one in await crowd.world.mails()}) == MANY
    # Each invitation includes what the form named; the job keeps no message.
    assert crowd.world.rows("SELECT DISTINCT cardinality(service_ids), message FROM invitations") == [(1, "Hi all")]
    assert crowd.world.rows("SELECT details FROM bulk_jobs") == [({"role": "member", "services": "shop"},)]


async def test_a_limit_of_one_address_refuses_its_row_and_holds_up_no_other(crowd: Team, ann: Visitor) -> None:
    limited = with_mail_limits(crowd.world.installation)
    session_id = crowd.world.value("SELECT id FROM sessions WHERE user_id = %s", crowd.ids["ann"])
    database = limited.database.on_behalf_of(BACKGROUND, session_id)
    for _ in range(MailLimit.INVITATIONS_OF_ORGANIZATION_TO_ADDRESS.mails_max):
        invited = await database.transact(invitations.invite, "acme", "p0@example.org", "member")
        await database.transact(invitations.revoke, "acme", invited.item.invitation.id)
    lines = "\n".join(f"p{number}@example.org" for number in range(MANY))
    answer = await send(ann, await ann.open(f"{PEOPLE}/invited"), f"{PEOPLE}/invited", emails=lines, role="member")
    path = answer.headers["Location"].partition("?")[0]

    await work_off(limited)

    assert numbers(await ann.open(path)) == [95, 1, MANY - 96]
    refused = await ann.open(f"{path}?state=refused")
    assert "p0@example.org" in refused.text
    assert "five times within a day" in refused.text


async def test_a_job_leaves_no_trace_of_a_person_who_is_forgotten(
    crowd: Team, ann: Visitor, platform: Platform
) -> None:
    path = await begin(ann, role="clerk")
    await work_off(crowd.world.installation)

    gone = await platform.request("DELETE", f"/api/privacy/forget/{crowd.ids['m3']}")

    assert gone.status in {200, 204}, gone.text
    assert "m3@example.com" not in (await ann.open(path)).text


async def test_a_job_has_rows_and_not_too_many(crowd: Team, ann: Visitor) -> None:
    await begin(ann, role="clerk")
    [leased] = await lease(crowd.world.installation)
    database = crowd.world.installation.database.on_behalf_of(leased.origin, leased.session_id)

    for rows, problem in (([], "Nothing is chosen."), ([WantedRow(label="a")] * 10_001, "at most 10000 rows")):
        with pytest.raises(BadRequest) as refused:
            await database.transact(bulk_jobs.begin, "acme", JobKind.MEMBERS_REMOVE, rows, {})
        assert problem in refused.value.details[0].message
