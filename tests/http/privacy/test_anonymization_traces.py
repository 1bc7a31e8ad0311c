"""After somebody was forgotten nothing in any table tells who they were, from where they acted, and with what.

The life before is as full as the routes of the house allow, and the search looks at every column of every table that
can hold a word, those of later capabilities included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from core.mail import mail
from entrypoints.settings import Settings
from tests.authenticators import Authenticator
from tests.world.builder import PASSWORD
from tests.world.passkeys import PATH as PASSKEYS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection
    from entrypoints.installation import Installation
    from tests.world.platform import Platform
    from tests.world.world import World

FIRST_EMAIL = "zxcv.firstname@byron.example"
EMAIL = "qwertz.lovelace@byron.example"
NETWORK = "203.0.113"
USER_AGENT = "Quixotic/9.9 (Analytical Engine)"
FRIEND = "friend@example.com"
TRACES = ("zxcv.firstname", "qwertz.lovelace", "byron.example", NETWORK, "quixotic", "analytical")


@dataclass
class Life:
    """Somebody who does everything that can be done, from one place and with one program."""

    platform: Platform
    installation: Installation
    token: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def world(self) -> World:
        """The house's."""
        return self.platform.world

    async def do(self, method: str, path: str, body: Any = None, *, may: tuple[int, ...] = (200, 204)) -> Any:
        """Do something."""
        answer = await self.world.client.request(
            method,
            path,
            body=body,
            token=self.token or None,
            # Another one each time, because there are limits for each, and they are on: they write networks down.
            address=f"{NETWORK}.{next(self.numbers)}",
            headers={"User-Agent": USER_AGENT},
        )
        assert answer.status in may, (method, path, answer.text)
        return answer.json if answer.content and answer.content[:1] in b"{[" else None

    async def messages(self, email: str) -> list[mail.MailMessage]:
        """Give the letters to an address that have left since the last look."""
        claimed = await self.installation.database.transact(mail.claim, 100)
        return [one.message for one in claimed if one.message.to == email]

    async def sign_in(self, email: str, password: str = PASSWORD) -> None:
        """Sign in, after a wrong password."""
        self.token = ""
        await self.do("POST", "/api/auth/login", {"email": email, "password": "a wrong one"}, may=(401,))
        self.token = (await self.do("POST", "/api/auth/login", {"email": email, "password": password}))["access_token"]

    async def begin(self) -> None:
        """Register, prove the address, sign in, and change to another address."""
        await self.do("POST", "/api/auth/register", {"email": FIRST_EMAIL, "password": PASSWORD})
        [message] = await self.messages(FIRST_EMAIL)
        await self.do("GET", f"/auth/verify-email?token={message.values['token']}")
        await self.sign_in(FIRST_EMAIL)
        await self.do("PATCH", "/api/user", {"email": EMAIL})
        [message] = await self.messages(EMAIL)
        await self.do("GET", f"/auth/verify-email?token={message.values['token']}")

    async def look_after_the_account(self) -> None:
        """Use all that opens an account."""
        for path in ("/api/auth/forgot-password", "/api/auth/magic-link/request"):
            await self.do("POST", path, {"email": EMAIL})
        asked = await self.do("POST", f"{PASSKEYS}/register/start")
        credential = Authenticator().create(asked["options"])
        await self.do(
            "POST",
            f"{PASSKEYS}/register/finish",
            {"challenge_id": asked["challenge_id"], "credential": credential, "name": "qwertz.lovelace's key"},
        )
        [device] = (await self.do("GET", "/api/user/devices"))["devices"]
        await self.do("PATCH", f"/api/user/devices/{device['id']}", {"name": "qwertz.lovelace's engine"})
        await self.do("POST", "/api/user/mfa/setup")
        await self.do("POST", "/api/user/mfa/verify", {"code": "000000"}, may=(400,))

    async def work_in_organizations(self) -> None:
        """Found one, invite people, be invited, answer."""
        await self.do("POST", "/api/organizations", {"slug": "engines", "name": "Engines"})
        self.world.connection.execute("UPDATE organizations SET status = 'active'")
        await self.do("POST", "/api/organizations/engines/invitations", {"email": FRIEND, "role": "member"})
        await self.do("PATCH", "/api/organizations/engines", {"name": "Better engines"})
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
        await self.do("GET", "/api/invitations")
        await self.do("POST", "/api/invitations/accept", {"token": tokens[0]})
        await self.do("POST", "/api/invitations/decline", {"token": tokens[1]})

    async def use_a_service(self) -> None:
        """Sign in with a service."""
        self.world.service(self.world.organization("market"))
        where = {"org_slug": "market", "service_slug": "shop"}
        await self.do("POST", "/api/auth/login", {"email": EMAIL, "password": PASSWORD, **where})

    async def govern(self, user_id: UUID) -> None:
        """Be a platform owner for a while."""
        await self.platform.request("POST", "/api/platform/owners", {"user_id": str(user_id)})
        somebody = self.world.user("somebody@example.com", has_mfa=True)
        self.world.member(self.world.value("SELECT id FROM organizations WHERE slug = 'bolt'"), somebody, "admin")
        reason = {"reason": f"Asked by {EMAIL.title()}, the owner. Formerly {FIRST_EMAIL}."}
        await self.do("DELETE", f"/api/platform/users/{somebody}/mfa", reason)
        begun = await self.do("POST", f"/api/platform/impersonate/{somebody}", {**reason, "org_slug": "bolt"})
        own, self.token = self.token, begun["access_token"]
        await self.do("POST", "/api/organizations/bolt/invitations", {"email": "x@example.com", "role": "member"})
        self.token = own
        forgotten = self.world.user("forgotten@example.com")
        await self.do("DELETE", f"/api/privacy/forget/{forgotten}")
        await self.platform.request("DELETE", f"/api/platform/owners/{user_id}")
        await self.platform.request("POST", f"/api/platform/impersonate/{user_id}", reason)


@pytest.fixture
def settings() -> Settings:
    """With rate limits."""
    return Settings(dev=True)


@pytest.fixture
async def life(platform: Platform, installation: Installation) -> Life:
    """Somebody who has lived."""
    life = Life(platform, installation)
    await life.begin()
    user_id = platform.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    await life.look_after_the_account()
    await life.work_in_organizations()
    await life.use_a_service()
    await life.govern(user_id)
    await life.do("POST", "/api/auth/login", {"email": EMAIL, "password": "wrong again"}, may=(401,))
    return life


async def test_nothing_in_any_table_tells_who_it_was(life: Life, connection: Connection) -> None:
    user_id = life.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    # What has no trace before is no proof afterwards.
    before = traces(connection)
    assert {table for table, _ in before} >= {
        *("users", "sessions", "devices", "login_events", "mfa_events", "events", "mails", "one_time_tokens"),
        *("passkeys", "invitations", "audit_entries", "platform_audit_entries", "sign_in_failures", "service_users"),
    }

    answer = await life.platform.request("DELETE", f"/api/privacy/forget/{user_id}")

    assert answer.status == 200, answer.text
    assert traces(connection) == []


async def test_whatever_else_is_in_the_tables_stays(life: Life, connection: Connection) -> None:
    user_id = life.world.value("SELECT id FROM users WHERE email = %s", EMAIL)
    counted = {
        table: rows_of(connection, table) for table in ("audit_entries", "events", "login_events", "memberships")
    }
    of_others = everything_without(connection, user_id)

    await life.platform.request("DELETE", f"/api/privacy/forget/{user_id}")

    assert rows_of(connection, "login_events") == counted["login_events"]
    assert rows_of(connection, "memberships") == counted["memberships"]
    # One of the removal itself for each organization.
    assert rows_of(connection, "audit_entries") == counted["audit_entries"] + 3
    assert rows_of(connection, "events") == counted["events"] + 3
    assert everything_without(connection, user_id) == of_others
    [words] = connection.execute("SELECT string_agg(details::text, ' ') FROM audit_entries").fetchall()
    assert FRIEND in words[0]


def traces(connection: Connection) -> list[tuple[str, str]]:
    """List the columns, as table and column, in which somebody can be recognized."""
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


def rows_of(connection: Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return row[0]


def everything_without(connection: Connection, user_id: UUID) -> list[Any]:
    """List what belongs to others."""
    return [
        connection.execute(query.encode(), (user_id,)).fetchall()
        for query in (
            "SELECT * FROM users WHERE id <> %s ORDER BY id",
            "SELECT * FROM sessions WHERE user_id <> %s ORDER BY id",
            "SELECT * FROM devices WHERE user_id <> %s ORDER BY id",
            "SELECT * FROM login_events WHERE user_id <> %s ORDER BY id",
            "SELECT id, actor_email FROM events WHERE actor_user_id <> %s AND type <> 'user.anonymized' ORDER BY id",
        )
    ]
