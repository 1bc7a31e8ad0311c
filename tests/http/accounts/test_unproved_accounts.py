"""Accounts that a stranger registered go after 30 days, and no other account goes with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import trio
from psycopg.errors import LockNotAvailable

from adapters.postgres.driver.connection import Connection
from adapters.postgres.platform import unproved_accounts
from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.application import Answer
from tests.postgres import connected
from tests.transactions import transaction_on
from tests.waiting import waiting_for_a_lock
from tests.world.acme_shop import AcmeShop
from tests.world.builder import EMAIL
from tests.world.world import World

DAY = timedelta(days=1)
MONTH = Leftover.UNPROVED_ACCOUNTS.kept_for
ROUNDS = 10


@pytest.fixture
def sweep(transact: Callable[..., Any]) -> Callable[[], int]:
    """Deletes the accounts that are kept no longer, and returns how many these were."""
    return partial(transact, housekeeping.sweep, Leftover.UNPROVED_ACCOUNTS, MONTH, 20)


async def open_link(world: World, token: str) -> Answer:
    return await world.client.get(f"/auth/verify-email?token={token}", headers={"Accept": "application/json"})


def mark(world: World, email: str = EMAIL) -> Any:
    """Return since when an account is unproved; None when it is kept for good."""
    return world.value("SELECT unproved_since FROM users WHERE email = %s", email)


async def test_an_account_that_nobody_proves_is_deleted_30_days_after_its_registration(
    world: World, sweep: Callable[[], int]
) -> None:
    await world.register(name="Ada")
    # What strangers can do with it, and what its reader can leave undone.
    await world.log_in()
    await world.log_in(password="a wrong one")
    for path in ("resend-verification", "forgot-password", "magic-link/request"):
        await world.client.post(f"/api/auth/{path}", body={"email": EMAIL})
    assert world.value("SELECT count(*) FROM login_events") > 0

    world.clock.advance(MONTH - timedelta(seconds=1))
    assert sweep() == 0
    assert world.has_user(EMAIL)
    world.clock.advance(timedelta(seconds=1))
    assert sweep() == 1

    assert not world.has_user(EMAIL)
    for table in ("login_events", "one_time_tokens", "open_registrations"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0, table


async def test_the_address_can_be_registered_again(world: World, sweep: Callable[[], int]) -> None:
    await world.register()
    world.rows("DELETE FROM mails RETURNING id")
    world.clock.advance(MONTH)
    assert sweep() == 1

    await world.register_and_verify(password="another password")

    assert (await world.log_in(password="another password")).status == 200
    assert mark(world) is None


async def test_a_registration_of_yesterday_is_left_its_time(world: World, sweep: Callable[[], int]) -> None:
    await world.register()
    world.rows("DELETE FROM mails RETURNING id")
    world.clock.advance(MONTH - timedelta(hours=1))
    assert (await world.register()).status == 409
    token = (await world.mail()).values["token"]
    world.clock.advance(timedelta(hours=2))

    assert sweep() == 0

    assert (await open_link(world, token)).status == 200
    world.clock.advance(2 * MONTH)
    assert sweep() == 0


async def test_an_account_that_waited_is_deleted_a_day_later(world: World, sweep: Callable[[], int]) -> None:
    await world.register()
    world.clock.advance(MONTH)
    await world.client.post("/api/auth/resend-verification", body={"email": EMAIL})
    assert sweep() == 0
    world.clock.advance(DAY - timedelta(seconds=1))
    assert sweep() == 0
    world.clock.advance(timedelta(seconds=1))

    assert sweep() == 1


async def test_an_account_whose_proof_was_lost_again_is_kept(world: World, sweep: Callable[[], int]) -> None:
    await world.register_and_verify()
    # As the loss of a mail domain does it.
    world.rows("UPDATE users SET email_verified_at = NULL RETURNING id")
    world.clock.advance(MONTH)

    assert mark(world) is None
    assert sweep() == 0
    assert world.has_user(EMAIL)


async def test_an_account_that_somebody_else_made_is_kept(world: World, sweep: Callable[[], int]) -> None:
    world.user(is_verified=False)
    world.clock.advance(10 * MONTH)

    assert sweep() == 0
    assert world.has_user(EMAIL)


@pytest.mark.parametrize("given", ["membership", "link"])
async def test_an_account_that_was_given_something_once_is_kept(
    world: World, acme_shop: AcmeShop, sweep: Callable[[], int], given: str
) -> None:
    await world.register()
    user_id = world.user_id(EMAIL)
    if given == "membership":
        world.member(acme_shop.organization_id, user_id, is_confirmed=False)
        world.rows("DELETE FROM memberships WHERE user_id = %s RETURNING id", user_id)
    else:
        world.link(acme_shop.organization_id, acme_shop.service_id, user_id)
        world.rows("DELETE FROM service_users WHERE user_id = %s RETURNING user_id", user_id)
    world.clock.advance(MONTH)

    assert sweep() == 0
    assert world.has_user(EMAIL)


# Each is about one account.
COMES_OF_IT = {
    "a second factor": "UPDATE users SET mfa_enabled_at = now() WHERE id = %(user)s",
    "a platform owner": "UPDATE users SET is_platform_owner = true WHERE id = %(user)s",
    "the support": "UPDATE users SET is_platform_support = true WHERE id = %(user)s",
    "an own account": "UPDATE users SET created_by_organization_id = %(organization)s WHERE id = %(user)s",
    "deactivated": "UPDATE users SET deactivated_at = now() WHERE id = %(user)s",
    "closed": "UPDATE users SET closed_at = now() WHERE id = %(user)s",
    "disowned": "UPDATE users SET disowned_at = now() WHERE id = %(user)s",
    "an identity": """
        INSERT INTO identities (id, user_id, provider, subject, linked_at, used_at)
        VALUES (gen_random_uuid(), %(user)s, 'codehost', %(email)s, now(), now())
    """,
    "a passkey": """
        INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, aaguid, transports,
                              backup_eligible, created_at)
        VALUES (gen_random_uuid(), %(user)s, %(email)s::text::bytea, '', 0, '', '', '{}', false, now())
    """,
    "a second factor that is not enabled": """
        INSERT INTO totp_secrets (user_id, secret_sealed, created_at) VALUES (%(user)s, '', now())
    """,
    "a session": """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (gen_random_uuid(), %(user)s, 'password', '{}', now(), '', now(), now(), now())
    """,
    "habits": """
        INSERT INTO sign_in_habits (user_id, hours, countries, expires_at) VALUES (%(user)s, '{1}', '  ', now())
    """,
    "a sign-in": """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at)
        VALUES (gen_random_uuid(), %(user)s, %(user)s, 'password', true, 0, '{}', now())
    """,
    "an entry of an audit log": """
        INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success, details,
                                   created_at)
        VALUES (gen_random_uuid(), %(organization)s, %(user)s, 'x', 'service', '', true, '{}', now())
    """,
    "an entry about it": """
        INSERT INTO platform_audit_entries (id, action, target_type, target_id, success, details, created_at)
        VALUES (gen_random_uuid(), 'x', 'user', %(user)s::text, true, '{}', now())
    """,
    "a customer": """
        INSERT INTO billing_customers (id, mode, seller_organization_id, service_id, user_id, created_at, updated_at)
        VALUES ('cus_1', 'live', %(organization)s, %(service)s, %(user)s, now(), now())
    """,
    "an import": """
        INSERT INTO open_registrations (id, user_id, email, password_hash, data, created_at)
        VALUES (gen_random_uuid(), %(user)s, %(email)s, '', '{}', now())
    """,
}
WAITED_FOR = {
    "an invitation": """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, proof_hash, created_at,
                                 expires_at)
        VALUES (gen_random_uuid(), %(organization)s, %(email)s, 'member', 'pending', '', '', now(), now())
    """,
    "a checkout": """
        INSERT INTO billing_checkouts (id, mode, organization_id, service_id, user_id, plan_id, price_id, success_url,
                                       cancel_url, created_at)
        VALUES (gen_random_uuid(), 'live', %(organization)s, %(service)s, %(user)s, gen_random_uuid(), '', '', '',
                now())
    """,
    "another provider": """
        INSERT INTO upstream_sign_ins (id, state_hash, provider, return_to, return_id, user_id, expires_at)
        VALUES (gen_random_uuid(), '', 'codehost', '', '', %(user)s, 'infinity')
    """,
    "a sign-in under way": """
        INSERT INTO mfa_challenges (id, user_id, context, created_at, expires_at)
        VALUES (gen_random_uuid(), %(user)s, '{}', now(), 'infinity')
    """,
    "a passkey under way": """
        INSERT INTO passkey_challenges (id, purpose, user_id, challenge, created_at, expires_at)
        VALUES (gen_random_uuid(), 'register', %(user)s, '', now(), 'infinity')
    """,
}


async def test_what_has_come_of_an_account_keeps_it_for_good_and_what_it_waits_for_does_for_a_day(
    world: World, acme_shop: AcmeShop, sweep: Callable[[], int], subtests: pytest.Subtests
) -> None:
    for what, statement in (COMES_OF_IT | WAITED_FOR).items():
        email = address_of(what)
        assert (await world.register(email)).status == 200
        world.connection.execute(statement.encode(), ids(world, acme_shop, email))
    await world.register()
    since = mark(world)
    world.clock.advance(MONTH)

    assert sweep() == 1

    assert not world.has_user(EMAIL)
    for what in COMES_OF_IT:
        with subtests.test(what=what):
            assert mark(world, address_of(what)) is None
    for what in WAITED_FOR:
        with subtests.test(what=what):
            assert mark(world, address_of(what)) == since + DAY


def address_of(what: str) -> str:
    return f"{what.replace(' ', '-')}@example.com"


def ids(world: World, acme_shop: AcmeShop, email: str) -> dict[str, Any]:
    return {
        "user": world.user_id(email),
        "email": email,
        "organization": acme_shop.organization_id,
        "service": acme_shop.service_id,
    }


def test_every_table_that_refers_to_accounts_is_looked_at(connection: Connection) -> None:
    referring = connection.execute(
        """
        SELECT c.conrelid::regclass::text, a.attname::text
        FROM   pg_constraint c
        JOIN   pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE  c.contype = 'f' AND c.confrelid = 'users'::regclass AND c.conparentid = 0
        """
    ).fetchall()
    looked_at = unproved_accounts.CLAIMED + unproved_accounts.WAITING

    assert len(referring) > 25
    # The addresses that a person had are known from events alone, and each account has some. An organization knows an
    # account by another id, and a service notes something about it, only while it has a membership or a link, which are
    # looked at.
    others = {"known_addresses", "known_account_ids", "service_user_metadata"}
    # The logs are looked at by a statement of their own.
    assert "FROM login_events WHERE user_id = ANY" in unproved_accounts.NAMED
    others |= {"login_events"}
    assert [
        (table, column)
        for table, column in referring
        if table not in others and (f"FROM {table} x" not in looked_at or f"x.{column} = u.id" not in looked_at)
    ] == []


async def test_accounts_that_are_kept_take_no_place_in_a_batch(world: World, sweep: Callable[[], int]) -> None:
    for number in range(25):
        await world.register(f"kept{number}@example.com")
    for number in range(3):
        await world.register(f"gone{number}@example.com")
    world.rows("UPDATE users SET deactivated_at = now() WHERE email LIKE 'kept%%' RETURNING id")
    world.clock.advance(MONTH)

    assert sweep() == 3


class TestRaces:
    """An action on an account that is being deleted comes before the deletion, or after it."""

    async def test_an_account_that_is_being_proved_is_left(
        self, world: World, sweep: Callable[[], int], database_url: str
    ) -> None:
        await world.register()
        world.clock.advance(MONTH)
        with connected(database_url) as other, other.transaction():
            other.execute("UPDATE users SET email_verified_at = now()")

            assert sweep() == 0

        assert sweep() == 0
        assert world.has_user(EMAIL)

    async def test_what_has_come_of_an_account_and_is_not_committed_yet_keeps_it(
        self, world: World, acme_shop: AcmeShop, sweep: Callable[[], int], database_url: str
    ) -> None:
        await world.register()
        world.clock.advance(MONTH)
        with connected(database_url) as other, other.transaction():
            other.execute(COMES_OF_IT["an identity"].encode(), ids(world, acme_shop, EMAIL))

            assert sweep() == 0

        assert sweep() == 0
        assert mark(world) is None

    async def test_nothing_comes_of_an_account_between_the_look_at_it_and_its_deletion(
        self, world: World, acme_shop: AcmeShop, database_url: str
    ) -> None:
        await world.register()
        world.clock.advance(MONTH)
        with connected(database_url) as sweeping, sweeping.transaction():
            found = sweeping.execute(unproved_accounts.FIND, (world.clock() - MONTH, 20)).fetchall()
            assert found == [(world.user_id(EMAIL),)]

            for statement in ("an identity", "a session", "a customer", "a second factor"):
                with connected(database_url, options="-c lock_timeout=20ms") as other, pytest.raises(LockNotAvailable):
                    other.execute(COMES_OF_IT[statement].encode(), ids(world, acme_shop, EMAIL))

    async def test_an_invitation_that_is_made_after_an_account_was_found_keeps_it(
        self, world: World, acme_shop: AcmeShop, database_url: str
    ) -> None:
        await world.register()
        world.clock.advance(MONTH)
        found = {"ids": [world.user_id(EMAIL)], "named": [], "now": world.clock()}
        with connected(database_url) as sweeping, sweeping.transaction():
            sweeping.execute(unproved_accounts.FIND, (world.clock() - MONTH, 20))
            # It names the address alone, so the lock of the account does not keep it waiting.
            world.connection.execute(WAITED_FOR["an invitation"].encode(), ids(world, acme_shop, EMAIL))

            assert sweeping.execute(unproved_accounts.DELETE, found).rowcount == 0

        world.rows("DELETE FROM invitations RETURNING id")
        assert world.connection.execute(unproved_accounts.DELETE, found).rowcount == 1

    async def test_a_registration_at_the_moment_of_the_deletion_makes_a_new_account(
        self, world: World, connection: Connection, database_url: str
    ) -> None:
        await world.register()
        world.rows("DELETE FROM mails RETURNING id")
        old = world.user_id(EMAIL)
        world.clock.advance(MONTH)
        answers: list[Answer] = []

        async def register() -> None:
            answers.append(await world.register(password="another password"))

        async with trio.open_nursery() as nursery:
            with connected(database_url) as other, other.transaction():
                swept = PostgresHousekeeping(transaction_on(other, now=world.clock())).delete(
                    Leftover.UNPROVED_ACCOUNTS, world.clock() - MONTH, 20
                )
                assert swept == 1
                nursery.start_soon(register)
                await waiting_for_a_lock(connection)

        assert [answer.status for answer in answers] == [200]
        assert world.user_id(EMAIL) != old
        assert (await open_link(world, (await world.mail()).values["token"])).status == 200
        assert (await world.log_in(password="another password")).status == 200

    async def test_a_registration_is_never_lost_to_a_deletion(self, world: World) -> None:
        transact = world.installation.database.transact

        async def sweep() -> None:
            await transact(housekeeping.sweep, Leftover.UNPROVED_ACCOUNTS, MONTH, 20)

        async def register(email: str) -> None:
            assert (await world.register(email, "another password")).status in {200, 409}

        for number in range(ROUNDS):
            email = f"racer{number}@example.com"
            await world.register(email)
            world.rows("DELETE FROM mails RETURNING id")
            world.clock.advance(MONTH)

            async with trio.open_nursery() as nursery:
                for task in (sweep, partial(register, email), sweep):
                    nursery.start_soon(task)

            token = (await world.mail()).values["token"]
            assert (await open_link(world, token)).status == 200
            assert (await world.log_in(email, "another password")).status == 200
