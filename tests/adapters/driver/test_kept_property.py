"""What a unit of work makes when it is asked for it: once, and each for itself."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from adapters.postgres.driver.kept_property import KeptProperty

MEETING_SECONDS_MAX = 10


class Visitor:
    """Somebody whose answer takes another visitor, and who counts how often they were asked."""

    def __init__(self, meeting: threading.Barrier) -> None:
        self._meeting = meeting
        self.times_asked = 0

    @KeptProperty
    def answer(self) -> str:
        """Wait for the others."""
        self.times_asked += 1
        self._meeting.wait(MEETING_SECONDS_MAX)
        return "here"


def test_it_is_computed_once() -> None:
    visitor = Visitor(threading.Barrier(1))

    answers = [visitor.answer, visitor.answer]

    assert answers == ["here", "here"]
    assert visitor.times_asked == 1


def test_two_threads_compute_theirs_at_the_same_time() -> None:
    visitors = [Visitor(meeting) for meeting in [threading.Barrier(2)] * 2]

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda visitor: visitor.answer, visitors))

    assert answers == ["here", "here"]


def test_asked_of_the_class_it_is_itself_and_explains_itself() -> None:
    assert isinstance(Visitor.answer, KeptProperty)
    assert Visitor.answer.__doc__ == "Wait for the others."
