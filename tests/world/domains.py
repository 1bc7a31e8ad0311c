"""The custom domain of a team, with a real name server."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from core.organizations.domain_proofs import ProofStatus
from core.organizations.settings import domain
from tests.application import Answer
from tests.name_server import NameServer
from tests.world.builder import new_id
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

DOMAIN = "id.acme.example"
BASE = "localhost"


def insert_verified(world: World, organization_id: UUID, name: str = DOMAIN) -> None:
    """Insert a domain that was just verified."""
    world.connection.execute(
        """
        INSERT INTO custom_domains (id, organization_id, domain, value, status, verified_at, proved_at, next_check_at)
        VALUES (%(id)s, %(organization_id)s, %(name)s, '', 'verified', %(now)s, %(now)s, %(now)s + interval '1 day')
        """,
        {"id": new_id(), "organization_id": organization_id, "name": name, "now": world.clock()},
    )


@dataclass
class BrowserOfHosts(Visitor):
    """A browser that goes from host to host of Gatehouse, with the cookies of each; others it does not open."""

    host: str = DOMAIN
    jars: dict[str, dict[str, str]] = field(default_factory=lambda: {DOMAIN: {}, BASE: {}})

    async def send(
        self, method: str, path: str, *, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a request to the host that the address names, else to the present one."""
        parts = urlsplit(path)
        self.host = parts.hostname or self.host
        self.headers["Host"] = self.host
        self.cookies = self.jars[self.host]
        return await super().send(method, parts._replace(scheme="", netloc="").geturl(), data=data, headers=headers)

    async def _follow(self, answer: Answer) -> Answer:
        while answer.status == 303 and (urlsplit(answer.headers["Location"]).hostname or self.host) in self.jars:
            answer = await self.send("GET", answer.headers["Location"])
        return answer

    def at(self, host: str) -> dict[str, str]:
        """Return the cookies that it has of a host."""
        return self.jars[host]


@dataclass(frozen=True)
class Domains:
    """A team that claims domains, and the name server that is asked for their proofs."""

    team: Team
    names: NameServer

    async def request(self, method: str, path: str = "", **options: Any) -> Answer:
        """Send a request of the owner below the path of the domain."""
        return await self.team.request("owner", method, f"/domain{path}", **options)

    async def claim(self, name: str = DOMAIN) -> dict[str, Any]:
        """Claim a domain."""
        answer = await self.request("PUT", body={"domain": name})
        assert answer.status == 200, answer.text
        return answer.json

    async def publish(self, name: str = DOMAIN) -> dict[str, Any]:
        """Claim a domain, and publish its proof."""
        claimed = await self.claim(name)
        self.names.publish(claimed["txt_name"], "v=spf1 -all", claimed["txt_value"])
        return claimed

    async def verify(self, name: str = DOMAIN) -> dict[str, Any]:
        """Claim a domain, publish its proof, and verify it."""
        await self.publish(name)
        answer = await self.request("POST", "/verify")
        assert answer.status == 200, answer.text
        return answer.json

    async def show(self) -> dict[str, Any]:
        """Return the domain."""
        return (await self.request("GET")).json

    async def check(self) -> list[ProofStatus | None]:
        """Check what is due, as the actor does."""
        installation = self.team.world.installation
        due = await installation.database.transact(domain.claim_checks, 16)
        found: list[ProofStatus | None] = []
        for claim in due:
            records = await installation.resolver.txt_records(claim.proof.record_name)
            found.append(await installation.database.transact(domain.record_check, claim, records))
        return found

    def visitor(self, name: str = DOMAIN) -> Visitor:
        """Return a browser that opens the pages under a domain."""
        visitor = Visitor(self.team.world.client)
        visitor.headers["Host"] = name
        return visitor
