"""The pages of their own with which a user is helped: ending sessions, the second factor, and personal data."""

from __future__ import annotations

from tests.concurrency import at_once
from tests.pages.platform.test_users import USERS, member
from tests.world.callers import Caller, Callers
from tests.world.visitor import Visitor

REASON = "Phone lost, ticket 4711."
SESSION = """
    INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                          created_at)
    SELECT gen_random_uuid(), %s, 'password', '{pwd}', now, sha256(gen_random_uuid()::text::bytea), now,
           now + interval '1 day', now
    FROM   (SELECT %s::timestamptz AS now) AS clock
"""


def alive(callers: Callers) -> int:
    """Return how many sessions of the member have not been ended."""
    return callers.world.value(
        "SELECT count(*) FROM sessions WHERE user_id = %s AND revoked_at IS NULL", member(callers)
    )


class TestSessions:
    """Ending all sessions."""

    async def test_the_page_says_in_numbers_what_ends_and_the_reason_is_recorded(
        self, callers: Callers, support: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        world.connection.execute(SESSION, (user_id, world.clock()))
        path = f"{USERS}/{user_id}/end-sessions"

        page = await support.open(path)
        assert "2 sessions." in page.text
        assert "-X DELETE" in page.text
        refused = await support.submit(page, path, reason="  ")
        assert refused.status == 400
        assert alive(callers) == 2
        done = await support.submit(refused, path, reason=REASON)

        assert "The sessions have ended." in done.text
        assert alive(callers) == 0
        assert world.platform_audit_entries("user.sessions_ended") == [
            (callers.people[Caller.SUPPORT], str(user_id), {"sessions": 2, "reason": REASON})
        ]
        assert "there is none" in (await support.open(path)).text

    async def test_a_form_on_sessions_that_have_ended_is_refused_and_keeps_the_reason(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        world.connection.execute(SESSION, (user_id, world.clock()))
        path = f"{USERS}/{user_id}/end-sessions"
        opened = await support.open(path)
        await platform_owner.submit(await platform_owner.open(path), path, reason=REASON)
        # The person has signed in again.
        world.connection.execute(SESSION, (user_id, world.clock()))

        late = await support.submit(opened, path, reason=REASON)

        assert late.status == 409
        assert "have ended meanwhile" in late.text
        assert f'value="{REASON}"' in late.text
        assert alive(callers) == 1
        assert "The sessions have ended." in (await support.submit(late, path)).text
        assert alive(callers) == 0

    async def test_more_sessions_than_shown_end_as_well_and_a_damaged_number_shows_none(
        self, callers: Callers, support: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        path = f"{USERS}/{user_id}/end-sessions"
        for seen in (None, "", "x", "9" * 40, "9" * 5000, "123456789x", "²"):
            page = await support.open(path)
            world.connection.execute(SESSION, (user_id, world.clock()))
            fields = {"reason": REASON} | ({"seen_sessions": seen} if seen is not None else {})
            answer = await support.submit(page, path, fields)
            assert answer.status == (409 if seen == "9" * 40 else 200), seen
            assert alive(callers) == (1 if seen == "9" * 40 else 0), seen

    async def test_of_two_helpers_at_once_one_ends_the_sessions(
        self, callers: Callers, support: Visitor, platform_owner: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        path = f"{USERS}/{user_id}/end-sessions"
        pages = [(visitor, await visitor.open(path)) for visitor in (support, platform_owner)]

        answers = await at_once(*[lambda v=v, p=p: v.submit(p, path, reason=REASON) for v, p in pages])

        assert sorted(answer.status for answer in answers) == [200, 409]
        assert [details["sessions"] for _, _, details in world.platform_audit_entries("user.sessions_ended")] == [1]


class TestSecondFactor:
    """Turning off the second factor."""

    async def test_an_owner_turns_it_off_with_a_reason_and_the_person_is_told(
        self, callers: Callers, platform_owner: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        path = f"{USERS}/{user_id}/mfa"
        assert "has no second factor" in (await platform_owner.open(path)).text
        world.connection.execute("UPDATE users SET mfa_enabled_at = %s WHERE id = %s", (world.clock(), user_id))

        page = await platform_owner.open(path)
        assert "The person gets a mail." in page.text
        refused = await platform_owner.submit(page, path, reason="")
        assert refused.status == 400
        done = await platform_owner.submit(refused, path, reason=REASON)

        assert "The second factor is off." in done.text
        assert [entry[2] for entry in world.platform_audit_entries("mfa.force_disabled")] == [{"reason": REASON}]
        assert "mfa_force_disabled" in [row[0] for row in world.rows("SELECT template FROM mails")]

    async def test_another_factor_than_the_one_shown_is_not_turned_off(
        self, callers: Callers, platform_owner: Visitor
    ) -> None:
        world, user_id = callers.world, member(callers)
        path = f"{USERS}/{user_id}/mfa"
        world.connection.execute("UPDATE users SET mfa_enabled_at = now() WHERE id = %s", (user_id,))
        opened = await platform_owner.open(path)
        world.connection.execute(
            "UPDATE users SET mfa_enabled_at = mfa_enabled_at + interval '1 minute' WHERE id = %s", (user_id,)
        )

        late = await platform_owner.submit(opened, path, reason=REASON)

        assert late.status == 409
        assert "has set up another second factor" in late.text
        assert f'value="{REASON}"' in late.text
        world.connection.execute("UPDATE users SET mfa_enabled_at = NULL WHERE id = %s", (user_id,))
        gone = await platform_owner.submit(late, path)
        assert gone.status == 400
        assert "has no second factor" in gone.text


class TestPersonalData:
    """Exporting and anonymizing."""

    async def test_an_owner_downloads_the_data(self, callers: Callers, platform_owner: Visitor) -> None:
        user_id = member(callers)
        page = await platform_owner.open(f"{USERS}/{user_id}/data")

        file = await platform_owner.submit(page, f"{USERS}/{user_id}/data/download")

        assert file.json["email"] == "member@example.com"
        assert file.headers["Content-Disposition"] == f'attachment; filename="user-{user_id}.json"'
        assert len(callers.world.platform_audit_entries("user.exported")) == 1

    async def test_only_the_typed_address_is_anonymized(self, callers: Callers, platform_owner: Visitor) -> None:
        user_id = callers.people[Caller.OWNER]
        path = f"{USERS}/{user_id}/data"
        page = await platform_owner.open(path)
        assert "left without an owner" in page.text

        refused = await platform_owner.submit(page, f"{path}/anonymize", email="member@example.com")
        assert refused.status == 400
        assert 'value="member@example.com"' in refused.text
        done = await platform_owner.submit(refused, f"{path}/anonymize", email=" Owner@Example.com ")

        assert "The personal data are removed." in done.text
        assert "owner@example.com" not in done.text.replace("platform_owner@example.com", "")
        assert len(callers.world.platform_audit_entries("user.anonymized")) == 1

    async def test_a_platform_owner_is_not_anonymized(self, callers: Callers, platform_owner: Visitor) -> None:
        owner_id = callers.people[Caller.PLATFORM_OWNER]
        page = await platform_owner.open(f"{USERS}/{owner_id}/data")

        assert f"{USERS}/{owner_id}/data/anonymize" not in page.text
        assert "Demote them first." in page.text
        sent = {"form_token": page.text.partition('name="form_token" value="')[2].partition('"')[0]}
        answer = await platform_owner.post(
            f"{USERS}/{owner_id}/data/anonymize", sent | {"email": "platform_owner@example.com"}
        )
        assert answer.status == 403
