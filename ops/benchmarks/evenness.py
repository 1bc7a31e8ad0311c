"""Whether the duration of a refused sign-in reveals the state of the account: medians of many interleaved tries.

The service runs as in production, with hashes at their real cost. Every round tries each state of an account once, in
random order, so that changes in the speed of the machine affect all of them.
"""

from __future__ import annotations

import http.client
import json
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from adapters.crypto.passwords import DEFAULT_COST
from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.embedded.server import EmbeddedPostgres
from ops.benchmarks import servers
from ops.benchmarks.figures import Figure, Spread
from ops.benchmarks.progress import Say

TRIES: Final = 200
WARM_UP_TRIES: Final = 10
DIFFERENCE_PERCENT_MAX: Final = 10.0
UNAUTHORIZED: Final = 401
# A hash that no password matches; comparing with it takes as long as with any other.
_HASH: Final = f"$argon2id$v=19$m={DEFAULT_COST.memory_kib},t={DEFAULT_COST.passes},p={DEFAULT_COST.lanes}$" + "$".join(
    ("A" * 22, "A" * 43)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A state of an account that a refused sign-in must not reveal, and the durations of the refusals."""

    name: str
    email: str
    exists: bool = True
    has_password: bool = True
    is_verified: bool = True
    is_active: bool = True
    organizations: int = 0
    seconds: list[float] = field(default_factory=list[float])

    @property
    def median_ms(self) -> float:
        """The median of all tries."""
        return statistics.median(self.seconds) * 1000

    @property
    def middle_half_ms(self) -> Spread:
        """The median of all tries, and the quartiles."""
        quartiles = statistics.quantiles(self.seconds, n=4)
        return Spread(median=self.median_ms, least=quartiles[0] * 1000, most=quartiles[2] * 1000)


def states() -> list[State]:
    """List the states."""
    return [
        State(name="unknown account", email="nobody@example.com", exists=False),
        State(name="wrong password", email="ada@example.com"),
        State(name="wrong password, member of 5", email="bob@example.com", organizations=5),
        State(name="no password", email="cleo@example.com", has_password=False),
        State(name="deactivated", email="dan@example.com", is_active=False),
        State(name="unverified", email="eve@example.com", is_verified=False),
    ]


def evenness(say: Say) -> list[Figure]:
    """Try to sign in to every kind of account repeatedly; no two medians may differ by more than a tenth."""
    measured = states()
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as service, EmbeddedPostgres(data) as address:
            _make(address, measured)
            _try(service.port, measured, WARM_UP_TRIES)
            for state in measured:
                state.seconds.clear()
            say(f"refused sign-ins: {TRIES} tries of {len(measured)} states of an account")
            _try(service.port, measured, TRIES)
    return figures(measured)


def figures(measured: Sequence[State]) -> list[Figure]:
    """Return the median and the quartiles of each state, and the largest difference of the medians."""
    medians = [state.median_ms for state in measured]
    apart = (max(medians) / min(medians) - 1) * 100
    return [
        *(Figure(name=f"refused: {state.name}", unit="ms", values=state.middle_half_ms) for state in measured),
        Figure(name="refused: medians apart", unit="%", values=Spread.of([apart]), maximum=DIFFERENCE_PERCENT_MAX),
    ]


def _make(address: str, measured: Sequence[State]) -> None:
    new_id = SystemRandomness().new_id
    with psycopg.connect(address, autocommit=True) as connection:
        for state in measured:
            if not state.exists:
                continue
            user_id = new_id()
            connection.execute(
                """
                INSERT INTO users (id, email, email_verified_at, password_hash, created_at, updated_at, deactivated_at)
                VALUES (%s, %s, CASE WHEN %s THEN now() END, %s, now(), now(), CASE WHEN %s THEN now() END)
                """,
                (user_id, state.email, state.is_verified, _HASH if state.has_password else None, not state.is_active),
            )
            for number in range(state.organizations):
                organization_id = new_id()
                connection.execute(
                    """
                    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
                    SELECT %s, %s, 'Organization', 'active', id, now(), now() FROM tiers WHERE name = 'free'
                    """,
                    (organization_id, f"organization-{number}"),
                )
                connection.execute(
                    """
                    INSERT INTO memberships (id, organization_id, user_id, role, created_at, confirmed_at)
                    VALUES (%s, %s, %s, 'member', now(), now())
                    """,
                    (new_id(), organization_id, user_id),
                )


def _try(port: int, measured: Sequence[State], tries: int) -> None:
    connection = http.client.HTTPConnection(servers.HOST, port, timeout=servers.ANSWER_SECONDS_MAX)
    for _ in range(tries):
        for state in random.sample(measured, len(measured)):
            body = json.dumps({"email": state.email, "password": "not the password"})
            started = time.perf_counter()
            connection.request("POST", "/api/auth/login", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            state.seconds.append(time.perf_counter() - started)
            if answer.status != UNAUTHORIZED:
                raise servers.CannotMeasure(f"A wrong password returned {answer.status} instead of {UNAUTHORIZED}.")
    connection.close()
