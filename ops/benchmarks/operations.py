"""The table of what is measured: one row for each operation, with the most that it may cost."""

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
# Stands in a header or body for the word that each request takes in turn.
WORD: Final = "{word}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request, sent again and again, and what it may cost at most."""

    name: str
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    # Processor time per request, as a multiple of the bare server's; without one nothing is promised.
    cpu_ratio_max: float | None = None
    # Each request has the next of these in place of WORD, and after the last comes the first again.
    words: Sequence[str] = ()
    # Where a word is good for one request only, the field of the answer, a JSON object, that has the next one.
    next_word: str | None = None
    # Makes ready what so many connections need and gives the operation as it is to be sent. It is asked before every
    # load, because what is good once is used up by the load before.
    setup: Setup | None = None

    def ready(self, server: RunningServer, connections: int) -> Operation:
        """Give the operation as it is to be sent to this server over so many connections."""
        return self if self.setup is None else self.setup(self, server, connections)


BARE: Final = Operation(name="bare", path="/health")

# A token that was checked before, a session that is asked for in one statement.
PROFILE: Final = Operation(
    name="profile",
    path="/api/user",
    headers={"Authorization": f"Bearer {WORD}"},
    setup=people.with_access_tokens,
    cpu_ratio_max=2.0,
)

OPERATIONS: Final = (
    Operation(name="health", path="/health", cpu_ratio_max=1.25),
    # A `read` with one statement.
    Operation(name="ready", path="/health/ready", cpu_ratio_max=2.0),
    Operation(name="jwks", path="/.well-known/jwks.json"),
    PROFILE,
    # Who asks and whether they may, then a page in one more statement: for a team of ten, which has the limit, and with
    # all fifty that a page can have by default, of whom each costs some microseconds more.
    Operation(
        name="members",
        path=f"/api/organizations/{slug(0)}/members?limit=10",
        headers={"Authorization": f"Bearer {WORD}"},
        setup=people.as_members,
        cpu_ratio_max=2.5,
    ),
    Operation(
        name="members, 50",
        path=f"/api/organizations/{slug(0)}/members",
        headers={"Authorization": f"Bearer {WORD}"},
        setup=people.as_members,
    ),
    # Every request exchanges the token that the one before it got.
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

# Not in the table above, because most of it is the hash, which no server can make cheaper; `sign_in.py` measures it.
LOGIN: Final = Operation(
    name="login",
    path="/api/auth/login",
    method="POST",
    headers=JSON_HEADERS,
    body=json.dumps({"email": WORD, "password": PASSWORD}).encode(),
    setup=people.with_addresses,
)
