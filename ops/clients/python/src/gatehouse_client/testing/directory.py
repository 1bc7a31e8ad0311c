"""The directory of an organization, as a client of SCIM 2.0: it provisions people and groups.

Directories write the same change in several ways; Okta's and Microsoft Entra's are here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from gatehouse_client.testing.requests import Requests

USER: Final = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
PATCH: Final = "urn:ietf:params:scim:api:messages:2.0:PatchOp"


@dataclass(frozen=True)
class Directory:
    """Provisions the people of an organization, as Okta writes it; every change is sent at once."""

    requests: Requests
    token: str = field(repr=False)

    def add(self, email: str, **attributes: Any) -> str:
        """Provision a person, and return the id by which the directory knows them; one that is known is left as is."""
        if (known := self._find("Users", f'userName eq "{email}"')) is not None:
            return known["id"]
        user = {"schemas": [USER], "userName": email, "emails": [{"value": email, "primary": True}], "active": True}
        return self._send("POST", "Users", user | attributes)["id"]

    def deactivate(self, email: str) -> None:
        """Deactivate a person, as a directory does when they leave."""
        self._patch("Users", self.add(email), [self._activation(is_active=False)])

    def activate(self, email: str) -> None:
        """Activate a person again."""
        self._patch("Users", self.add(email), [self._activation(is_active=True)])

    def remove(self, email: str) -> None:
        """Remove a person from the organization."""
        self._send("DELETE", f"Users/{self.add(email)}")

    def add_group(self, name: str) -> str:
        """Push a group, and return its id; one that is known is left as it is."""
        if (known := self._find("Groups", f'displayName eq "{name}"')) is not None:
            return known["id"]
        return self._send("POST", "Groups", {"schemas": [GROUP], "displayName": name, "members": []})["id"]

    def add_to_group(self, name: str, email: str) -> None:
        """Put a person into a group."""
        member = {"value": self.add(email)}
        self._patch("Groups", self.add_group(name), [{"op": self._op("add"), "path": "members", "value": [member]}])

    def remove_from_group(self, name: str, email: str) -> None:
        """Take a person out of a group."""
        self._patch("Groups", self.add_group(name), [self._removal(self.add(email))])

    def _op(self, name: str) -> str:
        return name

    def _activation(self, *, is_active: bool) -> dict[str, Any]:
        return {"op": "replace", "value": {"active": is_active}}

    def _removal(self, member_id: str) -> dict[str, Any]:
        return {"op": "remove", "path": f'members[value eq "{member_id}"]'}

    def _find(self, kind: str, condition: str) -> dict[str, Any] | None:
        found = self._send("GET", f"{kind}?filter={quote(condition)}")["Resources"]
        return found[0] if found else None

    def _patch(self, kind: str, identifier: str, operations: list[dict[str, Any]]) -> None:
        self._send("PATCH", f"{kind}/{identifier}", {"schemas": [PATCH], "Operations": operations})

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        return self.requests.ask(method, f"/scim/v2/{path}", body, token=self.token)


class EntraDirectory(Directory):
    """Writes changes as Microsoft Entra does: capital operations, booleans as text, members to remove as values."""

    def _op(self, name: str) -> str:
        return name.title()

    def _activation(self, *, is_active: bool) -> dict[str, Any]:
        return {"op": "Replace", "path": "active", "value": str(is_active)}

    def _removal(self, member_id: str) -> dict[str, Any]:
        return {"op": "Remove", "path": "members", "value": [{"value": member_id}]}
