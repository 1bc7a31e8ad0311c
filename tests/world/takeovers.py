"""An account in an organization that an intruder takes over, and what the intruder does there with a friend."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.application import Answer
from tests.clock import SettableClock
from tests.secret_watch import WATCH
from tests.world.builder import EMAIL
from tests.world.victim import Victim
from tests.world.world import World

STEP = timedelta(seconds=10)
FRIEND, BOSS = "friend@evil.example", "boss@example.com"


@dataclass
class Intrusion:
    """A stolen session of a member of Acme; time goes on with each request."""

    victim: Victim
    clock: SettableClock
    acme: UUID
    directory_token: str = ""

    @property
    def world(self) -> World:
        """The world of the victim."""
        return self.victim.world

    async def take_over(self) -> None:
        """Ask for another address, and prove it."""
        self.clock.advance(STEP)
        await self.victim.take_over()

    async def ask(self) -> str:
        """Ask for another address; return the token that proves it."""
        self.clock.advance(STEP)
        await self.world.mails()
        assert (await self.victim.ask()).status == 200
        [wish] = [one for one in await self.world.mails() if one.template == "verify_new_email"]
        return wish.values["token"]

    async def prove(self, token: str) -> None:
        """Prove the address that was asked for; the owner keeps the undo link."""
        self.clock.advance(STEP)
        await self.world.mails()
        assert (await self.victim.submit("/auth/verify-email", token)).status == 200
        [notice] = [one for one in await self.world.mails() if one.template == "email_changed"]
        self.victim.undo_token = notice.values["token"]

    async def undo(self) -> Answer:
        """Undo the change, as the victim does."""
        self.clock.advance(STEP)
        answer = await self.victim.undo()
        assert answer.status == 200, answer.text
        return answer

    async def act(self, method: str, path: str, body: dict[str, Any] | None = None, *, token: str = "") -> Answer:
        """Send a request below the path of Acme in the stolen session, or with another token."""
        self.clock.advance(STEP)
        answer = await self.world.client.request(
            method, f"/api/organizations/acme{path}", token=token or self.victim.token, body=body
        )
        assert answer.status < 300, answer.text
        for name in ("secret", "client_secret", "token", "url"):
            if answer.content and isinstance(answer.json.get(name), str):
                WATCH.add(answer.json[name])
        return answer

    async def befriend(self, role: str = "admin", email: str = FRIEND, *, token: str = "") -> str:
        """Invite a friend, who joins; return the friend's access token."""
        self.world.user(email)
        theirs = (await self.world.sign_in(email)).access_token
        invited = await self.act("POST", "/invitations", {"email": email, "role": role}, token=token)
        accepted = await self.world.client.post(
            "/api/invitations/accept", token=theirs, body={"token": invited.json["token"]}
        )
        assert accepted.status == 200, accepted.text
        return theirs

    async def transfer_to(self, email: str, *, token: str = "") -> None:
        """Make another member the owner."""
        body = {"new_owner_user_id": str(self.world.user_id(email))}
        await self.act("POST", "/transfer-ownership", body, token=token)

    def promote_newcomers(self, number: int, *, before: str = "member") -> None:
        """Insert members of Acme who were there in a role, and what the intruder leaves who makes them admins."""
        self.clock.advance(STEP)
        values = {"acme": self.acme, "victim": self.victim.app.id, "before": before, "now": self.clock()}
        user_ids = [self.world.user(f"{before}{one}@example.com") for one in range(number)]
        self.world.connection.execute(
            """
            INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
            SELECT gen_random_uuid(), %(acme)s, id, 'admin', timestamptz '2020-01-01', now()
            FROM   unnest(%(user_ids)s::uuid[]) AS id
            """,
            values | {"user_ids": user_ids},
        )
        self.world.connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success,
                                       details, created_at)
            SELECT entry_id, %(acme)s, %(victim)s, 'user.role_updated', 'user', user_id::text, true,
                   jsonb_build_object('old_role', %(before)s::text, 'new_role', 'admin'), %(now)s
            FROM   unnest(%(user_ids)s::uuid[], %(entry_ids)s::uuid[]) AS made (user_id, entry_id)
            """,
            values | {"user_ids": user_ids, "entry_ids": [self.world.new_id() for _ in user_ids]},
        )

    def members(self) -> dict[str, tuple[str, bool]]:
        """Return the role of each member of Acme by address, and whether it has access."""
        rows = self.world.rows(
            """
            SELECT u.email, m.role, m.suspended_at IS NULL
            FROM   memberships m
            JOIN   users u ON u.id = m.user_id
            WHERE  m.organization_id = %s
            """,
            self.acme,
        )
        return {email: (role, is_active) for email, role, is_active in rows}

    def role(self) -> str | None:
        """Return the role of the victim."""
        found = self.members().get(EMAIL)
        return found[0] if found is not None else None


def intrusion_of(victim: Victim, clock: SettableClock, role: str) -> Intrusion:
    """Make the victim a member of Acme in this role; another one than the owner has an owner beside them."""
    world = victim.world
    acme = world.organization()
    world.connection.execute("UPDATE organizations SET max_users = 100")
    world.member(acme, victim.app.id, role)
    if role != "owner":
        world.member(acme, world.user(BOSS), "owner")
    clock.advance(timedelta(minutes=1))
    return Intrusion(victim, clock, acme)
