"""The refusal of a passkey, for tests."""

from __future__ import annotations

from tests.application import Answer
from tests.world.world import assert_refused

REFUSAL = (
    "This passkey was not accepted. Try again, or use another sign-in method; if your email address is not verified"
    " yet, verify it first."
)


def assert_not_accepted(answer: Answer) -> None:
    """Assert that the answer is the one refusal that all passkeys that are not accepted share."""
    assert_refused(answer, 401, "UNAUTHORIZED")
    assert answer.json["error"] == REFUSAL
