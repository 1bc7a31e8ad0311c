"""The directory of an organization, which calls with a SCIM token: a view of the world for tests of provisioning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

from tests.application import Answer
from tests.world.builder import Builder, new_id
from tests.world.team import Team
from tests.world.world import World

PREFIX = "scim_live_abc123"
TOKEN = f"{PREFIX}_{'t' * 43}"
USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
SCIM_JSON = "application/scim+json"


@dataclass(frozen=True)
class Directory:
    """A team whose members a directory provisions."""

    team: Team
    token: str = TOKEN

    @property
    def world(self) -> World:
        """The world of the team."""
        return self.team.world

    @property
    def organization_id(self) -> UUID:
        """The id of the organization, and of its group."""
        return self.team.organization_id

    async def request(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request below `/scim/v2` with the token."""
        content_type = {"Content-Type": SCIM_JSON} if body is not None else {}
        answer = await self.world.client.request(
            method,
            f"/scim/v2{path}",
            data=json.dumps(body).encode() if body is not None else None,
            token=self.token,
            headers=content_type | dict(headers or {}),
        )
        if answer.content:
            assert answer.headers["Content-Type"] == SCIM_JSON, answer.text
        return answer

    async def create(self, user_name: str = "ada@example.com", **others: Any) -> dict[str, Any]:
        """Create a user, and return the resource."""
        answer = await self.request("POST", "/Users", {"schemas": [USER], "userName": user_name, **others})
        assert answer.status == 201, answer.text
        return answer.json

    async def show(self, user_id: str) -> dict[str, Any]:
        """Return a user."""
        answer = await self.request("GET", f"/Users/{user_id}")
        assert answer.status == 200, answer.text
        return answer.json

    async def patch(self, user_id: str, *operations: dict[str, Any], **options: Any) -> Answer:
        """Change a user."""
        return await self.request(
            "PATCH", f"/Users/{user_id}", {"schemas": [PATCH], "Operations": operations}, **options
        )

    async def patch_group(self, *operations: dict[str, Any], **options: Any) -> Answer:
        """Change the members of the group."""
        body = {"schemas": [PATCH], "Operations": operations}
        return await self.request("PATCH", f"/Groups/{self.organization_id}", body, **options)

    async def put_group(self, *ids: Any, **others: Any) -> Answer:
        """Replace the members of the group."""
        body = {"schemas": [GROUP], "displayName": "Acme", "members": [{"value": str(one)} for one in ids], **others}
        return await self.request("PUT", f"/Groups/{self.organization_id}", body)

    async def create_group(self, name: str, *members: Any, **others: Any) -> str:
        """Create a group of the directory with these members, by their names in the team; return its id."""
        body = {"schemas": [GROUP], "displayName": name, "members": self._members(members), **others}
        answer = await self.request("POST", "/Groups", body)
        assert answer.status == 201, answer.text
        return str(answer.json["id"])

    async def change_group(self, group_id: str, *operations: dict[str, Any], **options: Any) -> Answer:
        """Change a group of the directory."""
        body = {"schemas": [PATCH], "Operations": operations}
        return await self.request("PATCH", f"/Groups/{group_id}", body, **options)

    async def put_in(self, group_id: str, *names: Any) -> Answer:
        """Put members into a group."""
        return await self.change_group(group_id, {"op": "add", "path": "members", "value": self._members(names)})

    async def take_out(self, group_id: str, *names: Any) -> Answer:
        """Take members out of a group."""
        return await self.change_group(group_id, {"op": "remove", "path": "members", "value": self._members(names)})

    def _members(self, names: Iterable[Any]) -> list[dict[str, str]]:
        return [{"value": str(self.team.ids.get(name, name))} for name in names]

    async def found(self, filter_text: str) -> list[str]:
        """Return the userNames of the users that a filter selects."""
        answer = await self.filtered(filter_text)
        assert answer.status == 200, answer.text
        return [user["userName"] for user in answer.json["Resources"]]

    async def filtered(self, filter_text: str, kind: str = "Users") -> Answer:
        """Send a filter."""
        return await self.request("GET", f"/{kind}?filter={quote(filter_text)}")

    def left_behind(self) -> tuple[Any, ...]:
        """Return the numbers of events, audit entries and mails."""
        return self.world.rows(
            """
            SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM audit_entries), (SELECT count(*) FROM mails)
            """
        )[0]


def insert_directory(
    team: Team, token: str = TOKEN, *, groups: str = "organization", maker_role: str | None = "owner"
) -> Directory:
    """Insert a SCIM token of a team."""
    insert_scim_token(team.world, team.organization_id, token, groups=groups, maker_role=maker_role)
    return Directory(team, token)


def insert_scim_token(
    world: Builder,
    organization_id: UUID,
    token: str,
    *,
    expires_at: datetime | None = None,
    maker_role: str | None = "owner",
    groups: str = "organization",
) -> UUID:
    """Insert a SCIM token, and return its id; without a role of its maker it is one of an older Gatehouse."""
    token_id = new_id()
    world.connection.execute(
        """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, expires_at, created_at, maker_role,
                                 groups)
        VALUES (%s, %s, 'directory', %s, %s, %s, %s, %s, %s)
        """,
        (
            token_id,
            organization_id,
            token[: len(PREFIX)],
            hashlib.sha256(token.encode()).digest(),
            expires_at,
            world.clock(),
            maker_role,
            groups,
        ),
    )
    return token_id


def assert_scim_refused(answer: Answer, status: int, scim_type: str | None = None) -> None:
    """Assert that an answer is an error of SCIM."""
    assert answer.status == status, answer.text
    assert answer.headers["Content-Type"] == SCIM_JSON
    error = answer.json
    assert (error["schemas"], error["status"]) == ([ERROR], status)
    assert error.get("scimType") == scim_type, answer.text
    assert error["detail"]
