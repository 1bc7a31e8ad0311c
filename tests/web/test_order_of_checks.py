"""In which order a request is checked: who is it, may they, is it well-formed, is it there (decisions 1.6)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec
import pytest

from core.errors import Forbidden, Unauthorized
from core.rate_limits import RateLimit
from entrypoints.web.application import Application
from entrypoints.web.calls import Call
from entrypoints.web.credentials import AccessPolicy, CredentialKind, public
from entrypoints.web.decoding import BODY_BYTES_MAX, Query
from entrypoints.web.rate_limiting import RateLimiter
from entrypoints.web.routes import Routes
from tests.web.probe import ask, make_house

ID = UUID("0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22")
GOOD = f"/organizations/acme/notes/{ID}"


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


class Which(Query):
    """A small query."""

    page: int = 1


class Doorkeeper:
    """Keeps a route, and remembers what it was asked in which order."""

    def __init__(self, *, admits: bool = True, allows: bool = True) -> None:
        self.asked: list[Any] = []
        self._admits = admits
        self._allows = allows

    def who(self, *, with_last_word: bool = True) -> AccessPolicy:
        return AccessPolicy(
            kind=CredentialKind.ACCESS_TOKEN,
            admit=self.admit,
            before_refusing=self.before_refusing if with_last_word else None,
        )

    async def admit(self, call: Call) -> None:
        self.asked.append("admit")
        if not self._admits:
            raise Unauthorized

    async def before_refusing(self, call: Call, words: Mapping[str, str]) -> None:
        self.asked.append(dict(words))
        if not self._allows:
            raise Forbidden

    def application(self, *, with_last_word: bool = True, limits: tuple[RateLimit, ...] = ()) -> Application:
        kept = Routes("kept", "A route of this test.")

        @kept.post("/organizations/:slug/notes/:note_id", limits=limits)
        @public
        async def change(call: Call, slug: str, note_id: UUID, body: Note, query: Which) -> Note:
            """Change."""
            self.asked.append("handler")
            return body

        route = replace(kept.routes[0], who=self.who(with_last_word=with_last_word))
        # A limiter whose clock stands still: however slow the machine is, a bucket does not fill again.
        return Application(make_house(), [route], rate_limiter=RateLimiter(monotonic=lambda: 0.0))


async def test_who_is_admitted_and_asks_well_reaches_the_handler_at_once() -> None:
    keeper = Doorkeeper(allows=False)

    answer = await ask(keeper.application(), "POST", GOOD, body={})

    assert answer.status == 200
    assert keeper.asked == ["admit", "handler"]


wrong_input = pytest.mark.parametrize(
    ("target", "options"),
    [
        (GOOD, {"data": b"{"}),
        (GOOD, {"data": b"{}", "headers": {"Content-Type": "text/plain"}}),
        (GOOD, {"data": [], "headers": {"Content-Length": str(BODY_BYTES_MAX + 1)}, "is_complete": False}),
        (GOOD + "?page=x", {"body": {}}),
        ("/organizations/acme/notes/1", {"body": {}}),
        ("/organizations/acme/notes/1?page=x", {"data": b"{"}),
    ],
    ids=["body", "media type", "length", "query", "id", "all"],
)


@wrong_input
async def test_wrong_input_of_who_may_not_do_this_anyway_is_not_spoken_of(target: str, options: dict[str, Any]) -> None:
    keeper = Doorkeeper(allows=False)

    answer = await ask(keeper.application(), "POST", target, **options)

    assert (answer.status, answer.code) == (403, "FORBIDDEN")
    assert keeper.asked == ["admit", {"slug": "acme"}]


@wrong_input
async def test_wrong_input_of_who_may_is_refused_as_what_it_is(target: str, options: dict[str, Any]) -> None:
    keeper = Doorkeeper()

    answer = await ask(keeper.application(), "POST", target, **options)

    assert answer.status in {400, 404, 413, 415}
    assert keeper.asked == ["admit", {"slug": "acme"}]


@wrong_input
async def test_wrong_input_of_strangers_is_not_even_looked_at(target: str, options: dict[str, Any]) -> None:
    keeper = Doorkeeper(admits=False)

    answer = await ask(keeper.application(), "POST", target, **options)

    assert answer.status == 401
    assert keeper.asked == ["admit"]


@wrong_input
async def test_wrong_input_needs_nobody_to_have_a_last_word(target: str, options: dict[str, Any]) -> None:
    keeper = Doorkeeper()

    answer = await ask(keeper.application(with_last_word=False), "POST", target, **options)

    assert answer.status in {400, 404, 413, 415}
    assert keeper.asked == ["admit"]


async def test_wrong_input_comes_before_an_id_that_is_none() -> None:
    answer = await ask(Doorkeeper().application(), "POST", "/organizations/acme/notes/1", data=b"{")

    assert answer.status == 400


async def test_the_rate_limit_comes_before_everything_else() -> None:
    keeper = Doorkeeper(admits=False)
    application = keeper.application(limits=(RateLimit.MFA_VERIFICATION,))
    for _ in range(RateLimit.MFA_VERIFICATION.burst):
        await ask(application, "POST", GOOD)

    answer = await ask(application, "POST", GOOD)

    assert answer.status == 429
    assert len(keeper.asked) == RateLimit.MFA_VERIFICATION.burst


async def test_options_asks_for_no_credential_and_takes_nothing_from_a_bucket() -> None:
    keeper = Doorkeeper(admits=False)
    application = keeper.application(limits=(RateLimit.MFA_VERIFICATION,))

    answers = [await ask(application, "OPTIONS", GOOD) for _ in range(20)]

    assert {answer.status for answer in answers} == {204}
    assert keeper.asked == []
