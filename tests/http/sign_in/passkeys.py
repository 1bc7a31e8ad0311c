"""The refusal of a passkey, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.world.world import assert_refused

if TYPE_CHECKING:
    from tests.application import Answer


REFUSAL = (
    "This passkey was not accepted. Try again, or use another sign-in method; if your email address is not verified"
    " yet, verify it first."
)


def assert_not_accepted(answer: Answer) -> None:
    """See that the answer is the one that every passkey gets that is not accepted."""
    assert_refused(answer, 401, "UNAUTHORIZED")
    assert answer.json["error"] == REFUSAL
