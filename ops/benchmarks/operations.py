"""The table of what is measured: one row for each operation, with its limit.

To measure another operation, add a row to `OPERATIONS`. A row whose requests need a token or an address also names a
`setup` of `people.py`, and has WORD where it belongs. `--only`, the load, the tables and the JSON follow from the row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from ops.benchmarks import people
from ops.seeding.population import PASSWORD, slug

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ops.benchmarks.servers import RunningServer

    Setup: TypeAlias = Callable[["Operation", RunningServer, int], "Operation"]

JSON_HEADERS: Final = {"Content-Type": "application/json"}
# The placeholder in a header or body for the word of each request.
WORD: Final = "{word}"
SERVICE_USERS: Final = "/api/service/users"
SCIM_USERS: Final = "/scim/v2/Users"
BEARER: Final = {"Authorization": f"Bearer {WORD}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request that is sent repeatedly, and the most that it may cost."""

    name: str
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    # The limit of the processor time per request, as a multiple of the bare server's; None is no limit.
    cpu_ratio_max: float | None = None
    # Each request has the next of these in place of WORD, starting over after the last.
    words: Sequence[str] = ()
    # If a word is valid for one request only: the field of the response, a JSON object, that contains the next word.
    next_word: str | None = None
    # Prepares what so many connections need and returns the operation to send. Called before every load, because the
    # load before has used up words that are valid once.
    setup: Setup | None = None

    def ready(self, server: RunningServer, connections: int) -> Operation:
        """Return the operation to send to this server over so many connections."""
        return self if self.setup is None else self.setup(self, server, connections)


BARE: Final = Operation(name="bare", path="/health")

# A token that was verified before, and one statement that reads the session.
PROFILE: Final = Operation(
    name="profile",
    path="/api/user",
    headers=BEARER,
    setup=people.with_access_tokens,
    cpu_ratio_max=2.0,
)

OPERATIONS: Final = (
    Operation(name="health", path="/health", cpu_ratio_max=1.25),
    # A `read` with one statement.
    Operation(name="ready", path="/health/ready", cpu_ratio_max=2.0),
    Operation(name="jwks", path="/.well-known/jwks.json"),
    PROFILE,
    # Authorization, then a page in one more statement: once for a team of ten, with a limit, and once with the fifty
    # members of a default page, of whom each costs some microseconds more.
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
