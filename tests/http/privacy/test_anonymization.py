"""Anonymizing a user: who may do it, and what it does."""

from __future__ import annotations

import re
from functools import partial
from uuid import UUID

import pytest

from tests.concurrency import at_once, statuses_of
from tests.http.privacy.anonymizing import anonymize
from tests.world.builder import EMAIL
from tests.world.passkeys import Keyring
from tests.world.platform import PLATFORM_OWNER, Platform
from tests.world.world import World, assert_refused

UNKNOWN = "0191d3c1-0000-7000-8000-00000000000f"
BOB = "bob@example.com"
PLACEHOLDER = re.compile(r"anonymized-20260203040506\d{6}@deleted\.local")


def is_anonymized(world: World, user_id: UUID) -> bool:
    return world.value("SELECT anonymized_at IS NOT NULL FROM users WHERE id = %s", user_id)


class TestWhoMay:
    """Owners of every organization to which the user belongs, and platform owners."""

    async def test_the_owner_of_every_organization_of_the_user_can_anonymize_them(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        for slug in ("acme", "bolt"):
            organization_id = world.organization(slug)
            world.member(organization_id, ada)
            world.member(organization_id, bob, "owner")

        answer = await anonymize(platform, ada, by=await world.sign_in(BOB))

        assert (answer.status, answer.json["success"], answer.json["user_id"]) == (200, True, str(ada))
        assert set(answer.json) == {"success", "message", "user_id"}
        assert is_anonymized(world, ada)

    @pytest.mark.parametrize("role_elsewhere", ["admin", "member", None])
    async def test_an_owner_of_only_some_organizations_of_the_user_is_refused(
        self, platform: Platform, world: World, role_elsewhere: str | None
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme, bolt = world.organization("acme"), world.organization("bolt")
        world.member(acme, ada)
        world.member(acme, bob, "owner")
        world.member(bolt, ada)
        if role_elsewhere is not None:
            world.member(bolt, bob, role_elsewhere)

        assert_refused(await anonymize(platform, ada, by=await world.sign_in(BOB)), 403, "FORBIDDEN")
        assert not is_anonymized(world, ada)

    async def test_a_membership_that_the_user_has_not_confirmed_blocks_nothing(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme, bolt = world.organization("acme"), world.organization("bolt")
        world.member(acme, ada)
        world.member(acme, bob, "owner")
        world.member(bolt, ada, is_confirmed=False)

        answer = await anonymize(platform, ada, by=await world.sign_in(BOB))

        assert answer.status == 200, answer.text
        assert is_anonymized(world, ada)

    async def test_an_owner_is_refused_while_one_of_the_organizations_is_not_active(
        self, platform: Platform, world: World, subtests: pytest.Subtests
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        for slug in ("acme", "bolt"):
            organization_id = world.organization(slug)
            world.member(organization_id, ada)
            world.member(organization_id, bob, "owner")
        tokens = await world.sign_in(BOB)

        for status in ("pending", "suspended", "rejected"):
            with subtests.test(status=status):
                world.connection.execute("UPDATE organizations SET status = %s WHERE slug = 'bolt'", (status,))

                assert_refused(await anonymize(platform, ada, by=tokens), 403, "ORGANIZATION_NOT_ACTIVE")
                assert not is_anonymized(world, ada)

    async def test_an_owner_with_one_factor_is_refused_if_the_organization_requires_two(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme = world.organization(mfa_required=True)
        world.member(acme, ada)
        world.member(acme, bob, "owner")
        tokens = await world.sign_in(BOB)

        refused = await anonymize(platform, ada, by=tokens)

        assert_refused(refused, 403, "FORBIDDEN")
        assert "multi-factor" in refused.json["error"]
        world.connection.execute("UPDATE sessions SET amr = '{pwd,otp,mfa}'")
        assert (await anonymize(platform, ada, by=tokens)).status == 200

    async def test_an_owner_is_refused_if_the_user_uses_a_service_of_another_organization(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme = world.organization("acme")
        world.member(acme, ada)
        world.member(acme, bob, "owner")
        world.service(world.organization("bolt"))
        await world.sign_in(org_slug="bolt", service_slug="shop")

        assert_refused(await anonymize(platform, ada, by=await world.sign_in(BOB)), 403, "FORBIDDEN")

    async def test_an_owner_is_refused_if_the_user_is_only_an_end_user(self, platform: Platform, world: World) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme = world.organization("acme")
        world.member(acme, bob, "owner")
        world.service(acme)
        await world.sign_in(org_slug="acme", service_slug="shop")

        assert_refused(await anonymize(platform, ada, by=await world.sign_in(BOB)), 403, "FORBIDDEN")

    async def test_only_a_platform_owner_can_anonymize_a_user_without_an_organization(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        world.user(BOB)

        for caller in (await world.sign_in(BOB), await world.sign_in()):
            assert_refused(await anonymize(platform, ada, by=caller), 403, "FORBIDDEN")
        assert (await anonymize(platform, ada)).status == 200

    async def test_an_owner_of_an_organization_cannot_anonymize_themselves(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        world.member(world.organization(), ada, "owner")

        assert_refused(await anonymize(platform, ada, by=await world.sign_in()), 403, "FORBIDDEN")
        assert not is_anonymized(world, ada)

    async def test_a_platform_owner_must_be_demoted_before_anonymization(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user(is_platform_owner=True)

        for user_id in (ada, platform.owner_id):
            assert_refused(await anonymize(platform, user_id), 403, "FORBIDDEN")
        await platform.request("DELETE", f"/api/platform/owners/{ada}")
        assert (await anonymize(platform, ada)).status == 200

    async def test_an_unknown_user_is_not_found_for_a_platform_owner_and_forbidden_for_others(
        self, platform: Platform, world: World
    ) -> None:
        world.user()

        assert_refused(await anonymize(platform, UNKNOWN), 404, "NOT_FOUND")
        assert_refused(await anonymize(platform, UNKNOWN, by=await world.sign_in()), 403, "FORBIDDEN")

    async def test_a_repeated_anonymization_changes_nothing(self, platform: Platform, world: World) -> None:
        ada = world.user()
        await anonymize(platform, ada)
        email = world.value("SELECT email FROM users WHERE id = %s", ada)

        answer = await anonymize(platform, ada)

        assert answer.status == 200
        assert world.value("SELECT email FROM users WHERE id = %s", ada) == email
        assert len(platform.world.platform_audit_entries("user.anonymized")) == 1

    async def test_of_two_concurrent_anonymizations_one_takes_effect(self, platform: Platform, world: World) -> None:
        ada = world.user()

        answers = await at_once(*[partial(anonymize, platform, ada)] * 2)

        assert statuses_of(answers) == [200, 200]
        assert len(platform.world.platform_audit_entries("user.anonymized")) == 1
        assert len(world.events("user.anonymized")) == 1


class TestRecords:
    """The audit entries, events and security log of an anonymization."""

    async def test_an_anonymization_is_recorded_in_each_organization_and_in_the_logs(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        acme, bolt = world.organization("acme"), world.organization("bolt")
        world.member(acme, ada)
        world.service(bolt)
        await world.sign_in(org_slug="bolt", service_slug="shop")

        await anonymize(platform, ada)

        assert platform.world.audit_entries("user.anonymized") == [
            (organization_id, platform.owner_id, str(ada), {}) for organization_id in sorted((acme, bolt))
        ]
        assert world.events("user.anonymized") == [
            (organization_id, PLATFORM_OWNER, {"user_id": str(ada)}) for organization_id in sorted((acme, bolt))
        ]
        assert world.rows("SELECT event_type, ip_address, user_agent FROM mfa_events WHERE user_id = %s", ada) == [
            ("user_anonymized", "0.0.0.0", "anonymized")
        ]
        assert platform.world.platform_audit_entries("user.anonymized") == [(platform.owner_id, str(ada), {})]
        log = await platform.request("GET", f"/api/platform/audit-log?target_type=user&target_id={ada}")
        assert [entry["action"] for entry in log.json["logs"]] == ["user.anonymized", "user_anonymized"]

    async def test_an_anonymization_by_an_organization_owner_is_not_in_the_platform_audit_log(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob, acme = world.user(), world.user(BOB), world.organization()
        world.member(acme, ada)
        world.member(acme, bob, "owner")

        await anonymize(platform, ada, by=await world.sign_in(BOB))

        assert platform.world.platform_audit_entries("user.anonymized") == []
        assert platform.world.platform_audit_entries("user_anonymized") == [(bob, str(ada), {})]
        assert platform.world.audit_entries("user.anonymized") == [(acme, bob, str(ada), {})]

    async def test_the_log_of_the_platform_has_what_only_the_security_log_was_told(self, world: World) -> None:
        ada = world.user()

        # As a process of an earlier version does.
        world.connection.execute(
            """
            INSERT INTO mfa_events (id, user_id, event_type, success, ip_address, user_agent, details, created_at)
            VALUES (gen_random_uuid(), %s, 'user_anonymized', true, '203.0.113.7', 'program', '{}', now())
            """,
            (ada,),
        )

        assert world.rows("SELECT target_id, ip_address, actor_user_id FROM platform_audit_entries") == [
            (str(ada), "0.0.0.0", None)
        ]

    async def test_the_event_of_a_user_without_an_organization_names_no_organization(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()

        await anonymize(platform, ada)

        assert world.events("user.anonymized") == [(None, PLATFORM_OWNER, {"user_id": str(ada)})]


class TestWhatIsKept:
    """The rows that stay, without personal data."""

    async def test_the_account_keeps_a_placeholder_address_and_no_credentials(
        self, platform: Platform, world: World, keyring: Keyring
    ) -> None:
        await keyring.sign_up()
        await keyring.registered()
        ada = world.value("UPDATE users SET language = 'de' WHERE email = %s RETURNING id", EMAIL)

        await anonymize(platform, ada)

        [(email, password_hash, verified_at, deactivated_at, language)] = world.rows(
            "SELECT email, password_hash, email_verified_at, deactivated_at, language FROM users WHERE id = %s", ada
        )
        assert PLACEHOLDER.fullmatch(email)
        assert (password_hash, verified_at, language) == (None, None, None)
        assert deactivated_at is not None
        for table in ("passkeys", "devices", "sessions", "totp_secrets", "backup_codes", "one_time_tokens"):
            assert world.rows(f"SELECT FROM {table} WHERE user_id = %s", ada) == []

    async def test_users_anonymized_concurrently_get_distinct_placeholders(
        self, platform: Platform, world: World
    ) -> None:
        user_ids = [world.user(f"person{number}@example.com") for number in range(3)]

        answers = await at_once(*[partial(anonymize, platform, user_id) for user_id in user_ids])

        assert statuses_of(answers) == [200, 200, 200]
        assert world.value("SELECT count(DISTINCT email) FROM users WHERE anonymized_at IS NOT NULL") == 3

    async def test_memberships_and_login_events_stay_without_network_addresses(
        self, platform: Platform, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Makes several batches necessary.
        monkeypatch.setattr("adapters.postgres.privacy.anonymization.BATCH_ROWS_MAX", 1)
        ada, acme = world.user(), world.organization()
        world.member(acme, ada)
        await world.sign_in()
        await world.log_in(password="a wrong password")

        await anonymize(platform, ada)

        assert world.rows("SELECT role FROM memberships WHERE user_id = %s", ada) == [("member",)]
        assert world.rows("SELECT DISTINCT ip_address, geo_city FROM login_events WHERE user_id = %s", ada) == [
            ("0.0.0.0", None)
        ]
        assert world.value("SELECT count(*) FROM login_events WHERE user_id = %s", ada) == 2

    async def test_names_and_reasons_of_organizations_no_longer_contain_the_address(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        world.member(world.organization(), ada, "owner")
        reason = {"reason": f"{EMAIL.upper()} does not pay, xada@example.com does."}
        [[acme]] = world.rows("UPDATE organizations SET name = %s RETURNING id", f"{EMAIL}'s")
        await platform.request("POST", f"/api/platform/organizations/{acme}/suspend", reason)

        assert (await anonymize(platform, ada)).status == 200

        placeholder = world.value("SELECT email FROM users WHERE id = %s", ada)
        assert world.rows("SELECT name, suspension_reason, rejection_reason FROM organizations") == [
            (f"{placeholder}'s", f"{placeholder} does not pay, xada@example.com does.", None)
        ]

    async def test_a_pending_invitation_to_the_address_is_cancelled(self, platform: Platform, world: World) -> None:
        ada, acme = world.user(), world.organization()
        for status in ("pending", "rejected"):
            world.connection.execute(
                """
                INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                         created_at, expires_at)
                VALUES (gen_random_uuid(), %s, %s, 'member', %s, %s, 'sealed', 'proof', now(), now())
                """,
                (acme, EMAIL, status, status.encode()),
            )

        await anonymize(platform, ada)

        kept = world.rows("SELECT status, token_sealed FROM invitations ORDER BY status")
        assert kept == [("cancelled", None), ("rejected", None)]


class TestMentions:
    """Texts that others wrote, and mails to others."""

    async def test_the_address_disappears_from_names_and_descriptions_everywhere_and_nothing_else_does(
        self, platform: Platform, world: World
    ) -> None:
        ada = world.user()
        acme, bolt = (
            world.organization("acme", name=f"Friends of {EMAIL}"),
            world.organization("bolt", name="bob@x.example"),
        )
        world.custom_role(acme, "helper")
        world.custom_role(bolt, "keeper")
        world.connection.execute(
            "UPDATE organization_roles SET name = slug, description = 'Ask ' || %s", (EMAIL.upper(),)
        )
        world.connection.execute(
            "UPDATE organizations SET suspension_reason = %s WHERE id = %s", (f"{EMAIL} asked", bolt)
        )

        await anonymize(platform, ada)

        gone = world.value("SELECT email FROM users WHERE id = %s", ada)
        assert world.rows("SELECT name, suspension_reason FROM organizations ORDER BY slug") == [
            (f"Friends of {gone}", None),
            ("bob@x.example", f"{gone} asked"),
        ]
        assert world.rows("SELECT name, description FROM organization_roles ORDER BY slug") == [
            ("helper", f"Ask {gone}"),
            ("keeper", f"Ask {gone}"),
        ]

    async def test_open_invitations_of_the_user_are_withdrawn_and_their_mails_deleted(
        self, platform: Platform, world: World
    ) -> None:
        ada, bob = world.user(), world.user(BOB)
        acme = world.organization()
        world.member(acme, ada, "admin")
        world.member(acme, bob, "owner")
        path = "/api/organizations/acme/invitations"
        for by, email in ((EMAIL, "guest@example.com"), (BOB, "other@example.com")):
            tokens = await world.sign_in(by)
            await platform.request("POST", path, {"email": email, "role": "member"}, by=tokens)

        await anonymize(platform, ada)

        assert world.rows("SELECT email, status FROM invitations ORDER BY email") == [
            ("guest@example.com", "cancelled"),
            ("other@example.com", "pending"),
        ]
        assert len(world.audit_entries("invitation.revoked")) == 1
        assert [message.to for message in await world.mails()] == ["other@example.com"]
