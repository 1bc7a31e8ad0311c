"""After an anonymization no table identifies the user, their networks or their user agents.

Before it, the user does everything that the routes allow. The search reads every column of every table that can hold
text, so it covers later capabilities too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.mail import mail
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.authenticators import Authenticator
from tests.world.builder import PASSWORD
from tests.world.passkeys import PATH as PASSKEYS
from tests.world.platform import Platform
from tests.world.world import World

FIRST_EMAIL = "zxcv.firstname@byron.example"
EMAIL = "qwertz.lovelace@byron.example"
NETWORK = "203.0.113"
USER_AGENT = "Quixotic/9.9 (Analytical Engine)"
FRIEND = "friend@example.com"
# A job that the user has begun, whose rows name both addresses, and a trial sign-in of another administrator.
OF_THE_CONSOLE = """
    WITH job AS (
        INSERT INTO bulk_jobs (id, organization_id, kind, details, maker_id, session_id, ip_address, user_agent, rows,
                               due_at, created_at)
        SELECT gen_random_uuid(), o.id, 'invitations.send', '{"role": "member"}', u.id, gen_random_uuid(),
               %(network)s || '.250', %(user_agent)s, 2, now(), now()
        FROM   organizations o, users u
        WHERE  o.slug = 'engines' AND u.email = %(email)s
        RETURNING id, maker_id),
    rows AS (
        INSERT INTO bulk_job_rows (job_id, number, label, subject_id, seen, state, problem)
        SELECT id, 1, upper(%(email)s), NULL, '', 'refused', jsonb_build_object('text', %(email)s::text) FROM job
        UNION ALL
        SELECT id, 2, %(first_email)s, maker_id, '', 'waiting', NULL FROM job),
    connection AS (
        INSERT INTO upstream_connections (id, organization_id, type, name, scopes, attribute_mapping, trust_mfa,
                                          enabled, created_at, updated_at)
        SELECT gen_random_uuid(), id, 'saml', 'Acme', '{}', '{}', false, false, now(), now()
        FROM   organizations
        WHERE  slug = 'acme'
        RETURNING organization_id, id)
    INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, state_hash, tested_as,
                                expires_at, email, claims)
    SELECT c.organization_id, gen_random_uuid(), c.id, u.id, gen_random_uuid(), gen_random_uuid()::text::bytea, '',
           now(), one.email, jsonb_build_array(jsonb_build_array('upn', one.claims))
    FROM   connection c, users u, (VALUES (NULL, %(email)s::text), (%(first_email)s, 'none')) AS one (email, claims)
    WHERE  u.email = %(friend)s
"""
TRACES = ("zxcv.firstname", "qwertz.lovelace", "byron.example", NETWORK, "quixotic", "analytical")


@dataclass
class ActiveUser:
    """A user who uses every capability, from one network and with one user agent."""

    platform: Platform
    installation: Installation
    token: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def world(self) -> World:
        """The world of the platform."""
        return self.platform.world

    async def request(self, method: str, path: str, body: Any = None, *, allowed: tuple[int, ...] = (200, 204)) -> Any:
        """Send a request; return the decoded JSON, or None if the answer has none."""
        answer = await self.world.client.request(
            method,
            path,
            body=body,
            token=self.token or None,
            # The rate limits, which record networks, are on and count by address: each request has another one.
            address=f"{NETWORK}.{next(self.numbers)}",
            headers={"User-Agent": USER_AGENT, "Accept": "application/json"},
        )
        assert answer.status in allowed, (method, path, answer.text)
        return answer.json if answer.content and answer.content[:1] in b"{[" else None

    async def messages(self, email: str) -> list[mail.MailMessage]:
        """Claim the pending mails; return those to this address."""
        claimed = await self.installation.database.transact(mail.claim, 100)
        return [one.message for one in claimed if one.message.to == email]

    async def sign_in(self, email: str, password: str = PASSWORD) -> None:
        """Sign in, after a wrong password."""
        self.token = ""
        await self.request("POST", "/api/auth/login", {"email": email, "password": "a wrong one"}, allowed=(401,))
        self.token = (await self.request("POST", "/api/auth/login", {"email": email, "password": password}))[
            "access_token"
        ]

    async def register(self) -> None:
        """Register, prove the address, sign in, and change to another address."""
        await self.request("POST", "/api/auth/register", {"email": FIRST_EMAIL, "password": PASSWORD})
        [message] = await self.messages(FIRST_EMAIL)
        await self.request("GET", f"/auth/verify-email?token={message.values['token']}")
        await self.sign_in(FIRST_EMAIL)
        await self.world.change_address(self.token, EMAIL)

    async def use_account_features(self) -> None:
        """Use reset links, magic links, passkeys, devices and the second factor."""
        for path in ("/api/auth/forgot-password", "/api/auth/magic-link/request"):
            await self.request("POST", path, {"email": EMAIL})
        started = await self.request("POST", f"{PASSKEYS}/register/start")
        credential = Authenticator().create(started["options"])
        await self.request(
            "POST",
            f"{PASSKEYS}/register/finish",
            {"challenge_id": started["challenge_id"], "credential": credential, "name": "qwertz.lovelace's key"},
        )
        [device] = (await self.request("GET", "/api/user/devices"))["devices"]
        await self.request("PATCH", f"/api/user/devices/{device['id']}", {"name": "qwertz.lovelace's engine"})
        await self.request("POST", "/api/user/mfa/setup")
        await self.request("POST", "/api/user/mfa/verify", {"code": "000000"}, allowed=(400,))

    async def work_in_organizations(self) -> None:
        """Create an organization, invite a user, be invited, and answer."""
        await self.request("POST", "/api/organizations", {"slug": "engines", "name": "Engines"})
        self.world.connection.execute("UPDATE organizations SET status = 'active'")
        await self.request("POST", "/api/organizations/engines/invitations", {"email": FRIEND, "role": "member"})
        await self.request("PATCH", "/api/organizations/engines", {"name": "Better engines"})
        role = {"slug": "helper", "name": f"For {EMAIL}", "description": f"Ask {EMAIL.upper()}.", "permissions": []}
        await self.request("POST", "/api/organizations/engines/roles", role)
        friend_id = self.world.user(FRIEND)
        for slug in ("acme", "bolt", "cord"):
            self.world.member(self.world.organization(slug), friend_id, "owner")
        friend = await self.world.sign_in(FRIEND)
        tokens: list[str] = []
        for slug in ("acme", "bolt", "cord"):
            invited = await self.platform.request(
                "POST", f"/api/organizations/{slug}/invitations", {"email": EMAIL, "role": "member"}, by=friend
            )
            assert invited.status == 200, invited.text
            tokens.append(invited.json["token"])
        await self.request("GET", "/api/invitations")
        await self.request("POST", "/api/invitations/accept", {"token": tokens[0]})
        await self.request("POST", "/api/invitations/decline", {"token": tokens[1]})

    async def use_the_console(self) -> None:
        """Be the support address with either address, begin a job, and be tested by another administrator."""
        for address in (FIRST_EMAIL, EMAIL.upper()):
            await self.request("PATCH", "/api/organizations/engines/branding", {"support_email": address})
        self.world.connection.execute(
            OF_THE_CONSOLE,
            {
                "network": NETWORK,
                "user_agent": USER_AGENT,
                "email": EMAIL,
                "first_email": FIRST_EMAIL,
                "friend": FRIEND,
            },
        )

    async def use_a_service(self) -> None:
        """Sign in to a service."""
        self.world.service(self.world.organization("market"))
        where = {"org_slug": "market", "service_slug": "shop"}
        await self.request("POST", "/api/auth/login", {"email": EMAIL, "password": PASSWORD, **where})

    async def act_as_platform_owner(self, user_id: UUID) -> None:
        """Be promoted to platform owner, act as one, and be demoted."""
        await self.platform.request("POST", "/api/platform/owners", {"user_id": str(user_id)})
        impersonated_id = self.world.user("impersonated@example.com", has_mfa=True)
        self.world.member(
            self.world.value("SELECT id FROM organizations WHERE slug = 'bolt'"), impersonated_id, "admin"
        )
        reason = {"reason": f"Requested by {EMAIL.title()}, the owner. Formerly {FIRST_EMAIL}."}
        await self.request("DELETE", f"/api/platform/users/{impersonated_id}/mfa", reason)
        impersonation = await self.request(
            "POST", f"/api/platform/impersonate/{impersonated_id}", {**reason, "org_slug": "bolt"}
        )
        own, self.token = self.token, impersonation["access_token"]
        await self.request("POST", "/api/organizations/bolt/invitations", {"email": "x@example.com", "role": "member"})
        self.token = own
        anonymized_id = self.world.user("anonymized@example.com")
        await self.request("DELETE", f"/api/privacy/forget/{anonymized_id}")
        await self.platform.request("DELETE", f"/api/platform/owners/{user_id}")
        await self.platform.request("POST", f"/api/platform/impersonate/{user_id}", reason)


@pytest.fixture
def settings() -> Settings:
    """Return settings with rate limits on."""
    return Settings(dev=True)


@pytest.fixture
async def active_user(platform: Platform, installation: Installation) -> ActiveUser:
    """Return a user who has used every capability."""
    active_user = ActiveUser(platform, installation)
    await active_user.register()
    user_id = platform.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    await active_user.use_account_features()
    await active_user.work_in_organizations()
    await active_user.use_the_console()
    await active_user.use_a_service()
    await active_user.act_as_platform_owner(user_id)
    await active_user.request("POST", "/api/auth/login", {"email": EMAIL, "password": "wrong again"}, allowed=(401,))
    return active_user


async def test_no_table_identifies_an_anonymized_user(active_user: ActiveUser, connection: Connection) -> None:
    user_id = active_user.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    # A table without traces before would prove nothing afterwards.
    before = traces(connection)
    assert {table.removesuffix("_before") for table, _ in before} >= {
        *("users", "sessions", "devices", "login_events", "mfa_events", "events", "mails", "one_time_tokens"),
        *("passkeys", "invitations", "audit_entries", "platform_audit_entries", "sign_in_failures", "service_users"),
        *("brandings", "branding_versions", "bulk_jobs", "bulk_job_rows", "trial_sign_ins"),
    }

    answer = await active_user.platform.request("DELETE", f"/api/privacy/forget/{user_id}")

    assert answer.status == 200, answer.text
    assert traces(connection) == []


async def test_no_month_of_the_log_of_sign_ins_identifies_an_anonymized_user(
    active_user: ActiveUser, connection: Connection
) -> None:
    user_id = active_user.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    connection.execute(
        """
        SELECT add_log_month('login_events', ('2027-01-01'::date + n * interval '1 month')::date)
        FROM   generate_series(0, 23) AS n
        """
    )
    # One in each month, one of before, and one of a month that was not made.
    connection.execute(
        """
        INSERT INTO login_events (id, user_id, organization_id, provider, success, ip_address, user_agent, risk_score,
                                  risk_factors, geo_country, geo_city, created_at)
        SELECT first_id_at(at), %(user_id)s, %(user_id)s, 'password', true, %(network)s || '.7', %(user_agent)s, 0,
               '{}', 'GB', 'London', at
        FROM   generate_series(-1, 24) AS n
        CROSS  JOIN LATERAL (SELECT '2027-01-05T00:00:00Z'::timestamptz + n * interval '1 month') AS moments (at)
        """,
        {"user_id": user_id, "network": NETWORK, "user_agent": USER_AGENT},
    )
    identified = {table for table, _ in traces(connection) if table.startswith("login_events_")}
    assert len(identified) == 26

    await active_user.platform.request("DELETE", f"/api/privacy/forget/{user_id}")

    assert traces(connection) == []
    assert connection.execute(
        "SELECT DISTINCT geo_city FROM login_events WHERE user_id = %s", (user_id,)
    ).fetchall() == [(None,)]


async def test_an_anonymization_keeps_all_other_data(active_user: ActiveUser, connection: Connection) -> None:
    user_id = active_user.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    counts = {
        table: row_count(connection, table) for table in ("audit_entries", "events", "login_events", "memberships")
    }
    others = rows_of_others(connection, user_id)

    await active_user.platform.request("DELETE", f"/api/privacy/forget/{user_id}")

    assert row_count(connection, "login_events") == counts["login_events"]
    assert row_count(connection, "memberships") == counts["memberships"]
    # The anonymization itself adds one for each organization, and withdraws the invitation that the user has sent.
    assert row_count(connection, "audit_entries") == counts["audit_entries"] + 4
    assert row_count(connection, "events") == counts["events"] + 4
    assert rows_of_others(connection, user_id) == others
    [all_details] = connection.execute("SELECT string_agg(details::text, ' ') FROM audit_entries").fetchall()
    assert FRIEND in all_details[0]


def traces(connection: Connection) -> list[tuple[str, str]]:
    """Return the columns, as table and column, that contain a trace of the user."""
    columns = connection.execute(
        """
        SELECT table_name, column_name
        FROM   information_schema.columns
        JOIN   information_schema.tables USING (table_schema, table_name)
        WHERE  table_schema = 'public' AND table_type = 'BASE TABLE'
          AND  data_type IN ('text', 'character varying', 'character', 'json', 'jsonb', 'ARRAY', 'USER-DEFINED', 'inet')
        """
    ).fetchall()
    assert len(columns) > 50
    found: list[tuple[str, str]] = []
    for table, column in columns:
        query = f'SELECT 1 FROM "{table}" WHERE lower("{column}"::text) LIKE ANY (%s) LIMIT 1'
        if connection.execute(query.encode(), ([f"%{trace}%" for trace in TRACES],)).fetchone():
            found.append((table, column))
    return sorted(found)


def row_count(connection: Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return row[0]


def rows_of_others(connection: Connection, user_id: UUID) -> list[Any]:
    """Return the rows that belong to other users."""
    return [
        connection.execute(query.encode(), (user_id,)).fetchall()
        for query in (
            "SELECT * FROM users WHERE id <> %s ORDER BY id",
            "SELECT * FROM sessions WHERE user_id <> %s AND impersonator_id IS NULL ORDER BY id",
            "SELECT * FROM devices WHERE user_id <> %s ORDER BY id",
            "SELECT * FROM login_events WHERE user_id <> %s ORDER BY id",
            "SELECT id, actor_email FROM events WHERE actor_user_id <> %s AND type <> 'user.anonymized' ORDER BY id",
        )
    ]
