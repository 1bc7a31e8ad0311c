"""The platform's pages about users: finding them, the record of one, and helping."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from core.accounts.sign_in_failures import attempt
from core.mail import mail
from core.mail.mail import MailTemplate
from entrypoints.pages.console.frame import ROWS_SHOWN
from tests.application import serving_with_rate_limits
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor

USERS = "/app/platform/users"
EVIL = "<script>alert(1)</script>"


def member(callers: Callers) -> UUID:
    """Return a user who is a member of one organization."""
    return callers.people[Caller.MEMBER]


def listed(text: str) -> list[str]:
    """Return the addresses that a list shows."""
    return re.findall(r'<a href="/app/platform/users/[0-9a-f-]{36}">([^<]+)</a>', text)


def add_many(callers: Callers, count: int) -> None:
    """Insert users whose addresses begin with one part, and one whose address contains it."""
    callers.world.connection.execute(
        """
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'crowd' || lpad(n::text, 3, '0') || '@example.com', now(), now()
        FROM   generate_series(1, %s) AS n
        """,
        (count,),
    )


class TestList:
    """Finding users."""

    async def test_the_newest_are_listed_with_their_state(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        world = callers.world
        for state in (
            "email_verified_at = NULL",
            "closed_at = now()",
            "deactivated_at = now()",
            "mfa_enabled_at = now()",
        ):
            world.connection.execute(
                f"UPDATE users SET {state} WHERE id = %s", (world.user(f"{state[:5]}@example.com"),)
            )
        anonymized = world.user("gone@example.com")
        world.connection.execute(
            """
            UPDATE users
            SET    email_verified_at = NULL, password_hash = NULL, deactivated_at = now(), anonymized_at = now()
            WHERE  id = %s
            """,
            (anonymized,),
        )

        text = (await support.open(USERS)).text

        for word in ("Not verified", "Closed by its user", "Deactivated", "Anonymized", "Acme"):
            assert word in text
        assert "platform_owner@example.com" not in text
        assert "platform_owner@example.com" in (await platform_owner.open(USERS)).text

    async def test_a_part_finds_what_begins_with_it_first_then_what_contains_it(
        self, callers: Callers, support: Visitor
    ) -> None:
        add_many(callers, 2 * ROWS_SHOWN)
        for name in ("1crowd", "2crowd"):
            callers.world.user(f"{name}@example.com")
            callers.world.clock.advance(timedelta(seconds=1))

        first = await support.open(f"{USERS}?search=CROWD")
        found, page = listed(first.text), first
        while "Next" in page.text:
            link = re.findall(r'href="(/app/platform/users\?search=CROWD&amp;after=[^"]+)"[^>]*>Next', page.text)[0]
            page = await support.open(link.replace("&amp;", "&"))
            found += listed(page.text)

        beginning = [f"crowd{number:03}@example.com" for number in range(1, 2 * ROWS_SHOWN + 1)]
        assert found == [*beginning, "2crowd@example.com", "1crowd@example.com"]
        assert f"{2 * ROWS_SHOWN + 2} found" in first.text
        assert "From the beginning" in page.text

    async def test_the_newest_come_first_whatever_their_ids_and_those_of_one_moment_are_listed_once(
        self, callers: Callers, support: Visitor
    ) -> None:
        add_many(callers, 2 * ROWS_SHOWN)
        # Ids of before accounts got random ones begin with their time.
        callers.world.connection.execute(
            """
            INSERT INTO users (id, email, created_at, updated_at)
            SELECT (to_char(8 - n, 'FM00000000') || '-0000-7000-8000-000000000000')::uuid,
                   'dated' || n || '@example.com', now() + n * interval '1 hour', now()
            FROM   generate_series(1, 3) AS n
            """
        )

        page = await support.open(USERS)
        found = listed(page.text)
        while "Next" in page.text:
            link = re.findall(r'href="(/app/platform/users\?after=[^"]+)"[^>]*>Next', page.text)[0]
            page = await support.open(link.replace("&amp;", "&"))
            found += listed(page.text)

        assert found[:3] == ["dated3@example.com", "dated2@example.com", "dated1@example.com"]
        crowd = [email for email in found if email.startswith("crowd")]
        assert len(crowd) == len(set(crowd)) == 2 * ROWS_SHOWN
        assert len(found) == len(set(found))

    async def test_one_or_two_characters_find_the_beginning_and_an_id_finds_its_account(
        self, callers: Callers, support: Visitor
    ) -> None:
        add_many(callers, 2)
        user_id = member(callers)

        assert listed((await support.open(f"{USERS}?search=cr")).text) == [
            "crowd001@example.com",
            "crowd002@example.com",
        ]
        assert "One found" in (await support.open(f"{USERS}?search={user_id}")).text
        owner_id = callers.people[Caller.PLATFORM_OWNER]
        for nothing in (owner_id, uuid4(), "not-an-id", "deadbeef" * 4):
            assert "No account has this in its address." in (await support.open(f"{USERS}?search={nothing}")).text

    async def test_a_page_that_many_match_is_found_among_the_newest(
        self, callers: Callers, support: Visitor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # So few rows stand for the thousands that are read one by one.
        module = "adapters.postgres.platform.users"
        monkeypatch.setattr(f"{module}._PROBED", 10)
        monkeypatch.setattr(f"{module}._COUNTED_ONE_BY_ONE", 20)
        monkeypatch.setattr("core.platform.users.COUNTED_MAX", 14)
        add_many(callers, 30)

        assert "found" in (text := (await support.open(f"{USERS}?search=example.com")).text)
        assert "15 found" in text
        # Fewer among those than are counted, so all are counted by the index.
        monkeypatch.setattr(f"{module}._COUNTED_ONE_BY_ONE", 12)
        assert "15 found" in (await support.open(f"{USERS}?search=example.com")).text

    async def test_hostile_names_are_shown_as_they_are_and_damaged_positions_begin_anew(
        self, callers: Callers, support: Visitor
    ) -> None:
        callers.world.connection.execute("UPDATE users SET name = %s WHERE id = %s", (EVIL, member(callers)))
        callers.world.connection.execute("UPDATE organizations SET name = %s", (EVIL,))
        begin = listed((await support.open(USERS)).text)

        for query in ("", "?after=id_x", "?after=x", "?after=address_", "?search=%25", "?search=%3Cb%3E"):
            text = (await support.open(f"{USERS}{query}")).text
            assert EVIL not in text, query
            assert "search" in query or listed(text) == begin, query


class TestRecord:
    """The record of one user."""

    async def test_it_shows_what_helps_and_each_opening_by_support_is_recorded(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        world.connection.execute("UPDATE users SET name = %s WHERE id = %s", (EVIL, user_id))
        world.connection.execute("UPDATE sessions SET user_agent = %s, ip_address = '203.0.113.7'", (EVIL * 5,))
        await world.client.post("/api/auth/login", body={"email": "member@example.com", "password": "wrong"})
        await world.installation.database.transact(mail.send, "member@example.com", MailTemplate.WELCOME)
        world.connection.execute("UPDATE mails SET state = 'failed', last_error = %s", (EVIL,))

        page = await support.open(f"{USERS}/{user_id}")

        assert page.status == 200
        assert "/app/platform/audit" not in page.text.partition("<main")[2]
        tabs = {
            "": (
                "member@example.com",
                "&lt;script&gt;",
                "The password was wrong.",
                "/app/platform/why?email=member%40example.com",
                f"/api/platform/users/{user_id}",
            ),
            "/sign-ins": ("The password was wrong.", f"/api/platform/users/{user_id}/sign-ins"),
            "/sessions": ("203.0.113.7", f"{USERS}/{user_id}/end-sessions", "There is no device."),
            "/ways": ("Second factor", "Passkeys"),
            "/organizations": ("Acme",),
            "/mails": ("Welcome", "/app/platform/mail?email=member%40example.com"),
        }
        for path, expected in tabs.items():
            shown = page if path == "" else await support.open(f"{USERS}/{user_id}{path}")
            assert f'href="{USERS}/{user_id}{path}" aria-current="page"' in shown.text, path
            assert EVIL not in shown.text, path
            for text in expected:
                assert text in shown.text, (path, text)
        assert world.platform_audit_entries("user.opened") == [
            (callers.people[Caller.SUPPORT], str(user_id), {"part": part})
            for part in ("account", "sign_ins", "sessions", "ways", "organizations", "mails")
        ]
        by_owner = (await platform_owner.open(f"{USERS}/{user_id}")).text
        assert f"/app/platform/audit?target={user_id}" in by_owner
        assert f"{USERS}/{user_id}/impersonation" in by_owner
        assert len(world.platform_audit_entries("user.opened")) == len(tabs)

    async def test_the_state_of_the_account_is_said_first(self, callers: Callers, support: Visitor) -> None:
        user_id = member(callers)
        for change, expected in (
            ("closed_at = now(), deactivated_at = now()", "has closed the account"),
            ("closed_at = NULL", "is deactivated"),
            ("deactivated_at = NULL, email_verified_at = NULL", "is not verified"),
            ("disowned_at = now()", "has taken this address back"),
        ):
            callers.world.connection.execute(f"UPDATE users SET {change} WHERE id = %s".encode(), (user_id,))
            assert expected in (await support.open(f"{USERS}/{user_id}")).text, change

    async def test_limits_are_shown_and_lifted(self, callers: Callers, support: Visitor) -> None:
        user_id, world = member(callers), callers.world
        for _ in range(10):
            await world.installation.database.transact(attempt, "member@example.com", "203.0.113.0/24")
        page = await support.open(f"{USERS}/{user_id}")
        assert "10 sign-ins have failed" in page.text
        assert "Refused until" in page.text

        done = await support.submit(page, f"{USERS}/{user_id}/lift-limits")

        assert "The limits are lifted." in done.text
        assert "No sign-in has failed for this address" in done.text
        assert [entry[:2] for entry in world.platform_audit_entries("user.limits_lifted")] == [
            (callers.people[Caller.SUPPORT], str(user_id))
        ]

    async def test_the_verification_is_sent_again_until_the_limit_holds_it_back(
        self, callers: Callers, support: Visitor
    ) -> None:
        support.client = serving_with_rate_limits(callers.world.installation)
        user_id, world = member(callers), callers.world
        verified = await support.open(f"{USERS}/{user_id}")
        assert f"{USERS}/{user_id}/verify" not in verified.text
        world.connection.execute("UPDATE users SET email_verified_at = NULL WHERE id = %s", (user_id,))
        page = await support.open(f"{USERS}/{user_id}")

        done = await support.submit(page, f"{USERS}/{user_id}/verify")
        while "is on its way" in done.text:
            done = await support.submit(done, f"{USERS}/{user_id}/verify")

        assert done.status == 409
        assert "Lift the limits, then send it again." in done.text
        assert len(world.platform_audit_entries("user.verification_sent")) > 1
        # The person has verified the address while the page was open.
        world.connection.execute("UPDATE users SET email_verified_at = now() WHERE id = %s", (user_id,))
        late = await support.submit(done, f"{USERS}/{user_id}/verify")
        assert late.status == 409
        assert "is verified already" in late.text

    async def test_support_finds_no_owner_by_any_page_or_form_and_no_one_else_opens_them(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        world, owner_id = callers.world, callers.people[Caller.PLATFORM_OWNER]
        token = re.findall('name="form_token" value="([^"]+)"', (await support.open(USERS)).text)[0]
        sent = {"form_token": token, "reason": "x", "seen_sessions": "0", "email": "platform_owner@example.com"}
        before = (
            world.rows("SELECT * FROM users WHERE id = %s", owner_id),
            world.rows("SELECT id, revoked_at FROM sessions"),
        )

        for path in ("", "/sign-ins", "/sessions", "/ways", "/organizations", "/mails", "/end-sessions"):
            assert (await support.open(f"{USERS}/{owner_id}{path}")).status == 404
        for path in ("/verify", "/lift-limits", "/end-sessions"):
            assert (await support.post(f"{USERS}/{owner_id}{path}", sent)).status == 404
        for path in ("/mfa", "/data"):
            assert (await support.open(f"{USERS}/{owner_id}{path}")).status == 403
        for path in ("/mfa", "/data/download", "/data/anonymize"):
            assert (await support.post(f"{USERS}/{owner_id}{path}", sent)).status == 403

        assert before == (
            world.rows("SELECT * FROM users WHERE id = %s", owner_id),
            world.rows("SELECT id, revoked_at FROM sessions"),
        )
        assert world.rows("SELECT id FROM platform_audit_entries") == []
        assert (await platform_owner.open(f"{USERS}/{owner_id}")).status == 200

    async def test_a_user_who_is_gone_while_the_page_is_open_is_not_found(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        user_id = callers.world.user("gone@example.com")
        pages = [
            (support, f"{USERS}/{user_id}", f"{USERS}/{user_id}/lift-limits", {}),
            (support, f"{USERS}/{user_id}/end-sessions", f"{USERS}/{user_id}/end-sessions", {"reason": "x"}),
            (platform_owner, f"{USERS}/{user_id}/data", f"{USERS}/{user_id}/data/download", {}),
            (
                platform_owner,
                f"{USERS}/{user_id}/data",
                f"{USERS}/{user_id}/data/anonymize",
                {"email": "gone@example.com"},
            ),
        ]
        opened = [await visitor.open(path) for visitor, path, _, _ in pages]
        callers.world.connection.execute("DELETE FROM users WHERE id = %s", (user_id,))

        for (visitor, _, action, fields), page in zip(pages, opened, strict=True):
            answer = await visitor.submit(page, action, fields)
            assert answer.status == 404, action
        for visitor, path, _, _ in pages:
            assert (await visitor.open(path)).status == 404, path
