"""The table of what is measured: one row for each operation, with its limit.

To measure another operation, add a row to `OPERATIONS`. A row whose requests need a token or an address also names a
`setup` of `people.py`, and has WORD where it belongs. `--only`, the load, the tables and the JSON follow from the row.
"""

from __future__ import annotations

import json
from typing import Final

from ops.benchmarks import people
from ops.benchmarks.operation import WORD, Operation
from ops.benchmarks.servers import HEALTH_PATH, READY_PATH
from ops.seeding.population import PASSWORD, slug

JSON_HEADERS: Final = {"Content-Type": "application/json"}
SERVICE_USERS: Final = "/api/service/users"
SCIM_USERS: Final = "/scim/v2/Users"
BEARER: Final = {"Authorization": f"Bearer {WORD}"}

# A token that was verified before, and one statement that reads the session.
PROFILE: Final = Operation(
    name="profile",
    path="/api/user",
    headers=BEARER,
    setup=people.with_access_tokens,
    cpu_ratio_max=2.0,
)

OPERATIONS: Final = (
    Operation(name="health", path=HEALTH_PATH, cpu_ratio_max=1.25),
    # A `read` with one statement.
    Operation(name="ready", path=READY_PATH, cpu_ratio_max=2.0),
    Operation(name="jwks", path="/.well-known/jwks.json"),
    PROFILE,
    # Authorization, then a page in one more statement: once for a team of ten, with a limit, and once with the fifty
    # members of a default page, each of which costs some microseconds more.
    Operation(
        name="members",
        path=f"/api/organizations/{slug(0)}/members?limit=10",
        headers=BEARER,
        setup=people.as_members,
        cpu_ratio_max=2.5,
    ),
    Operation(
        name="members, 50",
        path=f"/api/organizations/{slug(0)}/members",
        headers=BEARER,
        setup=people.as_members,
    ),
    # The key and a page of the default size in one round trip: the newest users, and those in the middle of the list.
    Operation(name="service users", path=SERVICE_USERS, setup=people.as_backend, cpu_ratio_max=2.0),
    Operation(
        name="service users, half-way", path=SERVICE_USERS, setup=people.as_backend_deep_inside, cpu_ratio_max=2.0
    ),
    Operation(
        name="service users, new",
        path=SERVICE_USERS,
        method="POST",
        headers=JSON_HEADERS,
        body=json.dumps({"email": WORD}).encode(),
        setup=people.as_backend_with_new_users,
        cpu_ratio_max=4.0,
    ),
    # The token, then a page of users of the default size among all of them, and the one who has a userName.
    Operation(name="directory, 100 users", path=SCIM_USERS, setup=people.as_directory, cpu_ratio_max=3.0),
    Operation(
        name="directory, one user",
        path=SCIM_USERS,
        setup=people.as_directory_that_looks_for_a_user,
        cpu_ratio_max=2.0,
    ),
    # Every request exchanges the token that the one before it returned.
    Operation(
        name="refresh",
        path="/api/auth/refresh",
        method="POST",
        headers=JSON_HEADERS,
        body=json.dumps({"refresh_token": WORD}).encode(),
        next_word="refresh_token",
        setup=people.with_refresh_tokens,
        cpu_ratio_max=3.5,
    ),
)

# Not in the table, because the hash is most of it, which no server can make cheaper; `sign_in.py` measures it.
LOGIN: Final = Operation(
    name="login",
    path="/api/auth/login",
    method="POST",
    headers=JSON_HEADERS,
    body=json.dumps({"email": WORD, "password": PASSWORD}).encode(),
    setup=people.with_addresses,
)
