"""The setup links of an organization, and the browser of a person without an account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.application import Answer
from tests.world.team import Team
from tests.world.visitor import Visitor

BASE_URL = "http://localhost:8000"


@dataclass
class Setups:
    """The setup links of a team, and the browser of a person without an account."""

    team: Team
    visitor: Visitor

    async def request(self, method: str, path: str = "", *, by: str = "owner", **options: Any) -> Answer:
        """Send a request below the path of setup links."""
        return await self.team.request(by, method, f"/setup-links{path}", **options)

    async def create(self, *parts: str, by: str = "owner", **fields: Any) -> dict[str, Any]:
        """Make a link; by default to the domain."""
        answer = await self.request("POST", by=by, body={"parts": list(parts) or ["domain"], **fields})
        assert answer.status == 200, answer.text
        return answer.json

    async def begin(self, link: dict[str, Any]) -> Answer:
        """Open a link, and press its button."""
        path = path_of(link)
        return await self.visitor.submit(await self.visitor.open(path), path)

    async def open(self, part: str) -> Answer:
        """Open the page of a part."""
        return await self.visitor.open(f"/app/setup/parts/{part}")

    def recorded(self, link: dict[str, Any], action: str = "organization.updated") -> list[dict[str, Any]]:
        """Return the details of what was recorded under a link, which has no actor."""
        entries = self.team.world.audit_entries(action)
        found = [row for row in entries if row[3].get("setup_link_id") == link["id"]]
        assert all(row[1] is None for row in found)
        return [row[3] for row in found]


def path_of(link: dict[str, Any]) -> str:
    """Return the path of a link."""
    return link["url"].removeprefix(BASE_URL)
