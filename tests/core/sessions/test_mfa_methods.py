"""Which second factors count: any, or those alone that cannot be passed on to another site."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.sessions.mfa_methods import MfaMethods, have_own_factor

CONNECTION = UUID(int=1)


@pytest.mark.parametrize(
    ("amr", "connection_id", "is_any", "is_resistant"),
    [
        (["pwd"], None, False, False),
        (["email", "hwk", "user"], None, False, False),
        (["pwd", "trusted"], None, True, False),
        (["pwd", "otp", "mfa"], None, True, False),
        (["pwd", "hwk", "user", "mfa"], None, True, True),
        (["swk", "user", "mfa"], None, True, True),
        (["hwk", "user", "otp", "mfa"], None, True, True),
        (["fed", "mfa"], CONNECTION, True, True),
        (["fed"], CONNECTION, False, False),
        (["fed", "otp", "mfa"], CONNECTION, True, False),
        (["fed", "swk", "user", "mfa"], CONNECTION, True, True),
    ],
)
def test_what_counts(amr: list[str], connection_id: UUID | None, is_any: bool, is_resistant: bool) -> None:
    assert MfaMethods.ANY.are_met_by(amr, connection_id) is is_any
    assert MfaMethods.PHISHING_RESISTANT.are_met_by(amr, connection_id) is is_resistant


def test_the_word_of_a_connection_is_no_factor_of_the_account() -> None:
    assert not have_own_factor(["fed", "mfa"], CONNECTION)
    assert have_own_factor(["fed", "otp", "mfa"], CONNECTION)
    assert have_own_factor(["pwd", "otp", "mfa"], None)
    assert not have_own_factor(["pwd"], None)
