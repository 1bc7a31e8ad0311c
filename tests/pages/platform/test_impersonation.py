"""Acting as a user in the browser of a platform owner."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from core.mail.mail import MailTemplate
from tests.application import Answer
from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.pages.platform.conftest import browser_of
from tests.world.callers import ACME, Caller, Callers
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ADMIN = "admin@example.com"
OWNER = "platform_owner@example.com"
STOP = "/app/impersonation/stop"
REASON = "Invoices are missing (ticket 4711)"
ENDED = "You no longer act as another person"
HOUR = timedelta(hours=1)
CLOSED = "This is closed while you act as another person"
ONLY_THEY = "Only this person can do this"


def page_of(user_id: UUID) -> str:
    return f"/app/platform/users/{user_id}/impersonation"


async def act(visitor: Visitor, user_id: UUID, **fields: str) -> Answer:
    page = await visitor.open(page_of(user_id))
    return await visitor.submit(page, page_of(user_id), {"reason": REASON, **fields})


@pytest.fixture
def admin(callers: Callers) -> UUID:
    """The admin of an organization."""
    callers.world.connection.execute(
        "UPDATE sessions SET revoked_at = now() WHERE id = %s", (callers.sessions[Caller.IMPERSONATED],)
    )
    return callers.people[Caller.ADMIN]


@pytest.fixture
async def acting(platform_owner: Visitor, admin: UUID) -> Visitor:
    """The browser of a platform owner who acts as the admin."""
    page = await act(platform_owner, admin)
    assert page.status == 200, page.text
    return platform_owner


class TestBegin:
    """The page that begins it."""

    async def test_the_page_says_in_numbers_what_happens_and_what_stays_closed(
        self, platform_owner: Visitor, admin: UUID
    ) -> None:
        text = (await platform_owner.open(page_of(admin))).text

        assert f"Act as {ADMIN}?" in text
        assert "Minutes, at most" in text
        assert "The person gets a mail at once" in text
        assert "password, second factor, passkeys" in text
        assert f"/api/platform/impersonate/{admin}" in text

    async def test_the_account_leads_to_it(self, platform_owner: Visitor, support: Visitor, admin: UUID) -> None:
        account = f"/app/platform/users/{admin}"

        assert page_of(admin) in (await platform_owner.open(account)).text
        closed = (await support.open(account)).text
        assert page_of(admin) not in closed
        assert "Only platform owners act as another person. Ask one of them." in closed
        assert (await support.open(page_of(admin))).status == 403

    async def test_the_browser_acts_as_the_user_and_says_so_on_every_page(self, acting: Visitor) -> None:
        for path in (
            "/app",
            "/app/account",
            "/app/account/sessions",
            "/app/organizations",
            f"/app/organizations/{ACME}",
        ):
            page = await acting.open(path)
            assert page.status == 200, path
            assert f"You act as <strong>{ADMIN}</strong> until" in page.text
            assert "60 minutes" in page.text
            assert page.headers["Cache-Control"] == "no-store"
            assert STOP in [form.action for form in forms_of(page)]
        assert OWNER not in page.text

    async def test_the_log_has_the_reason_and_the_session_and_what_is_done_names_both(
        self, acting: Visitor, callers: Callers, admin: UUID
    ) -> None:
        world = callers.world
        page = await acting.open("/app/organizations")
        await acting.submit(page, "/app/organizations", name="Newco", slug="newco")

        [(actor, target, details)] = world.platform_audit_entries("impersonation.started")
        assert (actor, target, details["reason"]) == (callers.people[Caller.PLATFORM_OWNER], str(admin), REASON)
        [(actor, target, acted)] = world.platform_audit_entries("impersonation.acted")
        assert (actor, target) == (callers.people[Caller.PLATFORM_OWNER], str(admin))
        assert acted["impersonation_session"] == details["impersonation_session"]

    async def test_the_user_is_told_by_mail_without_the_reason_and_sees_it_among_their_sessions(
        self, acting: Visitor, callers: Callers
    ) -> None:
        [mail] = [one for one in await callers.world.mails() if one.template is MailTemplate.IMPERSONATION_STARTED]
        assert mail.to == ADMIN
        assert set(mail.values) == {"at", "until", "lock_token"}
        theirs = await browser_of(callers, Caller.ADMIN).open("/app/account/sessions")
        assert "Support of the platform" in theirs.text
        assert acting.cookies.keys() >= {"gatehouse_session", "gatehouse_impersonation"}

    async def test_the_page_of_an_organization_leads_to_its_owner(
        self, platform_owner: Visitor, support: Visitor, callers: Callers
    ) -> None:
        page = f"/app/platform/organizations/{callers.acme_id}"
        link = f"{page_of(callers.people[Caller.OWNER])}?org_slug={ACME}"

        assert f'href="{link}"' in (await platform_owner.open(page)).text
        assert f'<option value="{ACME}" selected>' in (await platform_owner.open(link)).text
        assert "/impersonation" not in (await support.open(page)).text
        callers.world.connection.execute("UPDATE organizations SET status = 'suspended'")
        assert link not in (await platform_owner.open(page)).text

    async def test_it_can_begin_in_an_organization(self, platform_owner: Visitor, admin: UUID, world: World) -> None:
        begun = await act(platform_owner, admin, org_slug=f" {ACME} ")

        assert f'href="/app/organizations/{ACME}/people"' in begun.text
        assert (
            world.value(
                "SELECT o.slug FROM sessions s JOIN organizations o ON o.id = s.organization_id"
                " WHERE s.impersonator_session_id IS NOT NULL AND s.provider = 'impersonation'"
            )
            == ACME
        )

    async def test_what_is_refused_keeps_what_was_typed(self, platform_owner: Visitor, admin: UUID) -> None:
        for fields, status, words in (
            ({"reason": " "}, 400, "reason"),
            ({"org_slug": "nowhere"}, 404, "There is no such organization"),
            ({"org_slug": "globex"}, 400, "This user is not a member of this organization"),
            ({"seen_email": "eve@example.com"}, 409, "The address of this account has changed"),
        ):
            page = await act(platform_owner, admin, **fields)

            assert page.status == status, page.text
            assert words in page.text
            assert fields.get("reason", REASON).strip() in page.text, fields
            assert fields.get("org_slug", "") in page.text
            assert "gatehouse_impersonation" not in platform_owner.cookies, fields

    async def test_it_asks_to_sign_in_again(self, platform_owner: Visitor, admin: UUID, clock: SettableClock) -> None:
        clock.advance(timedelta(minutes=6))

        assert "/app/sign-in-again" in (await platform_owner.send("GET", page_of(admin))).headers["Location"]

    async def test_a_platform_owner_and_a_closed_account_stay_closed(
        self, platform_owner: Visitor, callers: Callers, world: World
    ) -> None:
        own = callers.people[Caller.PLATFORM_OWNER]
        closed = callers.people[Caller.MEMBER]
        world.connection.execute("UPDATE users SET closed_at = now() WHERE id = %s", (closed,))
        page = await platform_owner.open(page_of(callers.people[Caller.ADMIN]))
        for user_id, status in ((own, 400), (closed, 404)):
            assert "It is not possible to act as" in (await platform_owner.open(page_of(user_id))).text
            token = forms_of(page)[-1].fields["form_token"]
            refused = await platform_owner.post(
                page_of(user_id), {"form_token": token, "reason": REASON, "seen_email": OWNER}
            )
            assert refused.status == status
        assert world.platform_audit_entries("impersonation.started") == []


class TestStop:
    """The button of every page."""

    async def test_it_leads_back_to_the_own_session_at_the_user_s_page(
        self, acting: Visitor, callers: Callers, admin: UUID
    ) -> None:
        page = await acting.submit(await acting.open("/app/account"), STOP)

        assert page.status == 200, page.text
        assert "You are yourself again" in page.text
        assert ADMIN in page.text
        assert "gatehouse_impersonation" not in acting.cookies
        assert "You act as" not in page.text
        assert OWNER in (await acting.open("/app/account")).text
        [(actor, target, details)] = callers.world.platform_audit_entries("impersonation.stopped")
        [(_, _, started)] = callers.world.platform_audit_entries("impersonation.started")
        assert (actor, target) == (callers.people[Caller.PLATFORM_OWNER], str(admin))
        assert details == {"impersonation_session": started["impersonation_session"]}

    async def test_twice_at_once_is_recorded_once(self, acting: Visitor, callers: Callers) -> None:
        page = await acting.open("/app/account")
        other = Visitor(acting.client, cookies=dict(acting.cookies))

        answers = await at_once(lambda: acting.submit(page, STOP), lambda: other.submit(page, STOP))

        assert [answer.status for answer in answers] == [200, 200]
        assert len(callers.world.platform_audit_entries("impersonation.stopped")) == 1

    async def test_beginning_twice_at_once_leaves_one(
        self, platform_owner: Visitor, callers: Callers, admin: UUID
    ) -> None:
        page = await platform_owner.open(page_of(admin))
        other = Visitor(platform_owner.client, cookies=dict(platform_owner.cookies))

        await at_once(
            lambda: platform_owner.submit(page, page_of(admin), reason=REASON),
            lambda: other.submit(page, page_of(admin), reason=REASON),
        )

        alive = "SELECT count(*) FROM sessions WHERE provider = 'impersonation' AND revoked_at IS NULL"
        assert callers.world.value(alive) == 1

    async def test_it_needs_the_token_of_the_own_session(self, acting: Visitor) -> None:
        assert (await acting.post(STOP, {"form_token": "other"})).status == 403
        assert (await acting.open("/app/account")).text.count("You act as")

    async def test_without_a_session_it_leads_to_the_sign_in(self, callers: Callers) -> None:
        visitor = Visitor(callers.world.client)

        answer = await visitor.send(
            "POST", STOP, data=b"", headers={"Content-Type": "application/x-www-form-urlencoded"}
        )

        assert (answer.status, answer.headers["Location"]) == (303, "/app/sign-in")


class TestOver:
    """However it ends, the browser says so before it is the owner's again."""

    async def over(self, acting: Visitor, path: str = "/app/account") -> None:
        page = await acting.open(path)
        assert page.status == 403
        assert ENDED in page.text
        assert OWNER not in page.text.replace(f"<strong>{OWNER}</strong>", "")
        # It says so until the person goes on.
        assert ENDED in (await acting.open("/app/organizations")).text
        home = await acting.submit(await acting.open(path), STOP)
        assert home.status == 200
        assert OWNER in (await acting.open("/app/account")).text

    async def test_after_an_hour(self, acting: Visitor, clock: SettableClock, world: World) -> None:
        clock.advance(timedelta(minutes=30))
        assert "30 minutes" in (await acting.open("/app/account")).text
        clock.advance(timedelta(minutes=29, seconds=30))
        assert "One minute" in (await acting.open("/app/account")).text

        clock.advance(timedelta(seconds=30))

        await self.over(acting)
        assert world.value("SELECT max(expires_at - created_at) FROM sessions WHERE provider = 'impersonation'") == HOUR

    async def test_when_the_user_ends_it(self, acting: Visitor, callers: Callers) -> None:
        session_id = callers.world.value("SELECT id FROM sessions WHERE provider = 'impersonation'")
        theirs = browser_of(callers, Caller.ADMIN)
        page = await theirs.open("/app/account/sessions")
        await theirs.submit(page, f"/app/account/sessions/{session_id}/end")

        await self.over(acting)

    async def test_when_the_user_is_promoted_or_closes_the_account(self, acting: Visitor, callers: Callers) -> None:
        callers.world.connection.execute(
            "UPDATE users SET deactivated_at = now() WHERE id = %s", (callers.people[Caller.ADMIN],)
        )

        await self.over(acting)

    async def test_when_the_owner_is_demoted(self, acting: Visitor, callers: Callers) -> None:
        callers.world.connection.execute(
            "UPDATE users SET is_platform_owner = false WHERE id = %s", (callers.people[Caller.PLATFORM_OWNER],)
        )

        await self.over(acting)
        assert (await acting.open("/app/platform")).status == 403

    async def test_when_the_own_session_ends_the_browser_is_signed_out(self, acting: Visitor, callers: Callers) -> None:
        elsewhere = Visitor(acting.client, cookies={"gatehouse_session": acting.cookies["gatehouse_session"]})
        page = await elsewhere.open("/app/account")
        await elsewhere.submit(page, "/app/sign-out")

        answer = await acting.send("GET", "/app/account")

        assert answer.headers["Location"].startswith("/app/sign-in?")
        signed_in = await acting.sign_in(OWNER)
        assert signed_in.status == 200
        assert "gatehouse_impersonation" not in acting.cookies
        assert (
            callers.world.value(
                "SELECT count(*) FROM sessions WHERE impersonator_id IS NOT NULL AND revoked_at IS NULL"
            )
            == 0
        )

    async def test_a_form_of_the_user_s_page_is_refused_to_the_owner_and_the_other_way_round(
        self, platform_owner: Visitor, callers: Callers, admin: UUID
    ) -> None:
        own = await platform_owner.open("/app/organizations")
        await act(platform_owner, admin)
        theirs = await platform_owner.open("/app/organizations")

        refused = await platform_owner.submit(own, "/app/organizations", name="Mine", slug="mine")
        await platform_owner.submit(theirs, STOP)
        refused_too = await platform_owner.submit(theirs, "/app/organizations", name="Theirs", slug="theirs")

        assert (refused.status, refused_too.status) == (403, 403)
        assert "This form is no longer valid" in refused.text
        assert "This form is no longer valid" in refused_too.text
        assert callers.world.value("SELECT count(*) FROM organizations WHERE slug IN ('mine', 'theirs')") == 0

    async def test_a_form_that_is_sent_after_the_end_is_not_done(
        self, acting: Visitor, callers: Callers, clock: SettableClock
    ) -> None:
        page = await acting.open("/app/organizations")
        clock.advance(HOUR)

        refused = await acting.submit(page, "/app/organizations", name="Theirs", slug="theirs")

        assert refused.status == 403
        assert ENDED in refused.text
        assert callers.world.value("SELECT count(*) FROM organizations WHERE slug = 'theirs'") == 0


class TestCookie:
    """The cookie of an impersonation is nothing by itself."""

    async def test_it_opens_nothing_without_the_owner_s_own_which_opens_the_owner_s_pages(
        self, acting: Visitor
    ) -> None:
        secret = acting.cookies["gatehouse_impersonation"]

        for cookies in ({"gatehouse_impersonation": secret}, {"gatehouse_session": secret}):
            answer = await Visitor(acting.client, cookies=cookies).send("GET", "/app/account")
            assert answer.headers["Location"].startswith("/app/sign-in")
        other = Visitor(acting.client, cookies={"gatehouse_session": acting.cookies["gatehouse_session"]})
        assert OWNER in (await other.open("/app/account")).text

    async def test_it_opens_nothing_beside_the_session_of_another_person(
        self, acting: Visitor, callers: Callers
    ) -> None:
        thief = browser_of(callers, Caller.MEMBER)
        thief.cookies["gatehouse_impersonation"] = acting.cookies["gatehouse_impersonation"]

        assert ENDED in (await thief.open("/app/account")).text


class TestClosed:
    """What stays closed, in words."""

    async def test_a_page_for_oneself_refuses_in_words(self, acting: Visitor) -> None:
        for path, words in (
            ("/app/account/password", ONLY_THEY),
            ("/app/account/email", ONLY_THEY),
            ("/app/account/name", ONLY_THEY),
            ("/app/account/closing", ONLY_THEY),
            ("/app/account/passkeys/new", ONLY_THEY),
            ("/app/sign-in-again", ONLY_THEY),
            ("/app/choose-organization", ONLY_THEY),
            ("/app/sign-in", CLOSED),
            ("/app/sign-out", CLOSED),
            ("/app/register", CLOSED),
            ("/app/platform", CLOSED),
            ("/app/platform/users", CLOSED),
            ("/auth/authorize?client_id=x", CLOSED),
            ("/auth/device", CLOSED),
            ("/auth/logout", CLOSED),
            ("/saml/acme/shop/sso", CLOSED),
        ):
            page = await acting.open(path)

            assert page.status == 403, (path, page.text)
            assert words in page.text, path
            assert "You act as" in page.text, path
            assert "Use another account" not in page.text, path

    async def test_what_needs_a_recent_sign_in_says_how_to_go_on(self, acting: Visitor, clock: SettableClock) -> None:
        page = await acting.open("/app/account/data")
        clock.advance(timedelta(minutes=11))

        refused = await acting.submit(page, "/app/account/data/download")

        assert refused.status == 403
        assert "Stop acting as this person, and begin again" in refused.text

    async def test_choosing_a_language_is_for_the_owner(self, acting: Visitor, callers: Callers) -> None:
        page = await acting.switch(await acting.open("/app/account"), "de")

        assert ADMIN in page.text
        languages = dict(callers.world.rows("SELECT email, language FROM users WHERE language IS NOT NULL"))
        assert languages == {OWNER: "de"}
