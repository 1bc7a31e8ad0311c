"""The users of a measurement: seeded as by `ops/seed`, and signed in over HTTP."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import psycopg

from adapters.postgres.embedded.server import EmbeddedPostgres
from core.scim import tokens
from ops.benchmarks.operation import Operation
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import RunningServer
from ops.seeding.copying import seed
from ops.seeding.population import PASSWORD, Plan, address, slug

USERS: Final = 1_000
LOGIN_EVENTS: Final = 5_000
# Together they give the largest organization more members than a page holds.
ORGANIZATIONS: Final = 20
MEMBERSHIPS: Final = 200
# The number of the organization that has all people as members, by its directory.
DIRECTORY: Final = 1
# In a database that is made for the measurement and deleted after it.
DIRECTORY_TOKEN: Final = f"scim_live_bench0_{'b' * 43}"
# How many different users sign in during a load before the first signs in again; wrk gets their addresses as a list.
SAMPLE: Final = 1_000
# Tokens that are valid once are lost with the last answers of a load, and wrk uses one for a test request.
SPARE_TOKENS: Final = 16
# More than any load adds, so that every request is for a new user.
NEW_USERS: Final = 20_000


def seed_users(
    service: RunningServer, data_folder: Path, say: Say, *, users: int = USERS, login_events: int = LOGIN_EVENTS
) -> RunningServer:
    """Seed the database of a service that runs on this data folder; return the service with its numbers of users."""
    plan = Plan(
        users=users,
        login_events=login_events,
        organizations=ORGANIZATIONS,
        memberships=MEMBERSHIPS,
        # One service, which all people use.
        services=1,
        end_users=users,
        until=datetime.now(UTC),
    )
    with EmbeddedPostgres(data_folder) as url, psycopg.connect(url, autocommit=True) as connection:
        seed(connection, plan, say)
        _provision(connection)
    return replace(service, people=users, members=plan.members().size(0))


def _provision(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    """Make all people members of one organization, whose directory provisions them."""
    connection.execute(
        """
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), o.id, u.id, 'member', u.created_at
        FROM   organizations o CROSS JOIN users u
        WHERE  o.slug = %s
        ON CONFLICT (organization_id, user_id) DO NOTHING
        """,
        (slug(DIRECTORY),),
    )
    connection.execute(
        """
        INSERT INTO scim_profiles (organization_id, user_id, user_name, external_id, given_name, family_name,
                                   updated_at)
        SELECT m.organization_id, u.id, u.email, u.id::text, 'Ada', 'Lovelace', u.created_at
        FROM   organizations o
        JOIN   memberships m ON m.organization_id = o.id
        JOIN   users u       ON u.id = m.user_id
        WHERE  o.slug = %s
        """,
        (slug(DIRECTORY),),
    )
    token = tokens.presented(DIRECTORY_TOKEN)
    connection.execute(
        """
        INSERT INTO scim_tokens (id, organization_id, name, prefix, token_hash, created_at)
        SELECT gen_random_uuid(), id, 'bench', %s, %s, created_at FROM organizations WHERE slug = %s
        """,
        (token.prefix, token.token_hash, slug(DIRECTORY)),
    )
    connection.execute("VACUUM (ANALYZE) memberships, scim_profiles")


def sample(server: RunningServer, count: int) -> list[str]:
    """Return the addresses of this many users, spread evenly over all."""
    return [address(number * server.people // count) for number in range(count)]


def sign_in(server: RunningServer, email: str) -> dict[str, str]:
    """Sign a user in, and return the answer with its tokens."""
    return json.loads(server.post("/api/auth/login", {"email": email, "password": PASSWORD}))


def with_addresses(operation: Operation, server: RunningServer, _connections: int) -> Operation:
    """Use the addresses of the sample as words."""
    return replace(operation, words=sample(server, min(SAMPLE, server.people)))


def with_access_tokens(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """Sign in as many users as there are connections, and use their access tokens as words."""
    emails = sample(server, min(connections, server.people))
    return replace(operation, words=[sign_in(server, email)["access_token"] for email in emails])


def as_members(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """Sign in at most as many members of the first organization as there are connections."""
    emails = [address(member) for member in range(min(connections, server.members))]
    return replace(operation, words=[sign_in(server, email)["access_token"] for email in emails])


def as_backend(operation: Operation, server: RunningServer, _connections: int) -> Operation:
    """Create an API key of the service that all people use, and send it instead of a token."""
    owner = sign_in(server, address(0))["access_token"]
    path = f"/api/organizations/{slug(0)}/services/service-1/api-keys"
    body = {"name": "bench", "permissions": ["read:users", "write:users"]}
    key = json.loads(server.post(path, body, token=owner))["key"]
    return replace(operation, headers={**operation.headers, "X-Api-Key": key})


def as_backend_deep_inside(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """As `as_backend`, and request the page in the middle of the list."""
    return replace(as_backend(operation, server, connections), path=f"{operation.path}?offset={server.people // 2}")


def as_backend_with_new_users(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """As `as_backend`, with addresses that have no account yet as words."""
    load = secrets.token_hex(4)
    emails = [f"new-{load}-{number}@example.com" for number in range(NEW_USERS)]
    return replace(as_backend(operation, server, connections), words=emails)


def as_directory(operation: Operation, _server: RunningServer, _connections: int) -> Operation:
    """Send the SCIM token of the organization that has all people as members."""
    return replace(operation, headers={**operation.headers, "Authorization": f"Bearer {DIRECTORY_TOKEN}"})


def as_directory_that_looks_for_a_user(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """As `as_directory`, and look for a user in the middle of the list by the userName."""
    found = quote(f'userName eq "{address(server.people // 2).upper()}"')
    return replace(as_directory(operation, server, connections), path=f"{operation.path}?filter={found}")


def with_refresh_tokens(operation: Operation, server: RunningServer, connections: int) -> Operation:
    """Begin more sessions than there are connections, so that no two of these use the same refresh token."""
    emails = sample(server, connections + SPARE_TOKENS)
    return replace(operation, words=[sign_in(server, email)["refresh_token"] for email in emails])
