"""The order of checks of a request: authentication, authorization, validity, existence."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec
import pytest

from core.errors import Forbidden, Unauthorized
from core.limits import BODY_BYTES_MAX
from core.rate_limits import RateLimit
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.admission.access_policies import AccessPolicy, CredentialKind
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.rate_limiting import RateLimiter
from entrypoints.web.serving.routes import Routes
from tests.web.probe import ask, make_installation

ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
GOOD = f"/organizations/acme/notes/{ID}"


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


class Which(Query):
    """A small query."""

    page: int = 1


class RecordingPolicy:
    """An access policy that records the order of its checks."""

    def __init__(self, *, admits: bool = True, allows: bool = True) -> None:
        self.checks: list[Any] = []
        self._admits = admits
        self._allows = allows

    def who(self, *, with_final_check: bool = True) -> AccessPolicy:
        return AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=self.admit,
            before_refusing=self.before_refusing if with_final_check else None,
        )

    async def admit(self, call: Call) -> None:
        self.checks.append("admit")
        if not self._admits:
            raise Unauthorized

    async def before_refusing(self, call: Call, words: Mapping[str, str]) -> None:
        self.checks.append(dict(words))
        if not self._allows:
            raise Forbidden

    def application(self, *, with_final_check: bool = True, limits: tuple[RateLimit, ...] = ()) -> Application:
        routes = Routes("checked", "A route of this test.")

        @routes.post("/organizations/:slug/notes/:note_id", limits=limits)
        @public
        async def change(call: Call, slug: str, note_id: UUID, body: Note, query: Which) -> Note:
            """Change."""
            self.checks.append("handler")
            return body

        route = replace(routes.routes[0], who=self.who(with_final_check=with_final_check))
        # The limiter's clock stands still, so that no bucket refills, however slow the machine is.
        return Application(make_installation(), [route], rate_limiter=RateLimiter(monotonic=lambda: 0.0))


async def test_a_valid_request_of_an_authenticated_caller_reaches_the_handler_without_a_final_check() -> None:
    policy = RecordingPolicy(allows=False)

    answer = await ask(policy.application(), "POST", GOOD, body={})

    assert answer.status == 200
    assert policy.checks == ["admit", "handler"]


invalid_input = pytest.mark.parametrize(
    ("target", "options"),
    [
        (GOOD, {"data": b"{"}),
        (GOOD, {"data": b"{}", "headers": {"Content-Type": "text/plain"}}),
        (GOOD, {"data": [], "headers": {"Content-Length": str(BODY_BYTES_MAX + 1)}, "is_complete": False}),
        (GOOD, {"data": b"{}", "headers": {"Content-Encoding": "gzip"}}),
        (GOOD + "?page=x", {"body": {}}),
        ("/organizations/acme/notes/1", {"body": {}}),
        ("/organizations/acme/notes/1?page=x", {"data": b"{"}),
    ],
    ids=["body", "media type", "length", "coding", "query", "id", "all"],
)


@invalid_input
async def test_invalid_input_of_an_unauthorized_caller_is_forbidden(target: str, options: dict[str, Any]) -> None:
    policy = RecordingPolicy(allows=False)

    answer = await ask(policy.application(), "POST", target, **options)

    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert policy.checks == ["admit", {"slug": "acme"}]


@invalid_input
async def test_invalid_input_of_an_authorized_caller_is_refused_as_invalid(
    target: str, options: dict[str, Any]
) -> None:
    policy = RecordingPolicy()

    answer = await ask(policy.application(), "POST", target, **options)

    assert answer.status in {400, 404, 413, 415}
    assert policy.checks == ["admit", {"slug": "acme"}]


@invalid_input
async def test_input_of_an_unauthenticated_caller_is_not_read(target: str, options: dict[str, Any]) -> None:
    policy = RecordingPolicy(admits=False)

    answer = await ask(policy.application(), "POST", target, **options)

    assert answer.status == 401
    assert policy.checks == ["admit"]


@invalid_input
async def test_invalid_input_is_refused_without_a_final_check(target: str, options: dict[str, Any]) -> None:
    policy = RecordingPolicy()

    answer = await ask(policy.application(with_final_check=False), "POST", target, **options)

    assert answer.status in {400, 404, 413, 415}
    assert policy.checks == ["admit"]


async def test_invalid_input_is_refused_before_an_invalid_id() -> None:
    answer = await ask(RecordingPolicy().application(), "POST", "/organizations/acme/notes/1", data=b"{")

    assert answer.status == 400


async def test_the_rate_limit_is_checked_first() -> None:
    policy = RecordingPolicy(admits=False)
    application = policy.application(limits=(RateLimit.MFA_VERIFICATION,))
    for _ in range(RateLimit.MFA_VERIFICATION.burst):
        await ask(application, "POST", GOOD)

    answer = await ask(application, "POST", GOOD)

    assert answer.status == 429
    assert len(policy.checks) == RateLimit.MFA_VERIFICATION.burst


async def test_options_requires_no_credential_and_takes_nothing_from_a_bucket() -> None:
    policy = RecordingPolicy(admits=False)
    application = policy.application(limits=(RateLimit.MFA_VERIFICATION,))

    answers = [await ask(application, "OPTIONS", GOOD) for _ in range(20)]

    assert {answer.status for answer in answers} == {204}
    assert policy.checks == []
