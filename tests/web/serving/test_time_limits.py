"""The time limits of a body and of a whole request. Time is virtual."""

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.application import REQUEST_SECONDS_MAX, RETRY_AFTER_SECONDS
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.exchanges import BODY_SECONDS_MAX
from entrypoints.web.serving.routes import Routes
from tests.web.probe import ask, serving


class Note(msgspec.Struct):
    """A small body."""

    text: str = ""


def sleeping(seconds: float) -> Routes:
    """Return routes that sleep for this time, and one that takes a body."""
    routes = Routes("slow", "Routes of this test.")

    @routes.get("/slow")
    @public
    async def slow(call: Call) -> Note:
        """Sleep."""
        await trio.sleep(seconds)
        return Note(text="at last")

    @routes.get("/slow/inside")
    @public
    async def slow_inside(call: Call) -> Note:
        """Sleep in child tasks."""
        async with trio.open_nursery() as nursery, trio.open_nursery() as inner:
            nursery.start_soon(trio.sleep, seconds)
            inner.start_soon(trio.sleep, seconds)
        return Note(text="at last")

    @routes.post("/notes")
    @public
    async def write(call: Call, body: Note) -> Note:
        """Take a body."""
        return body

    return routes


@pytest.mark.parametrize("path", ["/slow", "/slow/inside"])
async def test_a_handler_that_takes_too_long_is_503(path: str, autojump_clock: MockClock) -> None:
    began = trio.current_time()

    with capture_logs() as logs:
        answer = await ask(serving(sleeping(REQUEST_SECONDS_MAX + 1)), "GET", path)

    assert (answer.status, answer.code) == (503, "SERVICE_UNAVAILABLE")
    assert answer.headers["Retry-After"] == str(RETRY_AFTER_SECONDS)
    assert trio.current_time() - began == pytest.approx(REQUEST_SECONDS_MAX)
    assert [line["event"] for line in logs] == ["request.timed_out", "request"]


async def test_a_handler_within_the_limit_is_answered(autojump_clock: MockClock) -> None:
    answer = await ask(serving(sleeping(REQUEST_SECONDS_MAX - 1)), "GET", "/slow")

    assert (answer.status, answer.json) == (200, {"text": "at last"})


@pytest.mark.parametrize("pieces", [[], [b'{"text": '], [b"{}", b" " * 1000]])
async def test_a_body_that_does_not_arrive_in_time_is_408(pieces: list[bytes], autojump_clock: MockClock) -> None:
    began = trio.current_time()

    answer = await ask(serving(sleeping(0)), "POST", "/notes", data=pieces, is_complete=False)

    assert (answer.status, answer.code) == (408, "REQUEST_TIMEOUT")
    assert trio.current_time() - began == pytest.approx(BODY_SECONDS_MAX)


async def test_a_body_that_the_route_does_not_take_is_not_waited_for(autojump_clock: MockClock) -> None:
    began = trio.current_time()

    answer = await ask(serving(sleeping(0)), "GET", "/slow", data=[b"x"], is_complete=False)

    assert answer.status == 200
    assert trio.current_time() == began
