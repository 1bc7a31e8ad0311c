"""Coverage does not count what tests reach with drawn values."""

from __future__ import annotations

import sys
import threading

import greenlet
import pytest

from tests.tracing import COUNTS_EVERYTHING


@pytest.mark.hypothesis
@pytest.mark.skipif(COUNTS_EVERYTHING, reason="everything is counted")
def test_no_stack_of_a_test_of_properties_is_traced() -> None:
    tracers = [sys.gettrace(), threading.gettrace(), greenlet.greenlet(sys.gettrace).switch()]
    thread = threading.Thread(target=lambda: tracers.append(sys.gettrace()))
    thread.start()
    thread.join()

    assert tracers == [None] * 4
