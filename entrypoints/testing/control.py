"""What the tests of a product ask of their throw-away instance: a fresh state, another time, proofs of domains.

Everything else the test kit does as any client would. These routes exist in the instance of `gatehouse test-instance`
alone, and take its token, so that no page in a browser of the developer can call them.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from core.errors import BadRequest, Unauthorized
from core.secrets import Secret
from entrypoints.local_names import LocalNames
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

PATH: Final = "/dev/test-instance"
# Far enough for a subscription that ends in ten years, and no further than dates go, either way.
DAYS_MAX: Final = 3_660
AHEAD_MAX: Final = timedelta(days=DAYS_MAX)
RECORDS_MAX: Final = 1_000


class ClockMoved(msgspec.Struct, kw_only=True, frozen=True):
    """The time of the instance."""

    now: datetime


class ClockMove(msgspec.Struct, kw_only=True, frozen=True):
    """By how much the clock of the instance is put forward, or back by a negative number."""

    seconds: float


class NameRecord(msgspec.Struct, kw_only=True, frozen=True):
    """A TXT record, as the proof of a mail domain is one."""

    name: str
    value: str


class MovableClock:
    """The port `Clock`: the machine's time, put forward or back by tests."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        """Return the time of the instance."""
        return datetime.now(UTC) + self.ahead

    def advance(self, by: timedelta) -> None:
        """Put the clock forward, or back by a negative duration."""
        self.ahead += by

    def reset(self) -> None:
        """Return to the time of the machine."""
        self.ahead = timedelta()


class NotTheTests(Unauthorized):
    """The token of the instance is missing or wrong."""

    default_message = "Send the token that `gatehouse test-instance` has printed: Authorization: Bearer."


def routes_of(token: Secret, clock: MovableClock, names: LocalNames, restore: Callable[[], Awaitable[None]]) -> Routes:
    """Return the routes of an instance; `restore` gives its database the first state."""
    routes = Routes("test instance", "What the tests of a product ask of their throw-away instance.")

    def require_token(call: Call) -> None:
        given = call.request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token.reveal()}".encode()):
            raise NotTheTests

    @routes.post(f"{PATH}/reset", status=204)
    @public
    async def reset(call: Call) -> None:
        """Return to the state and the time in which the instance has started."""
        require_token(call)
        await restore()
        clock.reset()
        names.records.clear()

    @routes.post(f"{PATH}/clock")
    @public
    async def move_clock(call: Call, body: ClockMove) -> ClockMoved:
        """Put the clock forward, or back by a negative number: a token is then issued in the past."""
        require_token(call)
        if not abs(body.seconds) <= AHEAD_MAX.total_seconds() * 2:
            raise BadRequest.of_field("seconds", f"Put the clock forward or back by {DAYS_MAX * 2} days at most.")
        by = timedelta(seconds=body.seconds)
        if abs(clock.ahead + by) > AHEAD_MAX:
            message = f"The clock goes {DAYS_MAX} days forward or back at most. Reset the instance."
            raise BadRequest.of_field("seconds", message)
        clock.advance(by)
        return ClockMoved(now=clock())

    @routes.post(f"{PATH}/names", status=204)
    @public
    async def add_name(call: Call, body: NameRecord) -> None:
        """Let the name server of the instance answer with a TXT record."""
        require_token(call)
        if len(names.records) >= RECORDS_MAX:
            raise BadRequest(f"The name server of a test instance has at most {RECORDS_MAX} records. Reset it.")
        names.records[body.name.lower()] = body.value

    return routes
