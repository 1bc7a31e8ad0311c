"""What a handler receives: the origin of the request, and the use cases on behalf of its caller."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.limits import USER_AGENT_CHARACTERS_MAX
from core.sessions.origins import BACKGROUND, Origin
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes
from tests.web.probe import PEER, ask, make_installation, serving


@dataclass
class RecordingDatabase:
    """The port `Database` for tests: runs nothing, and records the use cases with their origin."""

    calls: list[tuple[str, Origin, Any]] = field(default_factory=list[tuple[str, Origin, Any]])
    origin: Origin = BACKGROUND

    def on_behalf_of(
        self,
        origin: Origin,
        session_id: object = None,
        client_id: object = None,
        api_key: object = None,
        scim_token: object = None,
        organization_credential: object = None,
        use: object = None,
    ) -> "RecordingDatabase":
        """Return a recorder for that origin."""
        return replace(self, origin=origin)

    async def transact(self, use_case: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Record a transaction."""
        self.calls.append(("transact", self.origin, (use_case, args, kwargs)))

    async def read(self, use_case: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Record a read."""
        self.calls.append(("read", self.origin, (use_case, args, kwargs)))

    async def step(self, use_case: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Record a step."""
        self.calls.append(("step", self.origin, (use_case, args, kwargs)))


def use_case(*args: Any, **kwargs: Any) -> None:
    """Do nothing."""


async def origin_of(headers: dict[str, str]) -> Origin:
    calls: list[Call] = []
    routes = Routes("origins", "A route of this test.")

    @routes.get("/origin")
    @public
    async def remember(call: Call) -> None:
        """Record the call."""
        calls.append(call)

    await ask(serving(routes), "GET", "/origin", headers=headers)

    return calls[0].origin


async def test_a_use_case_runs_on_behalf_of_the_caller() -> None:
    database = RecordingDatabase()
    routes = Routes("using", "A route of this test.")

    @routes.get("/use")
    @public
    async def use(call: Call) -> None:
        """Run use cases in every way."""
        await call.transact(use_case, 1, name="a")
        await call.read(use_case, 2)
        await call.step(use_case, 3)

    answer = await ask(
        serving(routes, installation=replace(make_installation(), database=database)),
        "GET",
        "/use",
        headers={"User-Agent": "curl/8"},
    )

    origin = Origin(request_id=answer.headers["X-Request-Id"], ip_address=PEER, user_agent="curl/8")
    assert database.calls == [
        ("transact", origin, (use_case, (1,), {"name": "a"})),
        ("read", origin, (use_case, (2,), {})),
        ("step", origin, (use_case, (3,), {})),
    ]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"User-Agent": ""}, None),
        ({"User-Agent": "curl/8"}, "curl/8"),
        ({"User-Agent": "x" * 5000}, "x" * USER_AGENT_CHARACTERS_MAX),
        ({"User-Agent": "a\x00b"}, "ab"),
    ],
)
async def test_a_user_agent_is_recorded_as_far_as_it_can_be_stored(
    headers: dict[str, str], expected: str | None
) -> None:
    origin = await origin_of(headers)

    assert origin.user_agent == expected
