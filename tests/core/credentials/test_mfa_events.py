"""The vocabulary of the security log."""

from __future__ import annotations

import pytest

from core.credentials.mfa import MfaEvent

DOCUMENTED = """
    mfa_setup_initiated, mfa_setup_completed, mfa_setup_failed, mfa_enabled, mfa_disabled, mfa_force_disabled_by_admin,
    mfa_verify_attempt, mfa_verify_success, mfa_verify_failed, backup_codes_generated, backup_code_used
"""


def test_the_events_are_exactly_the_documented_ones() -> None:
    assert [event.value for event in MfaEvent] == [name.strip() for name in DOCUMENTED.split(",")]


@pytest.mark.parametrize("event", MfaEvent)
def test_a_failed_event_is_no_success(event: MfaEvent) -> None:
    assert event.is_success is ("failed" not in event)
