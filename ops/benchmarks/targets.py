"""A version that runs with the data of the check against a release.

Every version gets the same data by what it publishes and a later one still has: settings, `gatehouse users import` and
HTTP. So nothing here depends on a schema.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ops.benchmarks import openid, people, servers
from ops.benchmarks.client import Client, bearer
from ops.benchmarks.openid import OpenidService, RelyingParty
from ops.benchmarks.servers import RunningServer
from ops.seeding.population import PASSWORD, address, password_hash

PLATFORM_OWNER: Final = "owner@example.com"
ORGANIZATION: Final = "bench"
SERVICE_USERS: Final = "/api/service/users"
SCIM_USERS: Final = "/scim/v2/Users"
SETTINGS: Final = {
    "GATEHOUSE_OWNER_EMAIL": PLATFORM_OWNER,
    "GATEHOUSE_OWNER_PASSWORD": PASSWORD,
    "GATEHOUSE_AUTO_APPROVE": "on",
    # Otherwise the order of sets, and with it the processor time, differs from start to start.
    "PYTHONHASHSEED": "0",
    # It would lead one version to the code of another.
    "PYTHONPATH": "",
}
# The first one owns the organization; the others are as many members as a page of a directory has.
USERS: Final = 101
# With the users that an operation makes.
USERS_MAX: Final = 100_000
IMPORT_SECONDS_MAX: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A running version, and the credentials for requests."""

    server: RunningServer
    client: Client
    service: RelyingParty
    api_key: str
    directory_token: str
    # The numbers of the accounts that its client signs in.
    users: range = range(1, USERS)


@contextmanager
def target(gatehouse: Path, folder: Path) -> Generator[Target]:
    """Run this command `gatehouse` on a new data folder, and create the data."""
    with servers.service(folder, SETTINGS, gatehouse=gatehouse) as server, closing(Client(server)) as client:
        _import_users(gatehouse, folder)
        owner = bearer(people.sign_in(server, address(0))["access_token"])
        path = f"/api/organizations/{ORGANIZATION}"
        _create_organization(server, client, owner)
        with closing(OpenidService(server, ORGANIZATION, address(0))) as service:
            wanted = {"name": "bench", "permissions": ["read:users", "write:users"]}
            key = client.send_json(f"{path}/services/{openid.SERVICE}/api-keys", wanted, owner).json()["key"]
            token = client.send_json(f"{path}/scim-tokens", {"name": "bench"}, owner).json()["token"]
            for number in range(1, USERS):
                client.send_json(SCIM_USERS, scim_user(address(number)), bearer(token))
                client.send_json(SERVICE_USERS, {"email": address(number)}, {"X-Api-Key": key})
            yield Target(server=server, client=client, service=service, api_key=key, directory_token=token)


def _import_users(gatehouse: Path, folder: Path) -> None:
    encoded = password_hash()
    accounts = [{"email": address(number), "hash": encoded, "verified": True} for number in range(USERS)]
    file = folder.with_suffix(".jsonl")
    file.write_text("".join(f"{json.dumps(account)}\n" for account in accounts))
    imported = subprocess.run(
        [gatehouse, "users", "import", file],
        check=False,
        capture_output=True,
        text=True,
        env=servers.environment_of(folder) | SETTINGS,
        timeout=IMPORT_SECONDS_MAX,
    )
    if imported.returncode:
        raise servers.CannotMeasure(f"The users cannot be imported. {imported.stdout}{imported.stderr}")


def _create_organization(server: RunningServer, client: Client, owner: dict[str, str]) -> None:
    """Create it with room for all users, also the ones that an operation makes."""
    wanted = {"slug": ORGANIZATION, "name": "Bench"}
    created = client.send_json("/api/organizations", wanted, owner).json()["organization"]
    client.send_json(
        f"/api/platform/organizations/{created['id']}/tier",
        {"tier_id": created["tier_id"], "max_users": USERS_MAX},
        bearer(people.sign_in(server, PLATFORM_OWNER)["access_token"]),
        method="PATCH",
    )


def scim_user(email: str) -> dict[str, Any]:
    """Return the resource of a user of a directory."""
    return {
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
        "userName": email,
        "name": {"givenName": "Ada", "familyName": "Lovelace"},
        "emails": [{"value": email, "primary": True}],
    }
