"""What the holder of a setup link sees of sign-ins that failed, how far each part is, and what deleting ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from core.organizations.link_callers import SetupVisit
from core.sessions.origins import BACKGROUND
from core.sign_in.upstream import configuring
from core.sign_in.upstream.connections import checks, failures
from core.sign_in.upstream.connections.checks import ConnectionToCheck
from core.sign_in.upstream.connections.connections import ConnectionUnknown
from core.sign_in.upstream.provider_problems import Finding, ProviderProblem
from ports.unit_of_work import UnitOfWork
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once, statuses_of
from tests.world.builder import new_id
from tests.world.openid_acme import Acme
from tests.world.visitor import Visitor

UPSTREAM = "/app/setup/parts/upstream"
HOUR = timedelta(hours=1)
FAILURES = "SELECT problem, occurrences FROM upstream_failures ORDER BY problem"


@pytest.fixture
async def holder(acme: Acme) -> Visitor:
    """A browser of a person without an account, who has begun with a setup link of Acme."""
    browser = type(acme.visitor)(acme.world.client)
    answer = await acme.owner.post("/api/organizations/acme/setup-links", {"parts": ["upstream"]})
    path = answer.json["url"].removeprefix("http://localhost:8000")
    await browser.submit(await browser.open(path), path)
    return browser


def page_of(acme: Acme) -> str:
    """Return the path of the page of the connection."""
    return f"{UPSTREAM}/{acme.connection_id}"


async def fail(acme: Acme) -> Answer:
    """Sign in with a code that the provider does not know."""
    return await acme.visitor.open(acme.provider.sign_in(await acme.depart(), code="unknown"))


async def test_why_sign_ins_failed_is_shown_with_how_often_and_the_last_request(acme: Acme, holder: Visitor) -> None:
    first, second = await fail(acme), await fail(acme)
    page = await holder.open(page_of(acme))

    assert acme.world.rows(FAILURES) == [("code_refused", 2)]
    assert "The provider refused to exchange the code of a sign-in." in page.text
    assert second.headers["X-Request-Id"] in page.text
    assert first.headers["X-Request-Id"] not in page.text
    assert "Sign-ins have failed since" in page.text
    assert "ada@" not in page.text


async def test_each_kind_of_failure_is_recorded_for_its_connection(acme: Acme) -> None:
    acme.provider.claims = {"email": "ada@elsewhere.example"}
    domain = await acme.sign_in()
    acme.provider.claims = {"email": ""}
    address = await acme.sign_in()
    acme.provider.claims = {"exp": 1}
    await acme.sign_in()
    acme.provider.claims = {"aud": "another"}
    await acme.sign_in()
    await acme.visitor.open(acme.provider.sign_in(await acme.depart(), error="access_denied"))
    await acme.visitor.open(acme.provider.sign_in(await acme.depart(), error="server_error"))
    await acme.change(issuer="http://localhost:1", client_secret="another-secret")
    await acme.visitor.send("GET", f"/auth/upstream?connection_id={acme.connection_id}")

    assert "has not verified the mail domain of your address yet" in domain.text
    assert "sent no email address" in address.text
    problems = ["clocks", "declined", "error_at_provider", "for_another", "foreign_domain", "no_address", "unreachable"]
    assert acme.world.rows(FAILURES) == [(problem, 1) for problem in problems]
    assert (
        acme.world.value("SELECT count(*) FROM upstream_failures WHERE connection_id::text <> %s", acme.connection_id)
        == 0
    )


async def test_a_sign_in_that_succeeds_ends_the_failing(acme: Acme, holder: Visitor, clock: SettableClock) -> None:
    await fail(acme)
    failing = await holder.open("/app/setup")
    clock.advance(timedelta(minutes=1))
    await acme.sign_in()
    in_use, page = await holder.open("/app/setup"), await holder.open(page_of(acme))

    assert "Failing since" in failing.text
    assert "Done. Last used on" in in_use.text
    assert "The last errors of sign-ins" in page.text
    assert "Sign-ins have failed since" not in page.text


async def test_a_secret_that_is_wrong_meanwhile_is_named_and_a_person_who_declines_is_no_failing_connection(
    acme: Acme, holder: Visitor, clock: SettableClock
) -> None:
    await acme.sign_in()
    clock.advance(timedelta(minutes=1))
    await acme.visitor.open(acme.provider.sign_in(await acme.depart(), error="access_denied"))
    declined = await holder.open("/app/setup")
    acme.provider.client_secret = "another"
    await acme.sign_in()
    failing, page = await holder.open("/app/setup"), await holder.open(page_of(acme))

    assert "Failing since" not in declined.text
    assert acme.world.rows(FAILURES) == [("declined", 1), ("wrong_secret", 1)]
    assert "Failing since" in failing.text
    assert "The provider does not accept the client secret." in page.text


async def test_a_problem_that_comes_back_after_days_is_counted_anew(acme: Acme, clock: SettableClock) -> None:
    await fail(acme)
    clock.advance(timedelta(days=2))
    await fail(acme)

    rows = acme.world.rows("SELECT occurrences, first_at = last_at FROM upstream_failures")
    assert rows == [(1, True)]


async def test_the_index_leads_from_nothing_to_a_connection_that_was_checked(acme: Acme, holder: Visitor) -> None:
    acme.world.connection.execute("UPDATE upstream_connections SET checked_at = NULL")
    saved = await holder.open(page_of(acme))
    asked = await holder.submit(saved, f"{page_of(acme)}/test")
    acme.world.connection.execute("DELETE FROM upstream_connections")
    nothing = await holder.open("/app/setup")

    assert "the provider was not asked about it since" in saved.text
    assert "The last check found no problem." in asked.text
    assert "Choose the provider" in nothing.text


async def test_a_connection_that_signs_in_is_not_deleted_by_the_holder_who_reads_what_would_end(
    acme: Acme, holder: Visitor
) -> None:
    before = await holder.open(f"{page_of(acme)}/delete")
    await acme.sign_in()
    page = await holder.open(f"{page_of(acme)}/delete")
    refused = await holder.submit(before, f"{page_of(acme)}/delete")

    assert "One account that signs in by it is unlinked." in page.text
    assert "One session that began by it ends." in page.text
    assert "One mail domain no longer leads to it." in page.text
    assert f'action="{page_of(acme)}/delete"' not in page.text
    assert refused.status == 409
    assert acme.identities == 1


@pytest.mark.parametrize("change", [{"joins_as": "member"}, {"trust_mfa": True}])
async def test_a_connection_in_force_is_not_deleted_by_the_holder(
    acme: Acme, holder: Visitor, change: dict[str, object]
) -> None:
    page = await holder.open(f"{page_of(acme)}/delete")
    await acme.change(**change)

    refused = await holder.submit(page, f"{page_of(acme)}/delete")

    assert refused.status == 409
    assert "is in use" in (await holder.open(f"{page_of(acme)}/delete")).text


async def test_a_connection_that_nobody_uses_is_deleted_once_and_recorded(acme: Acme, holder: Visitor) -> None:
    await fail(acme)
    page = await holder.open(f"{page_of(acme)}/delete")

    async def delete() -> Answer:
        return await holder.submit(page, f"{page_of(acme)}/delete", is_followed=False)

    answers = await at_once(delete, delete)

    assert statuses_of(answers) == [303, 404]
    assert acme.world.value("SELECT count(*) FROM upstream_connections") == 0
    [entry] = acme.world.audit_entries("upstream_connection.deleted")
    assert entry[1] is None
    assert "setup_link_id" in entry[3]


async def test_a_link_of_another_organization_sees_and_deletes_nothing(acme: Acme, holder: Visitor) -> None:
    globex = acme.world.team("globex")
    globex.add("boss", "owner")
    made = await globex.request("boss", "POST", "/upstream-providers", body={"type": "saml", "name": "Globex"})
    foreign = f"{UPSTREAM}/{made.json['id']}"
    own = await holder.open(f"{page_of(acme)}/delete")
    token = own.text.partition('name="form_token" value="')[2].partition('"')[0]

    answers = [await holder.open(foreign), await holder.open(f"{foreign}/delete")]
    answers += [await holder.post(f"{foreign}/{what}", {"form_token": token}) for what in ("delete", "test")]

    assert [one.status for one in answers] == [404, 404, 404, 404]
    assert acme.world.value("SELECT count(*) FROM upstream_connections") == 2


async def test_the_progress_of_a_connection_that_is_deleted_while_its_page_is_read_is_unknown(
    acme: Acme, holder: Visitor
) -> None:
    visit = SetupVisit(cookie=holder.cookies["gatehouse_setup"])
    database = acme.world.installation.database.on_behalf_of(BACKGROUND, organization_credential=visit)

    shown = await database.read(configuring.show, "acme", UUID(acme.connection_id))
    assert shown.state.connection.id == UUID(acme.connection_id)
    with pytest.raises(ConnectionUnknown):
        await database.read(configuring.show, "acme", new_id())


async def test_what_was_found_of_a_connection_that_was_changed_or_deleted_meanwhile_is_dropped(acme: Acme) -> None:
    transact, checked = acme.world.installation.database.transact, "SELECT checked_at FROM upstream_connections"

    def found_meanwhile(uow: UnitOfWork, connection_id: UUID, *, is_same: bool) -> None:
        """Record a test of the connection as it is, or as it was before a change."""
        now = uow.upstream_connections.find(acme.organization_id, UUID(acme.connection_id))
        assert now is not None
        asked = replace(now, id=connection_id, updated_at=now.updated_at if is_same else now.created_at - HOUR)
        to_check = ConnectionToCheck(organization_id=acme.organization_id, connection=asked, client=None)
        checks.record(uow, to_check, Finding())

    await transact(found_meanwhile, new_id(), is_same=True)
    await transact(found_meanwhile, UUID(acme.connection_id), is_same=False)
    assert acme.world.value(checked) is None
    await transact(found_meanwhile, UUID(acme.connection_id), is_same=True)
    assert acme.world.value(checked) is not None


async def test_a_failure_of_a_connection_that_is_gone_or_foreign_is_not_kept(acme: Acme) -> None:
    transact, problem = acme.world.installation.database.transact, ProviderProblem.OTHER

    await transact(failures.note, acme.organization_id, new_id(), problem, request_id="1")
    await transact(failures.note, new_id(), UUID(acme.connection_id), problem, request_id="1")

    assert acme.world.rows(FAILURES) == []
