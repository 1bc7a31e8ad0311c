"""The starting points of the ways, and what they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from core.mail.mail import MailTemplate
from tests.pages.crawl.hostile import HostileWorld
from tests.pages.crawl.organizations import Organization
from tests.pages.crawl.recording import Recorder
from tests.pages.crawl.rows import Rows
from tests.pages.crawl.spider import Spider
from tests.pages.crawl.values import EMAIL, NAME, RIGHT_TO_LEFT
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.visitor import Visitor
from tests.world.world import World

NEW_PASSWORD: Final = "a long password of their own"


WRONG: Final = "000000"


@dataclass(frozen=True)
class Ground:
    """What the ways begin with."""

    hostile: HostileWorld
    recorder: Recorder
    # Pressed when everything else was seen.
    pressed_last: list[Spider] = field(default_factory=list[Spider])

    @property
    def world(self) -> World:
        """The world."""
        return self.hostile.world

    @property
    def rows(self) -> Rows:
        """What inserts rows that belong to no person."""
        return self.hostile.rows

    @property
    def full(self) -> Organization:
        """The organization that has everything."""
        return self.hostile.full

    def visitor(self) -> Visitor:
        """Return a browser without a session."""
        return Visitor(self.world.client, address=next(self.world.addresses))

    def email(self, name: str) -> str:
        """Return the address of a person."""
        return f"{name}.{EMAIL}"

    def user(self, name: str) -> UUID:
        """Insert an account with a password."""
        user_id = self.world.user(self.email(name))
        self.rows.set("users", user_id, name=RIGHT_TO_LEFT)
        return user_id

    async def mailed(self, template: MailTemplate) -> str:
        """Return the token of the newest mail of a kind."""
        return [one.values["token"] for one in await self.world.mails() if one.template == template][-1]

    async def look(self, *starts: str, visitor: Visitor | None = None) -> None:
        """Open pages and what they lead to, and press their buttons."""
        spider = Spider(self.recorder.way, visitor or self.visitor(), self.recorder)
        await spider.crawl(*starts)
        await spider.press()

    def party(self, slug: str, service_type: str = "web") -> RelyingParty:
        """Insert an organization with a service as a client."""
        party = insert_relying_party(self.world, service_type, slug=slug)
        self.rows.set("organizations", party.organization_id, name=NAME)
        self.rows.set("services", party.service_id, name=RIGHT_TO_LEFT)
        return party
