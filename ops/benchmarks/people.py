"""The users of a measurement: seeded as by `ops/seed`, and signed in over HTTP."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg

from adapters.postgres.embedded.server import EmbeddedPostgres
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import RunningServer
from ops.seeding.copying import seed
from ops.seeding.population import PASSWORD, Plan

USERS: Final = 1_000
LOGIN_EVENTS: Final = 5_000
ORGANIZATIONS: Final = 20
MEMBERSHIPS: Final = 200


def seed_users(data_folder: Path, say: Say) -> None:
    """Seed the database of a service that runs on this data folder."""
    plan = Plan(
        users=USERS,
        login_events=LOGIN_EVENTS,
        organizations=ORGANIZATIONS,
        memberships=MEMBERSHIPS,
        # One service, which all people use.
        services=1,
        end_users=USERS,
        until=datetime.now(UTC),
    )
    with EmbeddedPostgres(data_folder) as url, psycopg.connect(url, autocommit=True) as connection:
        seed(connection, plan, say)


def sign_in(server: RunningServer, email: str) -> dict[str, str]:
    """Sign a user in, and return the answer with its tokens."""
    return json.loads(server.post("/api/auth/login", {"email": email, "password": PASSWORD}))
